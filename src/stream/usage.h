// SPDX-License-Identifier: Apache-2.0
/* usage.h - what a task used over time: a bounded series in the attempt's folder.
 *
 * The file "usage" holds samples of equal size, oldest first.  A full one is thinned to
 * every second sample, so that it covers the task's whole life however long that is; the
 * writer then samples half as often.  Samples are for people to look at: they are not
 * made durable, and a file that makes no sense counts as empty.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define USAGE_SAMPLES_MAX 720

struct usage_sample {
	int64_t time_ms, cpu_ms, memory_bytes, pids;
};

/* 1: the series was thinned; 0; -1. */
int usage_append(const char *folder, const struct usage_sample *s, struct err *err);
/* The caller frees.  No samples are no error. */
int usage_read(const char *folder, struct usage_sample **out, size_t *count,
	       struct err *err);
