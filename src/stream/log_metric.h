// SPDX-License-Identifier: Apache-2.0
/* log_metric.h - numbers out of a task's output, line by line; seen inside this room alone. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "stream/metric_set.h"
#include "stream/metrics.h"
#include "stream/pattern.h"

struct log_metric {
	char *name;
	struct pattern *pattern;
};

struct log_source; /* one task's output, attempt after attempt */

struct log_source *log_source_create(int rank);
void log_source_destroy(struct log_source *s); /* NULL is fine */
int log_source_rank(const struct log_source *s);
int log_source_attempt(const struct log_source *s); /* that is to be read next; from 1 */
/* Reads on, at most about *budget bytes, which are taken off.  Those of another attempt than
 * the source's next are passed over.  True: there is more. */
bool log_source_read(struct log_source *s, const struct metrics_log *log,
		     const struct log_metric *metrics, size_t count,
		     struct metric_set *set, int64_t *budget);
size_t log_source_bytes(const struct log_source *s);
