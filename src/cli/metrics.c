// SPDX-License-Identifier: Apache-2.0
/* metrics.c - `yard metrics`: what a job measured of itself, as pictures in the terminal. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/metrics_view.h"
#include "cli/plain.h"
#include "cli/term.h"
#include "cli/view.h"
#include "codec/url.h"

#define POINTS      500
#define POINTS_ALL  2048 /* for a pipe: as many as the server keeps */
#define PICTURES    8    /* of those that were not named */
#define REFRESH_MS  1000
#define WAIT_US     500000
#define SIGNAL_EXIT 128

struct metrics_args {
	bool json, follow, log, time, ascii;
	int64_t height, points;
	const char *output, *color;
};

#define INTO(field) OPT_INTO(struct metrics_args, field)
/* clang-format off */
static const struct opt metrics_table[] = {
	{ "follow", 'f', OPT_FLAG, INTO(follow), NULL,  "draw it again while the job runs; q leaves" },
	{ "log",    'l', OPT_FLAG, INTO(log),    NULL,  "values by their logarithm" },
	{ "time",   't', OPT_FLAG, INTO(time),   NULL,  "over time instead of steps" },
	{ "height", 0,   OPT_INT,  INTO(height), "N",   "rows of a picture", 4, 200 },
	{ "points", 0,   OPT_INT,  INTO(points), "N",   "at most so many points of each (500; in a pipe 2048)", 1, POINTS_ALL },
	{ "output", 'o', OPT_TEXT, INTO(output), "NAME", "event files of this output (logs and tensorboard)" },
	{ "ascii",  0,   OPT_FLAG, INTO(ascii),  NULL,  "no other characters than ASCII, as where the locale has none" },
	{ "json",   0,   OPT_FLAG, INTO(json),   NULL,  "as JSON" },
	OPT_COLOUR(struct metrics_args, color),
};
/* clang-format on */

struct metrics_question {
	struct cli *cli;
	const struct metrics_args *args;
	int64_t job;
	char *target;
	bool terminal, named;
};

/* As a terminal is usually set up: the first of these that is not empty. */
static bool locale_is_utf8(void)
{
	static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };

	for (size_t i = 0; i < COUNT_OF(names); i++) {
		const char *v = getenv(names[i]);
		if (v && *v)
			return strcasestr(v, "utf-8") || strcasestr(v, "utf8");
	}
	return false;
}

static char *make_target(const struct metrics_question *q, const struct opts_list *names)
{
	int64_t points = q->args->points ? q->args->points
			 : q->terminal   ? POINTS
					 : POINTS_ALL;
	struct buf target = { 0 };

	buf_printf(&target, "/jobs/%" PRId64 "/metrics?points=%" PRId64, q->job, points);
	for (size_t i = 1; i < names->count; i++)
		url_query_add(&target, "name", names->items[i]);
	if (q->args->output)
		url_query_add(&target, "output", q->args->output);
	return buf_take(&target);
}

static void choose_look(const struct metrics_question *q, struct metric_look *look)
{
	struct winsize w = { 0 };

	*look = (struct metric_look){ .width = 80,
				      .height = (size_t)q->args->height,
				      .log = q->args->log,
				      .time = q->args->time,
				      .ascii = q->args->ascii || !locale_is_utf8(),
				      .colours = q->cli->colour_out,
				      .most = q->named ? 0 : PICTURES };
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_col) {
		look->width = w.ws_col;
		look->rows = q->args->follow && w.ws_row > 2 ? w.ws_row - 2u : 0;
	}
}

/* One question and its answer, drawn or as rows. */
static int show_once(const struct metrics_question *q, struct buf *out, size_t *found,
		     struct err *err)
{
	AUTO_ANSWER struct answer a = { 0 };
	struct metric_page page;
	struct metric_look look;

	if (cli_get(q->cli, &a, err, "%s", q->target) < 0)
		return -1;
	metric_page_read(&page, doc_root(a.doc));
	choose_look(q, &look);
	if (q->terminal)
		metric_page_draw(&page, &look, out);
	else
		metric_page_rows(&page, out);
	AUTO_BUF struct buf notes = { 0 };
	metric_page_notes(&page, q->terminal ? look.width : 0, &notes);
	if (q->terminal)
		buf_adds(out, buf_str(&notes));
	else
		cli_write(STDERR_FILENO, buf_str(&notes), notes.len);
	*found = page.count;
	metric_page_fini(&page);
	return 0;
}

static bool has_ended(const struct metrics_question *q)
{
	AUTO_FREE char *job = str_printf("%" PRId64, q->job);
	struct wire_job w = { 0 };
	struct err ignored; /* deleted: it has ended */
	bool ended =
		cli_get_job(q->cli, job, &w, &ignored) < 0 || w.job->state == JOB_ENDED;

	wire_job_fini(&w);
	return ended;
}

/* All of it at once, from the upper left: lines that are too many for the screen are cut. */
static void paint(const struct metrics_question *q, const struct buf *text)
{
	AUTO_BUF struct buf out = { 0 };
	struct winsize w = { .ws_row = 24 };
	const char *at = buf_str(text);
	int rows;

	ioctl(STDOUT_FILENO, TIOCGWINSZ, &w);
	buf_adds(&out, "\033[H");
	for (rows = 0; *at && rows < (int)w.ws_row - 1; rows++) {
		size_t n = strcspn(at, "\n");
		buf_add(&out, at, n);
		buf_adds(&out, "\033[K\r\n");
		at += n + (at[n] == '\n');
	}
	buf_printf(&out, "\033[Jjob %" PRId64 " runs; q leaves", q->job);
	cli_print(&out);
}

/* 0: the job has ended; else the exit code. */
static int watch(const struct metrics_question *q, struct term *term)
{
	struct err err;
	size_t found;

	for (;;) {
		AUTO_BUF struct buf out = { 0 };
		if (has_ended(q))
			return 0;
		if (show_once(q, &out, &found, &err) < 0)
			buf_printf(&out, "%s\n", err.text);
		else if (!found)
			buf_adds(&out, "nothing measured yet\n");
		paint(q, &out);
		int key = term_wait(term, REFRESH_MS);
		if (key == TERM_GONE)
			return term_signal(term) ? SIGNAL_EXIT + term_signal(term) : 1;
		if (key == 'q' || key == TERM_ESCAPE || key == 3)
			return -1;
	}
}

/* On a terminal pictures, until the job has ended; else it is waited for. */
static int follow(const struct metrics_question *q, struct err *err)
{
	if (q->terminal) {
		struct term *term = term_open(err);
		if (!term)
			return cli_fail(q->cli, err);
		int code = watch(q, term);
		term_close(term);
		return code;
	}
	while (!has_ended(q))
		usleep(WAIT_US);
	return 0;
}

static void say_nothing(const struct metrics_question *q)
{
	cli_say(q->cli, "job %" PRId64 " has %s", q->job,
		q->named ? "no metrics of these names" : "measured nothing");
	cli_hint(
		q->cli,
		"write event files (SummaryWriter) to its output `logs` or `tensorboard`, "
		"or give patterns in its job file: metrics: {loss: 'loss=([0-9.]+)'}");
}

static int run_metrics(struct cli *c, const void *args, const struct opts_list *operands)
{
	struct metrics_question q = { .cli = c,
				      .args = args,
				      .terminal = isatty(STDOUT_FILENO) != 0,
				      .named = operands->count > 1 };
	struct wire_job w = { 0 };
	AUTO_BUF struct buf out = { 0 };
	struct err err;
	size_t found = 0;
	int code = 0;

	if (cli_colour(c, q.args->color, &err) < 0 ||
	    cli_get_job(c, operands->items[0], &w, &err) < 0)
		return cli_fail(c, &err);
	q.job = w.job->id; /* by its number: a name may come to mean another */
	wire_job_fini(&w);
	AUTO_FREE char *target = q.target = make_target(&q, operands);
	if (q.args->follow)
		code = follow(&q, &err);
	if (code)
		return code < 0 ? 0 : code;
	if (q.args->json)
		return view_json(c, target);
	if (!q.terminal)
		buf_adds(&out, "run\tname\tstep\ttime_ms\tvalue\n");
	if (show_once(&q, &out, &found, &err) < 0)
		return cli_fail(c, &err);
	if (!found)
		say_nothing(&q);
	if (found || q.terminal)
		cli_print(&out);
	return 0;
}

const struct command cmd_metrics = {
	.name = "metrics",
	.operands = "JOB [NAME...]",
	.summary = "draw what a job measured of itself, from event files or its log",
	.table = metrics_table,
	.count = COUNT_OF(metrics_table),
	.args_size = sizeof(struct metrics_args),
	.operands_min = 1,
	.operands_max = 33,
	.run = run_metrics,
};
