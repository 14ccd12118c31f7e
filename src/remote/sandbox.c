// SPDX-License-Identifier: Apache-2.0
/* sandbox.c - what is left of a process when it talks to a stranger's server. */
#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/lessen.h"
#include "base/mem.h"
#include "remote/remote.h"

#define MEMORY_BYTES (4ull << 30)
#define FILES_OPEN   256

#define FS_READ (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define FS_MAKE                                                                          \
	(FS_READ | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_MAKE_DIR |         \
	 LANDLOCK_ACCESS_FS_MAKE_REG | 1ULL << 14 /* TRUNCATE */)

static int allow(int rules, int fd, uint64_t rights, struct err *err)
{
	struct landlock_path_beneath_attr below = { .allowed_access = rights,
						    .parent_fd = fd };

	if (syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &below, 0) <
	    0)
		return err_sys(err, "confine to the folder");
	return 0;
}

/* What resolving names and checking certificates needs. */
static int allow_system(int rules, struct err *err)
{
	static const char *const folders[] = {
		"/etc", "/usr", "/lib", "/lib64", "/run/systemd/resolve", "/dev/urandom"
	};

	for (size_t i = 0; i < COUNT_OF(folders); i++) {
		AUTO_FD int fd = open(folders[i], O_PATH | O_CLOEXEC);
		bool file = i == COUNT_OF(folders) - 1;
		if (fd >= 0 &&
		    allow(rules, fd, file ? LANDLOCK_ACCESS_FS_READ_FILE : FS_READ, err) <
			    0)
			return -1;
	}
	return 0;
}

/* A kernel without Landlock confines by uid and calls alone. */
static int confine(int folder, struct err *err)
{
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0,
			   LANDLOCK_CREATE_RULESET_VERSION);
	uint64_t all = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1;

	if (abi < 1)
		return 0;
	if (abi >= 2)
		all |= 1ULL << 13; /* REFER */
	if (abi >= 3)
		all |= 1ULL << 14; /* TRUNCATE */
	struct landlock_ruleset_attr attr = { .handled_access_fs = all };
	AUTO_FD int rules =
		(int)syscall(SYS_landlock_create_ruleset, &attr, sizeof attr, 0);
	if (rules < 0)
		return err_sys(err, "confine to the folder");
	if (allow_system(rules, err) < 0 ||
	    (folder >= 0 && allow(rules, folder, FS_MAKE & all, err) < 0))
		return -1;
	if (syscall(SYS_landlock_restrict_self, rules, 0) < 0)
		return err_sys(err, "confine to the folder");
	return 0;
}

/* clang-format off */
static const int calls[] = {
	SCMP_SYS(read), SCMP_SYS(readv), SCMP_SYS(pread64), SCMP_SYS(write), SCMP_SYS(writev),
	SCMP_SYS(pwrite64), SCMP_SYS(lseek), SCMP_SYS(close), SCMP_SYS(fstat), SCMP_SYS(newfstatat),
	SCMP_SYS(stat), SCMP_SYS(lstat), SCMP_SYS(statx), SCMP_SYS(statfs), SCMP_SYS(fstatfs),
	SCMP_SYS(open), SCMP_SYS(openat), SCMP_SYS(openat2), SCMP_SYS(mkdirat), SCMP_SYS(getdents64),
	SCMP_SYS(access), SCMP_SYS(faccessat), SCMP_SYS(faccessat2), SCMP_SYS(readlink),
	SCMP_SYS(readlinkat), SCMP_SYS(getcwd), SCMP_SYS(fchmod), SCMP_SYS(utimensat),
	SCMP_SYS(ftruncate), SCMP_SYS(fcntl), SCMP_SYS(dup), SCMP_SYS(fadvise64), SCMP_SYS(ioctl),
	SCMP_SYS(poll), SCMP_SYS(ppoll), SCMP_SYS(select), SCMP_SYS(pselect6), SCMP_SYS(epoll_create1),
	SCMP_SYS(epoll_ctl), SCMP_SYS(epoll_wait), SCMP_SYS(epoll_pwait), SCMP_SYS(eventfd2),
	SCMP_SYS(pipe), SCMP_SYS(pipe2), SCMP_SYS(socketpair), SCMP_SYS(connect), SCMP_SYS(bind),
	SCMP_SYS(getsockname), SCMP_SYS(getpeername), SCMP_SYS(getsockopt), SCMP_SYS(setsockopt),
	SCMP_SYS(sendto), SCMP_SYS(recvfrom), SCMP_SYS(sendmsg), SCMP_SYS(recvmsg),
	SCMP_SYS(sendmmsg), SCMP_SYS(recvmmsg), SCMP_SYS(shutdown),
	SCMP_SYS(mmap), SCMP_SYS(munmap), SCMP_SYS(mremap), SCMP_SYS(mprotect), SCMP_SYS(madvise),
	SCMP_SYS(brk), SCMP_SYS(futex), SCMP_SYS(getrandom), SCMP_SYS(clock_gettime),
	SCMP_SYS(clock_getres), SCMP_SYS(clock_nanosleep), SCMP_SYS(nanosleep), SCMP_SYS(gettimeofday),
	SCMP_SYS(time), SCMP_SYS(uname), SCMP_SYS(sysinfo), SCMP_SYS(sched_getaffinity),
	SCMP_SYS(sched_yield), SCMP_SYS(getpid), SCMP_SYS(gettid), SCMP_SYS(getuid), SCMP_SYS(geteuid),
	SCMP_SYS(getgid), SCMP_SYS(getegid), SCMP_SYS(prlimit64), SCMP_SYS(getrlimit),
	SCMP_SYS(rt_sigaction), SCMP_SYS(rt_sigprocmask), SCMP_SYS(rt_sigreturn), SCMP_SYS(sigaltstack),
	SCMP_SYS(set_robust_list), SCMP_SYS(set_tid_address), SCMP_SYS(rseq), SCMP_SYS(membarrier),
	SCMP_SYS(restart_syscall), SCMP_SYS(exit), SCMP_SYS(exit_group), SCMP_SYS(tgkill),
};
/* clang-format on */

/* Threads of its own, no process; the network, no socket of this machine's. */
static int allow_some(scmp_filter_ctx ctx)
{
	static const int families[] = { AF_INET, AF_INET6, AF_NETLINK };
	int rc =
		seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(clone), 1,
				 SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, CLONE_THREAD));

	/* Its flags are behind a pointer: whoever asks falls back to clone(). */
	if (rc == 0)
		rc = seccomp_rule_add(ctx, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
	for (size_t i = 0; rc == 0 && i < COUNT_OF(families); i++)
		rc = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(socket), 1,
				      SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)families[i]));
	return rc;
}

static int filter_calls(struct err *err)
{
	scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_ERRNO(EPERM));
	int rc = ctx ? allow_some(ctx) : -ENOMEM;

	for (size_t i = 0; rc == 0 && i < COUNT_OF(calls); i++)
		rc = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, calls[i], 0);
	if (rc == 0)
		rc = seccomp_load(ctx);
	seccomp_release(ctx);
	return rc < 0 ? err_set(err, ERR_UNSUPPORTED, "confine system calls: %s",
				strerror(-rc))
		      : 0;
}

int remote_sandbox(int folder, int64_t uid, int64_t bytes_max, struct err *err)
{
	pid_t parent = getppid();

	lessen_limit(RLIMIT_CORE, 0);
	lessen_limit(RLIMIT_NOFILE, FILES_OPEN);
	lessen_limit(RLIMIT_FSIZE, bytes_max > 0 ? (rlim_t)bytes_max : RLIM_INFINITY);
	lessen_memory(MEMORY_BYTES);
	if (uid >= 0 && geteuid() == 0 && lessen_to_uid(uid, err) < 0)
		return -1;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return err_sys(err, "give up new privileges");
	/* Nobody is left to hear it when the daemon has gone. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		return err_set(err, ERR_IO, "the daemon has gone");
	/* Keys are in this memory: no other process of the same uid may look. */
	prctl(PR_SET_DUMPABLE, 0);
	return confine(folder, err) < 0 ? -1 : filter_calls(err);
}
