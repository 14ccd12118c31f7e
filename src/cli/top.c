// SPDX-License-Identifier: Apache-2.0
/* top.c - `yard top`: what goes on, full screen; the view itself is top_view.c.
 *
 * Every round asks on a connection of its own, so that a daemon that has gone is said at
 * once and does not hold up the keys.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/cli.h"
#include "cli/measure.h"
#include "cli/show.h"
#include "cli/term.h"
#include "cli/top_view.h"
#include "cli/view.h"

#define REFRESH_MS   2000
#define JOBS_MAX     500
#define MEASURED_MAX 40 /* jobs whose use is asked for in one round */
#define NODES_MAX    256
#define LOG_LINES    500
#define ONCE_COLS    120
#define SIGNAL_EXIT  128

struct top_args {
	bool once;
	const char *color;
};

/* clang-format off */
static const struct opt top_table[] = {
	{ "once", '1', OPT_FLAG, OPT_INTO(struct top_args, once), NULL, "print it once and leave, also into a pipe" },
	OPT_COLOUR(struct top_args, color),
};
/* clang-format on */

struct known { /* what a job used when it was asked last */
	int64_t job;
	struct meter meter;
};

struct session {
	struct cli *cli;
	struct top top;
	int64_t page_job; /* whose page is open */
	struct known known[MEASURED_MAX];
};

static int read_nodes(struct cli *c, struct top *t, struct err *err)
{
	AUTO_ANSWER struct answer a = { 0 };

	if (cli_get(c, &a, err, "/nodes") < 0)
		return -1;
	const struct doc_node *list = doc_get(doc_root(a.doc), "nodes");
	size_t count = list && list->count < NODES_MAX ? list->count
		       : list                          ? NODES_MAX
						       : 0;
	free(t->nodes);
	t->nodes = mem_alloc(count + 1, sizeof *t->nodes);
	t->node_count = 0;
	for (const struct doc_node *n = list ? list->first : NULL;
	     n && t->node_count < count; n = n->next)
		wire_node_read(n, &t->nodes[t->node_count++]);
	return 0;
}

static int read_jobs(struct cli *c, struct top *t, struct err *err)
{
	AUTO_ANSWER struct answer a = { 0 };

	if (cli_get(c, &a, err, "/jobs?state=live&limit=%d", JOBS_MAX) < 0)
		return -1;
	top_forget_jobs(t);
	const struct doc_node *list = doc_get(doc_root(a.doc), "jobs");
	for (const struct doc_node *n = list ? list->first : NULL; n; n = n->next) {
		struct top_job *j = top_add_job(t);
		struct wire_row r;
		wire_row_read(n, &r);
		j->id = r.id;
		j->name = mem_strdup(r.name);
		j->owner = mem_strdup(r.owner);
		j->reason = mem_strdup(r.reason);
		j->state = r.state;
		j->tasks = r.task_count;
		j->submitted_ms = r.submitted_ms;
		j->started_ms = r.started_ms;
		j->members = r.members;
		j->members_ended = r.members_ended;
	}
	return 0;
}

/* Why those at the head of the queue wait: beside the list, when the server tells it. */
static void read_queue(struct cli *c, struct top *t)
{
	AUTO_ANSWER struct answer a = { 0 };
	struct err ignored;

	if (!top_waiting(t) || cli_get(c, &a, &ignored, "/queue") < 0)
		return;
	const struct doc_node *list = doc_get(doc_root(a.doc), "queue");
	for (const struct doc_node *n = list ? list->first : NULL; n; n = n->next) {
		int64_t id = doc_i64(n, "id", 0);
		for (size_t i = 0; i < t->job_count; i++) {
			struct top_job *j = &t->jobs[i];
			if (j->id != id)
				continue;
			j->position = (int)doc_i64(n, "position", 0);
			free(j->reason);
			j->reason = mem_strdup(doc_str(n, "reason", ""));
		}
	}
}

static void measure_one(struct session *s, struct cli *c, struct top_job *j,
			struct known *now)
{
	struct measure m;

	measure_job(c, j->id, j->tasks, &m);
	now->job = j->id;
	for (size_t i = 0; i < MEASURED_MAX; i++)
		if (s->known[i].job == j->id)
			now->meter = s->known[i].meter;
	if (!m.tasks)
		return;
	j->cpu_milli = meter_cpu_milli(&now->meter, &m, j->started_ms);
	j->memory_bytes = m.memory_bytes;
}

static void read_usage(struct session *s, struct cli *c)
{
	struct known now[MEASURED_MAX] = { 0 };
	size_t n = 0;

	for (size_t i = 0; i < s->top.job_count && n < MEASURED_MAX; i++)
		if (s->top.jobs[i].state == JOB_RUNNING && !s->top.jobs[i].members)
			measure_one(s, c, &s->top.jobs[i], &now[n++]);
	memcpy(s->known, now, sizeof now);
}

static struct cli fresh(const struct session *s)
{
	struct cli c = *s->cli;

	c.client = client_create(&s->cli->server, false, NULL);
	c.colour_out = false; /* pages are cells, not bytes */
	return c;
}

static void refresh(struct session *s)
{
	struct cli c = fresh(s);
	struct err err;

	s->top.now_ms = cli_now_ms();
	if (read_nodes(&c, &s->top, &err) < 0 || read_jobs(&c, &s->top, &err) < 0) {
		top_say(&s->top, "%s", err.text);
	} else {
		read_queue(&c, &s->top);
		read_usage(s, &c);
		top_settle(&s->top);
	}
	client_destroy(c.client);
}

static void open_show(struct session *s, int64_t job)
{
	struct cli c = fresh(s);
	AUTO_BUF struct buf out = { 0 };
	char title[64];
	struct err err;

	snprintf(title, sizeof title, "job %" PRId64, job);
	if (show_job(&c, title + 4, &out, &err) < 0)
		top_say(&s->top, "%s", err.text);
	else
		top_open_page(&s->top, title, buf_take(&out), false);
	client_destroy(c.client);
}

static void open_log(struct session *s, int64_t job)
{
	struct cli c = fresh(s);
	AUTO_ANSWER struct answer a = { 0 };
	char title[64], target[96];
	struct err err;

	snprintf(title, sizeof title, "log of job %" PRId64, job);
	snprintf(target, sizeof target, "/jobs/%" PRId64 "/logs?tail=%d&format=text", job,
		 LOG_LINES);
	struct request r = { .method = "GET", .target = target };
	if (client_call(c.client, &r, &a, &err) < 0)
		top_say(&s->top, "%s", err.text);
	else
		top_open_page(&s->top, title, mem_strdup(buf_str(&a.body)), true);
	client_destroy(c.client);
}

static void stop_job(struct session *s, int64_t job)
{
	static const char body[] = "{\"reason\":\"stopped in yard top\"}";
	struct cli c = fresh(s);
	AUTO_ANSWER struct answer a = { 0 };
	char target[64];
	struct err err;

	snprintf(target, sizeof target, "/jobs/%" PRId64 "/stop", job);
	struct request r = { .method = "POST",
			     .target = target,
			     .body = body,
			     .body_len = sizeof body - 1 };
	if (client_call(c.client, &r, &a, &err) < 0)
		top_say(&s->top, "%s", err.text);
	else
		top_say(&s->top, "job %" PRId64 " is being stopped", job);
	client_destroy(c.client);
}

static void draw(struct session *s, int rows, int cols)
{
	AUTO_BUF struct buf out = { 0 };
	struct screen *screen = screen_create(rows, cols);

	top_draw(&s->top, screen);
	screen_render(screen, s->cli->colour_out, &out);
	cli_write(STDOUT_FILENO, out.data, out.len);
	screen_destroy(screen);
}

static void grant(struct session *s, enum top_wish wish)
{
	const struct top_job *j = top_selected(&s->top);
	int64_t job = j ? j->id : 0;

	switch (wish) {
	case TOP_SHOW:
		s->page_job = job;
		open_show(s, job);
		break;
	case TOP_LOGS:
		s->page_job = job;
		open_log(s, job);
		break;
	case TOP_STOP:
		stop_job(s, job);
		break;
	case TOP_REFRESH:
		refresh(s);
		break;
	case TOP_NOTHING:
	case TOP_QUIT:
		break;
	}
}

/* What is looked at grows: a log by its end, a list in its place. */
static void look_again(struct session *s)
{
	if (s->top.mode != TOP_PAGE)
		refresh(s);
	else if (s->top.page_is_log)
		open_log(s, s->page_job);
}

static int loop(struct session *s, struct term *term)
{
	int64_t next = cli_now_ms() + REFRESH_MS;
	int rows, cols;

	for (;;) {
		term_size(term, &rows, &cols);
		draw(s, rows, cols);
		int64_t left = next - cli_now_ms();
		int key = left > 0 ? term_wait(term, (int)left) : TERM_NONE;
		if (key == TERM_GONE)
			return term_signal(term) ? SIGNAL_EXIT + term_signal(term) : 1;
		if (key == TERM_NONE && cli_now_ms() >= next) {
			look_again(s);
			next = cli_now_ms() + REFRESH_MS;
		}
		if (key == TERM_NONE || key == TERM_RESIZED)
			continue;
		enum top_wish wish = top_key(&s->top, key, rows);
		if (wish == TOP_QUIT)
			return 0;
		grant(s, wish);
	}
}

/* All of it as lines, as long as there are jobs. */
static int print_once(struct session *s)
{
	AUTO_BUF struct buf out = { 0 };
	int cols = view_width() ? (int)view_width() : ONCE_COLS;
	int rows = (int)(s->top.job_count + s->top.node_count) + 5;
	struct screen *screen = screen_create(rows, cols);

	s->top.selected = 0;
	top_draw(&s->top, screen);
	for (int i = 0; i < rows - 1; i++) {
		screen_text(screen, i, &out);
		buf_addc(&out, '\n');
	}
	cli_print(&out);
	screen_destroy(screen);
	return 0;
}

static int run_top(struct cli *c, const void *args, const struct opts_list *operands)
{
	const struct top_args *a = args;
	AUTO_ANSWER struct answer there = { 0 };
	struct session s = { .cli = c };
	struct err err;
	int code;

	(void)operands;
	/* Once patiently, so that nobody being there is said as everywhere. */
	if (cli_colour(c, a->color, &err) < 0 || cli_get(c, &there, &err, "/nodes") < 0)
		return cli_fail(c, &err);
	refresh(&s);
	if (a->once) {
		code = print_once(&s);
	} else {
		struct term *term = term_open(&err);
		if (!term) {
			code = cli_fail(c, &err);
			cli_hint(c, "`yard top --once` prints it as text");
		} else {
			code = loop(&s, term);
			term_close(term);
		}
	}
	top_fini(&s.top);
	return code;
}

const struct command cmd_top = {
	.name = "top",
	.operands = "",
	.summary = "watch nodes and live jobs, full screen",
	.table = top_table,
	.count = COUNT_OF(top_table),
	.args_size = sizeof(struct top_args),
	.run = run_top,
};
