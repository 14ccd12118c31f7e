// SPDX-License-Identifier: Apache-2.0
#include "shim/notice.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"

void notice_put(const char *file, const char *text)
{
	AUTO_FREE char *made = file && *text ? str_printf("%s.new", file) : NULL;
	ssize_t len = (ssize_t)strlen(text);

	if (!made)
		return;
	unlink(made);
	AUTO_FD int fd =
		open(made, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd < 0)
		return;
	if (fchmod(fd, 0644) < 0 || write(fd, text, (size_t)len) != len ||
	    rename(made, file) < 0)
		unlink(made);
}
