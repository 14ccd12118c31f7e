// SPDX-License-Identifier: Apache-2.0
#include "cli/top_view.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/units.h"
#include "cli/view.h"
#include "cli/width.h"

#define NODES_SHOWN 6
#define BAR_CELLS   20
#define REASON_MIN  16 /* cells that are worth a column of reasons */
#define TEXT_MAX    256

void top_forget_jobs(struct top *t)
{
	for (size_t i = 0; i < t->job_count; i++) {
		free(t->jobs[i].name);
		free(t->jobs[i].owner);
		free(t->jobs[i].reason);
	}
	t->job_count = 0;
}

struct top_job *top_add_job(struct top *t)
{
	mem_grow(&t->jobs, &t->job_cap, t->job_count, sizeof *t->jobs);
	t->jobs[t->job_count] = (struct top_job){ .cpu_milli = -1, .memory_bytes = -1 };
	return &t->jobs[t->job_count++];
}

void top_fini(struct top *t)
{
	top_forget_jobs(t);
	free(t->jobs);
	free(t->nodes);
	free(t->message);
	free(t->page);
	free(t->page_title);
	*t = (struct top){ 0 };
}

void top_say(struct top *t, const char *fmt, ...)
{
	AUTO_BUF struct buf out = { 0 };
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(&out, fmt, ap);
	va_end(ap);
	free(t->message);
	t->message = buf_take(&out);
}

void top_open_page(struct top *t, const char *title, char *text, bool is_log)
{
	bool again = t->mode == TOP_PAGE;

	free(t->page);
	free(t->page_title);
	t->page = text;
	t->page_title = mem_strdup(title);
	t->page_is_log = is_log;
	t->mode = TOP_PAGE;
	if (!again)
		t->page_scroll = is_log ? INT_MAX : 0;
}

static bool is_shown(const struct top *t, const struct top_job *j)
{
	char id[24];

	snprintf(id, sizeof id, "%" PRId64, j->id);
	return !*t->filter || strcasestr(j->name, t->filter) ||
	       strcasestr(j->owner, t->filter) || str_eq(id, t->filter) ||
	       strcasestr(job_state_word(j->state), t->filter);
}

/* How many shown jobs stand before the selected one; -1: it is not shown. */
static int selected_at(const struct top *t)
{
	int at = 0;

	for (size_t i = 0; i < t->job_count; i++) {
		if (!is_shown(t, &t->jobs[i]))
			continue;
		if (t->jobs[i].id == t->selected)
			return at;
		at++;
	}
	return -1;
}

static int shown_count(const struct top *t)
{
	int n = 0;

	for (size_t i = 0; i < t->job_count; i++)
		n += is_shown(t, &t->jobs[i]);
	return n;
}

static const struct top_job *shown_job(const struct top *t, int at)
{
	for (size_t i = 0; i < t->job_count; i++)
		if (is_shown(t, &t->jobs[i]) && at-- == 0)
			return &t->jobs[i];
	return NULL;
}

const struct top_job *top_selected(const struct top *t)
{
	return shown_job(t, selected_at(t));
}

static void select_at(struct top *t, int at)
{
	int count = shown_count(t);

	if (at >= count)
		at = count - 1;
	const struct top_job *j = shown_job(t, at < 0 ? 0 : at);
	t->selected = j ? j->id : 0;
}

void top_move(struct top *t, int by)
{
	int at = selected_at(t);

	select_at(t, at < 0 ? 0 : at + by);
}

void top_settle(struct top *t)
{
	/* Ids fall along the list: the next older one takes the place of what has gone. */
	if (selected_at(t) >= 0)
		return;
	for (size_t i = 0; i < t->job_count; i++) {
		if (is_shown(t, &t->jobs[i]) && t->jobs[i].id < t->selected) {
			t->selected = t->jobs[i].id;
			return;
		}
	}
	select_at(t, t->selected ? INT_MAX : 0);
}

/* "cpu ████████────────  3.5/8" */
static int put_bar(struct screen *s, int row, int col, double part, const char *label)
{
	enum table_colour colour = part > 0.9 ? TABLE_WARN : TABLE_GOOD;
	int full = (int)(part * BAR_CELLS + 0.5);

	for (int i = 0; i < BAR_CELLS; i++)
		screen_put(s, row, col + i, i < full ? colour : TABLE_DIM,
			   i < full ? "\u2588" : "\u2500");
	return screen_put(s, row, col + BAR_CELLS + 1, TABLE_PLAIN, label);
}

static double part_of(int64_t used, int64_t all)
{
	double part = all > 0 ? (double)used / (double)all : 0;

	return part > 1 ? 1 : part;
}

static void put_devices(struct screen *s, int row, int col, const struct wire_node *n)
{
	char text[TEXT_MAX];

	for (size_t i = 0; i < DEVICE_KINDS_MAX && n->node.capacity.devices[i].count > 0;
	     i++) {
		const struct device_count *d = &n->node.capacity.devices[i];
		int64_t used = resources_milli(&n->used, d->type);
		char taken[UNITS_TEXT_MAX];
		snprintf(text, sizeof text, "%s %s/%d  ", d->type,
			 units_show_cpu(used, taken), d->count);
		col = screen_put(s, row, col,
				 used >= device_milli(d) ? TABLE_WARN : TABLE_PLAIN,
				 text);
	}
}

static void put_node(struct screen *s, int row, const struct wire_node *n)
{
	char label[TEXT_MAX], used[UNITS_TEXT_MAX], all[UNITS_TEXT_MAX];
	struct screen_field name = {
		.row = row, .col = 0, .cells = 12, .colour = TABLE_BOLD
	};

	screen_field(s, &name, n->node.name);
	if (!n->node.up) {
		screen_put(s, row, 13, TABLE_BAD, "down");
		return;
	}
	if (n->node.state != NODE_OPEN) {
		snprintf(label, sizeof label, "%s %.40s", node_state_word(n->node.state),
			 n->node.reason);
		screen_put(s, row, 13,
			   n->node.state == NODE_DRAIN ? TABLE_WARN : TABLE_BAD, label);
		return;
	}
	snprintf(label, sizeof label, "%s/%s cpu",
		 units_show_cpu(n->used.cpu_milli, used),
		 units_show_cpu(n->node.capacity.cpu_milli, all));
	int col = put_bar(s, row, 13,
			  part_of(n->used.cpu_milli, n->node.capacity.cpu_milli), label);
	col = col < 47 ? 47 : col + 2;
	snprintf(label, sizeof label, "%s/%s",
		 units_show_bytes(n->used.memory_bytes, used),
		 units_show_bytes(n->node.capacity.memory_bytes, all));
	/* Narrow: numbers without a bar. */
	if (screen_cols(s) < 100)
		col = screen_put(s, row, col, TABLE_PLAIN, label);
	else
		col = put_bar(
			s, row, col,
			part_of(n->used.memory_bytes, n->node.capacity.memory_bytes),
			label);
	put_devices(s, row, col + 2, n);
}

static int count_state(const struct top *t, bool running)
{
	int n = 0;

	for (size_t i = 0; i < t->job_count; i++) {
		enum job_state s = t->jobs[i].state;
		bool waits = s == JOB_HELD || s == JOB_QUEUED || s == JOB_BACKOFF;
		n += running ? s == JOB_RUNNING : waits;
	}
	return n;
}

int top_waiting(const struct top *t)
{
	return count_state(t, false);
}

static int put_head(const struct top *t, struct screen *s)
{
	char text[TEXT_MAX], time[UNITS_TEXT_MAX];
	int row = 0;

	snprintf(text, sizeof text, "yard top  %zu live, %d running, %d waiting  %s",
		 t->job_count, count_state(t, true), top_waiting(t),
		 t->server ? t->server : "");
	screen_put(s, row, 0, TABLE_BOLD, text);
	units_show_time(t->now_ms, time);
	snprintf(text, sizeof text, "%.8s UTC",
		 strchr(time, 'T') ? strchr(time, 'T') + 1 : "");
	struct screen_field clock = { row, screen_cols(s) - 12, 12, true, TABLE_DIM };
	screen_field(s, &clock, text);
	row++;
	for (size_t i = 0; i < t->node_count && i < NODES_SHOWN; i++)
		put_node(s, row++, &t->nodes[i]);
	if (t->node_count > NODES_SHOWN) {
		snprintf(text, sizeof text, "and %zu more nodes",
			 t->node_count - NODES_SHOWN);
		screen_put(s, row++, 0, TABLE_DIM, text);
	}
	return row + 1;
}

/* Columns of the list; the name takes what is left, up to its most, the reason the rest. */
enum {
	COL_ID,
	COL_STATE,
	COL_OWNER,
	COL_AGE,
	COL_CPU,
	COL_MEM,
	COL_TASKS,
	COL_NAME,
	COL_REASON,
	COL_COUNT
};

/* clang-format off */
static const struct { const char *head; int cells; bool right; } columns[COL_COUNT] = {
	[COL_ID]     = { "ID", 7, true },
	[COL_STATE]  = { "STATE", 10, false },
	[COL_OWNER]  = { "OWNER", 10, false },
	[COL_AGE]    = { "AGE", 5, true },
	[COL_CPU]    = { "CPU", 6, true },
	[COL_MEM]    = { "MEMORY", 9, true },
	[COL_TASKS]  = { "TASKS", 9, true },
	[COL_NAME]   = { "NAME", 0, false },
	[COL_REASON] = { "WAITS BECAUSE", 0, false },
};
/* clang-format on */

static int column_cells(const struct screen *s, int column)
{
	int rest = screen_cols(s);

	if (columns[column].cells)
		return columns[column].cells;
	for (int i = 0; i < COL_COUNT; i++)
		rest -= columns[i].cells + 1;
	int name = rest > 70 ? 30 : rest > 2 * REASON_MIN ? rest * 2 / 5 : rest;
	return column == COL_NAME ? name : rest - name;
}

static void cell_words(const struct top *t, const struct top_job *j, int column,
		       char out[TEXT_MAX])
{
	char text[UNITS_TEXT_MAX];

	out[0] = '\0';
	switch (column) {
	case COL_ID:
		snprintf(out, TEXT_MAX, "%" PRId64, j->id);
		break;
	case COL_STATE:
		snprintf(out, TEXT_MAX, "%s", job_state_word(j->state));
		break;
	case COL_OWNER:
		snprintf(out, TEXT_MAX, "%s", j->owner);
		break;
	case COL_AGE:
		snprintf(out, TEXT_MAX, "%s",
			 units_show_age(t->now_ms - j->submitted_ms, text));
		break;
	case COL_CPU:
		if (j->cpu_milli >= 0)
			snprintf(out, TEXT_MAX, "%" PRId64 ".%" PRId64,
				 (j->cpu_milli + 50) / 1000,
				 (j->cpu_milli + 50) % 1000 / 100);
		break;
	case COL_MEM:
		if (j->memory_bytes >= 0)
			snprintf(out, TEXT_MAX, "%s",
				 units_show_bytes(j->memory_bytes, text));
		break;
	case COL_TASKS:
		if (j->members)
			snprintf(out, TEXT_MAX, "%" PRId64 "/%" PRId64, j->members_ended,
				 j->members);
		else
			snprintf(out, TEXT_MAX, "%d", j->tasks);
		break;
	case COL_NAME:
		snprintf(out, TEXT_MAX, "%s", j->name);
		break;
	default:
		if (j->position > 0)
			snprintf(out, TEXT_MAX, "#%d: %s", j->position, j->reason);
		else
			snprintf(out, TEXT_MAX, "%s", j->reason);
	}
}

static void put_job(const struct top *t, struct screen *s, int row,
		    const struct top_job *j)
{
	char text[TEXT_MAX];
	int col = 0;

	for (int i = 0; i < COL_COUNT; i++) {
		struct screen_field f = { .row = row,
					  .col = col,
					  .cells = column_cells(s, i),
					  .right = columns[i].right };
		cell_words(t, j, i, text);
		f.colour = i == COL_STATE    ? view_colour(j->state, OUTCOME_NONE)
			   : i == COL_REASON ? TABLE_DIM
					     : TABLE_PLAIN;
		screen_field(s, &f, text);
		col += f.cells + 1;
	}
	if (j->id == t->selected)
		screen_select(s, row);
}

static void put_heads(struct screen *s, int row)
{
	int col = 0;

	for (int i = 0; i < COL_COUNT; i++) {
		struct screen_field f = { row, col, column_cells(s, i), columns[i].right,
					  TABLE_DIM };
		screen_field(s, &f, columns[i].head);
		col += f.cells + 1;
	}
}

static void put_list(struct top *t, struct screen *s, int first, int last)
{
	int room = last - first, at = selected_at(t), count = shown_count(t);

	if (room <= 0)
		return;
	if (at >= 0 && at < t->scroll)
		t->scroll = at;
	if (at >= t->scroll + room)
		t->scroll = at - room + 1;
	if (t->scroll > count - room)
		t->scroll = count > room ? count - room : 0;
	for (int i = 0; i < room; i++) {
		const struct top_job *j = shown_job(t, t->scroll + i);
		if (!j)
			break;
		put_job(t, s, first + i, j);
	}
	if (!count)
		screen_put(s, first, 2, TABLE_DIM,
			   t->job_count
				   ? "no job fits the filter; Esc clears it"
				   : "no job is live; yard run -- COMMAND makes one");
}

static void put_page(struct top *t, struct screen *s)
{
	int rows = screen_rows(s), lines = 0, row = 1;

	for (const char *p = t->page; *p; p++)
		lines += *p == '\n';
	if (t->page_scroll > lines - (rows - 2))
		t->page_scroll = lines > rows - 2 ? lines - (rows - 2) : 0;
	screen_put(s, 0, 0, TABLE_BOLD, t->page_title);
	const char *p = t->page;
	for (int i = 0; *p && row < rows - 1; i++) {
		size_t n = strcspn(p, "\n");
		AUTO_FREE char *line = mem_strndup(p, n);
		for (char *tab = line; (tab = strchr(tab, '\t'));)
			*tab = ' ';
		struct screen_field f = { .row = row, .cells = screen_cols(s) };
		if (i >= t->page_scroll) {
			screen_field(s, &f, line);
			row++;
		}
		p += n + (p[n] == '\n');
	}
}

static void put_help(struct screen *s)
{
	static const char *const lines[] = {
		"up, down, j, k    select a job",
		"Enter             all about it",
		"l                 its log, as it grows",
		"s                 stop it (asks first)",
		"/                 show only jobs with a text in name, owner or state; Esc clears",
		"r                 look again now",
		"q, Ctrl-C         leave",
		"",
		"CPU is cores in use now, MEMORY what its tasks hold; TASKS of an array: ended/all.",
		"any key goes back",
	};

	screen_put(s, 0, 0, TABLE_BOLD, "yard top: keys");
	for (size_t i = 0; i < COUNT_OF(lines); i++)
		screen_put(s, (int)i + 2, 2, TABLE_PLAIN, lines[i]);
}

/* Where there is no room for a column of reasons, the selected job's has a line. */
static bool reasons_fit(const struct screen *s)
{
	return column_cells(s, COL_REASON) >= REASON_MIN;
}

static void put_reason(const struct top *t, struct screen *s, int row)
{
	const struct top_job *j = top_selected(t);
	char text[TEXT_MAX];

	if (!j || !*j->reason)
		return;
	cell_words(t, j, COL_REASON, text);
	struct screen_field f = { .row = row,
				  .cells = screen_cols(s),
				  .colour = TABLE_DIM };
	screen_field(s, &f, text);
}

static void put_foot(const struct top *t, struct screen *s)
{
	static const char *const words[] = {
		[TOP_LIST] = "Enter show  l logs  s stop  / filter  ? help  q quit",
		[TOP_HELP] = "",
		[TOP_ASK_STOP] = "",
		[TOP_FILTER] = "",
		[TOP_PAGE] = "up, down, PgUp, PgDn move  g, G its ends  q, Esc back",
	};
	const struct top_job *j = top_selected(t);
	char text[TEXT_MAX];
	int row = screen_rows(s) - 1;

	if (t->mode == TOP_ASK_STOP && j) {
		snprintf(text, sizeof text,
			 "stop job %" PRId64
			 " (%.100s)? y stops it, any other key does not",
			 j->id, j->name);
		screen_put(s, row, 0, TABLE_WARN, text);
	} else if (t->mode == TOP_FILTER) {
		snprintf(text, sizeof text, "/%s_", t->filter);
		screen_put(s, row, 0, TABLE_BOLD, text);
	} else if (t->message) {
		screen_put(s, row, 0, TABLE_WARN, t->message);
	} else {
		int col = screen_put(s, row, 0, TABLE_DIM, words[t->mode]);
		if (*t->filter && t->mode == TOP_LIST) {
			snprintf(text, sizeof text, "  filter: %s", t->filter);
			screen_put(s, row, col, TABLE_BUSY, text);
		}
	}
}

void top_draw(struct top *t, struct screen *s)
{
	if (t->mode == TOP_PAGE) {
		put_page(t, s);
	} else if (t->mode == TOP_HELP) {
		put_help(s);
	} else {
		int row = put_head(t, s);
		put_heads(s, row);
		put_list(t, s, row + 1, screen_rows(s) - (reasons_fit(s) ? 1 : 2));
		if (!reasons_fit(s))
			put_reason(t, s, screen_rows(s) - 2);
	}
	put_foot(t, s);
}
