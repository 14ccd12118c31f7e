// SPDX-License-Identifier: Apache-2.0
/* What the kernel lets this user do: each is tried, none is believed. */
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "doctor/checks.h"
#include "shim/cgroup.h"
#include "shim/mount.h"
#include "shim/userns.h"

#define TRIAL_UIDS 2000000000 /* a range that no account has */

static bool is_root(void)
{
	return geteuid() == 0;
}

void check_user(const struct patient *p, struct finding *f)
{
	(void)p;
	if (is_root())
		finding_set(f, FINDING_FINE,
			    "root: the daemon serves every user of this machine");
	else
		finding_set(f, FINDING_FINE,
			    "uid %d: the daemon is private, jobs run as you", geteuid());
}

void check_kernel(const struct patient *p, struct finding *f)
{
	struct utsname u;
	char *rest = NULL;

	(void)p;
	uname(&u);
	long major = strtol(u.release, &rest, 10);
	long minor = *rest == '.' ? strtol(rest + 1, NULL, 10) : 0;
	finding_set(f, FINDING_FINE, "%s %s", u.sysname, u.release);
	if (major > 5 || (major == 5 && minor >= 19))
		return;
	if (major == 5 && minor >= 11) {
		f->level = FINDING_NOTE;
		finding_advise(f, "from Linux 5.19 on, overlays can map owners: in jobs "
				  "of other users apt works then");
		return;
	}
	f->level = FINDING_LACK;
	finding_advise(f, "the sandbox needs Linux 5.11 or newer: update the kernel");
}

static int try_namespaces(void *unused)
{
	int flags = CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS;

	(void)unused;
	return unshare(flags | CLONE_NEWUSER) < 0 ? errno : 0;
}

void check_namespaces(const struct patient *p, struct finding *f)
{
	int rc = in_child(try_namespaces, NULL);

	(void)p;
	if (rc == 0) {
		finding_set(f, FINDING_FINE, "user, mount, pid, ipc and uts: all there");
		return;
	}
	finding_set(f, FINDING_LACK, "cannot be made: %s", strerror(rc));
	if (rc == ENOSPC)
		finding_advise(f, "raise sysctl user.max_user_namespaces");
	else if (access("/proc/sys/kernel/unprivileged_userns_clone", F_OK) == 0)
		finding_advise(f, "sysctl kernel.unprivileged_userns_clone=1");
	else
		finding_advise(f,
			       "ask who runs this machine or container to allow user "
			       "namespaces (AppArmor: sysctl "
			       "kernel.apparmor_restrict_unprivileged_userns=0; docker: "
			       "--security-opt seccomp=unconfined)");
}

/* How many ids a user namespace of ours has: 1, or 1 and the sub-uids; -errno. */
static int try_map(void *unused)
{
	int ready[2], go[2], lines = 0;
	char byte = 0, path[64], line[128];
	pid_t child;

	(void)unused;
	if (pipe2(ready, O_CLOEXEC) < 0 || pipe2(go, O_CLOEXEC) < 0)
		return 100;
	child = fork();
	if (child == 0) {
		close(go[1]);
		if (unshare(CLONE_NEWUSER) < 0 || write(ready[1], &byte, 1) != 1)
			_exit(1);
		_exit(read(go[0], &byte, 1) < 0 ? 1 : 0);
	}
	close(ready[1]);
	if (read(ready[0], &byte, 1) != 1 || userns_map_self(child, NULL) < 0)
		return 100;
	snprintf(path, sizeof path, "/proc/%d/uid_map", (int)child);
	FILE *map = fopen(path, "re");
	while (map && fgets(line, sizeof line, map))
		lines++;
	if (map)
		fclose(map);
	close(go[1]);
	waitpid(child, NULL, 0);
	return lines;
}

void check_subuids(const struct patient *p, struct finding *f)
{
	(void)p;
	if (is_root()) {
		finding_set(f, FINDING_FINE,
			    "each user of the yard gets a range of their own");
		return;
	}
	int lines = in_child(try_map, NULL);
	if (lines >= 2) {
		finding_set(f, FINDING_FINE,
			    "you have sub-uids: sudo and apt work in jobs");
	} else if (lines == 1) {
		finding_set(f, FINDING_NOTE,
			    "one only: in jobs every file is root's, apt and su fail");
		finding_advise(f,
			       "apt install uidmap, and as root: usermod --add-subuids "
			       "100000-165535 --add-subgids 100000-165535 NAME");
	} else {
		finding_set(f, FINDING_LACK, "no user namespace can be given any");
		finding_advise(f, "see namespaces above");
	}
}

/* In a mount namespace of its own, where it can do no harm. */
static int enter_trial(const char *folder)
{
	int flags = CLONE_NEWNS | (is_root() ? 0 : CLONE_NEWUSER);

	if (unshare(flags) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("tmpfs", folder, "tmpfs", 0, NULL) < 0)
		return errno;
	return chdir(folder) < 0 ? errno : 0;
}

static int try_overlay(void *folder)
{
	int rc = enter_trial(folder);

	if (rc)
		return rc;
	if (mkdir("u", 0755) < 0 || mkdir("w", 0755) < 0 || mkdir("m", 0755) < 0)
		return errno;
	return mount("overlay", "m", "overlay", 0,
		     is_root() ? "lowerdir=/usr,upperdir=u,workdir=w"
			       : "lowerdir=/usr,upperdir=u,workdir=w,userxattr") < 0
		       ? errno
		       : 0;
}

static int with_folder(int (*trial)(void *folder))
{
	char folder[] = "/tmp/yard-doctor-XXXXXX";
	int rc;

	if (!mkdtemp(folder))
		return errno;
	rc = in_child(trial, folder);
	rmdir(folder);
	return rc;
}

void check_overlay(const struct patient *p, struct finding *f)
{
	int rc = with_folder(try_overlay);

	(void)p;
	if (rc == 0) {
		finding_set(f, FINDING_FINE,
			    "jobs may write to /usr and /etc; it vanishes");
		return;
	}
	finding_set(f, is_root() ? FINDING_LACK : FINDING_NOTE,
		    "cannot be mounted (%s): jobs see /usr and /etc read-only",
		    strerror(rc));
	finding_advise(
		f, is_root() ? "modprobe overlay"
			     : "users may from Linux 5.11 on; as root: modprobe overlay");
}

static int try_idmap(void *folder)
{
	struct err err;
	int rc = enter_trial(folder);

	if (rc)
		return rc;
	AUTO_FD int range = userns_range(TRIAL_UIDS, 65536, &err);
	AUTO_FD int copy = range < 0 ? -1 : mount_copy("/usr", false, &err);
	if (copy < 0)
		return EPERM;
	return mount_change(copy, 0, range, false, &err) < 0 ? EOPNOTSUPP : 0;
}

void check_idmap(const struct patient *p, struct finding *f)
{
	(void)p;
	if (!is_root()) {
		finding_set(f, FINDING_FINE, "not needed: jobs run as you");
		return;
	}
	int rc = with_folder(try_idmap);
	if (rc == 0) {
		finding_set(f, FINDING_FINE,
			    "in jobs, /usr belongs to the job's root: apt works");
		return;
	}
	finding_set(f, FINDING_NOTE, "not on this file system or kernel (%s)",
		    strerror(rc));
	finding_advise(f, "needs Linux 5.19 and ext4, xfs or btrfs below /; without, apt "
			  "does not work in jobs");
}

void check_cgroups(const struct patient *p, struct finding *f)
{
	static const char *const kinds[] = {
		[CGROUP_NONE] = "none", [CGROUP_V1] = "v1", [CGROUP_V2] = "v2"
	};
	const struct cgroup_limits limits = { .memory_bytes = 64 << 20,
					      .cpu_milli = 500,
					      .pids = 16 };
	struct cgroup g = { 0 };
	struct err err;
	char name[48];

	(void)p;
	snprintf(name, sizeof name, "doctor-%d", (int)getpid());
	int rc = cgroup_create(&g, name, &limits, &err);
	bool all = rc == 0 && g.has[CGROUP_MEMORY] && g.has[CGROUP_CPU] &&
		   g.has[CGROUP_PIDS];
	if (rc == 0)
		cgroup_remove(&g);
	if (all) {
		finding_set(f, FINDING_FINE, "%s: memory, cpu and processes are limited",
			    kinds[g.kind]);
		return;
	}
	finding_set(f, is_root() ? FINDING_LACK : FINDING_NOTE,
		    "%s: memory %s, cpu %s, processes %s", kinds[g.kind],
		    g.has[CGROUP_MEMORY] ? "limited" : "watched by the shim",
		    g.has[CGROUP_CPU] ? "limited" : "not limited",
		    g.has[CGROUP_PIDS] ? "limited" : "by RLIMIT_NPROC");
	if (is_root())
		finding_advise(
			f, "the daemon needs its own part of /sys/fs/cgroup: start it "
			   "by its systemd unit (Delegate=yes)");
	else
		finding_advise(f, "with cgroup v2 and systemd: systemd-run --user "
				  "-p Delegate=yes yardd; or ask root to run the daemon");
}

void check_seccomp(const struct patient *p, struct finding *f)
{
	unsigned action = SECCOMP_RET_ERRNO;

	(void)p;
	if (syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0) {
		finding_set(f, FINDING_FINE, "there");
		return;
	}
	finding_set(f, FINDING_LACK, "not there: %s", strerror(errno));
	finding_advise(f, "jobs are not started without it; the kernel needs "
			  "CONFIG_SECCOMP_FILTER");
}
