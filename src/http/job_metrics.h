// SPDX-License-Identifier: Apache-2.0
/* job_metrics.h - what jobs measured of themselves, kept for the next question. */
#pragma once

#include "http/internal.h"
#include "http/metric_cache.h"

struct metric_cache *job_metrics_create(struct http_server *s);
