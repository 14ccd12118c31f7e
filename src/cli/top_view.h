// SPDX-License-Identifier: Apache-2.0
/* top_view.h - what `yard top` shows and how it answers to keys, without a terminal.
 *
 * A model (nodes, live jobs, what is selected and typed) is drawn into a screen; a key changes
 * the model and may ask for something to be done.  Tests look at both.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/screen.h"
#include "wire/api.h"

#define TOP_FILTER_MAX 64

enum top_mode {
	TOP_LIST,
	TOP_HELP,
	TOP_ASK_STOP, /* whether the selected job is to be stopped */
	TOP_FILTER,   /* a filter is being typed */
	TOP_PAGE,     /* text about one job: all about it, or its log */
};

enum top_wish { TOP_NOTHING, TOP_QUIT, TOP_SHOW, TOP_LOGS, TOP_STOP, TOP_REFRESH };

struct top_job {
	int64_t id;
	char *name, *owner, *reason;
	enum job_state state;
	int tasks, position;
	int64_t submitted_ms, started_ms;
	int64_t cpu_milli, memory_bytes; /* -1: not known */
	int64_t members, members_ended;  /* of an array; 0: it is none */
};

struct top {
	enum top_mode mode;
	int64_t now_ms;
	const char *server;
	struct wire_node *nodes;
	size_t node_count;
	struct top_job *jobs; /* as the server lists them */
	size_t job_count, job_cap;
	int64_t selected; /* job; 0: none */
	int scroll;
	char filter[TOP_FILTER_MAX];
	char *message; /* one line at the foot, until the next key */
	char *page, *page_title;
	int page_scroll; /* lines from its top; INT_MAX: its end */
	bool page_is_log;
};

void top_forget_jobs(struct top *t);
struct top_job *top_add_job(struct top *t);
void top_fini(struct top *t);
void top_say(struct top *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Takes text. */
void top_open_page(struct top *t, const char *title, char *text, bool is_log);

/* The selected job, or NULL. */
const struct top_job *top_selected(const struct top *t);
/* Selects what is nearest when the selected one has gone; call after the jobs changed. */
void top_settle(struct top *t);
int top_waiting(const struct top *t); /* how many jobs wait */
void top_move(struct top *t, int by); /* the selection, among what is shown */
void top_draw(struct top *t, struct screen *s);
/* rows: of the screen, for keys that move by pages. */
enum top_wish top_key(struct top *t, int key, int rows);
