// SPDX-License-Identifier: Apache-2.0
#include "shim/seccomp.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"

/* The deny list is written for these two; others do not compile. */
#if defined __x86_64__
#define ARCH AUDIT_ARCH_X86_64
#elif defined __aarch64__
#define ARCH AUDIT_ARCH_AARCH64
#endif

/* ENOSYS where programs and libc then take another way, EPERM where they would not ask again. */
static const struct {
	int nr, error;
} deny[] = {
	/* the kernel itself */
	{ SYS_kexec_load, EPERM },
	{ SYS_kexec_file_load, EPERM },
	{ SYS_init_module, EPERM },
	{ SYS_finit_module, EPERM },
	{ SYS_delete_module, EPERM },
	{ SYS_reboot, EPERM },
	{ SYS_swapon, EPERM },
	{ SYS_swapoff, EPERM },
	{ SYS_acct, EPERM },
	{ SYS_quotactl, EPERM },
	{ SYS_syslog, EPERM },
	{ SYS_settimeofday, EPERM },
	{ SYS_clock_settime, EPERM },
	{ SYS_vhangup, EPERM },
	{ SYS_nfsservctl, ENOSYS },
	{ SYS_lookup_dcookie, ENOSYS },
	/* large, often broken, and reachable from a user namespace */
	{ SYS_bpf, EPERM },
	{ SYS_perf_event_open, EPERM },
	{ SYS_userfaultfd, ENOSYS },
	{ SYS_io_uring_setup, ENOSYS },
	{ SYS_io_uring_enter, ENOSYS },
	{ SYS_io_uring_register, ENOSYS },
	/* keyrings are not in any namespace */
	{ SYS_keyctl, ENOSYS },
	{ SYS_add_key, ENOSYS },
	{ SYS_request_key, ENOSYS },
	/* files by handle step over the mount namespace */
	{ SYS_open_by_handle_at, EPERM },
#ifdef __x86_64__
	{ SYS_iopl, EPERM },
	{ SYS_ioperm, EPERM },
	{ SYS_uselib, ENOSYS },
	{ SYS_ustat, ENOSYS },
	{ SYS_sysfs, ENOSYS },
	{ SYS__sysctl, ENOSYS },
	{ SYS_modify_ldt, ENOSYS },
#endif
};

/* A new tmpfs is memory that only a control group counts. */
static const int mounts[] = { SYS_mount, SYS_fsopen };

#define X32_BIT 0x40000000u

static size_t refuse(struct sock_filter *at, int nr, int error)
{
	at[0] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)nr, 0,
					     1);
	at[1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K,
					     SECCOMP_RET_ERRNO | (uint32_t)error);
	return 2;
}

/* A row costs two instructions; the kernel caches which calls are always allowed (5.11),
 * so the length of the list costs nothing at run time. */
int sandbox_filter(bool may_mount, struct err *err)
{
	struct sock_filter code[8 + 2 * (COUNT_OF(deny) + COUNT_OF(mounts))];
	struct sock_fprog prog = { 0, code };
	size_t n = 0;

	code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
						 offsetof(struct seccomp_data, arch));
	/* 32-bit calls have other numbers: all of them look absent. */
	code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCH, 1, 0);
	code[n++] =
		(struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS);
	code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
						 offsetof(struct seccomp_data, nr));
	code[n++] =
		(struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, X32_BIT, 0, 1);
	code[n++] =
		(struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS);
	for (size_t i = 0; i < COUNT_OF(deny); i++)
		n += refuse(code + n, deny[i].nr, deny[i].error);
	for (size_t i = 0; !may_mount && i < COUNT_OF(mounts); i++)
		n += refuse(code + n, mounts[i], EPERM);
	code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	prog.len = (unsigned short)n;
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog) < 0)
		return err_sys(err, "load the system call filter");
	return 0;
}
