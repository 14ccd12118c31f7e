// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "shim/hold.h"
#include "shim/note.h"

int control_listen(struct hold *h, struct err *err)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };

	unlinkat(h->dir, "sock", 0);
	h->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (h->listener < 0)
		return err_sys(err, "make the control socket");
	/* Short whatever the folder's path: sun_path has 108 bytes. */
	snprintf(a.sun_path, sizeof a.sun_path, "/proc/self/fd/%d/sock", h->dir);
	fchmod(h->listener, 0600);
	if (bind(h->listener, (struct sockaddr *)&a, sizeof a) < 0 ||
	    fchmodat(h->dir, "sock", 0600, 0) < 0 ||
	    listen(h->listener, HOLD_CLIENTS_MAX) < 0)
		return err_sys(err, "make the control socket");
	return 0;
}

static void drop(struct client *c)
{
	if (c->fd >= 0)
		close(c->fd);
	buf_fini(&c->in);
	*c = (struct client){ .fd = -1 };
}

static bool may_control(int fd)
{
	struct ucred who;
	socklen_t len = sizeof who;

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len) == 0 &&
	       (who.uid == 0 || who.uid == geteuid());
}

void control_accept(struct hold *h)
{
	int fd = accept4(h->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd < 0)
		return;
	for (size_t i = 0; may_control(fd) && i < HOLD_CLIENTS_MAX; i++) {
		if (h->clients[i].fd < 0) {
			h->clients[i].fd = fd;
			return;
		}
	}
	close(fd);
}

/* Answers are small and the socket's buffer is not: who does not read loses the connection. */
static void answer(struct client *c, enum shim_type type, const void *data, size_t len)
{
	AUTO_BUF struct buf b = { 0 };

	shim_frame_add(&b, type, data, len);
	if (send(c->fd, b.data, b.len, MSG_NOSIGNAL) != (ssize_t)b.len)
		drop(c);
}

/* A free place for an exec, after those that ended were reaped; NULL: all are taken. */
static pid_t *exec_place(struct hold *h)
{
	pid_t *free_one = NULL;

	for (size_t i = 0; i < HOLD_EXECS_MAX; i++) {
		pid_t *pid = &h->execs[i];

		if (*pid > 0 && waitpid(*pid, NULL, WNOHANG) != 0)
			*pid = 0;
		if (*pid == 0)
			free_one = pid;
	}
	return free_one;
}

/* The exec is served by a child: a client that hangs, floods or dies touches neither the
 * task nor its log. */
static void exec(struct hold *h, struct client *c, const struct shim_frame *f,
		 size_t used)
{
	struct shim_exec e;
	struct err err = { 0 };
	pid_t pid, *place = exec_place(h);

	if (!place) {
		err_set(&err, ERR_BUSY,
			"%d commands run in this task by exec already: end one first",
			HOLD_EXECS_MAX);
		answer(c, SHIM_ERROR, err.text, strlen(err.text));
		return;
	}
	if (shim_exec_decode(f->data, f->len, &e, &err) < 0) {
		answer(c, SHIM_ERROR, err.text, strlen(err.text));
		return;
	}
	pid = fork();
	if (pid == 0) {
		buf_drop(&c->in, used);
		exec_serve(h, c->fd, &e, &c->in);
	}
	if (pid > 0)
		*place = pid;
	shim_exec_fini(&e);
	drop(c); /* it is the child's now */
}

static void usage(struct hold *h, struct client *c)
{
	AUTO_BUF struct buf b = { 0 };
	struct shim_usage u;

	hold_usage(h, &u);
	shim_usage_encode(&u, &b);
	answer(c, SHIM_USAGE, b.data, b.len);
}

/* A notice that is no text, or too long for one, is left out: the signal comes anyway. */
static void ask_to_end(struct hold *h, const struct shim_frame *f)
{
	char notice[NOTE_TEXT_MAX] = "";

	if (h->term_sent)
		return;
	h->term_sent = true;
	if (f->len < sizeof notice && !memchr(f->data, 0, f->len))
		memcpy(notice, f->data, f->len);
	note_send(h->wire, NOTE_TERM, 0, notice);
}

static void handle(struct hold *h, struct client *c, const struct shim_frame *f,
		   size_t used)
{
	static const char unknown[] = "the shim does not know this request";

	if (f->type == SHIM_TERM) {
		h->stop_asked = true;
		ask_to_end(h, f);
		answer(c, SHIM_OK, NULL, 0);
	} else if (f->type == SHIM_KILL) {
		h->stop_asked = true;
		hold_kill(h);
		answer(c, SHIM_OK, NULL, 0);
	} else if (f->type == SHIM_USAGE) {
		usage(h, c);
	} else if (f->type == SHIM_WATCH) {
		c->watching = true;
	} else if (f->type == SHIM_EXEC) {
		exec(h, c, f, used);
	} else {
		answer(c, SHIM_ERROR, unknown, sizeof unknown - 1);
	}
}

void control_read(struct hold *h, struct client *c)
{
	struct shim_frame f;
	char data[4096];
	ssize_t n = recv(c->fd, data, sizeof data, 0);
	int64_t used;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		drop(c);
		return;
	}
	buf_add(&c->in, data, (size_t)n);
	while (c->fd >= 0 && (used = shim_frame_get(c->in.data, c->in.len, &f)) != 0) {
		if (used < 0 || f.type == SHIM_BUNDLE) {
			drop(c);
			return;
		}
		handle(h, c, &f, (size_t)used);
		if (c->fd >= 0)
			buf_drop(&c->in, (size_t)used);
	}
}

void control_tell_exit(struct hold *h, const struct buf *frame)
{
	for (size_t i = 0; i < HOLD_CLIENTS_MAX; i++) {
		struct client *c = &h->clients[i];

		if (c->fd >= 0 && c->watching &&
		    send(c->fd, frame->data, frame->len, MSG_NOSIGNAL) < 0)
			drop(c);
	}
}

void control_close(struct hold *h)
{
	unlinkat(h->dir, "sock", 0);
	for (size_t i = 0; i < HOLD_CLIENTS_MAX; i++)
		drop(&h->clients[i]);
	if (h->listener >= 0)
		close(h->listener);
	h->listener = -1;
}
