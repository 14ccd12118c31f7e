// SPDX-License-Identifier: Apache-2.0
#include "shim/seccomp.h"

#include <sys/prctl.h>

#include "claim.h"

static int filtered(void)
{
	struct err err;

	if (!enter(0))
		return 1;
	if (sandbox_filter(true, &err) < 0)
		return 2;
	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 0)
		return 3;
	if (syscall(SYS_keyctl, 0, 0) != -1 || errno != ENOSYS)
		return 4;
	if (syscall(SYS_bpf, 0, NULL, 0) != -1 || errno != EPERM)
		return 5;
	return syscall(SYS_io_uring_setup, 1, NULL) == -1 && errno == ENOSYS ? 0 : 6;
}

static int after_exec(void)
{
	struct err err;

	if (!enter(0) || sandbox_filter(true, &err) < 0)
		return 1;
	execl("/bin/grep", "grep", "-q", "^Seccomp:.*2", "/proc/self/status", NULL);
	return 2;
}

static int without_rights(void)
{
	struct err err;

	return geteuid() == 0 ? 0 : sandbox_filter(true, &err) < 0 ? 0 : 1;
}

int main(void)
{
	int code = in_child(filtered);

	if (code == 1) {
		CANNOT("system call filters", "no user namespaces");
		return 0;
	}
	CLAIM(code == 0,
	      "root of a user namespace may load a filter and keep setuid working");
	CLAIM(in_child(after_exec) == 0, "and what it executes stays under it");
	CLAIM(in_child(without_rights) == 0, "outside one a user may not");
	return 0;
}
