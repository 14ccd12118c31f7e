// SPDX-License-Identifier: Apache-2.0
/* A further command inside a running task: in all its namespaces, its cgroup, under its
 * system call filter, on a terminal of the task's own devpts if one is wanted.
 *
 * Two processes: the server stays outside (in the namespaces of the shim, not counted
 * against the task) and carries frames; its child goes in and becomes the command.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "shim/hold.h"
#include "shim/note.h"

#define BACKLOG_MAX                                                                      \
	(256u << 10) /* bytes a slow client may be behind before output waits */

#define AFTER_MS 5000

struct session {
	int conn, wire;
	int in, out, err; /* tty: all one terminal (err -1) */
	bool tty, in_eof;
	pid_t pid;
	int pidfd;
	struct buf from, to; /* frames not yet handled; frames not yet sent */
	struct buf input;    /* bytes not yet taken by the command */
};

/* --- the child, on its way in --- */

static _Noreturn void child_fail(int wire, const char *what)
{
	char text[200];

	snprintf(text, sizeof text, "%s: %s", what, strerror(errno));
	note_send(wire, NOTE_FAILED, 0, text);
	_exit(127);
}

static void child_enter(const struct hold *h, int wire)
{
	bool locked = h->spaces[HOLD_MNT] >= 0;
	int mounts = h->spaces[locked ? HOLD_MNT : HOLD_BUILD];
	int user = locked ? h->spaces[HOLD_INNER] : h->maps.range;
	struct err err = { 0 };

	if (cgroup_join(&h->cgroup, &err) < 0) {
		note_send(wire, NOTE_FAILED, 0, err.text);
		_exit(127);
	}
	cgroup_hide();
	if (setns(h->spaces[HOLD_IPC], CLONE_NEWIPC) < 0 ||
	    setns(h->spaces[HOLD_UTS], CLONE_NEWUTS) < 0 ||
	    setns(mounts, CLONE_NEWNS) < 0)
		child_fail(wire, "enter the task");
	if (sandbox_become(user, !watch_needed(&h->task, &h->cgroup), &err) < 0) {
		note_send(wire, NOTE_FAILED, 0, err.text);
		_exit(127);
	}
	sandbox_rlimits(&h->task, h->cgroup.has[CGROUP_PIDS]);
}

/* Opens a terminal where the task would, sends its master out, and makes it our own. */
static void child_tty(int wire, const struct shim_exec *e)
{
	struct winsize size = { .ws_row = (unsigned short)e->rows,
				.ws_col = (unsigned short)e->columns };
	int unlock = 0, slave;
	AUTO_FD int master = open("/dev/pts/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC);

	if (master < 0 || ioctl(master, TIOCSPTLCK, &unlock) < 0)
		child_fail(wire, "open a terminal");
	slave = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (slave < 0)
		child_fail(wire, "open a terminal");
	if (e->rows > 0)
		ioctl(master, TIOCSWINSZ, &size);
	if (note_send_fd(wire, NOTE_BUILT, master) < 0 || setsid() < 0 ||
	    ioctl(slave, TIOCSCTTY, 0) < 0)
		child_fail(wire, "take the terminal");
	for (int fd = 0; fd < 3; fd++)
		dup2(slave, fd);
}

static _Noreturn void child_exec(const struct hold *h, const struct shim_exec *e,
				 int wire)
{
	struct shim_list env = { 0 };
	sigset_t none;

	for (size_t i = 0; i < e->env.count; i++) /* the first of a name counts */
		shim_list_add(&env, e->env.items[i]);
	for (size_t i = 0; i < h->task.env.count; i++)
		shim_list_add(&env, h->task.env.items[i]);
	for (size_t i = 0; i < h->task.secrets.count; i++)
		if (h->task.secrets.items[i].kind == SHIM_SECRET_ENV)
			shim_list_add(&env, h->task.secrets.items[i].name);
	if (e->tty)
		shim_list_add(&env, "TERM=xterm-256color");
	environ = env.items;
	for (int sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (chdir(h->task.workdir) < 0 && chdir("/") < 0)
		child_fail(wire, "enter the working folder");
	execvp(e->argv.items[0], e->argv.items);
	child_fail(wire, e->argv.items[0]);
}

static _Noreturn void child(const struct hold *h, const struct shim_exec *e, int wire,
			    const int *stdio)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	child_enter(h, wire);
	if (e->tty) {
		child_tty(wire, e);
	} else {
		setsid();
		for (int fd = 0; fd < 3; fd++)
			dup2(stdio[fd], fd);
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* the change of uid cleared it */
	child_exec(h, e, wire);
}

/* --- the server --- */

static void send_frame(struct session *s, enum shim_type type, const void *data,
		       size_t len)
{
	shim_frame_add(&s->to, type, data, len);
}

/* False: the client is gone. */
static bool flush(struct session *s)
{
	while (s->to.len > 0) {
		ssize_t n =
			send(s->conn, s->to.data, s->to.len, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n < 0)
			return errno == EAGAIN || errno == EINTR;
		buf_drop(&s->to, (size_t)n);
	}
	return true;
}

static void feed(struct session *s)
{
	while (s->in >= 0 && s->input.len > 0) {
		ssize_t n = write(s->in, s->input.data, s->input.len);

		if (n < 0 && errno == EAGAIN)
			return;
		if (n < 0) { /* the command reads no more */
			buf_clear(&s->input);
			s->in_eof = true;
			break;
		}
		buf_drop(&s->input, (size_t)n);
	}
	if (s->in_eof && s->input.len == 0 && s->in >= 0 && !s->tty) {
		close(s->in);
		s->in = -1;
	}
}

static void on_frame(struct session *s, const struct shim_frame *f)
{
	const uint8_t *b = (const uint8_t *)f->data;

	if (f->type == SHIM_STDIN && !s->in_eof) {
		buf_add(&s->input, f->data, f->len);
	} else if (f->type == SHIM_STDIN_EOF) {
		if (s->tty && !s->in_eof)
			buf_addc(&s->input, 4); /* ^D, as a person would */
		s->in_eof = true;
	} else if (f->type == SHIM_WINSIZE && f->len == 4 && s->tty) {
		struct winsize size = { .ws_row = (unsigned short)(b[0] | b[1] << 8),
					.ws_col = (unsigned short)(b[2] | b[3] << 8) };
		ioctl(s->in, TIOCSWINSZ, &size);
	} else if (f->type == SHIM_SIGNAL_SEND && f->len == 1 && b[0] > 0 &&
		   b[0] < NSIG) {
		kill(-s->pid, b[0]);
	}
}

/* False: the client is gone or talks nonsense. */
static bool from_client(struct session *s, bool more)
{
	struct shim_frame f;
	char data[16384];
	int64_t used;

	if (more) {
		ssize_t n = recv(s->conn, data, sizeof data, MSG_DONTWAIT);

		if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
			return false;
		if (n > 0)
			buf_add(&s->from, data, (size_t)n);
	}
	while ((used = shim_frame_get(s->from.data, s->from.len, &f)) > 0) {
		on_frame(s, &f);
		buf_drop(&s->from, (size_t)used);
	}
	feed(s);
	return used == 0;
}

static void from_command(struct session *s, int *fd, enum shim_type type)
{
	char data[32768];
	ssize_t n = read(*fd, data, sizeof data);

	if (n > 0) {
		send_frame(s, type, data, (size_t)n);
		return;
	}
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (!s->tty || fd == &s->err)
		close(*fd);
	*fd = -1; /* a terminal whose last user is gone says EIO */
}

static int finish(struct session *s)
{
	int status = 0;

	while (waitpid(s->pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Until the command has ended and its output is told, or the client is gone.  One that does
 * not read what is told cannot keep us for longer than AFTER_MS. */
static void pump(struct session *s)
{
	int64_t until_ms = 0;
	bool ended = false;

	while (from_client(s, false) && flush(s)) {
		bool room = s->to.len < BACKLOG_MAX;
		struct pollfd p[] = {
			{ s->conn,
			  (short)((s->input.len < BACKLOG_MAX ? POLLIN : 0) |
				  (s->to.len > 0 ? POLLOUT : 0)),
			  0 },
			{ room ? s->out : -1, POLLIN, 0 },
			{ room ? s->err : -1, POLLIN, 0 },
			{ s->input.len > 0 ? s->in : -1, POLLOUT, 0 },
			{ ended ? -1 : s->pidfd, POLLIN, 0 },
		};

		if (ended && s->out < 0 && s->err < 0 && s->to.len == 0)
			return;
		/* After the command's end its output is drained, but not what a child of it
		 * that stays behind may still say. */
		int n = poll(p, COUNT_OF(p), ended ? 50 : -1);
		if ((n == 0 && s->to.len == 0) || (ended && hold_mono_ms() >= until_ms))
			return;
		if (p[1].revents)
			from_command(s, &s->out, SHIM_STDOUT);
		if (p[2].revents)
			from_command(s, &s->err, SHIM_STDERR);
		if (p[4].revents) {
			ended = true;
			until_ms = hold_mono_ms() + AFTER_MS;
		}
		if (p[0].revents & (POLLIN | POLLHUP | POLLERR) && !from_client(s, true))
			break;
	}
	kill(-s->pid, SIGHUP); /* the client left: what a closed terminal does */
	kill(s->pid, SIGKILL);
}

/* The child answers with its terminal's master, or why it failed; silence is success. */
static int wait_ready(struct session *s, struct err *err)
{
	struct note n = { .kind = NOTE_STARTED };
	int fd = -1;

	while (note_recv(s->wire, &n, &fd) == 1) {
		if (n.kind == NOTE_FAILED)
			return err_set(err, ERR_INVALID, "%s", n.text);
		if (fd >= 0 && s->tty) {
			s->in = s->out = fd;
			fcntl(fd, F_SETFL, O_RDWR | O_NONBLOCK);
		}
	}
	return s->tty && s->out < 0
		       ? err_set(err, ERR_IO, "the terminal could not be opened")
		       : 0;
}

static int start(struct hold *h, const struct shim_exec *e, struct session *s,
		 struct err *err)
{
	int wire[2], in[2] = { -1, -1 }, out[2] = { -1, -1 }, er[2] = { -1, -1 };

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, wire) < 0 ||
	    (!e->tty && (pipe2(in, O_CLOEXEC) < 0 || pipe2(out, O_CLOEXEC) < 0 ||
			 pipe2(er, O_CLOEXEC) < 0)))
		return err_sys(err, "make pipes");
	/* Without root one must be inside the user namespace to enter the others. */
	if ((h->spaces[HOLD_USER] >= 0 &&
	     setns(h->spaces[HOLD_USER], CLONE_NEWUSER) < 0) ||
	    setns(h->spaces[HOLD_PID], CLONE_NEWPID) < 0)
		return err_sys(err, "enter the task");
	s->pid = fork();
	if (s->pid < 0)
		return err_sys(err, "start a process");
	if (s->pid == 0) {
		close(wire[0]);
		child(h, e, wire[1], (int[]){ in[0], out[1], er[1] });
	}
	close(wire[1]);
	for (int *fd = (int[]){ in[0], out[1], er[1], -2 }; *fd != -2; fd++) {
		if (*fd >= 0)
			close(*fd);
	}
	s->wire = wire[0];
	s->in = in[1];
	s->out = out[0];
	s->err = er[0];
	for (int *fd = (int[]){ s->in, s->out, s->err, -2 }; *fd != -2; fd++) {
		if (*fd >= 0)
			fcntl(*fd, F_SETFL, O_NONBLOCK);
	}
	s->pidfd = (int)syscall(SYS_pidfd_open, s->pid, 0);
	return wait_ready(s, err);
}

/* A socket closed with unread input looks broken to the other side: read until it has
 * seen our end, but not for ever. */
static _Noreturn void farewell(struct session *s)
{
	char data[4096];

	shutdown(s->conn, SHUT_WR);
	for (int i = 0;
	     i < 64 && poll(&(struct pollfd){ s->conn, POLLIN, 0 }, 1, 1000) > 0; i++) {
		if (recv(s->conn, data, sizeof data, MSG_DONTWAIT) <= 0)
			break;
	}
	_exit(0);
}

_Noreturn void exec_serve(struct hold *h, int conn, const struct shim_exec *e,
			  struct buf *in)
{
	struct session s = { .conn = conn,
			     .wire = -1,
			     .in = -1,
			     .out = -1,
			     .err = -1,
			     .tty = e->tty,
			     .from = *in };
	struct err err = { 0 };
	uint8_t code;

	/* Before the task can see us, which a child of ours in its namespace can be. */
	prctl(PR_SET_DUMPABLE, 0);
	/* Nothing of the shim's may stay open here: its lock and its sockets are its life signs. */
	close(h->lock);
	close(h->daemon);
	close(h->listener);
	close(h->wire);
	close(h->out);
	close(h->err);
	for (size_t i = 0; i < HOLD_CLIENTS_MAX; i++) {
		if (h->clients[i].fd >= 0 && h->clients[i].fd != conn)
			close(h->clients[i].fd);
	}
	if (start(h, e, &s, &err) < 0) {
		send_frame(&s, SHIM_ERROR, err.text, strlen(err.text));
		flush(&s);
		farewell(&s);
	}
	send_frame(&s, SHIM_OK, NULL, 0);
	pump(&s);
	code = (uint8_t)finish(&s);
	send_frame(&s, SHIM_EXEC_EXIT, &code, 1);
	flush(&s);
	farewell(&s);
}
