// SPDX-License-Identifier: Apache-2.0
#include "cli/ask.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/str.h"

#define LINE_MAX_BYTES 4096

/* In place until the end of the line; more than LINE_MAX_BYTES is refused. */
static char *read_line(int fd, struct err *err)
{
	char *line = mem_alloc(1, LINE_MAX_BYTES);
	size_t n = 0;

	for (;;) {
		ssize_t got = read(fd, line + n, 1);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0 || (got == 0 && n == 0) || n == LINE_MAX_BYTES - 1) {
			if (got == 0)
				err_set(err, ERR_INVALID, "nothing was given");
			else
				err_set(err, ERR_INVALID, "the line cannot be read");
			ask_forget(line);
			return NULL;
		}
		if (got == 0 || line[n] == '\n')
			break;
		n++;
	}
	if (n && line[n - 1] == '\r')
		n--;
	line[n] = '\0';
	return line;
}

void ask_forget(char *secret)
{
	if (secret)
		explicit_bzero(secret, strlen(secret));
	free(secret);
}

char *ask_stdin(struct err *err)
{
	return read_line(STDIN_FILENO, err);
}

static int open_terminal(const char *question, struct err *err)
{
	int fd = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);

	if (fd < 0)
		return err_set(err, ERR_INVALID, "%s: there is no terminal to ask at",
			       question);
	return fd;
}

char *ask_line(const char *question, const char *usual, struct err *err)
{
	AUTO_FD int fd = open_terminal(question, err);

	if (fd < 0)
		return NULL;
	if (usual)
		dprintf(fd, "%s [%s]: ", question, usual);
	else
		dprintf(fd, "%s: ", question);
	char *line = read_line(fd, err);
	if (line && !*line && usual) {
		free(line);
		return mem_strdup(usual);
	}
	return line;
}

char *ask_password(const char *question, struct err *err)
{
	AUTO_FD int fd = open_terminal(question, err);
	struct termios before, quiet;
	sigset_t stops, mask;

	if (fd < 0)
		return NULL;
	if (tcgetattr(fd, &before) < 0) {
		err_sys(err, "%s: set the terminal", question);
		return NULL;
	}
	/* Ctrl-C waits until the terminal shows again what is typed. */
	sigemptyset(&stops);
	sigaddset(&stops, SIGINT);
	sigaddset(&stops, SIGTERM);
	sigaddset(&stops, SIGTSTP);
	quiet = before;
	quiet.c_lflag &= ~(tcflag_t)(ECHO | ISIG);
	quiet.c_lflag |= ECHONL;
	sigprocmask(SIG_BLOCK, &stops, &mask);
	tcsetattr(fd, TCSAFLUSH, &quiet); /* first: what is typed at the prompt counts */
	dprintf(fd, "%s: ", question);
	char *line = read_line(fd, err);
	tcsetattr(fd, TCSAFLUSH, &before);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	if (line && strchr(line, '\003')) {
		ask_forget(TAKE(line));
		err_set(err, ERR_INVALID, "given up");
	}
	return line;
}

char *ask_new_password(const char *question, struct err *err)
{
	char *first = ask_password(question, err);
	char *again = first ? ask_password("the same again", err) : NULL;

	if (again && !str_eq(first, again)) {
		err_set(err, ERR_INVALID, "the two passwords differ");
		ask_forget(TAKE(first));
	} else if (!again) {
		ask_forget(TAKE(first));
	}
	ask_forget(again);
	return first;
}

int ask_yes(const char *question, struct err *err)
{
	AUTO_FREE char *line = ask_line(question, NULL, err);

	return line ? str_eq(line, "yes") : -1;
}
