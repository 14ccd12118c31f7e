// SPDX-License-Identifier: Apache-2.0
/* Private mode: the process that built the sandbox is root over its mounts, and so would
 * the task be: it could make a read-only input writable again, which belongs to the same
 * uid outside.  So the task gets a user namespace below, with the same uids, and a copy of
 * the mounts that belongs to it: in such a copy the kernel lets nobody take a mount away
 * or give it back what was taken from it.  (In root mode the mounts belong to the machine.)
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "shim/sandbox_parts.h"

/* Whatever has an id here has the same id below. */
static int copy_map(const char *file)
{
	AUTO_BUF struct buf same = { 0 };
	char path[64], line[128];

	snprintf(path, sizeof path, "/proc/self/%s", file);
	FILE *from = fopen(path, "re");
	while (from && fgets(line, sizeof line, from)) {
		char *at = line, *word[3] = { NULL };
		int n = 0;

		for (char *w; n < 3 && (w = strsep(&at, " \n"));) {
			if (*w)
				word[n++] = w; /* inside, outside, count */
		}
		if (n == 3)
			buf_printf(&same, "%s %s %s\n", word[0], word[0], word[2]);
	}
	if (from)
		fclose(from);
	snprintf(path, sizeof path, "/proc/1/%s", file);
	AUTO_FD int to = open(path, O_WRONLY | O_CLOEXEC);
	return to >= 0 && same.len > 0 &&
			       write(to, same.data, same.len) == (ssize_t)same.len
		       ? 0
		       : -1;
}

/* A child that stays above writes the maps: below, one has no right to. */
static _Noreturn void write_maps(int gate)
{
	char c;

	if (read(gate, &c, 1) != 1 || copy_map("uid_map") < 0 || copy_map("gid_map") < 0)
		_exit(1);
	_exit(0);
}

int sandbox_lock(struct err *err)
{
	int gate[2], status = -1;
	pid_t child;

	if (pipe2(gate, O_CLOEXEC) < 0)
		return err_sys(err, "make a pipe");
	child = fork();
	if (child == 0) {
		close(gate[1]);
		write_maps(gate[0]);
	}
	close(gate[0]);
	AUTO_FD int open_gate = gate[1];
	if (child < 0 || unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
		return err_sys(err, "lock the sandbox");
	if (write(open_gate, "x", 1) != 1)
		return err_sys(err, "lock the sandbox");
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return status == 0 ? 0 : err_set(err, ERR_INTERNAL, "lock the sandbox: no maps");
}
