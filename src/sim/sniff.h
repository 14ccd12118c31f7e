// SPDX-License-Identifier: Apache-2.0
/* sniff.h - what readers share: whose file it is, and the bounds of what may stand there. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/csv.h"

#define SIM_TIME_MAX_MS  INT64_C(100000000000000) /* three thousand years */
#define SIM_GPUS_MAX     1000000
#define SIM_PRIORITY_MAX 1000000

/* Whether the first line has all of these columns; the list ends with NULL. */
bool sniff_columns(const char *text, size_t len, const char *const *names);
/* A time of the row at hand: "90", "12.5" (seconds), "1h30m"; "" gives `fallback`. */
int sniff_time(const struct csv *c, int column, int64_t fallback, int64_t *ms,
	       struct err *err);
