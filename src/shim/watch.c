// SPDX-License-Identifier: Apache-2.0
#include "shim/watch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "shim/memfile.h"

#define GROWTH_BYTES_MS (2ll << 20) /* 2 GiB a second */
#define PAUSE_MIN_MS    10
#define PAUSE_MAX_MS    2000
#define FILES_EVERY_MS  100

static int read_text(int proc, const char *pid, const char *file, char *out, size_t size)
{
	char path[300];
	ssize_t n;

	snprintf(path, sizeof path, "%s/%s", pid, file);
	AUTO_FD int fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || (n = read(fd, out, size - 1)) <= 0)
		return -1;
	out[n] = 0;
	return 0;
}

/* Field of a line of numbers parted by spaces, from 0. */
static int64_t number_at(const char *text, int field)
{
	char word[24];
	int64_t v;

	for (; field > 0; field--) {
		text = strchr(text, ' ');
		if (!text)
			return 0;
		text++;
	}
	snprintf(word, sizeof word, "%.*s", (int)strcspn(text, " \n"), text);
	return str_to_i64(word, 0, INT64_MAX, &v) < 0 ? 0 : v;
}

static void add_process(int proc, const char *pid, struct watch_sum *sum)
{
	char text[1024], *at;
	int64_t ticks;

	if (read_text(proc, pid, "stat", text, sizeof text) < 0 ||
	    !(at = strrchr(text, ')')))
		return;
	sum->pids++;
	/* behind ") ": state is field 0, utime 11, stime 12, cutime 13, cstime 14, rss 21 */
	ticks = number_at(at + 2, 11) + number_at(at + 2, 12);
	if (str_eq(pid,
		   "1")) /* what was reaped by init, and of it only: no time is counted twice */
		ticks += number_at(at + 2, 13) + number_at(at + 2, 14);
	sum->cpu_ms += ticks * 1000 / sysconf(_SC_CLK_TCK);
	sum->memory_bytes += number_at(at + 2, 21) * sysconf(_SC_PAGESIZE);
}

static int64_t line_of(const char *text, const char *key)
{
	const char *at = strstr(text, key);

	return at ? number_at(at + strlen(key) + strspn(at + strlen(key), " "), 0) * 1024
		  : 0;
}

/* A process's share of what it has mapped, and of that what is shared memory. */
static int add_share(int proc, const char *pid, int64_t *all, int64_t *shmem)
{
	char text[2048];

	errno = 0;
	if (read_text(proc, pid, "smaps_rollup", text, sizeof text) < 0)
		return errno == EACCES || errno == EPERM ? -1 : 0; /* it has just ended */
	*all += line_of(text, "\nPss:");
	*shmem += line_of(text, "\nPss_Shmem:");
	return 0;
}

static bool is_pid(const char *name)
{
	return name[0] >= '1' && name[0] <= '9';
}

static DIR *processes(int proc)
{
	int fd = openat(proc, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? NULL : fdopendir(fd);
}

void watch_sum(int proc, struct watch_sum *out)
{
	DIR *d = processes(proc);

	*out = (struct watch_sum){ 0 };
	for (struct dirent *e; d && (e = readdir(d));) {
		if (is_pid(e->d_name))
			add_process(proc, e->d_name, out);
	}
	if (d)
		closedir(d);
}

/* What the task really uses.  Memory in files (tmpfs, memfd) may be mapped as well: the larger
 * of the two ways to see it counts, so that nobody is ended for what he does not use. */
static int64_t used_exactly(int proc, int64_t rough, int64_t in_files)
{
	DIR *d = processes(proc);
	int64_t all = 0, shmem = 0;
	bool seen = d != NULL;

	for (struct dirent *e; seen && (e = readdir(d));) {
		/* Init may not be looked into, and is tiny. */
		if (is_pid(e->d_name) && !str_eq(e->d_name, "1"))
			seen = add_share(proc, e->d_name, &all, &shmem) == 0;
	}
	if (d)
		closedir(d);
	if (!seen)
		return rough > in_files ? rough : in_files;
	return all - shmem + (shmem > in_files ? shmem : in_files);
}

static int64_t in_files(struct watch *w, int64_t now_ms)
{
	int64_t sum = 0;

	for (int i = 0; i < WATCH_TMPFS; i++)
		sum += memfile_tmpfs(w->tmpfs[i]);
	if (now_ms >= w->files_ms) { /* walks all descriptors: not as often as the rest */
		w->files_bytes = memfile_open(w->proc);
		w->files_ms = now_ms + FILES_EVERY_MS;
	}
	return sum + w->files_bytes;
}

bool watch_needed(const struct shim_task *t, const struct cgroup *g)
{
	return t->memory_bytes > 0 && !g->has[CGROUP_MEMORY];
}

int watch_timeout(const struct watch *w, int64_t now_ms)
{
	if (w->limit_bytes <= 0)
		return -1;
	return w->next_ms > now_ms ? (int)(w->next_ms - now_ms) : 0;
}

bool watch_over(struct watch *w, int64_t now_ms)
{
	struct watch_sum sum;
	int64_t used, pause, files;

	if (w->limit_bytes <= 0 || now_ms < w->next_ms)
		return false;
	watch_sum(w->proc, &sum);
	files = in_files(w, now_ms);
	used = sum.memory_bytes + files;
	if (used > w->limit_bytes)
		used = used_exactly(w->proc, sum.memory_bytes, files);
	if (used > w->peak_bytes)
		w->peak_bytes = used;
	pause = (w->limit_bytes - used) / GROWTH_BYTES_MS;
	pause = pause < PAUSE_MIN_MS   ? PAUSE_MIN_MS
		: pause > PAUSE_MAX_MS ? PAUSE_MAX_MS
				       : pause;
	w->next_ms = now_ms + pause;
	return used > w->limit_bytes;
}
