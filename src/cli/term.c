// SPDX-License-Identifier: Apache-2.0
#include "cli/term.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/cli.h"

#define ENTER     "\033[?1049h\033[?25l" /* the other screen, no cursor */
#define LEAVE     "\033[?25h\033[?1049l"
#define ESCAPE_MS 30 /* an escape sequence comes at once; a finger is slower */

struct term {
	struct termios was;
	sigset_t before;
	int signals, caught;
	char in[64];
	size_t len;
};

struct term *term_open(struct err *err)
{
	struct termios raw;
	sigset_t set;

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO) ||
	    tcgetattr(STDIN_FILENO, &raw) < 0) {
		err_set(err, ERR_INVALID, "this needs a terminal");
		return NULL;
	}
	struct term *t = mem_alloc(1, sizeof *t);
	t->was = raw;
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGQUIT);
	sigaddset(&set, SIGWINCH);
	sigprocmask(SIG_BLOCK, &set, &t->before);
	t->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	cfmakeraw(&raw);
	tcsetattr(STDIN_FILENO, TCSAFLUSH, &raw);
	cli_write(STDOUT_FILENO, ENTER, sizeof ENTER - 1);
	return t;
}

void term_close(struct term *t)
{
	if (!t)
		return;
	cli_write(STDOUT_FILENO, LEAVE, sizeof LEAVE - 1);
	tcsetattr(STDIN_FILENO, TCSAFLUSH, &t->was);
	close(t->signals);
	sigprocmask(SIG_SETMASK, &t->before, NULL);
	free(t);
}

void term_size(const struct term *t, int *rows, int *cols)
{
	struct winsize w = { 0 };

	(void)t;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) < 0 || !w.ws_row || !w.ws_col) {
		w.ws_row = 24;
		w.ws_col = 80;
	}
	*rows = w.ws_row;
	*cols = w.ws_col;
}

int term_signal(const struct term *t)
{
	return t->caught;
}

/* clang-format off */
static const struct { const char *bytes; int key; } sequences[] = {
	{ "\033[A", TERM_UP },       { "\033OA", TERM_UP },
	{ "\033[B", TERM_DOWN },     { "\033OB", TERM_DOWN },
	{ "\033[5~", TERM_PAGE_UP }, { "\033[6~", TERM_PAGE_DOWN },
	{ "\033[H", TERM_HOME },     { "\033[1~", TERM_HOME },
	{ "\033[F", TERM_END },      { "\033[4~", TERM_END },
};
/* clang-format on */

int term_decode(const char *bytes, size_t len, size_t *used)
{
	*used = 1;
	if (bytes[0] != '\033')
		return (unsigned char)bytes[0];
	for (size_t i = 0; i < COUNT_OF(sequences); i++) {
		size_t n = strlen(sequences[i].bytes);
		size_t have = len < n ? len : n;
		if (memcmp(bytes, sequences[i].bytes, have) != 0)
			continue;
		*used = have == n ? n : 0;
		return have == n ? sequences[i].key : TERM_NONE;
	}
	if (len == 1 || (bytes[1] != '[' && bytes[1] != 'O'))
		return TERM_ESCAPE;
	/* A sequence that nobody asked for: left out up to its last letter. */
	for (size_t i = 2; i < len; i++) {
		*used = i + 1;
		if (bytes[i] >= '@' && bytes[i] <= '~')
			return TERM_NONE;
	}
	return TERM_NONE;
}

static int on_signal(struct term *t)
{
	struct signalfd_siginfo info;
	int key = TERM_NONE;

	while (read(t->signals, &info, sizeof info) == sizeof info) {
		if (info.ssi_signo == SIGWINCH) {
			key = key == TERM_GONE ? key : TERM_RESIZED;
			continue;
		}
		t->caught = (int)info.ssi_signo;
		key = TERM_GONE;
	}
	return key;
}

static int take_key(struct term *t)
{
	size_t used;
	int key = term_decode(t->in, t->len, &used);

	if (used == 0 && t->len) { /* nothing more came: it was the key alone */
		used = 1;
		key = TERM_ESCAPE;
	}
	memmove(t->in, t->in + used, t->len - used);
	t->len -= used;
	return key;
}

int term_wait(struct term *t, int timeout_ms)
{
	struct pollfd p[2] = { { STDIN_FILENO, POLLIN, 0 }, { t->signals, POLLIN, 0 } };
	size_t used = 0;

	if (t->len) {
		term_decode(t->in, t->len, &used);
		if (used && !(t->len == 1 && t->in[0] == '\033'))
			return take_key(t);
		timeout_ms = ESCAPE_MS;
	}
	int n = poll(p, 2, timeout_ms);
	if (n < 0)
		return errno == EINTR ? TERM_NONE : TERM_GONE;
	if (p[1].revents)
		return on_signal(t);
	if (n == 0)
		return t->len ? take_key(t) : TERM_NONE;
	ssize_t got = read(STDIN_FILENO, t->in + t->len, sizeof t->in - t->len);
	if (got <= 0)
		return TERM_GONE;
	t->len += (size_t)got;
	return term_wait(t, 0);
}
