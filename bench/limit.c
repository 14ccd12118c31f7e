// SPDX-License-Identifier: Apache-2.0
/* limit - the bound that no scheduler can beat: the shim's own clone, mounts, cgroup, user
 * namespace, filter and exec, bare, in a loop.  No queue, no disk, no log, no daemon.
 *
 *   limit BUNDLE COUNT WORKERS      prints sandboxed no-op processes per second
 *
 * It links the shim's room and calls the very functions a task is started with, in the
 * same order.
 */
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/str.h"
#include "shim/cgroup.h"
#include "shim/sandbox.h"
#include "shim/userns.h"
#include "shim/watch.h"

static _Noreturn void die(const struct err *err)
{
	fprintf(stderr, "limit: %s\n", err->text);
	_exit(1);
}

struct start {
	struct sandbox_maps maps;
	struct cgroup group;
	int go[2]; /* private mode: a byte when the uids are mapped */
};

static _Noreturn void be_task(const struct shim_task *t, const struct start *s)
{
	struct err err = { 0 };
	char c;

	close(s->go[1]); /* else it would wait for ever when we give up */
	if (s->group.kind == CGROUP_V1 && cgroup_join(&s->group, &err) < 0)
		die(&err);
	if (t->uid_base < 0 && read(s->go[0], &c, 1) != 1)
		_exit(1);
	if (sandbox_build(t, &s->maps, &err) < 0 ||
	    sandbox_enter(t, s->maps.range, !watch_needed(t, &s->group), &err) < 0)
		die(&err);
	sandbox_rlimits(t, s->group.has[CGROUP_PIDS]);
	if (chdir(t->workdir) == 0)
		execvpe(t->argv.items[0], t->argv.items, t->env.items);
	_exit(127);
}

static pid_t clone_task(const struct shim_task *t, const struct start *s, int *pidfd)
{
	struct clone_args a = { .flags = CLONE_PIDFD | CLONE_NEWNS | CLONE_NEWPID |
					 CLONE_NEWIPC | CLONE_NEWUTS,
				.pidfd = (uint64_t)(uintptr_t)pidfd,
				.exit_signal = SIGCHLD };
	AUTO_FD int group = cgroup_fd(&s->group);
	pid_t pid;

	if (t->uid_base < 0)
		a.flags |= CLONE_NEWUSER;
	if (group >= 0) {
		a.flags |= CLONE_INTO_CGROUP;
		a.cgroup = (uint64_t)group;
	}
	pid = (pid_t)syscall(SYS_clone3, &a, sizeof a);
	if (pid == 0)
		be_task(t, s);
	return pid;
}

static void run_one(const struct shim_task *t, int serial)
{
	struct cgroup_limits limits = { t->memory_bytes, t->cpu_milli, t->pids_max };
	struct start s = { .go = { -1, -1 } };
	struct err err = { 0 };
	char name[64];
	int pidfd = -1, status = 0;
	pid_t pid;

	snprintf(name, sizeof name, "bench-%d-%d", (int)getpid(), serial);
	if (sandbox_maps_init(&s.maps, t, &err) < 0 ||
	    cgroup_create(&s.group, name, &limits, &err) < 0 ||
	    pipe2(s.go, O_CLOEXEC) < 0)
		die(&err);
	pid = clone_task(t, &s, &pidfd);
	if (pid < 0)
		die(&(struct err){ .text = "clone3 failed" });
	if (t->uid_base < 0 &&
	    (userns_map_self(pid, &err) < 0 || write(s.go[1], "m", 1) != 1))
		die(&err);
	if (waitpid(pid, &status, 0) != pid || status != 0)
		die(&(struct err){ .text = "the task failed" });
	cgroup_remove(&s.group);
	sandbox_maps_fini(&s.maps);
	close(s.go[0]);
	close(s.go[1]);
	close(pidfd);
}

static int64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static void load(const char *path, struct shim_task *t)
{
	AUTO_BUF struct buf text = { 0 };
	AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct err err = { 0 };
	char part[4096];
	ssize_t n;

	while ((n = read(fd, part, sizeof part)) > 0)
		buf_add(&text, part, (size_t)n);
	if (shim_task_decode(buf_str(&text), text.len, t, &err) < 0)
		die(&err);
}

int main(int argc, char **argv)
{
	struct shim_task task;
	int64_t count, workers, from, us;
	int status, failed = 0;

	if (argc != 4 || str_to_i64(argv[2], 1, 1000000, &count) < 0 ||
	    str_to_i64(argv[3], 1, 64, &workers) < 0) {
		fprintf(stderr, "limit BUNDLE COUNT WORKERS\n");
		return 2;
	}
	load(argv[1], &task);
	from = now_us();
	for (int64_t w = 0; w < workers; w++) {
		if (fork() != 0)
			continue;
		for (int64_t i = w; i < count; i += workers)
			run_one(&task, (int)i);
		_exit(0);
	}
	while (wait(&status) > 0)
		failed |= status;
	us = now_us() - from;
	printf("%lld\n", (long long)(count * 1000000 / us));
	return failed ? 1 : 0;
}
