// SPDX-License-Identifier: Apache-2.0
#include "engine/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "shim/message.h"

#define SPARES    2 /* while nothing is asked for */
#define AT_ONCE   2 /* threads of the pool are for others too */
#define READY_MAX 8

struct spawn_pool {
	struct world *world;
	char *path, *user;
	world_cb on_ready;
	void *arg;
	struct spawn_shim spares[READY_MAX];
	int count, making;
	bool failed;  /* err has not been given to anybody */
	bool failing; /* the last one could not be made */
	bool closed;
	struct err err;
};

struct order {                   /* one shim that is being made */
	struct spawn_pool *pool; /* outlives it; path and user never change */
	struct spawn_shim shim;
	struct err err;
	int rc;
};

/* /etc/subuid goes by names, and a static shim cannot look its own up.  Once: names may come
 * over the network. */
static char *user_variable(void)
{
	char room[4096];
	struct passwd entry, *found = NULL;

	if (getpwuid_r(geteuid(), &entry, room, sizeof room, &found) != 0)
		found = NULL;
	return str_printf("USER=%s", found ? entry.pw_name : "");
}

/* The shim gets /dev/null, its socket, no signal state of ours, no environment but the
 * user's name and the path of the system's own tools (newuidmap).  posix_spawn borrows our
 * memory until the exec (vfork), so its cost does not grow with the daemon. */
static int spawn(const struct spawn_pool *p, int socket, pid_t *pid)
{
	char arg0[] = "yard-shim",
	     var0[] = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
	char *argv[] = { arg0, NULL }, *envp[] = { var0, p->user, NULL };
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
	rc = posix_spawn(pid, p->path, &files, &attr, argv, envp);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&attr);
	return rc;
}

static int spawn_new(const struct spawn_pool *p, struct spawn_shim *out, struct err *err)
{
	int pair[2], rc;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return err_sys(err, "make a socket for a task's shim");
	AUTO_FD int ours = pair[0];
	AUTO_FD int theirs = pair[1];

	if (fcntl(ours, F_SETFL, O_NONBLOCK) < 0)
		return err_sys(err, "make a socket for a task's shim");
	rc = spawn(p, theirs, &out->pid);
	if (rc) {
		errno = rc;
		return err_sys(err, "run %s", p->path);
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
			return 1;
		end(out);
	}
	if (!p->failed)
		return 0;
	p->failed = false;
	*err = p->err;
	return -1;
}

static void pool_free(struct spawn_pool *p)
{
	while (p->count > 0)
		end(&p->spares[--p->count]);
	free(p->path);
	free(p->user);
	free(p);
}

static void on_work(void *arg)
{
	struct order *o = arg;

	o->rc = spawn_new(o->pool, &o->shim, &o->err);
}

static void on_done(void *arg)
{
	struct order *o = arg;
	struct spawn_pool *p = o->pool;

	p->making--;
	if (o->rc == 0)
		p->spares[p->count++] = o->shim;
	else
		p->err = o->err;
	p->failed = p->failing = o->rc < 0;
	free(o);
	if (!p->closed)
		p->on_ready(p->arg);
	else if (p->making == 0)
		pool_free(p);
}

void spawn_want(struct spawn_pool *p, int needed)
{
	/* Where none can be made only a task that needs one is a reason to try. */
	int want = needed + (p->failing ? 0 : SPARES);

	if (!needed)
		p->failed = false;
	while (p->count + p->making < want && p->making < AT_ONCE &&
	       p->count + p->making < READY_MAX) {
		struct order *o = mem_alloc(1, sizeof *o);

		o->pool = p;
		p->making++;
		world_work(p->world, on_work, on_done, o);
	}
}

struct spawn_pool *spawn_pool_create(struct world *w, const char *path, world_cb on_ready,
				     void *arg)
{
	struct spawn_pool *p = mem_alloc(1, sizeof *p);

	p->world = w;
	p->path = mem_strdup(path);
	p->user = user_variable();
	p->on_ready = on_ready;
	p->arg = arg;
	return p;
}

void spawn_pool_destroy(struct spawn_pool *p)
{
	p->closed = true;
	if (p->making == 0)
		pool_free(p);
}
