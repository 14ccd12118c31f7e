// SPDX-License-Identifier: Apache-2.0
/* yard top without a terminal: what is drawn at several sizes, and what keys do. */
#include <limits.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "cli/term.h"
#include "cli/top_view.h"
#include "cli/width.h"
#include "tap.h"

#define MIB (1LL << 20)

static void add(struct top *t, int64_t id, const char *name, enum job_state state)
{
	struct top_job *j = top_add_job(t);

	j->id = id;
	j->name = mem_strdup(name);
	j->owner = mem_strdup(id % 2 ? "ada" : "bob");
	j->reason = mem_strdup(state == JOB_QUEUED ? "waits for 2 cpu on one node" : "");
	j->state = state;
	j->tasks = 1;
	j->submitted_ms = 1000;
	if (state == JOB_RUNNING) {
		j->cpu_milli = 1500;
		j->memory_bytes = 128 * MIB;
	}
}

static struct top sample(void)
{
	struct top t = { .now_ms = 61000, .node_count = 1 };

	t.nodes = mem_alloc(1, sizeof *t.nodes);
	memcpy(t.nodes[0].node.name, "host", 5);
	t.nodes[0].node.up = true;
	t.nodes[0].node.capacity =
		(struct resources){ .cpu_milli = 8000, .memory_bytes = 16384 * MIB };
	t.nodes[0].used =
		(struct resources){ .cpu_milli = 4000, .memory_bytes = 128 * MIB };
	resources_set_device(&t.nodes[0].node.capacity, "gpu", 4);
	resources_set_device(&t.nodes[0].used, "gpu", 3);
	add(&t, 9, "sweep", JOB_RUNNING);
	t.jobs[0].members = 100;
	t.jobs[0].members_ended = 40;
	add(&t, 8, "\u8bad\u7ec3\u4efb\u52a1", JOB_RUNNING);
	add(&t, 7, "waiting", JOB_QUEUED);
	t.jobs[2].position = 3;
	top_settle(&t);
	return t;
}

/* All rows as one text. */
static char *drawn(struct top *t, int rows, int cols)
{
	struct screen *s = screen_create(rows, cols);
	struct buf out = { 0 };
	bool narrow = true;

	top_draw(t, s);
	for (int i = 0; i < rows; i++) {
		AUTO_BUF struct buf row = { 0 };
		screen_text(s, i, &row);
		narrow &= width_of(buf_str(&row)) <= (size_t)cols;
		buf_printf(&out, "%s\n", buf_str(&row));
	}
	OK(narrow, "at %dx%d no row is wider than the screen", cols, rows);
	screen_destroy(s);
	return buf_take(&out);
}

static bool shows(struct top *t, const char *what)
{
	AUTO_FREE char *text = drawn(t, 24, 80);
	bool found = strstr(text, what) != NULL;

	if (!found)
		printf("# no '%s' in\n%s", what, text);
	return found;
}

static void sizes(void)
{
	static const int list[][2] = {
		{ 24, 80 }, { 50, 200 }, { 5, 20 }, { 1, 1 }, { 3, 300 }
	};
	struct top t = sample();

	for (size_t i = 0; i < COUNT_OF(list); i++) {
		for (int mode = TOP_LIST; mode <= TOP_FILTER; mode++) {
			t.mode = (enum top_mode)mode;
			AUTO_FREE char *text = drawn(&t, list[i][0], list[i][1]);
		}
	}
	t.mode = TOP_LIST;
	OK(shows(&t, "3 live, 2 running, 1 waiting"), "the head counts the jobs");
	OK(shows(&t, "4/8 cpu") && shows(&t, "128 MiB/16 GiB") && shows(&t, "gpu 3/4"),
	   "and tells what is taken of each node");
	OK(shows(&t, "40/100"), "an array tells how many of its members have ended");
	OK(shows(&t, "\u8bad\u7ec3\u4efb\u52a1"), "a Chinese name is whole");
	OK(shows(&t, "1.5   128 MiB"), "use is told");
	t.selected = 7;
	OK(shows(&t, "\n#3: waits for"),
	   "and what the selected job waits for, below the list");
	AUTO_FREE char *wide = drawn(&t, 50, 200);
	OK(strstr(wide, "waiting  ") && strstr(wide, " #3: waits for"),
	   "on a wide terminal beside each");
	OK(shows(&t, "q quit"), "the foot tells the keys");
	top_fini(&t);
}

static void keys(void)
{
	struct top t = sample();

	IS_INT(t.selected, 9, "the newest is selected at first");
	top_key(&t, 'j', 24);
	top_key(&t, TERM_DOWN, 24);
	IS_INT(t.selected, 7, "j and the arrow go down");
	top_key(&t, 'j', 24);
	IS_INT(t.selected, 7, "and not past the end");
	top_key(&t, 'k', 24);
	IS_INT(t.selected, 8, "k goes up");
	IS_INT(top_key(&t, '\r', 24), TOP_SHOW, "Enter shows it");
	IS_INT(top_key(&t, 'l', 24), TOP_LOGS, "l shows its log");
	IS_INT(top_key(&t, 's', 24), TOP_NOTHING, "s stops nothing by itself");
	OK(shows(&t, "stop job 8"), "it asks");
	IS_INT(top_key(&t, 'n', 24), TOP_NOTHING, "no is no");
	top_key(&t, 's', 24);
	IS_INT(top_key(&t, 'y', 24), TOP_STOP, "y stops it");
	IS_INT(top_key(&t, 'q', 24), TOP_QUIT, "q leaves");
	IS_INT(top_key(&t, 3, 24), TOP_QUIT, "Ctrl-C, too");

	top_key(&t, '/', 24);
	for (const char *p = "WAIT"; *p; p++)
		top_key(&t, *p, 24);
	OK(t.selected == 7 && shows(&t, "/WAIT_"),
	   "a filter selects among what it leaves");
	IS_INT(top_key(&t, 'q', 24), TOP_NOTHING, "q is a letter there");
	top_key(&t, 127, 24);
	top_key(&t, '\r', 24);
	OK(!shows(&t, "sweep") && shows(&t, "filter: WAIT"), "only those are shown");
	top_key(&t, TERM_ESCAPE, 24);
	OK(shows(&t, "sweep"), "Escape clears it");
	top_key(&t, '?', 24);
	OK(shows(&t, "any key goes back"), "? helps");
	top_key(&t, 'x', 24);

	t.selected = 8;
	top_forget_jobs(&t);
	add(&t, 9, "sweep", JOB_RUNNING);
	add(&t, 5, "older", JOB_RUNNING);
	top_settle(&t);
	IS_INT(t.selected, 5, "when the selected job ends, its neighbour is selected");
	top_forget_jobs(&t);
	top_settle(&t);
	OK(!top_selected(&t) && top_key(&t, 's', 24) == TOP_NOTHING && t.mode == TOP_LIST,
	   "without jobs nothing is selected or stopped");
	OK(shows(&t, "no job is live"), "and that is said");
	top_fini(&t);
}

static void pages(void)
{
	struct top t = sample();
	struct buf text = { 0 };

	for (int i = 0; i < 100; i++)
		buf_printf(&text, "line %d\033[2J\n", i);
	top_open_page(&t, "log of job 9", buf_take(&text), true);
	OK(shows(&t, "line 99") && !shows(&t, "line 0?"), "a log opens at its end");
	AUTO_FREE char *all = drawn(&t, 24, 80);
	OK(!strchr(all, '\033'),
	   "what a job wrote does not reach the terminal as commands");
	top_key(&t, 'g', 24);
	OK(shows(&t, "line 0?"), "g goes to its beginning");
	top_key(&t, 'j', 24);
	OK(!shows(&t, "line 0?") && shows(&t, "line 1?"), "j goes on by a line");
	IS_INT(top_key(&t, 'q', 24), TOP_REFRESH, "q goes back to the list");
	OK(shows(&t, "sweep"), "which is there again");
	top_fini(&t);
}

static void decoding(void)
{
	static const struct {
		const char *bytes;
		int key;
		size_t used;
	} rows[] = { { "q", 'q', 1 },
		     { "\033[A", TERM_UP, 3 },
		     { "\033OB", TERM_DOWN, 3 },
		     { "\033[6~x", TERM_PAGE_DOWN, 4 },
		     { "\033[", TERM_NONE, 0 },
		     { "\033", TERM_NONE, 0 },
		     { "\033x", TERM_ESCAPE, 1 },
		     { "\033[15~", TERM_NONE, 5 } };

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		size_t used;
		int key = term_decode(rows[i].bytes, strlen(rows[i].bytes), &used);
		OK(key == rows[i].key && used == rows[i].used,
		   "key sequence %zu is understood", i);
	}
}

int main(void)
{
	sizes();
	keys();
	pages();
	decoding();
	return END();
}
