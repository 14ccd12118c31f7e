// SPDX-License-Identifier: Apache-2.0
/* What `yard simulate` prints: a run in full, policies in a table, traces in a table. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "cli/simulate.h"
#include "cli/view.h"
#include "sim/chart.h"
#include "sim/report.h"

#define GROUPS_SHOWN 12
#define LABEL_WIDTH  32

static const struct sim_result *runs_of(const struct simulate_table *t,
					const struct simulate_trace *x, size_t policy)
{
	return &x->runs[policy * t->seed_count];
}

static void show(enum sim_kind kind, const struct sim_spread *s, struct buf *out)
{
	sim_value_show(kind, s->mean, out);
	if (s->count > 1 && s->sd > 0) {
		buf_adds(out, " ± ");
		sim_value_show(kind, s->sd, out);
	}
}

static void say_title(const struct simulate_table *t, const struct simulate_trace *x,
		      const char *policy, struct buf *out)
{
	AUTO_BUF struct buf number = { 0 };

	sim_value_show(SIM_COUNT, (double)x->trace.count, &number);
	buf_printf(out, "%s: %s jobs on %zu nodes with %" PRId64 " devices; %s rules",
		   x->name, buf_str(&number), x->nodes, x->devices, t->rules->name);
	if (policy)
		buf_printf(out, ", policy %s", policy);
	if (t->rules->custom)
		buf_printf(out, ", durations %s", t->durations);
	if (t->seed_count > 1)
		buf_printf(out, ", seeds %" PRIu64 " to %" PRIu64, t->first_seed,
			   t->first_seed + t->seed_count - 1);
	if (x->trace.skipped)
		buf_printf(out, " (%zu lines held no job that ran)", x->trace.skipped);
	buf_addc(out, '\n');
}

static void say_line(const char *words, const struct buf *value, struct buf *out)
{
	buf_printf(out, "  %-*s %s\n", LABEL_WIDTH, words, buf_str(value));
}

static bool known_key(const char *key)
{
	for (const struct sim_label *l = sim_labels; l->words; l++)
		if (l->key && str_eq(l->key, key))
			return true;
	return false;
}

/* A heading is printed before the first figure of its section that there is. */
static void say_figures(const struct simulate_table *t, const struct sim_result *runs,
			struct buf *out)
{
	const char *heading = NULL;

	for (const struct sim_label *l = sim_labels; l->words; l++) {
		AUTO_BUF struct buf value = { 0 };
		struct sim_spread s;
		if (!l->key)
			heading = l->words;
		if (!l->key || !sim_spread_of(runs, t->seed_count, l->key, &s))
			continue;
		if (heading)
			buf_printf(out, "%s\n", heading);
		heading = NULL;
		show(l->kind, &s, &value);
		say_line(l->words, &value, out);
	}
	heading = "Of these rules";
	for (size_t i = 0; i < runs->figure_count; i++) {
		AUTO_BUF struct buf value = { 0 };
		struct sim_spread s;
		struct sim_label l;
		if (known_key(runs->figures[i].key) ||
		    !sim_spread_of(runs, t->seed_count, runs->figures[i].key, &s))
			continue;
		if (heading)
			buf_printf(out, "%s\n", heading);
		heading = NULL;
		sim_label_of(runs->figures[i].key, &l);
		show(l.kind, &s, &value);
		say_line(l.words, &value, out);
	}
}

static void say_groups(const struct cli *c, const struct sim_result *r)
{
	static const char *const heads[] = { "GROUP",  ">JOBS",      ">DEVICE HOURS",
					     ">SHARE", ">AVG QUEUE", ">MAX QUEUE" };
	size_t count;
	struct sim_share *list = sim_shares(r, &count);
	struct table *t = table_create(heads, COUNT_OF(heads));
	double all = 0;

	for (size_t i = 0; i < count; i++)
		all += list[i].device_s;
	for (size_t i = 0; i < count && i < GROUPS_SHOWN; i++) {
		const struct sim_share *s = &list[i];
		AUTO_BUF struct buf hours = { 0 };
		AUTO_BUF struct buf avg = { 0 };
		AUTO_BUF struct buf worst = { 0 };
		sim_value_show(SIM_COUNT, s->device_s / 3600, &hours);
		sim_value_show(SIM_SECONDS, s->queue_s / (s->jobs ? (double)s->jobs : 1),
			       &avg);
		sim_value_show(SIM_SECONDS, s->worst_queue_s, &worst);
		table_cell(t, TABLE_PLAIN, "%s", s->group ? s->group : "-");
		table_cell(t, TABLE_PLAIN, "%zu", s->jobs);
		table_cell(t, TABLE_PLAIN, "%s", buf_str(&hours));
		table_cell(t, TABLE_PLAIN, "%.1f %%",
			   all > 0 ? 100 * s->device_s / all : 0);
		table_cell(t, TABLE_PLAIN, "%s", buf_str(&avg));
		table_cell(t, TABLE_PLAIN, "%s", buf_str(&worst));
	}
	if (count > 1) {
		printf("\n");
		fflush(stdout);
		view_print(c, t);
	}
	if (count > GROUPS_SHOWN)
		cli_hint(c, "and %zu groups with less; --json has them all",
			 count - GROUPS_SHOWN);
	table_destroy(t);
	free(list);
}

static void print_run(const struct cli *c, const struct simulate_table *t)
{
	const struct simulate_trace *x = &t->traces[0];
	AUTO_BUF struct buf out = { 0 };
	AUTO_BUF struct buf hash = { 0 };

	say_title(t, x, t->policies[0].name, &out);
	say_figures(t, x->runs, &out);
	buf_adds(&hash, x->runs[0].hash);
	if (hash.len && t->seed_count == 1)
		say_line("hash of the decisions", &hash, &out);
	cli_print(&out);
	if (x->runs[0].row_count)
		say_groups(c, x->runs);
}

/* A table of numbers: it borrows the heads, which are made here. */
struct numbers {
	struct table *table;
	char *heads[TABLE_COLUMNS_MAX];
	size_t count;
};

static void numbers_init(struct numbers *n, const char *first, const char *const *words,
			 size_t count)
{
	*n = (struct numbers){ .count = count + 1 };
	n->heads[0] = mem_strdup(first);
	for (size_t i = 0; i < count; i++)
		n->heads[i + 1] = str_printf(">%s", words[i]);
	n->table = table_create((const char *const *)n->heads, n->count);
}

static void numbers_print(struct numbers *n, const struct cli *c)
{
	view_print(c, n->table);
	table_destroy(n->table);
	for (size_t i = 0; i < n->count; i++)
		free(n->heads[i]);
}

static void cell(struct table *t, const struct simulate_table *x,
		 const struct sim_result *runs, const char *key)
{
	AUTO_BUF struct buf value = { 0 };
	struct sim_spread s;
	struct sim_label l;

	sim_label_of(key, &l);
	if (sim_spread_of(runs, x->seed_count, key, &s))
		show(l.kind, &s, &value);
	table_cell(t, TABLE_PLAIN, "%s", value.len ? buf_str(&value) : "-");
}

static void print_policies(const struct cli *c, const struct simulate_table *x)
{
	const char *heads[TABLE_COLUMNS_MAX];
	AUTO_BUF struct buf title = { 0 };
	struct numbers n;
	size_t count = 0;

	for (; x->rules->columns[count] && count + 1 < TABLE_COLUMNS_MAX; count++) {
		struct sim_label l;
		sim_label_of(x->rules->columns[count], &l);
		heads[count] = l.head;
	}
	say_title(x, &x->traces[0], NULL, &title);
	cli_print(&title);
	numbers_init(&n, "POLICY", heads, count);
	for (size_t p = 0; p < x->policy_count; p++) {
		table_cell(n.table, TABLE_PLAIN, "%s", x->policies[p].name);
		for (size_t k = 0; k < count; k++)
			cell(n.table, x, runs_of(x, &x->traces[0], p),
			     x->rules->columns[k]);
	}
	numbers_print(&n, c);
}

static void print_traces(const struct cli *c, const struct simulate_table *x)
{
	const char *key = x->figure            ? x->figure
			  : x->rules->headline ? x->rules->headline
					       : x->rules->columns[0];
	const char *heads[TABLE_COLUMNS_MAX];
	AUTO_BUF struct buf title = { 0 };
	struct sim_label l;
	struct numbers n;
	size_t count = x->policy_count < TABLE_COLUMNS_MAX - 1 ? x->policy_count
							       : TABLE_COLUMNS_MAX - 1;

	sim_label_of(key, &l);
	buf_printf(&title, "%s; %s rules", str_eq(l.words, key) ? key : l.head,
		   x->rules->name);
	if (x->seed_count > 1)
		buf_printf(&title, ", mean ± deviation of seeds %" PRIu64 " to %" PRIu64,
			   x->first_seed, x->first_seed + x->seed_count - 1);
	buf_addc(&title, '\n');
	cli_print(&title);
	for (size_t p = 0; p < count; p++)
		heads[p] = x->policies[p].name;
	numbers_init(&n, "TRACE", heads, count);
	for (size_t i = 0; i < x->trace_count; i++) {
		table_cell(n.table, TABLE_PLAIN, "%s", x->traces[i].name);
		for (size_t p = 0; p < count; p++)
			cell(n.table, x, runs_of(x, &x->traces[i], p), key);
	}
	numbers_print(&n, c);
}

void simulate_print(const struct cli *c, const struct simulate_table *t)
{
	if (t->trace_count > 1)
		print_traces(c, t);
	else if (t->policy_count > 1)
		print_policies(c, t);
	else
		print_run(c, t);
}

static void run_json(const struct simulate_table *t, size_t trace, size_t at,
		     struct json *j)
{
	const struct simulate_trace *x = &t->traces[trace];

	json_object(j, NULL);
	json_str(j, "trace", x->name);
	json_str(j, "rules", t->rules->name);
	json_str(j, "policy", t->policies[at / t->seed_count].name);
	json_i64(j, "seed", (int64_t)(t->first_seed + at % t->seed_count));
	if (t->rules->custom)
		json_str(j, "durations", t->durations);
	json_i64(j, "nodes", (int64_t)x->nodes);
	json_i64(j, "devices", x->devices);
	sim_result_json(&x->runs[at], j);
	json_end(j);
}

void simulate_print_json(const struct simulate_table *t)
{
	size_t each = t->policy_count * t->seed_count;
	bool one = t->trace_count * each == 1;
	AUTO_BUF struct buf out = { 0 };
	struct json j;

	json_init(&j, &out);
	if (!one) {
		json_object(&j, NULL);
		json_array(&j, "runs");
	}
	for (size_t i = 0; i < t->trace_count; i++)
		for (size_t k = 0; k < each; k++)
			run_json(t, i, k, &j);
	if (!one) {
		json_end(&j);
		json_end(&j);
	}
	cli_print_json(&out);
}

/* ---- pictures ---- */

static int plot_file(const struct simulate_table *t, const struct simulate_trace *x,
		     unsigned panels, const char *path, struct err *err)
{
	struct chart_line *lines = mem_alloc(t->policy_count, sizeof *lines);
	AUTO_BUF struct buf title = { 0 };
	AUTO_BUF struct buf out = { 0 };
	int result;

	for (size_t p = 0; p < t->policy_count; p++)
		lines[p] = (struct chart_line){ t->policies[p].name, runs_of(t, x, p) };
	say_title(t, x, NULL, &title);
	buf_cut(&title, title.len - 1);
	chart_svg(&(struct chart){ .title = buf_str(&title),
				   .lines = lines,
				   .count = t->policy_count,
				   .panels = panels },
		  &out);
	result = simulate_write(path, &out, err);
	free(lines);
	return result;
}

int simulate_plot(const struct simulate_table *t, const char *path, struct err *err)
{
	if (str_ends(path, ".svg")) {
		if (t->trace_count > 1)
			return err_set(err, ERR_INVALID,
				       "--plot %s: for several traces give a folder",
				       path);
		return plot_file(t, &t->traces[0], (1u << CHART_PANEL_COUNT) - 1, path,
				 err);
	}
	if (mkdir(path, 0777) < 0 && errno != EEXIST)
		return err_sys(err, "--plot %s", path);
	for (size_t i = 0; i < t->trace_count; i++)
		for (int p = 0; p < CHART_PANEL_COUNT; p++) {
			AUTO_FREE char *file = t->trace_count > 1
						       ? str_printf("%s/%s-%s.svg", path,
								    t->traces[i].name,
								    chart_panel_names[p])
						       : str_printf("%s/%s.svg", path,
								    chart_panel_names[p]);
			if (plot_file(t, &t->traces[i], 1u << p, file, err) < 0)
				return -1;
		}
	return 0;
}

int simulate_rows(const struct simulate_table *t, const char *path, struct err *err)
{
	AUTO_BUF struct buf out = { 0 };

	if (t->trace_count * t->policy_count * t->seed_count != 1)
		return err_set(err, ERR_INVALID,
			       "--rows is for one trace, policy and seed");
	if (!t->traces[0].runs[0].row_count)
		return err_set(err, ERR_INVALID, "the %s rules have no rows of jobs",
			       t->rules->name);
	sim_rows_csv(&t->traces[0].runs[0], &out);
	return simulate_write(path, &out, err);
}
