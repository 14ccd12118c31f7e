// SPDX-License-Identifier: Apache-2.0
#include "shim/cgroup.h"

#include "base/mem.h"
#include "claim.h"

#define LIMIT (48 << 20)

static struct cgroup group;

static int take(void)
{
	struct err err;
	volatile char *p;

	if (cgroup_join(&group, &err) < 0)
		return 1;
	p = malloc(4u * LIMIT);
	for (size_t i = 0; p && i < 4u * LIMIT; i += 4096)
		p[i] = 1;
	return 0;
}

static int forks(void)
{
	struct err err;
	int n = 0;

	if (cgroup_join(&group, &err) < 0)
		return 100;
	for (pid_t pid; n < 90 && (pid = fork()) >= 0; n++) {
		if (pid == 0)
			for (;;)
				pause();
	}
	kill(0, SIGKILL); /* us, too: we lead a group of our own */
	return n;
}

static int forks_apart(void)
{
	setpgid(0, 0);
	return forks();
}

/* A v2 hierarchy without controllers still kills. */
static int kill_all(void)
{
	const char *top = access("/sys/fs/cgroup/cgroup.procs", F_OK) == 0
				  ? "/sys/fs/cgroup"
				  : "/sys/fs/cgroup/unified";
	char dir[64], procs[96], killer[96];
	int status;
	pid_t pid;

	snprintf(dir, sizeof dir, "%s/claim-%d", top, (int)getpid());
	snprintf(procs, sizeof procs, "%s/cgroup.procs", dir);
	snprintf(killer, sizeof killer, "%s/cgroup.kill", dir);
	if (mkdir(dir, 0755) < 0)
		return 1;
	pid = fork();
	if (pid == 0) {
		put_text(procs, "0");
		signal(SIGTERM, SIG_IGN);
		for (;;)
			pause();
	}
	usleep(50000);
	put_text(killer, "1");
	waitpid(pid, &status, 0);
	for (int i = 0; i < 50 && rmdir(dir) < 0; i++)
		usleep(10000);
	return WIFSIGNALED(status) ? 0 : 2;
}

/* What a shim leaves that could not remove its group goes at the next boot of the daemon, and
 * nothing else: neither a live shim's, nor what is not a shim's. */
static void tidies(void)
{
	static const char *const begins[] = { "1.0.1-", "1.0.2-", "other-" };
	struct cgroup_limits limits = { LIMIT, 0, 0 };
	struct cgroup g[3];
	struct err err;
	pid_t dead = fork();
	bool there[3];

	if (dead == 0)
		_exit(0);
	waitpid(dead, NULL, 0);
	for (int i = 0; i < 3; i++) {
		char name[64];

		snprintf(name, sizeof name, "%s%d", begins[i],
			 i == 1 ? (int)getpid() : (int)dead);
		if (cgroup_create(&g[i], name, &limits, &err) < 0)
			return;
	}
	cgroup_tidy();
	for (int i = 0; i < 3; i++) {
		there[i] = access(g[i].path[CGROUP_MEMORY], F_OK) == 0;
		cgroup_remove(&g[i]);
	}
	CLAIM(!there[0] && there[1] && there[2],
	      "an empty group whose shim is gone is tidied away, and no other");
}

int main(void)
{
	struct cgroup_limits limits = { LIMIT, 0, 20 };
	char name[32];
	struct err err;
	int code;

	snprintf(name, sizeof name, "claim-%d", (int)getpid());
	if (cgroup_create(&group, name, &limits, &err) < 0 || group.kind == CGROUP_NONE) {
		CANNOT("cgroups",
		       "none is delegated to us; the shim watches memory itself");
		return 0;
	}
	printf("# cgroup v%d\n", group.kind == CGROUP_V1 ? 1 : 2);
	CLAIM(in_child(take) == 128 + SIGKILL,
	      "who takes more memory than its group may is killed");
	CLAIM(cgroup_oom_kills(&group) == 1 && cgroup_memory_peak(&group) > LIMIT / 2,
	      "and it can be told, with the peak");
	code = group.has[CGROUP_PIDS] ? in_child(forks_apart) : 0;
	CLAIM(code == 128 + SIGKILL, "a group's processes are bounded");
	usleep(100000);
	cgroup_remove(&group);
	CLAIM(access(group.path[CGROUP_MEMORY], F_OK) < 0,
	      "an empty group can be removed");
	tidies();
	code = in_child(kill_all);
	if (code == 1)
		CANNOT("cgroup.kill", "no cgroup2 hierarchy");
	else
		CLAIM(code == 0, "cgroup.kill ends who ignores signals");
	return 0;
}
