// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"
#include "shim/folder.h"
#include "shim/hold.h"
#include "shim/init.h"
#include "shim/note.h"
#include "shim/userns.h"

#define PIPE_BYTES (1 << 20)

struct ends {
	int out, err, wire; /* init's ends */
};

static int make_pipe(int *ours, int *theirs, struct err *err)
{
	int fd[2];

	if (pipe2(fd, O_CLOEXEC) < 0)
		return err_sys(err, "make a pipe");
	*ours = fd[0];
	*theirs = fd[1];
	/* Ours alone is non-blocking; a task expects its stdout to block.  A big pipe lets it run
	 * on while we write to disk; the default is fine where a user's pipes are used up. */
	fcntl(fd[0], F_SETFL, O_NONBLOCK);
	fcntl(fd[0], F_SETPIPE_SZ, PIPE_BYTES);
	return 0;
}

static int make_ends(struct hold *h, struct ends *e, struct err *err)
{
	int wire[2];

	if (make_pipe(&h->out, &e->out, err) < 0 || make_pipe(&h->err, &e->err, err) < 0)
		return -1;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, wire) < 0)
		return err_sys(err, "make a socket pair");
	h->wire = wire[0];
	e->wire = wire[1];
	return 0;
}

/* Now, because init closes itself to every look before the command runs. */
static int open_spaces(struct hold *h, struct err *err)
{
	static const char *const words[] = { [HOLD_USER] = "user",
					     [HOLD_PID] = "pid",
					     [HOLD_IPC] = "ipc",
					     [HOLD_UTS] = "uts",
					     [HOLD_BUILD] = "mnt" };
	char path[64];

	for (int i = h->maps.range < 0 ? 0 : HOLD_PID; i <= HOLD_BUILD; i++) {
		snprintf(path, sizeof path, "/proc/%d/ns/%s", (int)h->init, words[i]);
		h->spaces[i] = open(path, O_RDONLY | O_CLOEXEC);
		if (h->spaces[i] < 0)
			return err_sys(err, "open %s", path);
	}
	return 0;
}

static int spawn_init(struct hold *h, const struct ends *e, struct err *err)
{
	struct clone_args a = {
		.flags = CLONE_PIDFD | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC |
			 CLONE_NEWUTS,
		.pidfd = (uint64_t)(uintptr_t)&h->pidfd,
		.exit_signal = SIGCHLD,
	};
	pid_t pid;

	if (h->maps.range < 0)
		a.flags |= CLONE_NEWUSER;
	AUTO_FD int group = cgroup_fd(&h->cgroup);
	if (group >= 0) {
		a.flags |= CLONE_INTO_CGROUP;
		a.cgroup = (uint64_t)group;
	}
	pid = (pid_t)syscall(SYS_clone3, &a, sizeof a);
	if (pid < 0)
		return err_sys(err,
			       h->maps.range < 0 && (errno == EPERM || errno == ENOSPC)
				       ? "this machine gives its users no namespaces "
					 "(see kernel.unprivileged_userns_clone and "
					 "user.max_user_namespaces)"
				       : "create the task's namespaces");
	if (pid == 0) {
		struct init_config c = { &h->task, &h->maps, &h->cgroup,
					 e->wire,  e->out,   e->err };

		close(h->wire); /* else we would never see the shim go */
		init_run(&c);
	}
	h->init = pid;
	return open_spaces(h, err);
}

/* Waits for one note of init; a failure it tells becomes ours. */
static int expect(struct hold *h, enum note_kind kind, int *fd, struct err *err)
{
	struct note n;

	if (note_recv(h->wire, &n, fd) != 1)
		return err_set(err, ERR_INTERNAL,
			       "the task's first process died before it could start");
	if (n.kind == NOTE_FAILED)
		return err_set(err, ERR_INVALID, "%s", n.text);
	if (n.kind != kind)
		return err_set(err, ERR_INTERNAL, "the task's first process said %d",
			       n.kind);
	return 0;
}

static int limit(struct hold *h, struct err *err)
{
	const struct shim_task *t = &h->task;
	struct cgroup_limits l = { t->memory_bytes, t->cpu_milli, t->pids_max };
	char name[96];

	snprintf(name, sizeof name, "%lld.%lld.%lld-%d", (long long)t->job,
		 (long long)t->rank, (long long)t->attempt, (int)getpid());
	if (cgroup_create(&h->cgroup, name, &l, err) < 0)
		return -1;
	if (h->cgroup.kind != CGROUP_NONE)
		snprintf(h->mark.cgroup, sizeof h->mark.cgroup, "%s", name);
	return 0;
}

static int leave_mark(struct hold *h, struct err *err)
{
	AUTO_BUF struct buf b = { 0 };
	int fd;

	boot_id(h->mark.boot, sizeof h->mark.boot);
	h->mark.pid = getpid();
	h->mark.start = process_start(getpid());
	shim_mark_encode(&h->mark, &b);
	fd = folder_put(h->dir, "mark", &b, err);
	return fd < 0 ? -1 : folder_sync(h->dir, fd, err);
}

/* While init builds the sandbox on one core, the mark goes to disk here: the two halves take
 * about the same time. */
static int prepare(struct hold *h, struct err *err)
{
	if (h->maps.range < 0 && (userns_map_self(h->init, err) < 0 ||
				  note_send(h->wire, NOTE_MAPPED, 0, NULL) < 0))
		return -1;
	return control_listen(h, err) < 0 || leave_mark(h, err) < 0 ? -1 : 0;
}

static int run(struct hold *h, struct err *err)
{
	if (expect(h, NOTE_BUILT, &h->proc, err) < 0)
		return -1;
	if (h->maps.range < 0 &&
	    (expect(h, NOTE_SPACE, &h->spaces[HOLD_INNER], err) < 0 ||
	     expect(h, NOTE_SPACE, &h->spaces[HOLD_MNT], err) < 0))
		return -1;
	h->watch.proc = h->proc;
	if (watch_needed(&h->task, &h->cgroup)) {
		for (int i = 0; i < WATCH_TMPFS; i++) {
			if (expect(h, NOTE_TMPFS, &h->watch.tmpfs[i], err) < 0)
				return -1;
		}
		h->watch.limit_bytes = h->task.memory_bytes;
	}
	if (note_send(h->wire, NOTE_GO, 0, NULL) < 0)
		return err_sys(err, "start the task");
	if (expect(h, NOTE_STARTED, NULL, err) < 0)
		return -1;
	h->started = true;
	return 0;
}

/* A first process that could not go on has said why; what we stumbled over because it was
 * gone by then says nothing. */
static int in_its_words(struct hold *h, struct err *err)
{
	struct pollfd p = { .fd = h->wire, .events = POLLIN };
	struct note n;

	if (h->init > 0 && poll(&p, 1, 0) > 0 && note_recv(h->wire, &n, NULL) == 1 &&
	    n.kind == NOTE_FAILED)
		err_set(err, ERR_INVALID, "%s", n.text);
	return -1;
}

int hold_start(struct hold *h)
{
	struct err *err = &h->failure;
	struct ends e = { -1, -1, -1 };
	int done = -1;

	if (sandbox_maps_init(&h->maps, &h->task, err) < 0 || limit(h, err) < 0)
		return -1;
	if (make_ends(h, &e, err) == 0 && spawn_init(h, &e, err) == 0)
		done = 0;
	for (int *fd = (int[]){ e.out, e.err, e.wire, -2 }; *fd != -2; fd++) {
		if (*fd >= 0)
			close(*fd);
	}
	sandbox_maps_drop_sources(&h->maps);
	if (done < 0 || prepare(h, err) < 0)
		return in_its_words(h, err);
	return run(h, err);
}
