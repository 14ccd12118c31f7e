// SPDX-License-Identifier: Apache-2.0
#include "shim/init.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "shim/note.h"
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

/* The variables, those that are secrets behind the others: no name is there twice. */
static char **variables(const struct shim_task *t)
{
	char **all = mem_alloc(t->env.count + t->secrets.count + 1, sizeof *all);
	size_t n = 0;

	for (; n < t->env.count; n++)
		all[n] = t->env.items[n];
	for (size_t i = 0; i < t->secrets.count; i++)
		if (t->secrets.items[i].kind == SHIM_SECRET_ENV)
			all[n++] = (char *)(uintptr_t)t->secrets.items[i].name;
	return all;
}

static int start(const struct init_config *c, pid_t *pid, struct err *err)
{
	const struct shim_task *t = c->task;
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t none, ours;
	int failed;

	sigemptyset(&none);
	sigemptyset(&ours); /* what the shim ignores */
	sigaddset(&ours, SIGPIPE);
	sigaddset(&ours, SIGHUP);
	environ = variables(t);
	if (posix_spawn_file_actions_init(&files) != 0 ||
	    posix_spawnattr_init(&attr) != 0)
		return err_set(err, ERR_INTERNAL, "out of memory");
	posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&files, c->out, 1);
	posix_spawn_file_actions_adddup2(&files, c->err, 2);
	posix_spawn_file_actions_addchdir_np(&files, t->workdir);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &ours);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK |
						POSIX_SPAWN_SETSIGDEF);
	/* Shares memory until the exec, so no page table is copied, and it returns its error. */
	failed = posix_spawnp(pid, t->argv.items[0], &files, &attr, t->argv.items,
			      environ);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&attr);
	if (failed)
		return err_set(err, ERR_NOT_FOUND, "cannot run '%s': %s",
			       t->argv.items[0], strerror(failed));
	return 0;
}

/* Reaps everything; gives true and the status when the command is among it. */
static bool reap(pid_t main_pid, int *status)
{
	bool ended = false;
	pid_t pid;
	int st;

	while ((pid = waitpid(-1, &st, WNOHANG)) > 0) {
		if (pid == main_pid) {
			*status = st;
			ended = true;
		}
	}
	return ended;
}

static int serve(const struct init_config *c, pid_t pid, int children)
{
	struct pollfd p[2] = { { children, POLLIN, 0 }, { c->wire, POLLIN, 0 } };
	struct signalfd_siginfo info;
	struct note n;
	int status = 0;

	for (;;) {
		if (poll(p, 2, -1) < 0)
			continue;
		if (p[1].revents) {
			if (note_recv(c->wire, &n, NULL) <= 0)
				_exit(1);
			if (n.kind == NOTE_TERM && kill(-pid, SIGTERM) < 0)
				kill(pid, SIGTERM);
		}
		if (p[0].revents && read(children, &info, sizeof info) > 0 &&
		    reap(pid, &status))
			return status;
	}
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
	pid_t pid = -1;
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
	if (start(c, &pid, &err) < 0)
		fail(c, &err);
	/* The shim has its own; nothing is left here for whoever looks into pid 1. */
	if (c->task->secrets.vault)
		vault_cut(c->task->secrets.vault, 0);
	note_send(c->wire, NOTE_STARTED, 0, NULL);
	/* The task's output ends when the task has ended, not when we have. */
	close(c->out);
	close(c->err);
	note_send(c->wire, NOTE_EXIT, serve(c, pid, children), NULL);
	_exit(0);
}
