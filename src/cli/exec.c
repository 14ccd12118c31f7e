// SPDX-License-Identifier: Apache-2.0
/* exec.c - `yard exec`: a further command inside a running task, with or without a terminal. */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/cli.h"
#include "codec/url.h"
#include "shim/message.h"

#define INPUT_BYTES (32 << 10) /* of one frame; the shim takes up to SHIM_FRAME_MAX */

struct exec_args {
	bool tty;
	const char *task;
};

/* clang-format off */
static const struct opt exec_table[] = {
	{ "tty", 't', OPT_FLAG, OPT_INTO(struct exec_args, tty), NULL, "give it a terminal, for a shell" },
	{ "task", 0, OPT_TEXT, OPT_INTO(struct exec_args, task), "TASK", "in this one: its rank, or role-index (0)" },
};
/* clang-format on */

struct session {
	struct cli *cli;
	const char *command;
	struct buf in;
	int signals;
	bool tty, input_open, over;
	int code;
	struct termios before;
};

static int send_frame(struct session *s, enum shim_type type, const void *data,
		      size_t len, struct err *err)
{
	AUTO_BUF struct buf out = { 0 };

	shim_frame_add(&out, type, data, len);
	return client_write(s->cli->client, out.data, out.len, err);
}

static int send_size(struct session *s, struct err *err)
{
	struct winsize w;

	if (ioctl(STDIN_FILENO, TIOCGWINSZ, &w) < 0)
		return 0;
	uint8_t size[4] = { (uint8_t)w.ws_row, (uint8_t)(w.ws_row >> 8),
			    (uint8_t)w.ws_col, (uint8_t)(w.ws_col >> 8) };
	return send_frame(s, SHIM_WINSIZE, size, sizeof size, err);
}

static int send_input(struct session *s, struct err *err)
{
	char chunk[INPUT_BYTES];
	ssize_t n = read(STDIN_FILENO, chunk, sizeof chunk);

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return 0;
	if (n > 0)
		return send_frame(s, SHIM_STDIN, chunk, (size_t)n, err);
	s->input_open = false;
	return send_frame(s, SHIM_STDIN_EOF, NULL, 0, err);
}

/* As shells have it: 127 for a command that is not there, 126 for one that cannot be
 * executed; 0: the words are not about the command. */
static int unrunnable(const char *command, const struct shim_frame *f)
{
	AUTO_FREE char *text = mem_strndup(f->data, f->len);
	size_t n = strlen(command);

	if (strncmp(text, command, n) != 0 || strncmp(text + n, ": ", 2) != 0)
		return 0;
	return strcmp(text + n + 2, strerror(ENOENT)) == 0 ? 127 : 126;
}

static int take_frame(struct session *s, const struct shim_frame *f, struct err *err)
{
	switch (f->type) {
	case SHIM_STDOUT:
		cli_write(STDOUT_FILENO, f->data, f->len);
		return 0;
	case SHIM_STDERR:
		cli_write(STDERR_FILENO, f->data, f->len);
		return 0;
	case SHIM_ERROR:
		s->code = unrunnable(s->command, f);
		return err_set(err, ERR_CONFLICT, "%.*s", (int)f->len, f->data);
	case SHIM_EXEC_EXIT:
		s->over = true;
		s->code = f->len ? (uint8_t)f->data[0] : 1;
		return 0;
	default: /* OK, and what a newer shim may add */
		return 0;
	}
}

static int take_bytes(struct session *s, struct http_piece p, struct err *err)
{
	struct shim_frame f;
	int64_t n;

	buf_add(&s->in, p.data, p.len);
	while (!s->over && (n = shim_frame_get(buf_str(&s->in), s->in.len, &f)) != 0) {
		if (n < 0)
			return err_set(err, ERR_CORRUPT,
				       "the task's answer does not make sense");
		if (take_frame(s, &f, err) < 0)
			return -1;
		buf_drop(&s->in, (size_t)n);
	}
	return 0;
}

static int take_signal(struct session *s, struct err *err)
{
	struct signalfd_siginfo info;

	if (read(s->signals, &info, sizeof info) != sizeof info)
		return 0;
	if (info.ssi_signo == SIGWINCH)
		return s->tty ? send_size(s, err) : 0;
	uint8_t number = (uint8_t)info.ssi_signo;
	return send_frame(s, SHIM_SIGNAL_SEND, &number, 1, err);
}

static int turn(struct session *s, struct err *err)
{
	struct client *c = s->cli->client;
	struct pollfd p[] = { { client_fd(c), POLLIN, 0 },
			      { s->signals, POLLIN, 0 },
			      { s->input_open ? STDIN_FILENO : -1, POLLIN, 0 } };

	if (poll(p, COUNT_OF(p), -1) < 0)
		return errno == EINTR ? 0 : err_sys(err, "wait for the task");
	if (p[1].revents && take_signal(s, err) < 0)
		return -1;
	if (p[2].revents && send_input(s, err) < 0)
		return -1;
	if (!p[0].revents)
		return 0;
	if (client_fill(c, err) < 0)
		return -1;
	struct http_piece rest = client_rest(c);
	if (rest.len == 0 && client_over(c))
		return err_set(err, ERR_IO,
			       "the connection broke; the command may still run");
	return take_bytes(s, rest, err);
}

static int converse(struct session *s, struct err *err)
{
	/* What came in one piece with the answer's head. */
	int rc = take_bytes(s, client_rest(s->cli->client), err);

	if (rc == 0 && s->tty)
		rc = send_size(s, err);
	while (rc == 0 && !s->over)
		rc = turn(s, err);
	return rc;
}

static void signals_open(struct session *s, sigset_t *before)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGWINCH);
	if (!s->tty) { /* with a terminal these are bytes */
		sigaddset(&set, SIGINT);
		sigaddset(&set, SIGTERM);
	}
	sigprocmask(SIG_BLOCK, &set, before);
	s->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static int connect_exec(struct cli *c, const struct opts_list *operands, int rank,
			bool tty, struct err *err)
{
	AUTO_BUF struct buf target = { 0 };
	AUTO_FREE char *path = cli_job_target(operands->items[0], "/exec");

	buf_printf(&target, "%s?task=%d&tty=%d", path, rank, tty);
	for (size_t i = 1; i < operands->count; i++)
		url_query_add(&target, "arg", operands->items[i]);
	struct request r = { .method = "POST",
			     .target = target.data,
			     .upgrade = "yard-exec" };
	return client_begin(c->client, &r, err);
}

static int run_exec(struct cli *c, const void *args, const struct opts_list *operands)
{
	const struct exec_args *a = args;
	struct session s = {
		.cli = c, .command = operands->items[1], .tty = a->tty, .input_open = true
	};
	struct wire_job w = { 0 };
	sigset_t before;
	struct err err;
	int rank = 0;

	if (a->tty && !isatty(STDIN_FILENO)) {
		err_set(&err, ERR_INVALID, "--tty: stdin is no terminal");
		return cli_fail(c, &err);
	}
	if (a->task) {
		rank = cli_get_job(c, operands->items[0], &w, &err) < 0
			       ? -1
			       : cli_task_rank(w.job, a->task, &err);
		wire_job_fini(&w);
	}
	if (rank < 0 || connect_exec(c, operands, rank, a->tty, &err) < 0)
		return cli_fail(c, &err);
	signals_open(&s, &before);
	if (s.tty) {
		struct termios raw;
		tcgetattr(STDIN_FILENO, &s.before);
		raw = s.before;
		cfmakeraw(&raw);
		tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
	}
	int rc = converse(&s, &err);
	if (s.tty)
		tcsetattr(STDIN_FILENO, TCSADRAIN, &s.before);
	close(s.signals);
	sigprocmask(SIG_SETMASK, &before, NULL);
	buf_fini(&s.in);
	int failed = rc < 0 ? cli_fail(c, &err) : 0;
	return failed && !s.code ? failed : s.code;
}

const struct command cmd_exec = {
	.name = "exec",
	.operands = "JOB -- COMMAND...",
	.summary = "run a further command inside a running task",
	.table = exec_table,
	.count = COUNT_OF(exec_table),
	.args_size = sizeof(struct exec_args),
	.operands_min = 2,
	.operands_max = SIZE_MAX,
	.run = run_exec,
};
