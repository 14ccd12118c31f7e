// SPDX-License-Identifier: Apache-2.0
#include "shim/shim.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "shim/hold.h"
#include "shim/note.h"

/* Touched only as far as a task writes at once: a quiet task costs no memory for it. */
static char output[LOGFRAME_DATA_MAX];

/* More bytes of the daemon, and the descriptor that may come with them. */
static int receive(const struct hold *h, struct buf *in, int *fd, struct err *err)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec part;
	struct msghdr m = { .msg_iov = &part,
			    .msg_iovlen = 1,
			    .msg_control = &control,
			    .msg_controllen = sizeof control };
	const struct cmsghdr *c;
	ssize_t n;

	buf_reserve(in, 64u << 10);
	part = (struct iovec){ in->data + in->len, 64u << 10 };
	do
		n = recvmsg(h->daemon, &m, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		return err_set(err, ERR_IO,
			       "the daemon went away before it told the task");
	in->len += (size_t)n;
	c = CMSG_FIRSTHDR(&m);
	if (c && c->cmsg_type == SCM_RIGHTS && c->cmsg_len == CMSG_LEN(sizeof *fd) &&
	    *fd < 0)
		memcpy(fd, CMSG_DATA(c), sizeof *fd);
	return 0;
}

static int read_secrets(struct hold *h, int fd, struct err *err)
{
	struct vault *v;

	if (fd < 0)
		return 0;
	v = vault_from_fd(fd, SHIM_SECRETS_MAX, err);
	return v ? shim_secrets_decode(v, &h->task.secrets, err) : -1;
}

static int read_task(struct hold *h, struct err *err)
{
	AUTO_BUF struct buf in = { 0 };
	AUTO_FD int memory = -1;
	struct shim_frame f;
	int64_t used = 0;

	while (used == 0) {
		if (receive(h, &in, &memory, err) < 0)
			return -1;
		used = shim_frame_get(in.data, in.len, &f);
		if (used > 0 && f.type == SHIM_SECRETS) {
			buf_drop(&in, (size_t)used);
			used = shim_frame_get(in.data, in.len, &f);
		}
		if (used == 0 && in.len > SHIM_BUNDLE_MAX + SHIM_HEADER_BYTES)
			used = -1;
	}
	if (used < 0 || f.type != SHIM_BUNDLE)
		return err_set(err, ERR_INVALID, "that is no bundle");
	if (shim_task_decode(f.data, f.len, &h->task, err) < 0 ||
	    read_secrets(h, memory, err) < 0)
		return -1;
	if (h->task.secret_count != (int64_t)h->task.secrets.count)
		return err_set(err, ERR_INTERNAL, "the task's secrets did not come");
	return 0;
}

static void tell(const struct hold *h, enum shim_type type, const void *data, size_t len)
{
	AUTO_BUF struct buf b = { 0 };

	shim_frame_add(&b, type, data, len);
	if (send(h->daemon, b.data, b.len, MSG_NOSIGNAL) < 0)
		return; /* it died; the folder tells its successor */
}

/* 1: the attempt is ours; 0: it was begun before; -1. */
static int claim(struct hold *h, struct err *err)
{
	h->dir = open(h->task.folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (h->dir < 0)
		return err_sys(err, "open %s", h->task.folder);
	h->lock = openat(h->dir, "lock", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (h->lock < 0)
		return err_sys(err, "open %s/lock", h->task.folder);
	if (flock(h->lock, LOCK_EX | LOCK_NB) < 0)
		return errno == EWOULDBLOCK ? 0 : err_sys(err, "lock %s", h->task.folder);
	return faccessat(h->dir, "mark", F_OK, 0) < 0 &&
	       faccessat(h->dir, "exit", F_OK, 0) < 0;
}

/* Takes what is there, at most one pipe full, so that neither stream starves the other. */
static void copy_output(struct hold *h, int *fd, enum log_stream stream)
{
	for (int i = 0; i < 4; i++) {
		ssize_t n = read(*fd, output, sizeof output);

		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (n <= 0) {
			close(*fd);
			*fd = -1;
			return;
		}
		output_write(h, stream, output, (size_t)n);
		if (n < (ssize_t)sizeof output)
			return;
	}
}

static void init_says(struct hold *h)
{
	struct note n;

	if (note_recv(h->wire, &n, NULL) != 1) {
		close(h->wire); /* its end is told by the pidfd */
		h->wire = -1;
	} else if (n.kind == NOTE_EXIT) {
		h->has_status = true;
		h->status = n.value;
		snprintf(h->how, sizeof h->how, "%.63s", n.text);
	} else if (n.kind == NOTE_STAGE) {
		h->stage = n.value;
	}
}

enum {
	AT_INIT,
	AT_WIRE,
	AT_OUT,
	AT_ERR,
	AT_LISTEN,
	AT_CLIENTS,
	AT_COUNT = AT_CLIENTS + HOLD_CLIENTS_MAX
};

static void serve_clients(struct hold *h, const struct pollfd *p)
{
	for (size_t i = 0; i < HOLD_CLIENTS_MAX; i++) {
		if (p[AT_CLIENTS + i].revents && h->clients[i].fd >= 0)
			control_read(h, &h->clients[i]);
	}
	if (p[AT_LISTEN].revents)
		control_accept(h);
}

/* Until init is gone.  Sleeps unless something happens; a descriptor of -1 is not watched. */
static void serve(struct hold *h)
{
	struct pollfd p[AT_COUNT];

	for (;;) {
		int64_t now = hold_mono_ms();

		for (int i = 0; i < AT_COUNT; i++)
			p[i] = (struct pollfd){ -1, POLLIN, 0 };
		p[AT_INIT].fd = h->pidfd;
		p[AT_WIRE].fd = h->wire;
		p[AT_OUT].fd = h->out;
		p[AT_ERR].fd = h->err;
		p[AT_LISTEN].fd = h->listener;
		for (int i = 0; i < HOLD_CLIENTS_MAX; i++)
			p[AT_CLIENTS + i].fd = h->clients[i].fd;
		if (poll(p, AT_COUNT, watch_timeout(&h->watch, now)) < 0)
			continue;
		if (p[AT_OUT].revents)
			copy_output(h, &h->out, LOG_STDOUT);
		if (p[AT_ERR].revents)
			copy_output(h, &h->err, LOG_STDERR);
		if (p[AT_WIRE].revents)
			init_says(h);
		if (p[AT_INIT].revents)
			return;
		serve_clients(h, p);
		if (watch_over(&h->watch, hold_mono_ms())) {
			h->over_memory = true;
			hold_kill(h);
		}
	}
}

/* Every writer is dead, so this ends, unless a descriptor was handed to another task: then
 * what is there is all. */
static void drain(struct hold *h)
{
	for (int left = 1; left > 0 && h->out >= 0;) {
		copy_output(h, &h->out, LOG_STDOUT);
		if (h->out >= 0 && (ioctl(h->out, FIONREAD, &left) < 0))
			left = 0;
	}
	for (int left = 1; left > 0 && h->err >= 0;) {
		copy_output(h, &h->err, LOG_STDERR);
		if (h->err >= 0 && (ioctl(h->err, FIONREAD, &left) < 0))
			left = 0;
	}
	output_end(h);
	while (h->wire >= 0)
		init_says(h);
}

static void hold_init(struct hold *h)
{
	*h = (struct hold){ .daemon = SHIM_FD,
			    .dir = -1,
			    .lock = -1,
			    .maps.range = -1,
			    .pidfd = -1,
			    .wire = -1,
			    .proc = -1,
			    .out = -1,
			    .err = -1,
			    .listener = -1 };
	shim_task_init(&h->task);
	for (size_t i = 0; i < HOLD_SPACES; i++)
		h->spaces[i] = -1;
	for (size_t i = 0; i < HOLD_CLIENTS_MAX; i++)
		h->clients[i].fd = -1;
}

/* Out of the daemon's fate: its terminal, its signals, its descriptors. */
static void detach(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	setsid();
	signal(SIGPIPE, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	for (int fd = 0; null >= 0 && fd < 3; fd++)
		dup2(null, fd);
	if (null > SHIM_FD)
		close(null);
	fcntl(SHIM_FD, F_SETFD, FD_CLOEXEC);
	close_range(SHIM_FD + 1, ~0u, 0);
	umask(022);
	if (chdir("/") < 0)
		_exit(1);
}

static void hold(struct hold *h)
{
	AUTO_BUF struct buf mark = { 0 };

	log_init(&h->log, h->dir, h->task.log_limit_bytes);
	output_init(h);
	for (size_t i = 0; i < h->task.notes.count; i++)
		log_note(&h->log, "%s", h->task.notes.items[i]);
	h->stage = h->task.stage_count ? 0 : -1;
	if (hold_start(h) == 0) {
		shim_mark_encode(&h->mark, &mark);
		tell(h, SHIM_STARTED, mark.data, mark.len);
		serve(h);
		drain(h);
	}
	output_fini(h);
	hold_end(h);
}

int shim_main(void)
{
	struct hold h;
	struct err err = { 0 };
	int mine;

	detach();
	hold_init(&h);
	if (read_task(&h, &err) < 0 || (mine = claim(&h, &err)) < 0) {
		AUTO_BUF struct buf b = { 0 };
		struct shim_exit e = { .kind = SHIM_UNSTARTED,
				       .ended_ms = hold_wall_ms() };

		snprintf(e.text, sizeof e.text, "%.255s", err.text);
		shim_exit_encode(&e, &b);
		tell(&h, SHIM_EXITED, b.data, b.len);
		return 1;
	}
	if (mine)
		hold(&h);
	else
		tell(&h, SHIM_REFUSED, "this attempt was begun before", 29);
	sandbox_maps_fini(&h.maps);
	shim_task_fini(&h.task);
	return 0;
}
