// SPDX-License-Identifier: Apache-2.0
/* What the machine has: processors, memory, devices, disk, clock. */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysinfo.h>
#include <sys/timex.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/units.h"
#include "doctor/checks.h"

#define FREE_LOW_BYTES (2LL << 30)
#define SYNC_SLOW_US   20000
#define SYNC_TRIALS    5
#define FILES_ENOUGH   16384

void check_cores(const struct patient *p, struct finding *f)
{
	cpu_set_t set;
	long online = sysconf(_SC_NPROCESSORS_ONLN);

	(void)p;
	int mine = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set)
							       : (int)online;
	finding_set(f, FINDING_FINE, "%d", mine);
	if (mine < online) {
		finding_set(f, FINDING_NOTE,
			    "%d of %ld: this process may not use the others", mine,
			    online);
		finding_advise(f, "taskset or the container decides that");
	}
}

void check_memory(const struct patient *p, struct finding *f)
{
	char total[UNITS_TEXT_MAX], swap[UNITS_TEXT_MAX];
	struct sysinfo si;

	(void)p;
	sysinfo(&si);
	units_show_bytes((int64_t)si.totalram * si.mem_unit, total);
	units_show_bytes((int64_t)si.totalswap * si.mem_unit, swap);
	finding_set(f, FINDING_FINE, "%s, swap %s", total, si.totalswap ? swap : "none");
}

/* Files "<prefix><number>" in a folder. */
static int count_nodes(const char *folder, const char *prefix)
{
	DIR *dir = opendir(folder);
	const struct dirent *e;
	int64_t number;
	int n = 0;

	while (dir && (e = readdir(dir)))
		n += str_starts(e->d_name, prefix) &&
		     str_to_i64(e->d_name + strlen(prefix), 0, INT32_MAX, &number) == 0;
	if (dir)
		closedir(dir);
	return n;
}

static bool file_begins(const char *folder, const char *name, const char *file,
			const char *with)
{
	char path[512], text[32] = "";

	snprintf(path, sizeof path, "%s/%s/%s", folder, name, file);
	AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd >= 0 && read(fd, text, sizeof text - 1) > 0 && str_starts(text, with);
}

/* Cards on the bus of a maker, whatever drivers there are. */
static int count_cards(const char *vendor, const char *class)
{
	static const char folder[] = "/sys/bus/pci/devices";
	DIR *dir = opendir(folder);
	const struct dirent *e;
	int n = 0;

	while (dir && (e = readdir(dir)))
		n += file_begins(folder, e->d_name, "vendor", vendor) &&
		     file_begins(folder, e->d_name, "class", class);
	if (dir)
		closedir(dir);
	return n;
}

void check_devices(const struct patient *p, struct finding *f)
{
	int gpus = count_nodes("/dev", "nvidia"), npus = count_nodes("/dev", "davinci");
	int cards = count_cards("0x10de", "0x03"), ascend = count_cards("0x19e5", "0x12");

	(void)p;
	if (cards > gpus || ascend > npus) {
		finding_set(f, FINDING_LACK,
			    "%d cards are on the bus, but only %d have a device in /dev",
			    cards + ascend, gpus + npus);
		finding_advise(f, "install the driver (nvidia-driver, or Ascend's), then "
				  "start the daemon again");
		return;
	}
	if (gpus + npus == 0) {
		finding_set(f, FINDING_NOTE, "no GPU, no NPU");
		finding_advise(f,
			       "to try jobs that ask for some: yardd --sim-device gpu=8");
		return;
	}
	finding_set(f, FINDING_FINE, "%d GPU, %d NPU", gpus, npus);
	void *nvml = gpus ? dlopen("libnvidia-ml.so.1", RTLD_LAZY) : NULL;
	if (gpus && !nvml) {
		f->level = FINDING_NOTE;
		finding_advise(f,
			       "libnvidia-ml.so.1 is not there: no use of GPUs is shown");
	}
	if (nvml)
		dlclose(nvml);
}

/* The nearest folder above the path that exists. */
static char *existing(const char *path)
{
	char *at = mem_strdup(path);
	struct stat st;

	while (stat(at, &st) < 0 || !S_ISDIR(st.st_mode)) {
		char *slash = strrchr(at, '/');
		if (!slash || slash == at) {
			free(at);
			return mem_strdup("/");
		}
		*slash = '\0';
	}
	return at;
}

static int64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* The quickest of a few small durable writes, in microseconds; -1: none could be done. */
static int64_t sync_us(const char *folder)
{
	AUTO_FREE char *path = str_printf("%s/.doctor-XXXXXX", folder);
	static const char block[4096];
	int64_t best = -1;

	AUTO_FD int fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		return -1;
	unlink(path);
	for (int i = 0; i < SYNC_TRIALS; i++) {
		int64_t from = now_us();
		if (write(fd, block, sizeof block) != sizeof block || fdatasync(fd) < 0)
			return -1;
		int64_t took = now_us() - from;
		if (best < 0 || took < best)
			best = took;
	}
	return best;
}

static bool is_network(const char *folder)
{
	struct statfs s;

	if (statfs(folder, &s) < 0)
		return false;
	return s.f_type == NFS_SUPER_MAGIC || s.f_type == SMB_SUPER_MAGIC ||
	       s.f_type == (__typeof__(s.f_type))0xff534d42 || /* cifs */
	       s.f_type == 0x00c36400;                         /* ceph */
}

void check_disk(const struct patient *p, struct finding *f)
{
	AUTO_FREE char *folder = existing(p->state);
	char room[UNITS_TEXT_MAX];
	struct statvfs vfs;

	if (statvfs(folder, &vfs) < 0) {
		finding_set(f, FINDING_LACK, "%s: %s", folder, strerror(errno));
		finding_advise(f, "give another --state");
		return;
	}
	int64_t free_bytes = (int64_t)(vfs.f_bavail * vfs.f_frsize);
	int64_t sync = sync_us(folder);
	units_show_bytes(free_bytes, room);
	finding_set(f, FINDING_FINE, "%s free in %s, a durable write takes %lld.%lld ms",
		    room, folder, (long long)(sync / 1000), (long long)(sync / 100 % 10));
	if (sync < 0) {
		finding_set(f, FINDING_LACK, "%s cannot be written", folder);
		finding_advise(f, "give another --state");
	} else if (is_network(folder)) {
		f->level = FINDING_LACK;
		finding_advise(f,
			       "the database needs a disk of this machine: give --state "
			       "on one; data may stay on the network");
	} else if (free_bytes < FREE_LOW_BYTES || vfs.f_favail < 10000) {
		f->level = FINDING_NOTE;
		finding_advise(f, "logs, code and outputs go there: make room, or give "
				  "another --state");
	} else if (sync > SYNC_SLOW_US) {
		f->level = FINDING_NOTE;
		finding_advise(f,
			       "jobs start and end at the pace of this disk: a quicker "
			       "one (SSD) for --state helps");
	}
}

void check_clock(const struct patient *p, struct finding *f)
{
	struct timex t = { 0 };
	int state = adjtimex(&t);

	(void)p;
	if (time(NULL) < 1700000000) {
		finding_set(f, FINDING_LACK, "it says a time long past");
		finding_advise(f,
			       "set the clock; tokens, logs and certificates go by it");
	} else if (state == TIME_ERROR || t.status & STA_UNSYNC) {
		finding_set(f, FINDING_NOTE, "nothing keeps it right");
		finding_advise(f, "apt install systemd-timesyncd (or chrony), unless the "
				  "host of this machine does it");
	} else {
		finding_set(f, FINDING_FINE, "kept right, error at most %ld ms",
			    t.maxerror / 1000);
	}
}

void check_files(const struct patient *p, struct finding *f)
{
	struct rlimit files;

	(void)p;
	getrlimit(RLIMIT_NOFILE, &files);
	if (files.rlim_max == RLIM_INFINITY || files.rlim_max >= FILES_ENOUGH) {
		finding_set(f, FINDING_FINE, "up to %llu",
			    (unsigned long long)files.rlim_max);
		return;
	}
	finding_set(f, FINDING_NOTE, "only %llu: enough for about %llu followers",
		    (unsigned long long)files.rlim_max,
		    (unsigned long long)files.rlim_max / 3);
	finding_advise(f, "raise it: LimitNOFILE= in the unit, or ulimit -Hn");
}

static bool in_path(const char *program)
{
	AUTO_FREE char *path = mem_strdup(getenv("PATH") ? getenv("PATH") : "/usr/bin");
	char *at = path;

	for (char *dir; (dir = strsep(&at, ":"));) {
		AUTO_FREE char *file = str_printf("%s/%s", dir, program);
		if (*dir && access(file, X_OK) == 0)
			return true;
	}
	return false;
}

void check_engines(const struct patient *p, struct finding *f)
{
	bool slurm = in_path("sinfo"), kube = in_path("kubectl");
	bool docker = access("/var/run/docker.sock", F_OK) == 0 || in_path("podman");

	(void)p;
	finding_set(f, FINDING_FINE, "process (this machine)%s%s%s%s",
		    docker || slurm || kube ? "; seen, not used by this version:" : "",
		    docker ? " docker" : "", slurm ? " slurm" : "",
		    kube ? " kubernetes" : "");
}
