// SPDX-License-Identifier: Apache-2.0
/* simulate.h - the parts of `yard simulate`. */
#pragma once

#include "cli/cli.h"
#include "sim/sim.h"

struct simulate_args {
	const char *cluster, *policy, *rules, *reader, *durations, *seeds, *figure;
	const char *plot, *rows, *replay, *color;
	int64_t seed, restart_cost_ms, history_ms;
	bool compare, json;
};

#define SIMULATE_BYTES_MAX (512u << 20) /* of a trace, a cluster, a journal */

/* The whole file, or "-": stdin. */
int simulate_read(const char *path, struct buf *out, struct err *err);
int simulate_write(const char *path, const struct buf *text, struct err *err);
/* NULL: learned. */
int simulate_durations(const char *given, enum sim_durations *out, struct err *err);
/* "80x8" or a file. */
int simulate_cluster(const char *given, struct sim_cluster *out, struct err *err);

/* simulate_policy.c: a policy file, YAML or JSON; what it does not say is as in `base`
 * (NULL: as in a yard that nobody changed).  NULL with err. */
struct sim_policy *simulate_policy_read(const char *text, size_t len,
					const struct sim_policy *base, struct err *err);
struct sim_tenant *simulate_policy_tenant(struct sim_policy *p, const char *group);
void simulate_policy_destroy(struct sim_policy *p); /* NULL is fine */

struct simulate_policy {
	const char *name;          /* as given */
	struct sim_policy *custom; /* of a file; NULL: one of the rule set's own */
};

/* One trace under every policy and seed: runs[policy * seeds + seed]. */
struct simulate_trace {
	char *name; /* of the file, without folder and ending */
	struct sim_trace trace;
	size_t nodes;
	int64_t devices;
	struct sim_result *runs; /* their words are the trace's */
};

struct simulate_table {
	const struct sim_rules *rules;
	struct simulate_policy *policies;
	size_t policy_count;
	uint64_t first_seed;
	size_t seed_count;
	const char *durations, *figure;
	struct simulate_trace *traces;
	size_t trace_count;
};

/* simulate_view.c: what is printed. */
void simulate_print(const struct cli *c, const struct simulate_table *t);
void simulate_print_json(const struct simulate_table *t);
/* Pictures: one file that ends in .svg, or a folder of them. */
int simulate_plot(const struct simulate_table *t, const char *path, struct err *err);
/* simulate_replay.c: --replay; gives the exit code: 0 equal, 1 not. */
int simulate_replay(struct cli *c, const struct simulate_args *a);
/* simulate_history.c: --history; gives the exit code. */
int simulate_history(struct cli *c, const struct simulate_args *a);
int simulate_rows(const struct simulate_table *t, const char *path, struct err *err);
