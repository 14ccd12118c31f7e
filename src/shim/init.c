// SPDX-License-Identifier: Apache-2.0
#include "shim/init.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "shim/note.h"
#include "shim/steps.h"
#include "shim/watch.h"

static _Noreturn void fail(const struct init_config *c, const struct err *err)
{
	note_send(c->wire, NOTE_FAILED, 0, err->text);
	_exit(1);
}

/* EOF means that the shim is gone, and so are we. */
static void wait_for(const struct init_config *c, enum note_kind kind)
{
	struct note n;

	if (note_recv(c->wire, &n, NULL) != 1 || n.kind != kind)
		_exit(1);
}

static int by_value(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/* Everything but these is the shim's, and a way out for whoever can look into pid 1. */
static void keep_only(int *keep, size_t count)
{
	unsigned from = 3;

	qsort(keep, count, sizeof *keep, by_value);
	for (size_t i = 0; i < count; i++) {
		if (keep[i] > (int)from)
			close_range(from, (unsigned)keep[i] - 1, 0);
		if (keep[i] >= (int)from)
			from = (unsigned)keep[i] + 1;
	}
	close_range(from, ~0u, 0);
}

/* If memory runs out on the whole machine, a task goes before a shim or the daemon. */
static void offer_to_oom(void)
{
	AUTO_FD int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd >= 0 && write(fd, "500", 3) < 0)
		return; /* was higher already */
}

static void send_open(const struct init_config *c, enum note_kind kind, const char *path)
{
	AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || note_send_fd(c->wire, kind, fd) < 0)
		_exit(1);
}

_Noreturn void init_run(const struct init_config *c)
{
	const bool watched = watch_needed(c->task, c->cgroup);
	struct err err = { 0 };
	sigset_t chld;
	struct steps steps;
	int proc, children;

	/* Before anything else, and again below: a change of uid clears it. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (c->cgroup->kind == CGROUP_V1 && cgroup_join(c->cgroup, &err) < 0)
		fail(c, &err);
	cgroup_hide();
	if (c->task->uid_base < 0)
		wait_for(c, NOTE_MAPPED);
	if (sandbox_build(c->task, c->maps, &err) < 0)
		fail(c, &err);
	proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	offer_to_oom();
	if (sandbox_enter(c->task, c->maps->range, !watched, &err) < 0)
		fail(c, &err);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	note_send_fd(c->wire, NOTE_BUILT, proc);
	if (c->task->uid_base < 0) {
		send_open(c, NOTE_SPACE, "/proc/self/ns/user");
		send_open(c, NOTE_SPACE, "/proc/self/ns/mnt");
	}
	if (watched) {
		send_open(c, NOTE_TMPFS, "/");
		send_open(c, NOTE_TMPFS, "/dev/shm");
	}
	/* pid 1 is the task's to see, and in private mode of the same uid: it shows nothing. */
	prctl(PR_SET_DUMPABLE, 0);
	keep_only((int[]){ c->wire, c->out, c->err }, 3);
	sigemptyset(&chld);
	sigaddset(&chld, SIGCHLD);
	sigprocmask(SIG_SETMASK, &chld, NULL);
	children = signalfd(-1, &chld, SFD_CLOEXEC);
	wait_for(c, NOTE_GO);
	while (waitpid(-1, NULL, WNOHANG) > 0)
		; /* what building left behind */
	sandbox_rlimits(c->task, c->cgroup->has[CGROUP_PIDS]);
	if (steps_begin(&steps, c, &err) < 0)
		fail(c, &err);
	note_send(c->wire, NOTE_STARTED, 0, NULL);
	steps_serve(&steps, children);
	_exit(0);
}
