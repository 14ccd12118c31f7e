// SPDX-License-Identifier: Apache-2.0
#include "depot/requirements.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"

/* The code is the submitter's: a link in it must not lead the daemon elsewhere. */
static int open_in(int tree, const char *name, int flags)
{
	struct open_how how = { .flags = (uint64_t)(flags | O_CLOEXEC),
				.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS };

	return (int)syscall(SYS_openat2, tree, name, &how, sizeof how);
}

static int read_all(int fd, char **text, struct err *err)
{
	AUTO_BUF struct buf b = { 0 };
	char chunk[8192];
	ssize_t n;

	while ((n = read(fd, chunk, sizeof chunk)) > 0) {
		buf_add(&b, chunk, (size_t)n);
		if (b.len > REQUIREMENTS_BYTES_MAX)
			return err_set(err, ERR_TOO_LARGE,
				       "requirements.txt is larger than %d KiB",
				       REQUIREMENTS_BYTES_MAX >> 10);
	}
	if (n < 0)
		return err_sys(err, "read requirements.txt");
	if (b.len)
		*text = buf_take(&b);
	return 0;
}

int requirements_read(const char *path, char **text, bool *wheels, struct err *err)
{
	AUTO_FD int tree = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct stat st;

	*text = NULL;
	*wheels = false;
	if (tree < 0)
		return errno == ENOTDIR ? 0 : err_sys(err, "open %s", path);
	AUTO_FD int folder = open_in(tree, "wheels", O_PATH | O_DIRECTORY);
	*wheels = folder >= 0;
	AUTO_FD int fd = open_in(tree, "requirements.txt", O_RDONLY | O_NONBLOCK);
	if (fd < 0 && errno == EXDEV)
		return err_set(err, ERR_DENIED, "requirements.txt leads out of the code");
	if (fd < 0)
		return errno == ENOENT ? 0 : err_sys(err, "open requirements.txt");
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return 0;
	return read_all(fd, text, err);
}
