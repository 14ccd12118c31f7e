// SPDX-License-Identifier: Apache-2.0
/* Idmapped mounts as lowers of overlays, and an overlay made with few rights as a guard. */
#include <linux/capability.h>
#include <sys/fsuid.h>

#include "base/mem.h"
#include "claim.h"
#include "shim/mount.h"
#include "shim/userns.h"

#define BASE 1000000u

static struct err err;

static bool prepare(int userns)
{
	int fd;

	if (unshare(CLONE_NEWNS) < 0 ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("tmpfs", "/mnt", "tmpfs", 0, "mode=0755") < 0 || chdir("/mnt") < 0)
		return false;
	for (const char *d = "lemuwo"; *d; d++)
		mkdir((char[]){ *d, 0 }, 0755);
	fd = mount_copy("/etc", false, &err);
	return fd >= 0 && mount_change(fd, MOUNT_ATTR_RDONLY, userns, false, &err) == 0 &&
	       mount_place(fd, AT_FDCWD, "l", &err) == 0;
}

static bool guard(void)
{
	struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct all[2],
		few[2] = { { .effective = 1u << CAP_SYS_ADMIN } };
	const char *options[] = { "lowerdir=e:l", NULL };
	int fd;

	syscall(SYS_capget, &head, all);
	few[0].permitted = all[0].permitted;
	few[1].permitted = all[1].permitted;
	setfsuid(4294967290u);
	syscall(SYS_capset, &head, few);
	fd = mount_new("overlay", options, 0, &err);
	syscall(SYS_capset, &head, all);
	setfsuid(0);
	return fd >= 0 && mount_place(fd, AT_FDCWD, "o", &err) == 0;
}

static bool overlay(const char *lower)
{
	const char *options[] = { lower, "upperdir=u", "workdir=w", NULL };
	int fd = mount_new("overlay", options, 0, &err);

	return fd >= 0 && mount_place(fd, AT_FDCWD, "m", &err) == 0;
}

static bool become(int userns)
{
	return setns(userns, CLONE_NEWUSER) == 0 && setresgid(0, 0, 0) == 0 &&
	       setresuid(0, 0, 0) == 0;
}

/* 0: as root of the range, what is everybody's can be read and replaced, what is root's cannot be read. */
static int guarded(void)
{
	struct stat st;
	int userns = userns_range(BASE, 65536, &err);

	if (userns < 0 || !prepare(userns))
		return 1;
	if (!guard() || chown("u", BASE, BASE) < 0 || !overlay("lowerdir=o") ||
	    !become(userns))
		return 2;
	if (stat("m/passwd", &st) < 0 || st.st_uid != 0 ||
	    open("m/passwd", O_RDWR | O_CLOEXEC) < 0)
		return 3;
	if (stat("m/shadow", &st) < 0 || open("m/shadow", O_RDONLY | O_CLOEXEC) >= 0 ||
	    chmod("m/shadow", 0644) == 0)
		return 4;
	return unlink("m/shadow") == 0 && access("/etc/shadow", F_OK) == 0 ? 0 : 5;
}

static int unguarded(void)
{
	int userns = userns_range(BASE, 65536, &err);

	if (userns < 0 || !prepare(userns) || !overlay("lowerdir=l") || !become(userns))
		return 1;
	return open("m/shadow", O_RDONLY | O_CLOEXEC) >= 0 ? 0 : 2;
}

int main(void)
{
	int code;

	if (geteuid() != 0) {
		CANNOT("idmapped mounts", "they are root's to make");
		return 0;
	}
	code = in_child(guarded);
	if (code == 1)
		CANNOT("idmapped mounts",
		       "the file system of /etc or this kernel cannot map owners");
	else {
		CLAIM(code == 0,
		      "an overlay on an idmapped lower, guarded: root of a range reads what is everybody's "
		      "and nothing else");
		CLAIM(in_child(unguarded) == 0,
		      "without the guard it would read /etc/shadow: the guard is needed");
	}
	return 0;
}
