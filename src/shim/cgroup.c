// SPDX-License-Identifier: Apache-2.0
#include "shim/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"

#define ROOT   "/sys/fs/cgroup"
#define DAEMON "/yardd"

static const char *const ctrl_word[CGROUP_CTRL_COUNT] = {
	[CGROUP_MEMORY] = "memory", [CGROUP_CPU] = "cpu", [CGROUP_PIDS] = "pids"
};

static int put(const char *dir, const char *file, int64_t value)
{
	char path[640], text[32];
	int n = snprintf(text, sizeof text, "%lld", (long long)value);

	snprintf(path, sizeof path, "%s/%s", dir, file);
	AUTO_FD int fd = open(path, O_WRONLY | O_CLOEXEC);
	return fd < 0 || write(fd, text, (size_t)n) != n ? -1 : 0;
}

static int put_text(const char *dir, const char *file, const char *text)
{
	char path[640];

	snprintf(path, sizeof path, "%s/%s", dir, file);
	AUTO_FD int fd = open(path, O_WRONLY | O_CLOEXEC);
	return fd < 0 || write(fd, text, strlen(text)) < 0 ? -1 : 0;
}

/* The file's text, cut to size; -1: none. */
static int get_text(const char *dir, const char *file, char *out, size_t size)
{
	char path[640];
	ssize_t n;

	snprintf(path, sizeof path, "%s/%s", dir, file);
	AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || (n = read(fd, out, size - 1)) < 0)
		return -1;
	out[n] = 0;
	return 0;
}

/* The number behind `key ` at the beginning of a line, or the file's only number. */
static int64_t get(const char *dir, const char *file, const char *key)
{
	char text[2048], *at = text;
	size_t n = key ? strlen(key) : 0;
	int64_t v;

	if (get_text(dir, file, text, sizeof text) < 0)
		return -1;
	for (char *line; (line = strsep(&at, "\n"));) {
		if (key && (strncmp(line, key, n) != 0 || line[n] != ' '))
			continue;
		return str_to_i64(line + (key ? n + 1 : 0), 0, INT64_MAX, &v) < 0 ? -1
										  : v;
	}
	return -1;
}

/* Own path in one hierarchy ("" is the v2 one), from lines "4:memory:/path". */
static int own_path(const char *ctrl, char *out, size_t size)
{
	char text[4096], *at = text;

	if (get_text("/proc/self", "cgroup", text, sizeof text) < 0)
		return -1;
	for (char *line; (line = strsep(&at, "\n"));) {
		char *names = strchr(line, ':'),
		     *path = names ? strchr(names + 1, ':') : NULL, *name;

		if (!path)
			continue;
		*path++ = 0;
		names++;
		while ((name = strsep(&names, ","))) {
			if (strcmp(name, ctrl) == 0) {
				snprintf(out, size, "%s",
					 strcmp(path, "/") == 0 ? "" : path);
				return 0;
			}
		}
	}
	return -1;
}

/* Hands the controllers on to the groups below; false: not even memory. */
static bool hand_on(const char *dir)
{
	char now[256] = "";

	get_text(dir, "cgroup.subtree_control", now, sizeof now);
	if (!strstr(now, "memory") || !strstr(now, "cpu") || !strstr(now, "pids")) {
		/* One at a time: a controller that is not there must not keep the others away. */
		put_text(dir, "cgroup.subtree_control", "+memory");
		put_text(dir, "cgroup.subtree_control", "+cpu");
		put_text(dir, "cgroup.subtree_control", "+pids");
		get_text(dir, "cgroup.subtree_control", now, sizeof now);
	}
	return strstr(now, "memory") != NULL;
}

/* v2: a group with controllers for its children may hold no process itself, so the daemon
 * sits in "<delegated>/yardd" (cgroup_settle) and tasks go beside it.  Where others live in
 * the daemon's group, root takes the top instead. */
static int v2_base(char *out, size_t size)
{
	char own[256];

	if (access(ROOT "/cgroup.controllers", F_OK) < 0 ||
	    own_path("", own, sizeof own) < 0)
		return -1;
	if (str_ends(own, DAEMON))
		own[strlen(own) - strlen(DAEMON)] = 0;
	snprintf(out, size, ROOT "%s", own);
	if (access(out, W_OK) == 0 && hand_on(out))
		return 0;
	snprintf(out, size, ROOT);
	return geteuid() == 0 && hand_on(out) ? 0 : -1;
}

void cgroup_settle(void)
{
	char own[256], dir[384], procs[64], self[32];

	if (access(ROOT "/cgroup.controllers", F_OK) < 0 ||
	    own_path("", own, sizeof own) < 0 || !own[0] || str_ends(own, DAEMON))
		return;
	snprintf(dir, sizeof dir, ROOT "%s", own);
	snprintf(self, sizeof self, "%d\n", (int)getpid());
	if (get_text(dir, "cgroup.procs", procs, sizeof procs) < 0 ||
	    strcmp(procs, self) != 0)
		return; /* somebody else lives here: not ours to arrange */
	snprintf(dir, sizeof dir, ROOT "%s" DAEMON, own);
	if (mkdir(dir, 0755) == 0 || errno == EEXIST)
		put(dir, "cgroup.procs", getpid());
}

static bool make(const char *base, const char *name, char *path, size_t size)
{
	snprintf(path, size, "%s/yard", base);
	if (mkdir(path, 0755) < 0 && errno != EEXIST)
		return false;
	snprintf(path, size, "%s/yard/%s", base, name);
	return mkdir(path, 0755) == 0 || errno == EEXIST;
}

static bool v2_create(struct cgroup *g)
{
	char base[384], parent[512], controllers[256] = "";

	if (v2_base(base, sizeof base) < 0)
		return false;
	snprintf(parent, sizeof parent, "%s/yard", base);
	if (mkdir(parent, 0755) < 0 && errno != EEXIST)
		return false;
	if (!hand_on(parent) || !make(base, g->name, g->path[0], sizeof g->path[0]))
		return false;
	get_text(g->path[0], "cgroup.controllers", controllers, sizeof controllers);
	for (int c = 0; c < CGROUP_CTRL_COUNT; c++) {
		memcpy(g->path[c], g->path[0], sizeof g->path[0]);
		g->has[c] = strstr(controllers, ctrl_word[c]) != NULL;
	}
	g->cpuacct = true;
	g->kind = CGROUP_V2;
	return true;
}

static bool v1_create(struct cgroup *g, const struct cgroup_limits *l)
{
	const bool want[CGROUP_CTRL_COUNT] = { true, l->cpu_milli > 0, l->pids > 0 };
	char own[256], base[384];

	for (int c = 0; c < CGROUP_CTRL_COUNT; c++) {
		/* A group costs some 0.1 ms to make and remove: only those that do something. */
		if (!want[c] || own_path(ctrl_word[c], own, sizeof own) < 0)
			continue;
		snprintf(base, sizeof base, ROOT "/%s%s", ctrl_word[c], own);
		g->has[c] = make(base, g->name, g->path[c], sizeof g->path[c]);
		if (g->has[c])
			g->kind = CGROUP_V1;
	}
	if (g->has[CGROUP_CPU])
		g->cpuacct = get(g->path[CGROUP_CPU], "cpuacct.usage", NULL) >= 0;
	return g->kind == CGROUP_V1;
}

#define PERIOD_US 100000

static int v1_limits(const struct cgroup *g, const struct cgroup_limits *l,
		     struct err *err)
{
	const char *mem = g->path[CGROUP_MEMORY], *cpu = g->path[CGROUP_CPU];

	if (l->memory_bytes > 0 && g->has[CGROUP_MEMORY]) {
		if (put(mem, "memory.limit_in_bytes", l->memory_bytes) < 0)
			return err_sys(err, "limit memory to %lld bytes",
				       (long long)l->memory_bytes);
		/* Absent without swap. */
		put(mem, "memory.memsw.limit_in_bytes", l->memory_bytes);
	}
	if (l->cpu_milli > 0 && g->has[CGROUP_CPU]) {
		put(cpu, "cpu.shares",
		    l->cpu_milli * 1024 / 1000 < 2 ? 2 : l->cpu_milli * 1024 / 1000);
		if (put(cpu, "cpu.cfs_quota_us", l->cpu_milli * PERIOD_US / 1000) < 0 &&
		    errno != ENOENT)
			return err_sys(err, "limit cpu");
	}
	if (l->pids > 0 && g->has[CGROUP_PIDS] &&
	    put(g->path[CGROUP_PIDS], "pids.max", l->pids) < 0)
		return err_sys(err, "limit processes");
	return 0;
}

static int v2_limits(const struct cgroup *g, const struct cgroup_limits *l,
		     struct err *err)
{
	const char *dir = g->path[0];
	char text[64];

	if (l->memory_bytes > 0 && g->has[CGROUP_MEMORY]) {
		if (put(dir, "memory.max", l->memory_bytes) < 0)
			return err_sys(err, "limit memory to %lld bytes",
				       (long long)l->memory_bytes);
		put(dir, "memory.swap.max", 0);
		/* A gang that lost a member hangs: end it whole. */
		put(dir, "memory.oom.group", 1);
	}
	if (l->cpu_milli > 0 && g->has[CGROUP_CPU]) {
		int64_t weight = l->cpu_milli / 10;

		put(dir, "cpu.weight", weight < 1 ? 1 : weight > 10000 ? 10000 : weight);
		snprintf(text, sizeof text, "%lld %d",
			 (long long)(l->cpu_milli * PERIOD_US / 1000), PERIOD_US);
		if (put_text(dir, "cpu.max", text) < 0)
			return err_sys(err, "limit cpu");
	}
	if (l->pids > 0 && g->has[CGROUP_PIDS] && put(dir, "pids.max", l->pids) < 0)
		return err_sys(err, "limit processes");
	return 0;
}

int cgroup_create(struct cgroup *g, const char *name, const struct cgroup_limits *l,
		  struct err *err)
{
	*g = (struct cgroup){ .kind = CGROUP_NONE };
	snprintf(g->name, sizeof g->name, "%s", name);
	if (!v2_create(g) && !v1_create(g, l))
		return 0;
	if ((g->kind == CGROUP_V2 ? v2_limits(g, l, err) : v1_limits(g, l, err)) == 0)
		return 0;
	cgroup_remove(g);
	return -1;
}

int cgroup_fd(const struct cgroup *g)
{
	return g->kind == CGROUP_V2 ? open(g->path[0], O_RDONLY | O_DIRECTORY | O_CLOEXEC)
				    : -1;
}

/* v1: "tasks" and not "cgroup.procs": a thread that moves itself needs no lock over all
 * processes of the machine, which would cost a grace period of RCU, some 4 ms. */
int cgroup_join(const struct cgroup *g, struct err *err)
{
	if (g->kind == CGROUP_V2 && put(g->path[0], "cgroup.procs", 0) < 0)
		return err_sys(err, "join %s", g->path[0]);
	for (int c = 0; g->kind == CGROUP_V1 && c < CGROUP_CTRL_COUNT; c++) {
		if (g->has[c] && put(g->path[c], "tasks", 0) < 0)
			return err_sys(err, "join %s", g->path[c]);
	}
	return 0;
}

void cgroup_hide(void)
{
	(void)!unshare(CLONE_NEWCGROUP);
}

int64_t cgroup_memory(const struct cgroup *g)
{
	if (!g->has[CGROUP_MEMORY])
		return -1;
	return get(g->path[CGROUP_MEMORY],
		   g->kind == CGROUP_V2 ? "memory.current" : "memory.usage_in_bytes",
		   NULL);
}

int64_t cgroup_memory_peak(const struct cgroup *g)
{
	if (!g->has[CGROUP_MEMORY])
		return -1;
	return get(g->path[CGROUP_MEMORY],
		   g->kind == CGROUP_V2 ? "memory.peak" : "memory.max_usage_in_bytes",
		   NULL);
}

int64_t cgroup_cpu_ms(const struct cgroup *g)
{
	int64_t v;

	if (!g->cpuacct)
		return -1;
	if (g->kind == CGROUP_V2)
		return (v = get(g->path[0], "cpu.stat", "usage_usec")) < 0 ? -1
									   : v / 1000;
	return (v = get(g->path[CGROUP_CPU], "cpuacct.usage", NULL)) < 0 ? -1
									 : v / 1000000;
}

int64_t cgroup_oom_kills(const struct cgroup *g)
{
	int64_t v;

	if (!g->has[CGROUP_MEMORY])
		return 0;
	v = get(g->path[CGROUP_MEMORY],
		g->kind == CGROUP_V2 ? "memory.events" : "memory.oom_control",
		"oom_kill");
	return v < 0 ? 0 : v;
}

static void nap_ms(int ms)
{
	nanosleep(&(struct timespec){ ms / 1000, ms % 1000 * 1000000L }, NULL);
}

/* A fork bomb of two thousand in half a core's quota took minutes to die of SIGKILL: a process
 * over its quota sleeps on its way to the signal. */
void cgroup_unthrottle(const struct cgroup *g)
{
	const char *cpu = g->path[g->kind == CGROUP_V2 ? 0 : CGROUP_CPU];

	if (cpu[0])
		put_text(cpu, g->kind == CGROUP_V2 ? "cpu.max" : "cpu.cfs_quota_us",
			 g->kind == CGROUP_V2 ? "max" : "-1");
}

void cgroup_remove(const struct cgroup *g)
{
	for (int c = 0; c < (g->kind == CGROUP_V2 ? 1 : CGROUP_CTRL_COUNT); c++) {
		if (!g->path[c][0])
			continue;
		/* EBUSY: the last process is dead but not yet gone.  About half a second in all. */
		for (int ms = 1; rmdir(g->path[c]) < 0 && errno == EBUSY && ms < 256;
		     ms *= 2)
			nap_ms(ms);
	}
}

static void kill_members(const char *dir)
{
	char text[8192], *at = text;
	int64_t pid;

	if (put_text(dir, "cgroup.kill", "1") == 0 ||
	    get_text(dir, "cgroup.procs", text, sizeof text) < 0)
		return;
	for (char *line; (line = strsep(&at, "\n"));) {
		if (str_to_i64(line, 2, INT32_MAX, &pid) == 0)
			kill((pid_t)pid, SIGKILL);
	}
}

void cgroup_sweep(const char *name)
{
	struct cgroup g = { .kind = CGROUP_NONE };
	char own[256], base[384];

	if (!name[0] || strchr(name, '/'))
		return;
	if (v2_base(base, sizeof base) == 0) {
		g.kind = CGROUP_V2;
		snprintf(g.path[0], sizeof g.path[0], "%s/yard/%s", base, name);
	}
	for (int c = 0; g.kind != CGROUP_V2 && c < CGROUP_CTRL_COUNT; c++) {
		if (own_path(ctrl_word[c], own, sizeof own) == 0)
			snprintf(g.path[c], sizeof g.path[c], ROOT "/%s%s/yard/%s",
				 ctrl_word[c], own, name);
	}
	cgroup_unthrottle(&g);
	for (int c = 0; c < CGROUP_CTRL_COUNT; c++) {
		if (g.path[c][0])
			kill_members(g.path[c]);
	}
	cgroup_remove(&g);
}

/* Whether the shim that made a group of this name, "<job>.<rank>.<attempt>-<pid>", is gone. */
static bool left_behind(const char *name)
{
	const char *dash = strrchr(name, '-');
	int64_t pid;

	return dash && strchr(name, '.') &&
	       str_to_i64(dash + 1, 2, INT32_MAX, &pid) == 0 && kill((pid_t)pid, 0) < 0 &&
	       errno == ESRCH;
}

static void tidy(const char *base)
{
	char path[512];
	int fd;
	DIR *d;

	snprintf(path, sizeof path, "%s/yard", base);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || !(d = fdopendir(fd)))
		return;
	for (struct dirent *e; (e = readdir(d));) {
		/* The kernel refuses it while a process is inside. */
		if (left_behind(e->d_name))
			unlinkat(fd, e->d_name, AT_REMOVEDIR);
	}
	closedir(d);
}

void cgroup_tidy(void)
{
	char own[256], base[384];

	if (v2_base(base, sizeof base) == 0) {
		tidy(base);
		return;
	}
	for (int c = 0; c < CGROUP_CTRL_COUNT; c++) {
		if (own_path(ctrl_word[c], own, sizeof own) < 0)
			continue;
		snprintf(base, sizeof base, ROOT "/%s%s", ctrl_word[c], own);
		tidy(base);
	}
}
