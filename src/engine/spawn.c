// SPDX-License-Identifier: Apache-2.0
#include "engine/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "shim/message.h"

/* The shim gets /dev/null, its socket, no signal state of ours, no environment but the
 * path of the system's own tools (newuidmap).  posix_spawn borrows our memory until the
 * exec (vfork), so its cost does not grow with the daemon. */
static int spawn(const char *path, int socket, pid_t *pid)
{
	char arg0[] = "yard-shim",
	     var0[] = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
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
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK |
						POSIX_SPAWN_SETSID);
	rc = posix_spawn(pid, path, &files, &attr, argv, envp);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&attr);
	return rc;
}

static int spawn_new(const char *path, struct spawn_shim *out, struct err *err)
{
	int pair[2], rc;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return err_sys(err, "make a socket for a task's shim");
	AUTO_FD int ours = pair[0];
	AUTO_FD int theirs = pair[1];

	if (fcntl(ours, F_SETFL, O_NONBLOCK) < 0)
		return err_sys(err, "make a socket for a task's shim");
	rc = spawn(path, theirs, &out->pid);
	if (rc) {
		errno = rc;
		return err_sys(err, "run %s", path);
	}
	out->fd = TAKE_FD(ours);
	return 0;
}

static void end(const struct spawn_shim *s)
{
	kill(s->pid, SIGKILL);
	close(s->fd);
	while (waitpid(s->pid, NULL, 0) < 0 && errno == EINTR)
		continue;
}

/* One that was killed while it waited has closed its end. */
static bool waits(const struct spawn_shim *s)
{
	char byte;

	return recv(s->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && errno == EAGAIN;
}

int spawn_take(struct spawn_pool *p, struct spawn_shim *out, struct err *err)
{
	while (p->count > 0) {
		*out = p->spares[--p->count];
		if (waits(out))
			return 0;
		end(out);
	}
	return spawn_new(p->path, out, err);
}

bool spawn_full(const struct spawn_pool *p)
{
	return p->count == SPAWN_SPARES;
}

void spawn_refill(struct spawn_pool *p)
{
	struct err ignored;

	if (!spawn_full(p) && spawn_new(p->path, &p->spares[p->count], &ignored) == 0)
		p->count++;
}

void spawn_fini(struct spawn_pool *p)
{
	while (p->count > 0)
		end(&p->spares[--p->count]);
}
