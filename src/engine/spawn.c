// SPDX-License-Identifier: Apache-2.0
#include "engine/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
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
#define READY_MAX 8
#define REAP_MS   1000

struct spawn_pool {
	struct world *world;
	char *path, *user;
	world_cb on_ready;
	void *arg;
	struct spawn_shim nest; /* who forks them, by shim/message.h; fd -1: none */
	struct world_watch *answers;
	bool nesting; /* a nest is being made */
	bool proven;  /* this one has made a shim */
	struct spawn_shim spares[READY_MAX];
	int count;
	int asked[READY_MAX]; /* our ends of those the nest was asked for, oldest first */
	int making;
	bool failed;  /* err has not been given to anybody */
	bool failing; /* the last one could not be made */
	bool closed;
	struct err err;
};

struct order {                   /* a nest that is being made */
	struct spawn_pool *pool; /* outlives it; path and user never change */
	struct spawn_shim nest;
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

static int nest_new(const struct spawn_pool *p, struct spawn_shim *out, struct err *err)
{
	int pair[2], rc;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return err_sys(err, "make a socket for the maker of shims");
	AUTO_FD int ours = pair[0];
	AUTO_FD int theirs = pair[1];

	rc = spawn(p, theirs, &out->pid);
	if (rc) {
		errno = rc;
		return err_sys(err, "run %s", p->path);
	}
	out->fd = TAKE_FD(ours);
	return 0;
}

static void reap_work(void *arg)
{
	while (waitpid(*(const pid_t *)arg, NULL, 0) < 0 && errno == EINTR)
		continue;
}

/* To die may take it a while, on a machine without memory or with a disk that hangs: the
 * loop does not wait for it. */
static void end(const struct spawn_pool *p, const struct spawn_shim *s)
{
	pid_t *pid;

	close(s->fd);
	if (s->pid <= 0)
		return;
	kill(s->pid, SIGKILL); /* our own child, not reaped yet */
	if (waitpid(s->pid, NULL, WNOHANG) != 0)
		return;
	pid = mem_alloc(1, sizeof *pid);
	*pid = s->pid;
	world_work(p->world, reap_work, free, pid);
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
		end(p, out);
	}
	if (!p->failed)
		return 0;
	p->failed = false;
	*err = p->err;
	return -1;
}

static void fail(struct spawn_pool *p)
{
	p->failed = p->failing = true;
}

/* The nest's next answer: false when there is none and never will be. */
static bool take_answer(struct spawn_pool *p)
{
	int32_t pid;
	ssize_t n = recv(p->nest.fd, &pid, sizeof pid, MSG_DONTWAIT);
	int fd;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return true;
	if (n != (ssize_t)sizeof pid || p->making == 0)
		return false;
	fd = p->asked[0];
	memmove(p->asked, p->asked + 1, (size_t)--p->making * sizeof p->asked[0]);
	if (pid > 0) {
		p->spares[p->count++] = (struct spawn_shim){ pid, fd };
		p->failed = p->failing = false;
		p->proven = true;
		return true;
	}
	close(fd);
	errno = -pid;
	err_sys(&p->err, "fork a shim");
	fail(p);
	return true;
}

/* Those it was asked for end by themselves once our ends are closed. */
static void nest_end(struct spawn_pool *p)
{
	world_watch_destroy(TAKE(p->answers));
	end(p, &p->nest);
	p->nest.fd = -1;
	while (p->making > 0)
		close(p->asked[--p->making]);
}

/* One that worked and was killed is simply made again; one that never did would be made for
 * ever. */
static void nest_lost(struct spawn_pool *p)
{
	nest_end(p);
	if (p->proven)
		return;
	err_set(&p->err, ERR_INTERNAL, "%s ended before it made a shim", p->path);
	fail(p);
}

static void on_answer(void *arg)
{
	struct spawn_pool *p = arg;

	if (!take_answer(p))
		nest_lost(p);
	p->on_ready(p->arg);
}

static void pool_free(struct spawn_pool *p)
{
	struct pollfd nest = { .fd = p->nest.fd, .events = POLLIN };

	while (p->making > 0 && poll(&nest, 1, REAP_MS) > 0 && take_answer(p))
		;
	if (p->nest.fd >= 0)
		nest_end(p);
	while (p->count > 0)
		end(p, &p->spares[--p->count]);
	free(p->path);
	free(p->user);
	free(p);
}

static void on_work(void *arg)
{
	struct order *o = arg;

	o->rc = nest_new(o->pool, &o->nest, &o->err);
}

static void on_done(void *arg)
{
	struct order *o = arg;
	struct spawn_pool *p = o->pool;

	p->nesting = p->proven = false;
	if (o->rc == 0) {
		p->nest = o->nest;
		if (!p->closed)
			p->answers =
				world_watch_create(p->world, p->nest.fd, on_answer, p);
	} else {
		p->err = o->err;
		fail(p);
	}
	free(o);
	if (p->closed)
		pool_free(p);
	else
		p->on_ready(p->arg);
}

static void make_nest(struct spawn_pool *p)
{
	struct order *o = mem_alloc(1, sizeof *o);

	o->pool = p;
	p->nesting = true;
	world_work(p->world, on_work, on_done, o);
}

/* The nest gets one end of a new socket pair. */
static int send_socket(const struct spawn_pool *p, int fd)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} control = { .room = { 0 } };
	char byte = 0;
	struct iovec part = { &byte, 1 };
	struct msghdr m = { .msg_iov = &part,
			    .msg_iovlen = 1,
			    .msg_control = &control,
			    .msg_controllen = sizeof control };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof fd);
	memcpy(CMSG_DATA(c), &fd, sizeof fd);
	return sendmsg(p->nest.fd, &m, MSG_DONTWAIT | MSG_NOSIGNAL) == 1 ? 0 : -1;
}

static bool ask(struct spawn_pool *p)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0) {
		err_sys(&p->err, "make a socket for a task's shim");
		fail(p);
		return false;
	}
	AUTO_FD int ours = pair[0];
	AUTO_FD int theirs = pair[1];

	if (fcntl(ours, F_SETFL, O_NONBLOCK) < 0 || send_socket(p, theirs) < 0) {
		/* A nest that has just died is told by the watch, and made again. */
		if (errno != EPIPE && errno != ECONNRESET) {
			err_sys(&p->err, "ask for a shim");
			fail(p);
		}
		return false;
	}
	p->asked[p->making++] = TAKE_FD(ours);
	return true;
}

bool spawn_want(struct spawn_pool *p, int needed)
{
	/* Where none can be made only a task that needs one is a reason to try. */
	int want = needed + (p->failing ? 0 : SPARES);

	if (!needed)
		p->failed = false;
	if (p->count + p->making >= want || p->nesting)
		return true;
	if (p->nest.fd < 0) {
		make_nest(p);
		return true;
	}
	while (p->count + p->making < want && p->count + p->making < READY_MAX && ask(p))
		;
	return !p->failed;
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
	p->nest.fd = -1;
	return p;
}

void spawn_pool_destroy(struct spawn_pool *p)
{
	p->closed = true;
	if (!p->nesting)
		pool_free(p);
}
