// SPDX-License-Identifier: Apache-2.0
/* events.c - `yard events`: what happened, and what happens.
 *
 * Followed, it is a stream of server-sent events; when that breaks it goes on behind the last
 * event that was printed: none twice, none left out.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/units.h"
#include "cli/cli.h"
#include "cli/event_words.h"
#include "cli/plain.h"
#include "cli/table.h"

#define PAGE       500
#define BREAKS_MAX 100
#define PAUSE_MS   100
#define LINE_MAX   (8 << 20)

struct events_args {
	bool follow, json;
	int64_t from, limit;
	const char *color;
};

#define INTO(field) OPT_INTO(struct events_args, field)
/* clang-format off */
static const struct opt events_table[] = {
	{ "follow", 'f', OPT_FLAG, INTO(follow), NULL,  "go on as they happen, until Ctrl-C or the job's end" },
	{ "from",   0,   OPT_INT,  INTO(from),   "SEQ", "begin with this number", 0, INT64_MAX },
	{ "limit",  'n', OPT_INT,  INTO(limit),  "N",   "at most so many (1000)", 1, 1000000 },
	{ "json",   0,   OPT_FLAG, INTO(json),   NULL,  "one JSON object a line" },
	OPT_COLOUR(struct events_args, color),
};
/* clang-format on */

struct events {
	struct cli *cli;
	const struct events_args *args;
	char *path;      /* "/events" or that of a job */
	int64_t next;    /* seq of the first one that was not printed */
	int64_t left;    /* that may be printed */
	bool job, ended; /* of one job, and it has ended */
	struct buf line, data;
};

static void print_event(struct events *s, const struct doc_node *map)
{
	AUTO_BUF struct buf out = { 0 }, words = { 0 };
	char time[UNITS_TEXT_MAX];
	struct wire_event e;

	wire_event_read(map, &e);
	if (e.seq < s->next || s->left <= 0)
		return;
	s->next = e.seq + 1;
	s->left--;
	s->ended |= s->job && str_eq(e.kind, "ended");
	if (s->args->json) {
		struct json j;
		json_init(&j, &out);
		doc_write_json(map, &j, NULL);
		cli_print_json(&out);
		return;
	}
	enum table_colour colour = event_words(&e, &words);
	AUTO_FREE char *text = buf_take(&words);
	plain_text(text, "");
	bool colours = s->cli->colour_out && colour != TABLE_PLAIN;
	buf_printf(&out, "%s  ", units_show_time(e.time_ms, time));
	if (e.job && !s->job)
		buf_printf(&out, "%6" PRId64 "  ", e.job);
	else if (!s->job)
		buf_printf(&out, "%6s  ", "-");
	buf_printf(&out, "%s%-10s%s  %s\n", colours ? table_colour_code(colour) : "",
		   e.kind, colours ? TABLE_COLOUR_END : "", text);
	cli_print(&out);
}

/* One page of those that were.  It may be empty though there is more: those of others are
 * left out, and the server looks only so far at a time. */
static int one_page(struct events *s, struct err *err)
{
	AUTO_ANSWER struct answer a = { 0 };

	if (cli_get(s->cli, &a, err, "%s?from=%" PRId64 "&limit=%d", s->path, s->next,
		    PAGE) < 0)
		return -1;
	const struct doc_node *list = doc_get(doc_root(a.doc), "events");
	for (const struct doc_node *n = list ? list->first : NULL; n; n = n->next)
		print_event(s, n);
	int64_t next = doc_i64(doc_root(a.doc), "next", s->next);
	s->next = next > s->next ? next : s->next;
	return 0;
}

static int all_pages(struct events *s, struct err *err)
{
	int64_t before;

	do {
		before = s->next;
		if (one_page(s, err) < 0)
			return -1;
	} while (s->next > before && s->left > 0);
	return 0;
}

/* A line of the stream: "data: ..." is kept until an empty line says that it is whole. */
static int stream_line(struct events *s, struct err *err)
{
	const char *text = buf_str(&s->line);

	if (str_starts(text, "data:")) {
		buf_adds(&s->data, text + (text[5] == ' ' ? 6 : 5));
	} else if (!*text && s->data.len) {
		AUTO_DOC struct doc *d = doc_parse_json(s->data.data, s->data.len, err);
		if (!d)
			return err_wrap(err, "the server's event");
		print_event(s, doc_root(d));
		buf_clear(&s->data);
	}
	buf_clear(&s->line);
	return 0;
}

static int take(struct events *s, const char *data, size_t len, struct err *err)
{
	for (size_t i = 0; i < len; i++) {
		if (data[i] == '\n') {
			if (stream_line(s, err) < 0)
				return -1;
		} else if (data[i] != '\r') {
			buf_addc(&s->line, data[i]);
		}
		if (s->line.len > LINE_MAX || s->data.len > LINE_MAX)
			return err_set(err, ERR_CORRUPT, "the server's event has no end");
	}
	return 0;
}

/* One connection's worth: 0 over, -1 err, -2 it broke. */
static int stream_once(struct events *s, size_t *got, struct err *err)
{
	AUTO_FREE char *target =
		str_printf("%s?follow=1&from=%" PRId64, s->path, s->next);
	struct request r = { .method = "GET", .target = target };
	struct client *c = s->cli->client;
	struct http_piece piece;

	buf_clear(&s->line);
	buf_clear(&s->data);
	if (client_begin(c, &r, err) < 0)
		return -1;
	while (!s->ended && s->left > 0) {
		switch (client_next(c, &piece, err)) {
		case HTTP_ITEM_DATA:
			*got += piece.len;
			if (take(s, piece.data, piece.len, err) < 0)
				return -1;
			break;
		case HTTP_ITEM_MORE:
			if (client_fill(c, err) < 0)
				return -2;
			break;
		case HTTP_ITEM_END:
		case HTTP_ITEM_HEAD:
		case HTTP_ITEM_FAILED:
			return -2;
		}
	}
	client_drop(c);
	return 0;
}

static int stream(struct events *s, struct err *err)
{
	int rc, breaks = 0;

	do {
		size_t got = 0;
		rc = stream_once(s, &got, err);
		if (rc != -2)
			return rc;
		client_drop(s->cli->client);
		breaks = got ? 1 : breaks + 1;
		usleep(PAUSE_MS * 1000);
	} while (breaks <= BREAKS_MAX);
	return -1;
}

static int run_events(struct cli *c, const void *args, const struct opts_list *operands)
{
	const struct events_args *a = args;
	struct events s = { .cli = c, .args = a, .next = a->from };
	struct wire_job w = { 0 };
	struct err err;

	s.left = a->limit ? a->limit : a->follow ? INT64_MAX : 1000;
	int rc = cli_colour(c, a->color, &err);
	if (rc == 0 &&
	    operands->count) { /* by its number: a name may come to mean another */
		rc = cli_get_job(c, operands->items[0], &w, &err);
		s.job = true;
		if (rc == 0)
			s.path = str_printf("/jobs/%" PRId64 "/events", w.job->id);
	} else {
		s.path = mem_strdup("/events");
	}
	if (rc == 0)
		rc = a->follow ? stream(&s, &err) : all_pages(&s, &err);
	wire_job_fini(&w);
	buf_fini(&s.line);
	buf_fini(&s.data);
	free(s.path);
	return rc < 0 ? cli_fail(c, &err) : 0;
}

const struct command cmd_events = {
	.name = "events",
	.operands = "[JOB]",
	.summary = "tell what happened to a job, or to all of them",
	.table = events_table,
	.count = COUNT_OF(events_table),
	.args_size = sizeof(struct events_args),
	.operands_max = 1,
	.run = run_events,
};
