// SPDX-License-Identifier: Apache-2.0
#include "shim/mount.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "base/mem.h"

/* What the kernel says about a failed mount stands in its descriptor: "e <words>". */
static int explain(int fs, const char *type, struct err *err)
{
	int saved = errno;
	char text[256];
	ssize_t n = read(fs, text, sizeof text - 1);

	errno = saved;
	if (n <= 2)
		return err_sys(err, "mount %s", type);
	text[n] = 0;
	text[strcspn(text, "\n")] = 0;
	return err_sys(err, "mount %s: %s", type, text + 2);
}

static int set_option(int fs, const char *option)
{
	char key[32];
	size_t n = strcspn(option, "=");

	if (!option[n])
		return fsconfig(fs, FSCONFIG_SET_FLAG, option, NULL, 0);
	snprintf(key, sizeof key, "%.*s", (int)n, option);
	return fsconfig(fs, FSCONFIG_SET_STRING, key, option + n + 1, 0);
}

int mount_new(const char *type, const char *const *options, unsigned attr,
	      struct err *err)
{
	AUTO_FD int fs = fsopen(type, FSOPEN_CLOEXEC);
	int fd;

	if (fs < 0)
		return err_sys(err, "mount %s", type);
	for (; *options; options++) {
		if (set_option(fs, *options) < 0)
			return explain(fs, type, err);
	}
	if (fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
		return explain(fs, type, err);
	fd = fsmount(fs, FSMOUNT_CLOEXEC, attr);
	return fd < 0 ? err_sys(err, "mount %s", type) : fd;
}

int mount_copy(const char *path, bool recursive, struct err *err)
{
	int fd = open_tree(AT_FDCWD, path,
			   OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC |
				   (recursive ? AT_RECURSIVE : 0u));

	return fd < 0 ? err_sys(err, "bind %s", path) : fd;
}

int mount_change(int fd, uint64_t attr, int userns, bool recursive, struct err *err)
{
	struct mount_attr a = { .attr_set = attr };

	if (userns >= 0) {
		a.attr_set |= MOUNT_ATTR_IDMAP;
		a.userns_fd = (uint64_t)userns;
	}
	if (a.attr_set &&
	    mount_setattr(fd, "", AT_EMPTY_PATH | (recursive ? AT_RECURSIVE : 0), &a,
			  sizeof a) < 0)
		return err_sys(err,
			       userns >= 0 ? "map owners of a mount" : "change a mount");
	return 0;
}

int mount_place(int fd, int dir, const char *target, struct err *err)
{
	unsigned flags =
		MOVE_MOUNT_F_EMPTY_PATH | (*target ? 0u : MOVE_MOUNT_T_EMPTY_PATH);
	int done = move_mount(fd, "", dir, target, flags);
	int saved = errno;

	close(fd);
	errno = saved;
	return done < 0 ? err_sys(err, "mount at %s", target) : 0;
}

int mount_bind(const char *source, int dir, const char *target, uint64_t attr,
	       bool recursive, struct err *err)
{
	AUTO_FD int fd = mount_copy(source, recursive, err);

	if (fd < 0 || mount_change(fd, attr, -1, recursive, err) < 0)
		return -1;
	return mount_place(TAKE_FD(fd), dir, target, err);
}
