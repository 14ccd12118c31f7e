// SPDX-License-Identifier: Apache-2.0
#include "engine/node.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"

/* Below what the kernel gives to outgoing connections (32768 and up). */
#define PORT_FIRST   20000
#define PORT_LAST    29999
#define TASKS_A_CORE 64
#define TASKS_MIN    512
#define TASKS_MOST   1000000

static const struct family {
	const char *type, *prefix;
	const char *shared
		[6]; /* what the driver needs beside the devices, where it is there */
} families[] = {
	{ "gpu",
	  "/dev/nvidia",
	  { "/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools",
	    "/dev/nvidia-modeset" } },
	{ "npu",
	  "/dev/davinci",
	  { "/dev/davinci_manager", "/dev/devmm_svm", "/dev/hisi_hdc" } },
};

static int64_t file_number(const char *path)
{
	AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
	char text[32];
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
	int64_t value;

	if (n <= 0)
		return -1;
	text[n] = '\0';
	text[strcspn(text, "\n")] = '\0';
	return str_to_i64(text, 0, INT64_MAX, &value) < 0 ? -1 : value;
}

int machine_cores(void)
{
	cpu_set_t set;
	long n;

	if (sched_getaffinity(0, sizeof set, &set) == 0)
		return CPU_COUNT(&set);
	n = sysconf(_SC_NPROCESSORS_ONLN);
	return n > 0 ? (int)n : 1;
}

/* What is installed, or less where the daemon itself was given less. */
static int64_t memory_of_machine(void)
{
	static const char *const limits[] = {
		"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"
	};
	struct sysinfo si;
	int64_t bytes;

	sysinfo(&si);
	bytes = (int64_t)si.totalram * si.mem_unit;
	for (size_t i = 0; i < COUNT_OF(limits); i++) {
		int64_t limit = file_number(limits[i]);

		if (limit > 0 && limit < bytes)
			bytes = limit;
	}
	return bytes;
}

static int by_number(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/* Device nodes "<prefix><number>" in dev, by number. */
static void find_devices(const char *dev, const struct family *f,
			 struct machine_kind *out)
{
	const char *name = strrchr(f->prefix, '/') + 1;
	DIR *dir = opendir(dev);
	const struct dirent *e;

	snprintf(out->type, sizeof out->type, "%s", f->type);
	out->prefix = f->prefix;
	while (dir && out->count < DEVICES_MAX && (e = readdir(dir))) {
		int64_t number;

		if (str_starts(e->d_name, name) &&
		    str_to_i64(e->d_name + strlen(name), 0, INT_MAX, &number) == 0)
			out->numbers[out->count++] = (int)number;
	}
	if (dir)
		closedir(dir);
	qsort(out->numbers, (size_t)out->count, sizeof *out->numbers, by_number);
}

static struct machine_kind *kind_add(struct machine *m, const struct machine_kind *kind)
{
	for (size_t i = 0; i < COUNT_OF(m->kinds); i++)
		if (!m->kinds[i].count || str_eq(m->kinds[i].type, kind->type)) {
			m->kinds[i] = *kind;
			return &m->kinds[i];
		}
	return NULL;
}

void machine_discover(const struct engine_process_config *c, const char *dev,
		      struct machine *out)
{
	struct node *n = &out->node;

	*out = (struct machine){ 0 };
	snprintf(n->name, sizeof n->name, "%s", c->node_name);
	n->capacity.cpu_milli =
		c->cpu_milli ? c->cpu_milli : 1000 * (int64_t)machine_cores();
	n->capacity.memory_bytes =
		c->memory_bytes ? c->memory_bytes : memory_of_machine();
	/* A task costs processes, mounts and files even when it asks for next to nothing. */
	int64_t tasks = n->capacity.cpu_milli / 1000 * TASKS_A_CORE;
	n->max_tasks = tasks < TASKS_MIN    ? TASKS_MIN
		       : tasks < TASKS_MOST ? (int)tasks
					    : TASKS_MOST;
	if (c->max_tasks > 0)
		n->max_tasks = c->max_tasks;
	n->up = true;
	n->port_first = PORT_FIRST;
	n->port_last = PORT_LAST;
	for (size_t i = 0; i < COUNT_OF(families); i++) {
		struct machine_kind kind = { 0 };

		find_devices(dev, &families[i], &kind);
		if (kind.count)
			kind_add(out, &kind);
	}
	/* Declared ones take the place of found ones of that type: never a mixture. */
	for (size_t i = 0; i < DEVICE_KINDS_MAX; i++) {
		struct machine_kind kind = { .simulated = true,
					     .count = c->simulated[i].count };

		if (kind.count <= 0)
			continue;
		if (kind.count > DEVICES_MAX)
			kind.count = DEVICES_MAX;
		memcpy(kind.type, c->simulated[i].type, sizeof kind.type);
		n->simulated_devices |= kind_add(out, &kind) != NULL;
	}
	for (size_t i = 0; i < COUNT_OF(out->kinds) && out->kinds[i].count; i++)
		resources_set_device(&n->capacity, out->kinds[i].type,
				     out->kinds[i].count);
}

static void add_shared(const char *type, struct shim_list *out)
{
	struct stat st;

	for (size_t i = 0; i < COUNT_OF(families); i++)
		for (size_t k = 0;
		     str_eq(families[i].type, type) && families[i].shared[k]; k++)
			if (stat(families[i].shared[k], &st) == 0)
				shim_list_add(out, families[i].shared[k]);
}

void machine_devices(const struct machine *m, const struct placement *p,
		     struct shim_list *out)
{
	char path[64];

	for (size_t i = 0; i < DEVICE_KINDS_MAX; i++)
		for (size_t k = 0; k < DEVICE_KINDS_MAX; k++) {
			const struct machine_kind *kind = &m->kinds[k];

			if (!p->devices[i].mask || kind->simulated ||
			    !str_eq(p->devices[i].type, kind->type))
				continue;
			for (int d = 0; d < kind->count; d++) {
				if (!(p->devices[i].mask >> d & 1))
					continue;
				snprintf(path, sizeof path, "%s%d", kind->prefix,
					 kind->numbers[d]);
				shim_list_add(out, path);
			}
			add_shared(kind->type, out);
		}
}
