// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/haul_impl.h"
#include "cli/table.h"

#define GO_HOME       "\r\033[K"
#define CELLS_DEFAULT 80
#define TICK_MS       100
#define LINE_MS       1000 /* between lines where there is no terminal */
#define QUIET_MS      300  /* what takes less needs no bar */

struct watch {
	struct haul *haul;
	struct cli *cli;
	pthread_t thread;
	sigset_t signals, before;
	const char *again;
	bool terminal, shown; /* a terminal is there; the bar is wanted */
	int64_t started_ms, line_ms;
	pthread_mutex_t screen; /* guards what is below, and stderr */
	bool drawn, over;
	struct pace pace;
};

static int64_t clock_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void look(struct watch *w, int64_t now_ms, struct bar_view *v)
{
	struct haul_count *c = haul_counts(w->haul);

	*v = (struct bar_view){ .files = c->files,
				.files_all = c->files_all,
				.bytes = c->bytes,
				.bytes_all = c->bytes_all,
				.counting = c->counting };
	pace_add(&w->pace, now_ms, v->bytes, v->files);
	pace_tell(&w->pace, now_ms, v);
}

static size_t columns(void)
{
	struct winsize size = { 0 };

	return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col
		       ? size.ws_col
		       : CELLS_DEFAULT;
}

static void hide(struct watch *w)
{
	if (w->drawn)
		cli_write(STDERR_FILENO, GO_HOME, sizeof GO_HOME - 1);
	w->drawn = false;
}

static void draw(struct watch *w, const struct bar_view *v)
{
	AUTO_BUF struct buf out = { 0 };
	size_t cells = columns();

	buf_adds(&out, GO_HOME);
	if (w->cli->colour_err)
		buf_adds(&out, table_colour_code(TABLE_DIM));
	/* Room for the ^C that a terminal writes behind it: a line that wrapped stays. */
	bar_words(v, cells > 3 ? cells - 3 : cells, &out);
	if (w->cli->colour_err)
		buf_adds(&out, TABLE_COLOUR_END);
	cli_write(STDERR_FILENO, out.data, out.len);
	w->drawn = true;
}

static void print_line(const struct bar_view *v)
{
	AUTO_BUF struct buf out = { 0 };

	bar_words(v, CELLS_DEFAULT, &out);
	buf_addc(&out, '\n');
	cli_write(STDERR_FILENO, out.data, out.len);
}

static void tick(struct watch *w)
{
	int64_t now = clock_ms();
	struct bar_view v;

	pthread_mutex_lock(&w->screen);
	look(w, now, &v);
	if (w->shown && !w->over && now - w->started_ms >= QUIET_MS) {
		if (w->terminal) {
			draw(w, &v);
		} else if (now - w->line_ms >= LINE_MS) {
			print_line(&v);
			w->line_ms = now;
		}
	}
	pthread_mutex_unlock(&w->screen);
}

/* What is whole is in its place and the rest can be gone on with, whenever the process ends:
 * to leave at once is as good as any other end. */
static void leave(struct watch *w, int sig)
{
	struct haul_count *c = haul_counts(w->haul);
	AUTO_BUF struct buf words = { 0 };

	pthread_mutex_lock(&w->screen);
	hide(w);
	bar_files(c->files + c->there, &words);
	buf_adds(&words, c->files + c->there == 1 ? " is there" : " are there");
	cli_say(w->cli, "interrupted: %s%s%s", buf_str(&words), w->again ? "; " : "",
		w->again ? w->again : "");
	_exit(128 + sig);
}

static void *watch_run(void *arg)
{
	struct watch *w = arg;
	const struct timespec pause = { .tv_nsec = TICK_MS * 1000000 };

	for (;;) {
		int sig = sigtimedwait(&w->signals, NULL, &pause);
		pthread_mutex_lock(&w->screen);
		bool over = w->over;
		pthread_mutex_unlock(&w->screen);
		if (over)
			return NULL;
		if (sig > 0 && sig != SIGUSR1)
			leave(w, sig);
		tick(w);
	}
}

struct watch *watch_create(struct haul *h, const struct haul_options *o)
{
	struct watch *w = mem_alloc(1, sizeof *w);

	w->haul = h;
	w->cli = haul_cli(h);
	w->again = o->again;
	w->terminal = isatty(STDERR_FILENO);
	w->shown = o->show == HAUL_ALWAYS || (o->show == HAUL_AUTO && w->terminal);
	w->started_ms = w->line_ms = clock_ms();
	pthread_mutex_init(&w->screen, NULL);
	sigemptyset(&w->signals);
	sigaddset(&w->signals, SIGINT);
	sigaddset(&w->signals, SIGTERM);
	sigaddset(&w->signals, SIGHUP);
	sigaddset(&w->signals, SIGUSR1); /* ours, to be woken by */
	pthread_sigmask(SIG_BLOCK, &w->signals, &w->before);
	pthread_create(&w->thread, NULL, watch_run, w);
	return w;
}

void watch_destroy(struct watch *w)
{
	pthread_mutex_lock(&w->screen);
	w->over = true;
	pthread_mutex_unlock(&w->screen);
	pthread_kill(w->thread, SIGUSR1);
	pthread_join(w->thread, NULL);
	hide(w);
	/* One that came while the thread was on its way out is taken here: not ours to keep. */
	const struct timespec none = { 0 };
	int sig = sigtimedwait(&w->signals, NULL, &none);
	if (sig > 0 && sig != SIGUSR1)
		raise(sig);
	pthread_sigmask(SIG_SETMASK, &w->before, NULL);
	pthread_mutex_destroy(&w->screen);
	free(w);
}

void watch_say(struct watch *w, bool bad, const char *fmt, ...)
{
	AUTO_BUF struct buf words = { 0 };
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(&words, fmt, ap);
	va_end(ap);
	pthread_mutex_lock(&w->screen);
	hide(w);
	if (bad)
		cli_say_bad(w->cli, "%s", buf_str(&words));
	else
		cli_hint(w->cli, "%s", buf_str(&words));
	pthread_mutex_unlock(&w->screen);
}
