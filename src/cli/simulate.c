// SPDX-License-Identifier: Apache-2.0
/* simulate.c - `yard simulate`: a trace of jobs under a policy, on a virtual clock. */
#include "cli/simulate.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"

#define SEEDS_MAX  1000
#define TRACES_MAX 1000

/* clang-format off */
#define INTO(field) OPT_INTO(struct simulate_args, field)
static const struct opt simulate_opts[] = {
	{ "cluster", 'c', OPT_TEXT, INTO(cluster), "NODES",
		"80x8 (nodes x devices), 80x8:a100+40x4:t4, or a file (YAML, JSON, CSV)" },
	{ "policy", 'p', OPT_TEXT, INTO(policy), "NAME",
		"of the rules, several with commas, or a file of your own (native rules)" },
	{ "rules", 'r', OPT_TEXT, INTO(rules), "NAME",
		"native (the daemon's own scheduler; default), openb or muri" },
	{ "compare", 0, OPT_FLAG, INTO(compare), NULL, "every policy of the rules, in one table" },
	{ "figure", 0, OPT_TEXT, INTO(figure), "KEY",
		"what a table of several traces shows, such as avg_queue_s" },
	{ "durations", 0, OPT_TEXT, INTO(durations), "HOW",
		"learned (from jobs that ended; default), known, or unknown" },
	{ "restart-cost", 0, OPT_DURATION, INTO(restart_cost_ms), "TIME",
		"what a job that gave way does again when it comes back (0)" },
	{ "seed", 's', OPT_INT, INTO(seed), "N", "of what is random in the rules (42)", 0, INT64_MAX },
	{ "seeds", 0, OPT_TEXT, INTO(seeds), "FROM..TO", "a run for each; mean and deviation are shown" },
	{ "reader", 0, OPT_TEXT, INTO(reader), "NAME",
		"csv, philly, swf, muri or openb; else the first line tells" },
	{ "plot", 0, OPT_TEXT, INTO(plot), "PATH", "draw use, queue and fragmentation: FILE.svg or a folder" },
	{ "rows", 0, OPT_TEXT, INTO(rows), "FILE", "write when each job started and ended, as CSV" },
	{ "replay", 0, OPT_TEXT, INTO(replay), "FILE",
		"a journal of the daemon (setting record-plan) instead of a trace: are its decisions the same?" },
	{ "history", 0, OPT_DURATION, INTO(history_ms), "TIME",
		"the yard's own jobs of the last TIME instead of a trace: who would have waited how long?" },
	{ "json", 0, OPT_FLAG, INTO(json), NULL, "as JSON" },
	OPT_COLOUR(struct simulate_args, color),
};
/* clang-format on */

static int64_t clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int simulate_durations(const char *given, enum sim_durations *out, struct err *err)
{
	*out = SIM_LEARNED;
	for (int i = 0; given && i < SIM_DURATIONS_COUNT; i++)
		if (str_eq(given, sim_duration_names[i])) {
			*out = (enum sim_durations)i;
			return 0;
		}
	return given ? err_set(err, ERR_INVALID,
			       "--durations '%s': allowed is learned, known or unknown",
			       given)
		     : 0;
}

static int choose_seeds(const struct simulate_args *a, struct simulate_table *t,
			struct err *err)
{
	const char *dots = a->seeds ? strstr(a->seeds, "..") : NULL;
	int64_t from = 42, to;

	t->first_seed = a->seed ? (uint64_t)a->seed : 42;
	t->seed_count = 1;
	if (!a->seeds)
		return 0;
	AUTO_FREE char *first =
		dots ? mem_strndup(a->seeds, (size_t)(dots - a->seeds)) : NULL;
	if (!dots || str_to_i64(first, 0, INT64_MAX, &from) < 0 ||
	    str_to_i64(dots + 2, from, INT64_MAX, &to) < 0 || to - from >= SEEDS_MAX)
		return err_set(
			err, ERR_INVALID,
			"--seeds '%s': give two numbers such as 42..51, at most %d apart",
			a->seeds, SEEDS_MAX);
	t->first_seed = (uint64_t)from;
	t->seed_count = (size_t)(to - from) + 1;
	return 0;
}

/* A file is told from a name by its dot or its slash. */
static bool is_file(const char *name)
{
	return strpbrk(name, "./") != NULL;
}

static int read_policy(const struct sim_rules *r, struct simulate_policy *p,
		       struct err *err)
{
	AUTO_BUF struct buf text = { 0 };

	if (!r->custom)
		return err_set(err, ERR_INVALID,
			       "the %s rules take no policy from a file", r->name);
	if (simulate_read(p->name, &text, err) < 0)
		return -1;
	p->custom = simulate_policy_read(buf_str(&text), text.len, NULL, err);
	return p->custom ? 0 : err_wrap(err, "%s", p->name);
}

static void add_policy(struct simulate_table *t, size_t *cap, const char *name)
{
	mem_grow(&t->policies, cap, t->policy_count, sizeof *t->policies);
	t->policies[t->policy_count++] = (struct simulate_policy){ .name = name };
}

static int check_policy(const struct sim_rules *r, const char *name, struct err *err)
{
	AUTO_BUF struct buf all = { 0 };

	for (const struct sim_choice *p = r->policies; p->name; p++) {
		if (str_eq(p->name, name))
			return 0;
		buf_printf(&all, "%s%s", all.len ? ", " : "", p->name);
	}
	return err_set(err, ERR_INVALID, "the %s rules have no policy '%s'; they have %s",
		       r->name, name, buf_str(&all));
}

/* `names` is cut at its commas and must live as long as the table. */
static int choose_policies(const struct simulate_args *a, char *names,
			   struct simulate_table *t, struct err *err)
{
	size_t cap = 0;

	if (a->compare && a->policy)
		return err_set(err, ERR_INVALID,
			       "--compare runs every policy; leave --policy away");
	for (const struct sim_choice *p = t->rules->policies; a->compare && p->name; p++)
		add_policy(t, &cap, p->name);
	if (!a->compare && !names)
		add_policy(t, &cap, t->rules->policies[0].name);
	for (char *at = names, *next; at; at = next) {
		next = strchr(at, ',');
		if (next)
			*next++ = '\0';
		add_policy(t, &cap, at);
		if (is_file(at) ? read_policy(t->rules, &t->policies[t->policy_count - 1],
					      err) < 0
				: check_policy(t->rules, at, err) < 0)
			return -1;
	}
	return 0;
}

/* "traces/openb_pod_list_default.csv" is called openb_pod_list_default. */
static char *trace_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *base = slash ? slash + 1 : path;
	const char *dot = strrchr(base, '.');

	return dot && dot != base ? mem_strndup(base, (size_t)(dot - base))
				  : mem_strdup(base);
}

static int read_trace(const struct simulate_args *a, const struct sim_rules *rules,
		      const char *path, struct sim_trace *out, struct err *err)
{
	AUTO_BUF struct buf text = { 0 };
	AUTO_BUF struct buf more = { 0 };
	AUTO_FREE char *beside = NULL;

	if (simulate_read(path, &text, err) < 0)
		return -1;
	if (sim_trace_read(a->reader, buf_str(&text), text.len, out, err) < 0)
		return err_wrap(err, "%s", path);
	if (rules->reader && !str_eq(rules->reader, out->reader->name))
		return err_set(err, ERR_INVALID,
			       "%s: the %s rules take traces of %s, this is %s", path,
			       rules->name, rules->reader, out->reader->name);
	if (!out->count)
		return err_set(err, ERR_INVALID, "%s: there is no job in it", path);
	if (out->reader->companion)
		beside = out->reader->companion(path);
	if (!beside || access(beside, R_OK) < 0)
		return 0;
	if (simulate_read(beside, &more, err) < 0)
		return -1;
	if (out->reader->join(out, buf_str(&more), more.len, err) < 0)
		return err_wrap(err, "%s", beside);
	return 0;
}

static int read_cluster(const struct simulate_args *a, const struct sim_rules *rules,
			const struct sim_trace *trace, const char *path,
			struct sim_cluster *out, struct err *err)
{
	AUTO_FREE char *beside = NULL;

	if (a->cluster)
		return simulate_cluster(a->cluster, out, err);
	if (trace->reader->cluster_beside)
		beside = trace->reader->cluster_beside(path);
	if (beside && access(beside, R_OK) == 0)
		return simulate_cluster(beside, out, err);
	if (rules->cluster)
		return sim_cluster_short(rules->cluster, out, err);
	return err_set(err, ERR_INVALID,
		       "on which nodes? --cluster 80x8 is 80 nodes of 8 devices");
}

static void add_memory(struct sim_result *r)
{
	struct rusage u;

	if (getrusage(RUSAGE_SELF, &u) == 0)
		sim_figure_set(r, "peak_memory_bytes", (double)u.ru_maxrss * 1024);
}

static int run_all(const struct simulate_table *t, struct sim_setup *s,
		   struct simulate_trace *out, struct err *err)
{
	out->runs = mem_alloc(t->policy_count * t->seed_count, sizeof *out->runs);
	for (size_t p = 0; p < t->policy_count; p++)
		for (size_t k = 0; k < t->seed_count; k++) {
			struct sim_result *r = &out->runs[p * t->seed_count + k];
			s->policy = t->policies[p].name;
			s->custom = t->policies[p].custom;
			s->seed = t->first_seed + k;
			if (t->rules->run(s, r, err) < 0)
				return err_wrap(err, "%s", out->name);
			add_memory(r);
		}
	return 0;
}

static void count_devices(const struct sim_cluster *c, struct simulate_trace *out)
{
	out->nodes = c->count;
	for (size_t i = 0; i < c->count; i++)
		for (size_t k = 0; k < DEVICE_KINDS_MAX; k++)
			out->devices += c->nodes[i].capacity.devices[k].count;
}

static int run_trace(const struct simulate_args *a, const struct simulate_table *t,
		     const char *path, struct simulate_trace *out, struct err *err)
{
	struct sim_cluster cluster = { 0 };
	struct sim_setup s = { .trace = &out->trace,
			       .cluster = &cluster,
			       .restart_cost_ms = a->restart_cost_ms,
			       .clock_ns = clock_ns };
	int result = -1;

	out->name = trace_name(path);
	if (simulate_durations(a->durations, &s.durations, err) == 0 &&
	    read_trace(a, t->rules, path, &out->trace, err) == 0 &&
	    read_cluster(a, t->rules, &out->trace, path, &cluster, err) == 0) {
		count_devices(&cluster, out);
		result = run_all(t, &s, out, err);
	}
	sim_cluster_fini(&cluster);
	return result;
}

static void table_fini(struct simulate_table *t)
{
	for (size_t i = 0; i < t->trace_count; i++) {
		struct simulate_trace *x = &t->traces[i];
		for (size_t k = 0; x->runs && k < t->policy_count * t->seed_count; k++)
			sim_result_fini(&x->runs[k]);
		free(x->runs);
		free(x->name);
		sim_trace_fini(&x->trace);
	}
	for (size_t i = 0; i < t->policy_count; i++)
		simulate_policy_destroy(t->policies[i].custom);
	free(t->traces);
	free(t->policies);
}

static int fill_table(const struct simulate_args *a, const struct opts_list *paths,
		      char *names, struct simulate_table *t, struct err *err)
{
	t->rules = sim_rules_find(a->rules ? a->rules : "native", err);
	t->durations = a->durations ? a->durations : "learned";
	t->figure = a->figure;
	if (!t->rules || choose_seeds(a, t, err) < 0 ||
	    choose_policies(a, names, t, err) < 0)
		return -1;
	t->traces = mem_alloc(paths->count, sizeof *t->traces);
	for (size_t i = 0; i < paths->count; i++) {
		t->trace_count++;
		if (run_trace(a, t, paths->items[i], &t->traces[i], err) < 0)
			return -1;
	}
	return 0;
}

/* Some run has it. */
static int check_figure(const struct simulate_table *t, struct err *err)
{
	double value;

	for (size_t i = 0; i < t->trace_count && t->figure; i++) {
		for (size_t k = 0; k < t->policy_count * t->seed_count; k++) {
			if (sim_figure_get(&t->traces[i].runs[k], t->figure, &value))
				return 0;
		}
	}
	return !t->figure ? 0
			  : err_set(err, ERR_INVALID,
				    "--figure '%s': no run has that; --json shows what "
				    "there is",
				    t->figure);
}

static int run_traces(struct cli *c, const struct simulate_args *a,
		      const struct opts_list *paths)
{
	AUTO_FREE char *names = mem_strdup(a->policy);
	struct simulate_table t = { 0 };
	struct err err;
	int code = 0;

	if (fill_table(a, paths, names, &t, &err) < 0 || check_figure(&t, &err) < 0 ||
	    (a->plot && simulate_plot(&t, a->plot, &err) < 0) ||
	    (a->rows && simulate_rows(&t, a->rows, &err) < 0))
		code = cli_fail(c, &err);
	else if (a->json)
		simulate_print_json(&t);
	else
		simulate_print(c, &t);
	table_fini(&t);
	return code;
}

static int run_simulate(struct cli *c, const void *args, const struct opts_list *operands)
{
	const struct simulate_args *a = args;
	bool other = a->replay || a->history_ms;
	struct err err;

	if (cli_colour(c, a->color, &err) < 0)
		return cli_fail(c, &err);
	if ((a->replay && a->history_ms) || (other && operands->count)) {
		err_set(&err, ERR_INVALID, "give one of TRACE, --replay and --history");
		return cli_fail(c, &err);
	}
	if (!other && !operands->count) {
		err_set(&err, ERR_INVALID,
			"which trace? such as: yard simulate jobs.csv --cluster 80x8");
		return cli_fail(c, &err);
	}
	if (a->replay)
		return simulate_replay(c, a);
	if (a->history_ms)
		return simulate_history(c, a);
	return run_traces(c, a, operands);
}

const struct command cmd_simulate = {
	.name = "simulate",
	.group = COMMAND_YARD,
	.operands = "[TRACE...]",
	.summary = "run a trace of jobs through the scheduler on a virtual clock",
	.table = simulate_opts,
	.count = COUNT_OF(simulate_opts),
	.args_size = sizeof(struct simulate_args),
	.operands_max = TRACES_MAX,
	.alone = true,
	.run = run_simulate,
};
