// SPDX-License-Identifier: Apache-2.0
#include "cli/progress.h"

#include <inttypes.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/units.h"
#include "cli/cli.h"
#include "cli/plain.h"
#include "cli/table.h"
#include "cli/width.h"

#define CELLS_DEFAULT 80
#define GO_HOME       "\r\033[K"

static bool waits(enum job_state s)
{
	return s == JOB_HELD || s == JOB_QUEUED || s == JOB_BACKOFF;
}

/* "0:07", "12:05", "3:04:05": it changes every second, so it stands still in its place. */
static void add_clock(int64_t ms, struct buf *out)
{
	int64_t s = ms > 0 ? ms / 1000 : 0;

	if (s >= 3600)
		buf_printf(out, "%" PRId64 ":%02d:%02d", s / 3600, (int)(s / 60 % 60),
			   (int)(s % 60));
	else
		buf_printf(out, "%d:%02d", (int)(s / 60), (int)(s % 60));
}

static void add_usage(const struct progress_view *v, struct buf *out)
{
	char text[UNITS_TEXT_MAX];

	if (v->cpu_milli >= 0)
		buf_printf(out, " \u00b7 cpu %" PRId64 ".%" PRId64,
			   (v->cpu_milli + 50) / 1000, (v->cpu_milli + 50) % 1000 / 100);
	if (v->memory_bytes > 0)
		buf_printf(out, " \u00b7 memory %s",
			   units_show_bytes(v->memory_bytes, text));
	if (v->memory_bytes > 0 && v->memory_limit_bytes > 0)
		buf_printf(out, " of %s", units_show_bytes(v->memory_limit_bytes, text));
}

void progress_words(const struct progress_view *v, size_t cells, struct buf *out)
{
	AUTO_BUF struct buf line = { 0 };

	buf_printf(&line, "job %" PRId64 " %s ", v->job, job_state_word(v->state));
	add_clock(v->elapsed_ms, &line);
	if (v->attempt > 1)
		buf_printf(&line, " \u00b7 attempt %d", v->attempt);
	if (waits(v->state) && v->position > 0)
		buf_printf(&line, " \u00b7 number %d in the queue", v->position);
	if (waits(v->state) && v->why && *v->why)
		buf_printf(&line, " \u00b7 %s", v->why);
	if (v->brings && *v->brings)
		buf_printf(&line, " \u00b7 %s", v->brings);
	if (!waits(v->state))
		add_usage(v, &line);
	if (!waits(v->state) && v->last && *v->last)
		buf_printf(&line, " \u00b7 %s", v->last);
	AUTO_FREE char *text = buf_take(&line);
	plain_text(text, "");
	width_cut(out, text, cells);
}

struct progress {
	bool colours, drawn, open; /* open: the cursor stands behind a part of a line */
	struct buf line;
};

struct progress *progress_create(bool colours)
{
	if (!isatty(STDERR_FILENO))
		return NULL;
	struct progress *p = mem_alloc(1, sizeof *p);
	p->colours = colours;
	return p;
}

static void draw(struct progress *p)
{
	AUTO_BUF struct buf out = { 0 };

	if (p->open || !p->line.len)
		return;
	buf_adds(&out, GO_HOME);
	if (p->colours)
		buf_adds(&out, table_colour_code(TABLE_DIM));
	buf_add(&out, p->line.data, p->line.len);
	if (p->colours)
		buf_adds(&out, TABLE_COLOUR_END);
	cli_write(STDERR_FILENO, out.data, out.len);
	p->drawn = true;
}

bool progress_hide(struct progress *p)
{
	if (!p || !p->drawn)
		return false;
	cli_write(STDERR_FILENO, GO_HOME, sizeof GO_HOME - 1);
	p->drawn = false;
	return true;
}

void progress_wrote(struct progress *p, bool line_over)
{
	if (!p)
		return;
	p->open = !line_over;
	draw(p);
}

void progress_set(struct progress *p, const struct progress_view *v)
{
	struct winsize w = { 0 };

	if (!p)
		return;
	size_t cells = ioctl(STDERR_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_col
			       ? w.ws_col
			       : CELLS_DEFAULT;
	buf_clear(&p->line);
	/* Room for the ^C that a terminal writes behind it: a line that wrapped stays. */
	progress_words(v, cells > 3 ? cells - 3 : cells, &p->line);
	draw(p);
}

void progress_destroy(struct progress *p)
{
	if (!p)
		return;
	progress_hide(p);
	buf_fini(&p->line);
	free(p);
}
