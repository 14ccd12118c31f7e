// SPDX-License-Identifier: Apache-2.0
/* uv_listen.c - listeners of the real world. */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "world/uv_impl.h"

#define BACKLOG        1024
#define ACCEPTS_A_TURN 64

struct uv_lstn {
	struct world_listener base;
	uv_poll_t poll;
	int fd, port;
	bool closed;
	struct world_listen to;
	char *path; /* unix: the socket file, and which one it was */
	dev_t dev;
	ino_t ino;
};

/* Out of descriptors, a waiting caller would wake the loop for ever: give up the spare
 * one to take the call and hang up on it. */
static void turn_away(struct uv_world *u, int fd)
{
	int caller;

	if (u->spare_fd < 0)
		return;
	close(u->spare_fd);
	caller = accept4(fd, NULL, NULL, SOCK_CLOEXEC);
	if (caller >= 0)
		close(caller);
	u->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

/* A caller whose machine vanished says nothing: the kernel asks, at no cost to the loop. */
static void tune_tcp(int fd)
{
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){ 1 }, sizeof(int));
	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &(int){ 1 }, sizeof(int));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &(int){ 20 }, sizeof(int));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &(int){ 10 }, sizeof(int));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &(int){ 3 }, sizeof(int));
	setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &(int){ 60000 }, sizeof(int));
}

static void on_call(uv_poll_t *poll, int status, int events)
{
	struct uv_lstn *l = poll->data;

	(void)status;
	(void)events;
	for (int i = 0; i < ACCEPTS_A_TURN && !l->closed; i++) {
		int fd = accept4(l->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		struct world_stream *s;
		if (fd < 0 && (errno == EMFILE || errno == ENFILE)) {
			turn_away(uv_world_of(l->base.world), l->fd);
			return;
		}
		if (fd < 0 && (errno == EINTR || errno == ECONNABORTED))
			continue;
		if (fd < 0)
			return;
		if (!l->path)
			tune_tcp(fd);
		s = uv_stream_open(l->base.world, fd, NULL);
		if (s)
			l->to.on_stream(l->to.arg, s);
		else
			close(fd);
	}
}

/* Takes the listening fd. */
static struct uv_lstn *start(struct world *w, int fd, const struct world_listen *to,
			     struct err *err)
{
	struct uv_lstn *l = mem_alloc(1, sizeof *l);
	int rc = uv_poll_init(&uv_world_of(w)->loop, &l->poll, fd);

	if (rc < 0) {
		free(l);
		close(fd);
		err_set(err, ERR_IO, "listen: %s", uv_strerror(rc));
		return NULL;
	}
	l->base.world = w;
	l->fd = fd;
	l->to = *to;
	l->poll.data = l;
	uv_poll_start(&l->poll, UV_READABLE, on_call);
	return l;
}

/* Clears the way for bind(): 0 when nothing is at the path any more. */
static int clear_path(const struct sockaddr_un *at, struct err *err)
{
	AUTO_FD int probe =
		socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct stat st;

	if (lstat(at->sun_path, &st) < 0)
		return errno == ENOENT ? 0 : err_sys(err, "%s", at->sun_path);
	if (!S_ISSOCK(st.st_mode))
		return err_set(err, ERR_CONFLICT,
			       "%s is there already and is not a socket", at->sun_path);
	/* A full queue of callers (EAGAIN) is a listener too; only a refusal means nobody. */
	if (probe < 0 || connect(probe, (const struct sockaddr *)at, sizeof *at) == 0 ||
	    errno != ECONNREFUSED)
		return err_set(err, ERR_CONFLICT, "somebody listens on %s already",
			       at->sun_path);
	if (unlink(at->sun_path) < 0 && errno != ENOENT)
		return err_sys(err, "remove the dead socket %s", at->sun_path);
	return 0;
}

/* Under a lock on the folder, so that of two that start at once one sees the other. */
static int bind_unix(int fd, const struct sockaddr_un *at, int mode, struct stat *st,
		     struct err *err)
{
	AUTO_FREE char *copy = mem_strdup(at->sun_path);
	const char *folder = dirname(copy);
	AUTO_FD int lock = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (lock < 0)
		return err_sys(err, "folder %s of the socket", folder);
	if (flock(lock, LOCK_EX) < 0)
		return err_sys(err, "lock %s", folder);
	if (clear_path(at, err) < 0)
		return -1;
	/* bind() makes the file with the mode of the socket's own inode, less the umask:
	 * never more open than asked, even for a moment; chmod then adds what umask took. */
	if (fchmod(fd, (mode_t)mode) < 0 ||
	    bind(fd, (const struct sockaddr *)at, sizeof *at) < 0)
		return err_sys(err, "listen on %s", at->sun_path);
	if (chmod(at->sun_path, (mode_t)mode) < 0 || lstat(at->sun_path, st) < 0 ||
	    listen(fd, BACKLOG) < 0) {
		err_sys(err, "listen on %s", at->sun_path);
		unlink(at->sun_path);
		return -1;
	}
	return 0;
}

struct world_listener *uv_listen_unix(struct world *w, const char *path, int mode,
				      const struct world_listen *to, struct err *err)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	AUTO_FD int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct stat st = { 0 };
	struct uv_lstn *l;

	if (!*path || strlen(path) >= sizeof at.sun_path) {
		err_set(err, ERR_INVALID,
			"socket path '%s' has %zu bytes; the system allows 1 to %zu",
			path, strlen(path), sizeof at.sun_path - 1);
		return NULL;
	}
	memcpy(at.sun_path, path, strlen(path));
	if (fd < 0) {
		err_sys(err, "socket");
		return NULL;
	}
	if (bind_unix(fd, &at, mode, &st, err) < 0)
		return NULL;
	l = start(w, TAKE_FD(fd), to, err);
	if (!l) {
		unlink(path);
		return NULL;
	}
	l->path = mem_strdup(path);
	l->dev = st.st_dev;
	l->ino = st.st_ino;
	return &l->base;
}

static int bind_tcp(int fd, const struct addrinfo *at, int *port)
{
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	} name = { 0 };
	socklen_t len = sizeof name;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &(int){ 1 }, sizeof(int));
	if (bind(fd, at->ai_addr, at->ai_addrlen) < 0 || listen(fd, BACKLOG) < 0 ||
	    getsockname(fd, &name.any, &len) < 0)
		return -1;
	*port = ntohs(name.any.sa_family == AF_INET6 ? name.v6.sin6_port
						     : name.v4.sin_port);
	return 0;
}

struct world_listener *uv_listen_tcp(struct world *w, const char *address, int port,
				     const struct world_listen *to, struct err *err)
{
	struct addrinfo want = { .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE,
				 .ai_socktype = SOCK_STREAM };
	const char *host = str_eq(address, "localhost") ? "127.0.0.1" : address;
	AUTO_FREE char *service = str_printf("%d", port);
	struct addrinfo *at = NULL;
	struct uv_lstn *l = NULL;
	int fd, bound = 0;

	if (port < 0 || port > 65535 || getaddrinfo(host, service, &want, &at) != 0) {
		err_set(err, ERR_INVALID,
			"cannot listen on '%s' port %d: give an IPv4 or IPv6 number and a port "
			"from 0 to 65535",
			address, port);
		return NULL;
	}
	fd = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 || bind_tcp(fd, at, &bound) < 0) {
		err_sys(err, "listen on %s port %d", address, port);
		if (fd >= 0)
			close(fd);
	} else {
		l = start(w, fd, to, err);
	}
	freeaddrinfo(at);
	if (l)
		l->port = bound;
	return l ? &l->base : NULL;
}

int uv_listener_port(const struct world_listener *listener)
{
	return ((const struct uv_lstn *)listener)->port;
}

static void on_closed(uv_handle_t *h)
{
	free(h->data);
}

void uv_listener_close(struct world_listener *listener)
{
	struct uv_lstn *l = (struct uv_lstn *)listener;
	struct stat st;

	l->closed = true;
	/* Only our own file: somebody may have put another in its place. */
	if (l->path && lstat(l->path, &st) == 0 && st.st_dev == l->dev &&
	    st.st_ino == l->ino)
		unlink(l->path);
	free(l->path);
	l->path = NULL;
	uv_close((uv_handle_t *)&l->poll, on_closed);
	close(l->fd);
}
