// SPDX-License-Identifier: Apache-2.0
/* result.h - what came of a run: a row a job, samples over time, and named figures.
 *
 * A rule set fills what it knows; sim_figures() adds what follows from the rows.  Doubles:
 * these are reports, nothing is decided by them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sim_row {
	const char *name, *user, *group; /* the trace's */
	int gpus;
	int64_t device_milli;
	int preemptions;
	bool rejected;                   /* could never run, or was not taken */
	double submit_s, start_s, end_s; /* first start; negative: never */
	double ran_s;                    /* on devices, what was lost counted in */
	double alone_s;                  /* how long it takes on free devices */
};

struct sim_sample {
	double at;      /* seconds, or percent of demand that arrived */
	double use;     /* of all devices, 0 to 1 */
	double waiting; /* jobs */
	double fragment; /* of the idle devices, what is of no use to the usual jobs: 0 to 1 */
	double gang; /* the largest number of whole devices that one gang could have now */
};

/* Keys are words for machines ("avg_jct_s"): the unit is behind the last '_'. */
struct sim_figure {
	const char *key;
	double value;
};

#define SIM_HASH_TEXT 65

struct sim_result {
	struct sim_row *rows; /* as the trace's jobs; NULL: this rule set has none */
	size_t row_count;
	struct sim_sample *samples;
	size_t sample_count, sample_cap;
	bool samples_by_demand; /* `at` is percent of demand, not time */
	struct sim_figure *figures;
	size_t figure_count, figure_cap;
	char hash[SIM_HASH_TEXT]; /* of the decisions; "": none */
};

void sim_figure_set(struct sim_result *r, const char *key, double value);
bool sim_figure_get(const struct sim_result *r, const char *key, double *out);
void sim_sample_add(struct sim_result *r, const struct sim_sample *s);
/* From the rows: jobs, done, rejected, jct and queueing, slowdown, makespan, preemptions. */
void sim_figures(struct sim_result *r);
void sim_result_fini(struct sim_result *r);
