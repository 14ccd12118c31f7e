// SPDX-License-Identifier: Apache-2.0
/* sandbox.c - what is left of a process when it opens an archive of a stranger. */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/landlock.h>
#include <sched.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/lessen.h"
#include "base/mem.h"
#include "unpack/unpack.h"

#define MEMORY_BYTES (1u << 30)

/* Which rights a kernel's Landlock knows: an unknown bit would be refused. */
static uint64_t landlock_rights(long abi)
{
	uint64_t all = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1;

	if (abi >= 2)
		all |= 1ULL << 13; /* REFER */
	if (abi >= 3)
		all |= 1ULL << 14; /* TRUNCATE */
	return all;
}

/* 1: confined; 0: this kernel has no Landlock. */
static int confine_landlock(int target, struct err *err)
{
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0,
			   LANDLOCK_CREATE_RULESET_VERSION);
	if (abi < 1)
		return 0;
	uint64_t all = landlock_rights(abi);
	struct landlock_ruleset_attr attr = { .handled_access_fs = all };
	AUTO_FD int rules =
		(int)syscall(SYS_landlock_create_ruleset, &attr, sizeof attr, 0);
	struct landlock_path_beneath_attr below = {
		.allowed_access =
			all &
			(LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_READ_DIR |
			 LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_DIR |
			 LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SYM |
			 1ULL << 13 | 1ULL << 14),
		.parent_fd = target,
	};

	if (rules < 0 ||
	    syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &below, 0) <
		    0 ||
	    syscall(SYS_landlock_restrict_self, rules, 0) < 0)
		return err_sys(err, "confine to the folder");
	return 1;
}

static int write_map(const char *file, const char *text)
{
	AUTO_FD int fd = open(file, O_WRONLY | O_CLOEXEC);

	return fd < 0 || write(fd, text, strlen(text)) < 0 ? -1 : 0;
}

static int drop_capabilities(void)
{
	struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct none[2] = { 0 };

	return (int)syscall(SYS_capset, &head, none);
}

/* For kernels without Landlock: a root of its own in a user namespace of its own, and
 * nothing of the powers that made it, with which one could leave it again. */
static int confine_chroot(int target, struct err *err)
{
	char uids[64], gids[64];

	snprintf(uids, sizeof uids, "%u %u 1\n", getuid(), getuid());
	snprintf(gids, sizeof gids, "%u %u 1\n", getgid(), getgid());
	prctl(PR_SET_DUMPABLE, 1); /* its own /proc files must be writable for the maps */
	if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0 ||
	    write_map("/proc/self/setgroups", "deny") < 0 ||
	    write_map("/proc/self/uid_map", uids) < 0 ||
	    write_map("/proc/self/gid_map", gids) < 0 || fchdir(target) < 0 ||
	    chroot(".") < 0 || drop_capabilities() < 0)
		return err_sys(err,
			       "confine to the folder (no Landlock, no user namespaces)");
	return 0;
}

static int filter_calls(struct err *err)
{
	/* What reading an archive and writing files takes; nothing that makes sockets,
	 * processes or namespaces.  Refused calls fail; they do not kill, so that a libc
	 * that probes for something new falls back. */
	/* clang-format off */
	static const int allowed[] = {
		SCMP_SYS(read), SCMP_SYS(readv), SCMP_SYS(pread64), SCMP_SYS(write), SCMP_SYS(writev),
		SCMP_SYS(pwrite64), SCMP_SYS(lseek), SCMP_SYS(close), SCMP_SYS(fstat), SCMP_SYS(newfstatat),
		SCMP_SYS(statx), SCMP_SYS(openat), SCMP_SYS(openat2), SCMP_SYS(mkdirat), SCMP_SYS(symlinkat),
		SCMP_SYS(linkat), SCMP_SYS(unlinkat), SCMP_SYS(fchmod), SCMP_SYS(utimensat),
		SCMP_SYS(ftruncate), SCMP_SYS(fcntl), SCMP_SYS(dup),
		SCMP_SYS(mmap), SCMP_SYS(munmap), SCMP_SYS(mremap), SCMP_SYS(mprotect), SCMP_SYS(madvise),
		SCMP_SYS(brk), SCMP_SYS(futex), SCMP_SYS(getrandom), SCMP_SYS(clock_gettime),
		SCMP_SYS(rt_sigaction), SCMP_SYS(rt_sigprocmask), SCMP_SYS(rt_sigreturn),
		SCMP_SYS(sigaltstack), SCMP_SYS(sched_yield), SCMP_SYS(getpid), SCMP_SYS(gettid),
		SCMP_SYS(exit), SCMP_SYS(exit_group),
	};
	/* clang-format on */
	scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_ERRNO(EPERM));
	int rc = ctx ? 0 : -ENOMEM;

	for (size_t i = 0; rc == 0 && i < COUNT_OF(allowed); i++)
		rc = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, allowed[i], 0);
	if (rc == 0)
		rc = seccomp_load(ctx);
	seccomp_release(ctx);
	return rc < 0 ? err_set(err, ERR_UNSUPPORTED, "confine system calls: %s",
				strerror(-rc))
		      : 0;
}

int unpack_sandbox(int target, int64_t uid, const struct unpack_limits *limits,
		   struct err *err)
{
	lessen_limit(RLIMIT_CORE, 0);
	lessen_limit(RLIMIT_NOFILE, 64);
	lessen_limit(RLIMIT_FSIZE, (rlim_t)limits->bytes);
	lessen_memory(MEMORY_BYTES);
	if (uid >= 0 && geteuid() == 0 && lessen_to_uid(uid, err) < 0)
		return -1;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return err_sys(err, "give up new privileges");
	int rc = confine_landlock(target, err);
	if (rc < 0 || (rc == 0 && confine_chroot(target, err) < 0))
		return -1;
	/* Another process of the same uid must not look in or reach in. */
	prctl(PR_SET_DUMPABLE, 0);
	return filter_calls(err);
}
