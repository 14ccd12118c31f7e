// SPDX-License-Identifier: Apache-2.0
#include "engine/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "shim/message.h"

/* The shim gets /dev/null, its socket, no signal state of ours, no environment but the
 * path of the system's own tools (newuidmap).  posix_spawn borrows our memory until the
 * exec (vfork), so its cost does not grow with the daemon. */
static int spawn(const char *path, int socket, pid_t *pid)
{
	char arg0[] = "yard-shim", var0[] = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
	char *argv[] = { arg0, NULL }, *envp[] = { var0, NULL };
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t all, none;
	int rc;

	sigfillset(&all);
	sigemptyset(&none);
	posix_spawn_file_actions_init(&files);
	posix_spawnattr_init(&attr);
	posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDWR, 0);
	posix_spawn_file_actions_adddup2(&files, 0, 1);
	posix_spawn_file_actions_adddup2(&files, 0, 2);
	posix_spawn_file_actions_adddup2(&files, socket, SHIM_FD);
	posix_spawn_file_actions_addclosefrom_np(&files, SHIM_FD + 1);
	posix_spawnattr_setsigdefault(&attr, &all);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSID);
	rc = posix_spawn(pid, path, &files, &attr, argv, envp);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&attr);
	return rc;
}

int spawn_shim(const char *path, pid_t *pid, int *fd, struct err *err)
{
	int pair[2], rc;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return err_sys(err, "make a socket for a task's shim");
	AUTO_FD int ours = pair[0];
	AUTO_FD int theirs = pair[1];

	if (fcntl(ours, F_SETFL, O_NONBLOCK) < 0)
		return err_sys(err, "make a socket for a task's shim");
	rc = spawn(path, theirs, pid);
	if (rc) {
		errno = rc;
		return err_sys(err, "run %s", path);
	}
	*fd = TAKE_FD(ours);
	return 0;
}
