// SPDX-License-Identifier: Apache-2.0
#include "remote/below.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"

static int open_below(int folder, const char *name, int flags, mode_t mode)
{
	struct open_how how = { .flags = (uint64_t)(flags | O_CLOEXEC | O_NOFOLLOW),
				.mode = flags & O_CREAT ? mode : 0,
				.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS |
					   RESOLVE_NO_MAGICLINKS };

	return (int)syscall(SYS_openat2, folder, name, &how, sizeof how);
}

/* mkdirat() follows links on the way: each folder is opened before the next is made in it. */
static int make_one(int folder, const char *way, struct err *err)
{
	const char *slash = strrchr(way, '/');
	AUTO_FREE char *above = slash ? mem_strndup(way, (size_t)(slash - way)) : NULL;
	AUTO_FD int opened =
		above ? open_below(folder, above, O_PATH | O_DIRECTORY, 0) : -1;

	if (above && opened < 0)
		return err_sys(err, "open the folder \"%.200s\"", above);
	if (mkdirat(above ? opened : folder, slash ? slash + 1 : way, 0755) < 0 &&
	    errno != EEXIST)
		return err_sys(err, "make the folder \"%.200s\"", way);
	return 0;
}

static int make_way(int folder, const char *name, struct err *err)
{
	AUTO_FREE char *way = mem_strdup(name);

	for (char *slash = strchr(way, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (make_one(folder, way, err) < 0)
			return -1;
		*slash = '/';
	}
	return 0;
}

int below_make(int folder, const char *name, struct err *err)
{
	return make_way(folder, name, err);
}

int below_create(int folder, const char *name, struct err *err)
{
	const int flags = O_RDWR | O_CREAT | O_NONBLOCK;
	int fd = open_below(folder, name, flags, 0644);

	if (fd < 0 && errno == ENOENT && strchr(name, '/')) {
		if (make_way(folder, name, err) < 0)
			return -1;
		fd = open_below(folder, name, flags, 0644);
	}
	return fd < 0 ? err_sys(err, "make the file \"%.200s\"", name) : fd;
}

int below_open(int folder, const char *name, struct err *err)
{
	struct stat st;
	AUTO_FD int fd = open_below(folder, name, O_RDONLY | O_NONBLOCK, 0);

	if (fd < 0 && errno != ELOOP)
		return err_sys(err, "read \"%.200s\"", name);
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return err_set(err, ERR_UNSUPPORTED, "\"%.200s\" is no file", name);
	return TAKE_FD(fd);
}
