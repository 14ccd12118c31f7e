// SPDX-License-Identifier: Apache-2.0
/* `yard simulate --history`: who waited how long, and would have under another policy. */
#include "cli/simulate_history.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/units.h"
#include "cli/view.h"
#include "sim/report.h"

/* The policies that are compared: what is set now, and a file's. */
enum { PRESENT, OTHER, POLICY_COUNT };

struct person {
	const char *name; /* the trace's; NULL: nobody's */
	size_t jobs;
	double waited_s;              /* really, all jobs together */
	double would_s[POLICY_COUNT]; /* of those that ended in the simulation */
	double longest_s[1 + POLICY_COUNT];
};

struct history {
	struct past past;
	struct sim_result runs[POLICY_COUNT];
	struct sim_policy *other; /* NULL: only what is set now */
	const char *other_name;
	int64_t since_ms;
};

static double more(double a, double b)
{
	return a > b ? a : b;
}

static double wait_in(const struct sim_result *r, size_t job)
{
	const struct sim_row *row = &r->rows[job];

	return row->end_s < 0 ? 0 : row->end_s - row->submit_s - row->ran_s;
}

static void count(const struct history *h, size_t job, struct person *p)
{
	double waited = h->past.waited_s[h->past.trace.jobs[job].row];

	p->jobs++;
	p->waited_s += waited;
	p->longest_s[0] = more(p->longest_s[0], waited);
	for (int k = 0; k < (h->other ? POLICY_COUNT : 1); k++) {
		double would = wait_in(&h->runs[k], job);
		p->would_s[k] += would;
		p->longest_s[k + 1] = more(p->longest_s[k + 1], would);
	}
}

static int by_change(const void *a, const void *b)
{
	const struct person *x = a, *y = b;

	if (x->waited_s != y->waited_s)
		return x->waited_s > y->waited_s ? -1 : 1;
	return strcmp(x->name ? x->name : "", y->name ? y->name : "");
}

/* By user or by group; who waited most first.  The caller frees. */
static struct person *people_of(const struct history *h, bool groups, size_t *count_out)
{
	struct map *at = map_create(); /* name → place, from 1 */
	struct person *list = NULL;
	size_t n = 0, cap = 0;

	for (size_t i = 0; i < h->past.trace.count; i++) {
		const struct sim_job *j = &h->past.trace.jobs[i];
		const char *name = groups ? j->group : j->user;
		size_t place = (size_t)(uintptr_t)map_gets(at, name ? name : "");
		if (!place) {
			mem_grow(&list, &cap, n, sizeof *list);
			list[n] = (struct person){ .name = name };
			place = ++n;
			map_puts(at, name ? name : "", (void *)(uintptr_t)place);
		}
		count(h, i, &list[place - 1]);
	}
	map_destroy(at);
	if (n)
		qsort(list, n, sizeof *list, by_change);
	*count_out = n;
	return list;
}

static void time_cell(struct table *t, double seconds, const struct person *than)
{
	char text[UNITS_TEXT_MAX];
	enum table_colour colour = TABLE_PLAIN;
	double before = than ? than->would_s[PRESENT] / (double)than->jobs : 0;

	if (than && seconds > 1.05 * before + 1)
		colour = TABLE_BAD;
	else if (than && seconds < 0.95 * before - 1)
		colour = TABLE_GOOD;
	table_cell(t, colour, "%s", units_show_duration((int64_t)(seconds * 1000), text));
}

static void print_people(const struct cli *c, const struct history *h, bool groups)
{
	const char *heads[] = {
		groups ? "GROUP" : "USER", ">JOBS",    ">WAITED", ">LONGEST",
		">NOW'S POLICY",           ">LONGEST", ">",       ">LONGEST"
	};
	AUTO_FREE char *other = str_printf(">%s", h->other_name ? h->other_name : "");
	size_t n;
	struct person *list = people_of(h, groups, &n);
	struct table *t;

	heads[6] = other;
	t = table_create(heads, h->other ? 8 : 6);
	for (size_t i = 0; i < n; i++) {
		const struct person *p = &list[i];
		double jobs = (double)p->jobs;
		table_cell(t, TABLE_PLAIN, "%s", p->name ? p->name : "-");
		table_cell(t, TABLE_PLAIN, "%zu", p->jobs);
		time_cell(t, p->waited_s / jobs, NULL);
		time_cell(t, p->longest_s[0], NULL);
		time_cell(t, p->would_s[PRESENT] / jobs, NULL);
		time_cell(t, p->longest_s[1], NULL);
		if (!h->other)
			continue;
		time_cell(t, p->would_s[OTHER] / jobs, p);
		time_cell(t, p->longest_s[2], NULL);
	}
	view_print(c, t);
	table_destroy(t);
	free(list);
}

static void people_json(struct json *j, const struct history *h, bool groups)
{
	size_t n;
	struct person *list = people_of(h, groups, &n);

	json_array(j, groups ? "groups" : "users");
	for (size_t i = 0; i < n; i++) {
		const struct person *p = &list[i];
		double jobs = (double)p->jobs;
		json_object(j, NULL);
		json_str(j, "name", p->name);
		json_i64(j, "jobs", (int64_t)p->jobs);
		sim_double_json(j, "avg_waited_s", p->waited_s / jobs);
		sim_double_json(j, "max_waited_s", p->longest_s[0]);
		sim_double_json(j, "avg_present_s", p->would_s[PRESENT] / jobs);
		sim_double_json(j, "max_present_s", p->longest_s[1]);
		if (h->other) {
			sim_double_json(j, "avg_other_s", p->would_s[OTHER] / jobs);
			sim_double_json(j, "max_other_s", p->longest_s[2]);
		}
		json_end(j);
	}
	json_end(j);
	free(list);
}

static void print(struct cli *c, const struct history *h, bool as_json)
{
	AUTO_BUF struct buf out = { 0 };
	char when[UNITS_TEXT_MAX];
	struct json j;

	if (as_json) {
		json_init(&j, &out);
		json_object(&j, NULL);
		json_i64(&j, "since_ms", h->since_ms);
		json_i64(&j, "jobs", (int64_t)h->past.trace.count);
		json_i64(&j, "nodes", (int64_t)h->past.nodes.count);
		json_bool(&j, "present_policy_known", h->past.policy_known);
		people_json(&j, h, false);
		people_json(&j, h, true);
		json_end(&j);
		cli_print_json(&out);
		return;
	}
	buf_printf(
		&out,
		"%zu jobs since %s on the %zu nodes of today: the average wait, as it was and as it would have been\n",
		h->past.trace.count, units_show_time(h->since_ms, when),
		h->past.nodes.count);
	cli_print(&out);
	print_people(c, h, false);
	cli_print(&(struct buf){ .data = (char[]){ "\n" }, .len = 1 });
	print_people(c, h, true);
	if (!h->past.policy_known)
		cli_hint(c,
			 "only an admin sees the settings: for the policy of today the "
			 "defaults were taken");
}

static int run(struct history *h, const struct simulate_args *a, struct err *err)
{
	struct sim_setup s = { .trace = &h->past.trace,
			       .cluster = &h->past.nodes,
			       .custom = h->past.policy,
			       .restart_cost_ms = a->restart_cost_ms };
	const struct sim_rules *native = sim_rules_find("native", err);

	if (!native || simulate_durations(a->durations, &s.durations, err) < 0 ||
	    native->run(&s, &h->runs[PRESENT], err) < 0)
		return -1;
	s.custom = h->other;
	return h->other ? native->run(&s, &h->runs[OTHER], err) : 0;
}

static int prepare(struct cli *c, struct history *h, const struct simulate_args *a,
		   struct err *err)
{
	AUTO_BUF struct buf text = { 0 };

	if (past_read(c, h->since_ms, &h->past, err) < 0)
		return -1;
	if (!h->past.trace.count)
		return err_set(err, ERR_NOT_FOUND, "no job of that time has run");
	if (!a->policy)
		return 0;
	h->other_name = a->policy;
	if (simulate_read(a->policy, &text, err) < 0)
		return -1;
	h->other = simulate_policy_read(buf_str(&text), text.len, h->past.policy, err);
	return h->other ? 0 : err_wrap(err, "%s", a->policy);
}

int simulate_history(struct cli *c, const struct simulate_args *a)
{
	struct history h = { .since_ms = cli_now_ms() - a->history_ms };
	struct err err;
	int code = 0;

	if (server_find(&c->server, c->context, &err) < 0)
		return cli_fail(c, &err);
	c->client = client_create(&c->server, false, NULL);
	if (prepare(c, &h, a, &err) < 0 || run(&h, a, &err) < 0)
		code = cli_fail(c, &err);
	else
		print(c, &h, a->json);
	for (int i = 0; i < POLICY_COUNT; i++)
		sim_result_fini(&h.runs[i]);
	simulate_policy_destroy(h.other);
	past_fini(&h.past);
	client_destroy(TAKE(c->client));
	server_fini(&c->server);
	return code;
}
