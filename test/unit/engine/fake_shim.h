// SPDX-License-Identifier: Apache-2.0
/* fake_shim.h - a shim without a sandbox that keeps the laws of shim/message.h, or breaks
 * one when the command asks for it: how the engine copes can be tested anywhere.
 *
 *   @early   ends before it leaves a mark        @refuse  says REFUSED
 *   @noise   says what is no frame, and ends     @deaf    marks, starts, hears nothing more
 *   @slow    takes 200 ms to start               @mute    marks, starts, has no socket
 *   @stuck   holds the lock, leaves no mark
 */
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/str.h"
#include "shim/message.h"

static struct {
	int dir, listener, conns[64], watch[64], count;
	pid_t child;
	bool stopped;
} fake;

/* A small file whole; "" when it cannot be read. */
static void fake_read(const char *path, struct buf *out)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char bytes[1024];
	ssize_t n;

	while (fd >= 0 && (n = read(fd, bytes, sizeof bytes)) > 0)
		buf_add(out, bytes, (size_t)n);
	if (fd >= 0)
		close(fd);
}

static void fake_write(const char *name, const struct buf *content)
{
	int fd = openat(fake.dir, "new", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || write(fd, content->data, content->len) != (ssize_t)content->len ||
	    renameat(fake.dir, "new", fake.dir, name) < 0)
		_exit(2);
	close(fd);
}

/* Clock ticks since boot, the 22nd field; the name, the 2nd, may hold anything. */
static int64_t fake_start(void)
{
	AUTO_BUF struct buf b = { 0 };
	const char *at;

	fake_read("/proc/self/stat", &b);
	at = strrchr(buf_str(&b), ')');
	for (int i = 0; at && i < 20; i++)
		at = strchr(at + 1, ' ');
	return at ? strtoll(at, NULL, 10) : 0;
}

static void fake_say(int fd, enum shim_type type, const struct buf *b)
{
	AUTO_BUF struct buf out = { 0 };

	shim_frame_add(&out, type, b ? b->data : NULL, b ? b->len : 0);
	if (send(fd, out.data, out.len, MSG_NOSIGNAL) < 0)
		return;
}

static void fake_bundle(struct shim_task *task)
{
	static char in[1 << 20];
	struct shim_frame f;
	struct err err;
	size_t have = 0;

	while (shim_frame_get(in, have, &f) == 0) {
		ssize_t n = read(SHIM_FD, in + have, sizeof in - have);

		if (n <= 0)
			_exit(2);
		have += (size_t)n;
	}
	if (shim_task_decode(f.data, f.len, task, &err) < 0)
		_exit(2);
}

static void fake_mark(struct shim_mark *mark, struct buf *out, bool stuck)
{
	AUTO_BUF struct buf boot = { 0 };
	int lock = openat(fake.dir, "lock", O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	if (flock(lock, LOCK_EX | LOCK_NB) < 0 ||
	    faccessat(fake.dir, "mark", F_OK, 0) == 0 ||
	    faccessat(fake.dir, "exit", F_OK, 0) == 0) {
		fake_say(SHIM_FD, SHIM_REFUSED, NULL);
		_exit(0);
	}
	if (stuck)
		pause();
	*mark = (struct shim_mark){ .pid = getpid(), .start = fake_start() };
	fake_read("/proc/sys/kernel/random/boot_id", &boot);
	snprintf(mark->boot, sizeof mark->boot, "%.*s",
		 (int)strcspn(buf_str(&boot), "\n"), buf_str(&boot));
	shim_mark_encode(mark, out);
	fake_write("mark", out);
}

static void fake_listen(void)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };

	fake.listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	snprintf(a.sun_path, sizeof a.sun_path, "/proc/self/fd/%d/sock", fake.dir);
	if (bind(fake.listener, (struct sockaddr *)&a, sizeof a) < 0 ||
	    listen(fake.listener, 64) < 0)
		_exit(2);
}

static void fake_request(int i)
{
	AUTO_BUF struct buf out = { 0 };
	struct shim_usage usage = {
		.time_ms = 1, .cpu_ms = 2, .memory_bytes = 3, .pids = 4
	};
	struct shim_frame f;
	char in[1024];
	ssize_t n = recv(fake.conns[i], in, sizeof in, MSG_DONTWAIT);

	if (n == 0) {
		close(fake.conns[i]);
		fake.conns[i] = -1;
	}
	if (n <= 0 || shim_frame_get(in, (size_t)n, &f) <= 0)
		return;
	if (f.type == SHIM_WATCH)
		fake.watch[i] = 1;
	if (f.type == SHIM_TERM || f.type == SHIM_KILL) {
		fake.stopped = true;
		kill(-fake.child, f.type == SHIM_TERM ? SIGTERM : SIGKILL);
		fake_say(fake.conns[i], SHIM_OK, NULL);
	}
	if (f.type == SHIM_USAGE) {
		shim_usage_encode(&usage, &out);
		fake_say(fake.conns[i], SHIM_USAGE, &out);
	}
	if (f.type == SHIM_EXEC)
		fake_say(fake.conns[i], SHIM_OK, NULL);
}

static int fake_serve(void)
{
	int status;

	while (waitpid(fake.child, &status, WNOHANG) == 0) {
		struct pollfd p[65] = { { .fd = fake.listener, .events = POLLIN } };

		for (int i = 0; i < fake.count; i++)
			p[i + 1] =
				(struct pollfd){ .fd = fake.conns[i], .events = POLLIN };
		poll(p, (nfds_t)fake.count + 1, 2);
		for (int i = 0; i < fake.count; i++)
			if (p[i + 1].revents)
				fake_request(i);
		if (p[0].revents && fake.count < 64)
			fake.conns[fake.count++] =
				accept4(fake.listener, NULL, NULL, SOCK_CLOEXEC);
	}
	kill(-fake.child, SIGKILL);
	return status;
}

static void fake_exit(int status, struct buf *out)
{
	struct shim_exit e = { .kind = WIFSIGNALED(status) ? SHIM_SIGNAL : SHIM_CODE,
			       .code = WIFSIGNALED(status) ? 0 : WEXITSTATUS(status),
			       .signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0 };

	if (fake.stopped)
		e.kind = SHIM_STOPPED;
	shim_exit_encode(&e, out);
	fake_write("exit", out);
}

static int fake_shim(void)
{
	AUTO_BUF struct buf text = { 0 };
	struct shim_task task;
	struct shim_mark mark;
	const char *how;
	int status;

	fake_bundle(&task);
	how = task.argv.items[0];
	if (str_eq(how, "@early"))
		_exit(3);
	if (str_eq(how, "@refuse")) {
		buf_adds(&text, "not today");
		fake_say(SHIM_FD, SHIM_REFUSED, &text);
	}
	if (str_eq(how, "@noise") &&
	    write(SHIM_FD, "no frame at all, never was one", 30) < 0)
		_exit(2);
	if (str_eq(how, "@refuse") || str_eq(how, "@noise"))
		_exit(0);
	fake.dir = open(task.folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	fake_mark(&mark, &text, str_eq(how, "@stuck"));
	if (str_eq(how, "@slow"))
		usleep(200000);
	if (!str_eq(how, "@mute"))
		fake_listen();
	fcntl(SHIM_FD, F_SETFD, FD_CLOEXEC);
	if (str_eq(how, "@deaf") || str_eq(how, "@mute")) {
		fake_say(SHIM_FD, SHIM_STARTED, &text);
		for (;;)
			pause();
	}
	fake.child = fork();
	if (fake.child < 0)
		_exit(2);
	if (fake.child == 0) {
		setpgid(0, 0);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		execvp(task.argv.items[0], task.argv.items);
		execl("/bin/sleep", "sleep", "60", NULL); /* @slow */
		_exit(127);
	}
	fake_say(SHIM_FD, SHIM_STARTED, &text);
	setpgid(fake.child, fake.child);
	status = fake_serve();
	buf_clear(&text);
	fake_exit(status, &text);
	fake_say(SHIM_FD, SHIM_EXITED, &text);
	for (int i = 0; i < fake.count; i++)
		if (fake.watch[i])
			fake_say(fake.conns[i], SHIM_EXITED, &text);
	_exit(0);
}
