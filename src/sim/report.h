// SPDX-License-Identifier: Apache-2.0
/* report.h - results as words and JSON: what the figures are called, and the same figure
 * of several runs as one. */
#pragma once

#include "base/buf.h"
#include "base/json.h"
#include "sim/result.h"

enum sim_kind {
	SIM_COUNT,
	SIM_SECONDS,
	SIM_PERCENT,
	SIM_NUMBER,
	SIM_NANOSECONDS,
	SIM_BYTES
};

struct sim_label {
	const char *key;   /* as in sim_figure; NULL in a row that begins a section */
	const char *words; /* for people */
	const char *head;  /* of a column: short */
	enum sim_kind kind;
};

/* Sections and figures in the order in which they are shown; ends with words NULL. */
extern const struct sim_label sim_labels[];
/* Of a key that is not in the table (a rule set's own) what its last word says. */
void sim_label_of(const char *key, struct sim_label *out);
/* "1,863.2", "95.23 %", "2d 3h" behind exact seconds: for a cell. */
void sim_value_show(enum sim_kind kind, double value, struct buf *out);

/* One figure of several runs.  False: none of them has it. */
struct sim_spread {
	double mean, sd, min, max;
	size_t count;
};
bool sim_spread_of(const struct sim_result *runs, size_t count, const char *key,
		   struct sim_spread *out);

/* Who had how much of the devices and waited how long. */
struct sim_share {
	const char *group; /* the trace's; NULL: no group */
	size_t jobs;
	double device_s, queue_s; /* of all its jobs */
	double worst_queue_s;
};
/* By device time, the greatest first; the caller frees. */
struct sim_share *sim_shares(const struct sim_result *r, size_t *count);

/* The figures as members of the object that is open; numbers as short as they are exact. */
void sim_result_json(const struct sim_result *r, struct json *j);
void sim_double_json(struct json *j, const char *key, double value);
/* A line a job, with a header. */
void sim_rows_csv(const struct sim_result *r, struct buf *out);
