// SPDX-License-Identifier: Apache-2.0
/* uv_stream.c - byte streams of the real world, on uv_poll_t rather than uv_stream_t:
 * only so can a paused stream see its peer go (EPOLLRDHUP), and one way serves unix
 * sockets, TCP, pipes and ptys.
 *
 * The two directions are two small states:
 *
 *   reading:  ON <─pause─> PAUSED, both ─eof─> OVER
 *   writing:  OPEN ─shutdown, bytes pending─> ENDING ─written out─> OVER
 *
 * A stream that is still connecting waits for that alone and queues what is written.
 *
 * Both OVER is an orderly end.  What the loop waits for follows from them alone, see
 * interest(); no callback is made but from on_poll().
 */
#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "world/uv_impl.h"

#define READS_A_TURN 8 /* then other streams get their turn */
#define KEEP_BYTES                                                                       \
	(256u << 10) /* a drained queue larger than this gives its memory back */

enum phase { STREAM_IDLE, STREAM_OPEN, STREAM_ENDED, STREAM_CLOSED };
enum reading { READ_ON, READ_PAUSED, READ_OVER };
enum writing { WRITE_OPEN, WRITE_ENDING, WRITE_OVER };

struct uv_strm {
	struct world_stream base;
	uv_poll_t poll;
	int fd, interest;
	bool is_socket,
		hung_up; /* hung_up: told while paused; EPOLLRDHUP would fire for ever */
	bool connecting;
	enum phase phase;
	enum reading reading;
	enum writing writing;
	struct world_stream_events ev;
	void *arg;
	struct buf out;
	size_t sent; /* of out */
	bool awaits; /* somebody who sends by other means waits for room */
	struct world_peer peer;
};

static void on_poll(uv_poll_t *poll, int status, int events);

static struct uv_strm *strm_of(struct world_stream *s)
{
	return (struct uv_strm *)s;
}

static bool over(const struct uv_strm *s)
{
	return s->reading == READ_OVER && s->writing == WRITE_OVER;
}

static size_t pending(const struct uv_strm *s)
{
	return s->out.len - s->sent;
}

static int interest(const struct uv_strm *s)
{
	int want = 0;

	if (s->phase != STREAM_OPEN)
		return 0;
	if (s->connecting)
		return UV_WRITABLE;
	if (pending(s) || over(s) || s->awaits)
		want |= UV_WRITABLE;
	if (s->reading == READ_ON)
		want |= UV_READABLE;
	else if (s->reading == READ_PAUSED)
		want |= s->hung_up ? 0 : UV_DISCONNECT;
	else
		want |= UV_PRIORITIZED; /* nothing but a hang-up or an error can come */
	return want;
}

static void watch(struct uv_strm *s)
{
	int want = interest(s);

	if (s->phase == STREAM_CLOSED || want == s->interest)
		return;
	s->interest = want;
	if (want)
		uv_poll_start(&s->poll, want, on_poll);
	else
		uv_poll_stop(&s->poll);
}

static void finish(struct uv_strm *s, const struct err *err)
{
	s->phase = STREAM_ENDED;
	s->interest = 0;
	uv_poll_stop(&s->poll);
	buf_fini(&s->out);
	s->sent = 0;
	if (s->ev.on_end)
		s->ev.on_end(s->arg, err);
}

static void fail(struct uv_strm *s, const char *what, int error)
{
	struct err err;

	err_set(&err, ERR_IO, "%s: %s", what, strerror(error));
	finish(s, &err);
}

static void saw_eof(struct uv_strm *s)
{
	s->reading = READ_OVER;
	if (!s->ev.on_eof) {
		finish(s, NULL);
		return;
	}
	s->ev.on_eof(s->arg);
	if (s->phase == STREAM_OPEN && over(s))
		finish(s, NULL);
}

static void read_some(struct uv_strm *s)
{
	char *scratch = uv_world_of(s->base.world)->scratch;

	for (int i = 0;
	     i < READS_A_TURN && s->phase == STREAM_OPEN && s->reading == READ_ON; i++) {
		ssize_t n = read(s->fd, scratch, UV_SCRATCH_BYTES);
		if (n > 0) {
			if (s->ev.on_data)
				s->ev.on_data(s->arg, scratch, (size_t)n);
			if ((size_t)n < UV_SCRATCH_BYTES)
				return;
			continue;
		}
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		/* A pty's master reads EIO once nobody holds the other side. */
		if (n == 0 || (errno == EIO && !s->is_socket))
			saw_eof(s);
		else
			fail(s, "read", errno);
		return;
	}
}

/* Gives the kernel what it takes; -1 with errno when it will never take more. */
static int push(struct uv_strm *s)
{
	while (pending(s)) {
		const char *data = s->out.data + s->sent;
		ssize_t n = s->is_socket ? send(s->fd, data, pending(s), MSG_NOSIGNAL)
					 : write(s->fd, data, pending(s));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN ? 0 : -1;
		s->sent += (size_t)n;
	}
	s->sent = 0;
	if (s->out.cap > KEEP_BYTES)
		buf_fini(&s->out);
	else
		buf_clear(&s->out);
	return 0;
}

static void end_writing(struct uv_strm *s)
{
	s->writing = WRITE_OVER;
	/* A pipe's or pty's reader sees the end when the stream is closed. */
	if (s->is_socket)
		shutdown(s->fd, SHUT_WR);
}

static void flush(struct uv_strm *s)
{
	bool had = pending(s) > 0 || s->awaits;

	if (push(s) < 0) {
		fail(s, "write", errno);
		return;
	}
	if (pending(s))
		return;
	s->awaits = false;
	if (s->writing == WRITE_ENDING)
		end_writing(s);
	if (over(s)) {
		finish(s, NULL);
		return;
	}
	if (had && s->ev.on_drain)
		s->ev.on_drain(s->arg);
}

/* Paused, and the peer has ended its side: with nothing unread that is its end of file;
 * else bytes come first, and all that can be said now is that it hung up. */
static void peer_left_paused(struct uv_strm *s)
{
	char c;

	if (s->is_socket && recv(s->fd, &c, 1, MSG_PEEK | MSG_DONTWAIT) == 0) {
		saw_eof(s);
		return;
	}
	s->hung_up = true;
	if (s->ev.on_hangup)
		s->ev.on_hangup(s->arg);
}

/* A hang-up, or an error condition: libuv does not always tell them apart.  error: what
 * a read found, for the socket then has forgotten it; or 0. */
static void gone(struct uv_strm *s, int error)
{
	struct pollfd now = { .fd = s->fd };
	socklen_t len = sizeof error;

	poll(&now, 1, 0);
	if (s->is_socket && !error)
		getsockopt(s->fd, SOL_SOCKET, SO_ERROR, &error, &len);
	if (error)
		fail(s, "connection lost", error);
	else if (pending(s) || ((now.revents & POLLERR) && s->writing != WRITE_OVER))
		fail(s, "connection lost", EPIPE);
	else
		finish(s, NULL);
}

/* What came before the error is read first. */
static void broken(struct uv_strm *s)
{
	char c;

	while (s->phase == STREAM_OPEN && s->reading == READ_ON && s->is_socket) {
		ssize_t more = recv(s->fd, &c, 1, MSG_PEEK | MSG_DONTWAIT);
		if (more > 0) {
			read_some(s);
			continue;
		}
		gone(s, more < 0 && errno != EAGAIN ? errno : 0);
		return;
	}
	if (s->phase == STREAM_OPEN)
		gone(s, 0);
}

/* The connection stands, or never will. */
static bool connected(struct uv_strm *s)
{
	int error = 0;
	socklen_t len = sizeof error;

	s->connecting = false;
	if (getsockopt(s->fd, SOL_SOCKET, SO_ERROR, &error, &len) < 0 || error) {
		fail(s, "connect", error);
		return false;
	}
	if (s->ev.on_connect)
		s->ev.on_connect(s->arg);
	return true;
}

static void on_poll(uv_poll_t *poll, int status, int events)
{
	struct uv_strm *s = poll->data;

	if (s->connecting && !connected(s))
		return;
	if (status < 0) {
		s->interest = 0; /* libuv has stopped the watch */
		broken(s);
		return;
	}
	if (s->phase == STREAM_OPEN && (events & UV_WRITABLE))
		flush(s);
	if (s->phase == STREAM_OPEN && (events & UV_READABLE))
		read_some(s);
	else if (s->phase == STREAM_OPEN && (events & UV_DISCONNECT) &&
		 s->reading == READ_PAUSED)
		peer_left_paused(s);
	else if (s->phase == STREAM_OPEN && (events & UV_PRIORITIZED))
		gone(s, 0);
	watch(s);
}

/* An IPv4 caller of an IPv6 listener is the IPv4 address that it is. */
static void find_address(int fd, char out[WORLD_ADDRESS_MAX])
{
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	} name = { 0 };
	socklen_t len = sizeof name;

	if (getpeername(fd, &name.any, &len) < 0)
		return;
	if (name.any.sa_family == AF_INET)
		inet_ntop(AF_INET, &name.v4.sin_addr, out, WORLD_ADDRESS_MAX);
	else if (name.any.sa_family == AF_INET6 &&
		 IN6_IS_ADDR_V4MAPPED(&name.v6.sin6_addr))
		inet_ntop(AF_INET, &name.v6.sin6_addr.s6_addr[12], out,
			  WORLD_ADDRESS_MAX);
	else if (name.any.sa_family == AF_INET6)
		inet_ntop(AF_INET6, &name.v6.sin6_addr, out, WORLD_ADDRESS_MAX);
}

static void find_peer(struct uv_strm *s)
{
	struct sockaddr_storage name = { 0 };
	socklen_t len = sizeof name;
	struct ucred cred;

	s->peer = (struct world_peer){ .pid = -1, .uid = -1, .gid = -1 };
	s->is_socket = getsockname(s->fd, (struct sockaddr *)&name, &len) == 0;
	if (s->is_socket && name.ss_family != AF_UNIX)
		find_address(s->fd, s->peer.address);
	if (!s->is_socket || name.ss_family != AF_UNIX)
		return;
	len = sizeof cred;
	if (getsockopt(s->fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) == 0 && cred.pid > 0)
		s->peer = (struct world_peer){ .pid = cred.pid,
					       .uid = cred.uid,
					       .gid = cred.gid };
}

struct world_stream *uv_stream_open(struct world *w, int fd, struct err *err)
{
	struct uv_strm *s = mem_alloc(1, sizeof *s);
	int flags = fcntl(fd, F_GETFL);
	int rc = flags < 0 ? -errno : uv_poll_init(&uv_world_of(w)->loop, &s->poll, fd);

	if (rc < 0) {
		free(s);
		err_set(err, ERR_IO, "descriptor %d cannot be a stream: %s", fd,
			uv_strerror(rc));
		return NULL;
	}
	fcntl(fd, F_SETFD, FD_CLOEXEC);
	s->base.world = w;
	s->fd = fd;
	s->poll.data = s;
	find_peer(s);
	if ((flags & O_ACCMODE) == O_WRONLY)
		s->reading = READ_OVER;
	if ((flags & O_ACCMODE) == O_RDONLY)
		s->writing = WRITE_OVER;
	return &s->base;
}

struct world_stream *uv_connect_unix(struct world *w, const char *path, struct err *err)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	AUTO_FD int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct world_stream *s;

	if (strlen(path) >= sizeof to.sun_path) {
		err_set(err, ERR_INVALID, "socket path %s is too long: at most %zu bytes",
			path, sizeof to.sun_path - 1);
		return NULL;
	}
	memcpy(to.sun_path, path, strlen(path));
	if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof to) < 0) {
		if (errno == EAGAIN)
			err_set(err, ERR_BUSY,
				"connect to %s: its queue of callers is full", path);
		else
			err_sys(err, "connect to %s", path);
		return NULL;
	}
	s = uv_stream_open(w, fd, err);
	if (s)
		TAKE_FD(fd);
	return s;
}

void uv_stream_start(struct world_stream *stream, const struct world_stream_events *ev,
		     void *arg)
{
	struct uv_strm *s = strm_of(stream);

	assert(s->phase == STREAM_IDLE);
	s->phase = STREAM_OPEN;
	s->ev = *ev;
	s->arg = arg;
	watch(s);
}

void uv_stream_pause(struct world_stream *stream, bool paused)
{
	struct uv_strm *s = strm_of(stream);

	if (s->reading != READ_OVER)
		s->reading = paused ? READ_PAUSED : READ_ON;
	watch(s);
}

void uv_stream_write(struct world_stream *stream, const void *data, size_t len)
{
	struct uv_strm *s = strm_of(stream);

	if (s->phase >= STREAM_ENDED || s->writing != WRITE_OPEN)
		return;
	/* With nothing queued the kernel may take all of it uncopied; an error stays in the
	 * socket, and the queued bytes make the loop find it. */
	if (!pending(s) && !s->connecting) {
		ssize_t n = s->is_socket ? send(s->fd, data, len, MSG_NOSIGNAL)
					 : write(s->fd, data, len);
		if (n > 0) {
			data = (const char *)data + n;
			len -= (size_t)n;
		}
	}
	if (s->sent > KEEP_BYTES && s->sent > s->out.len / 2) {
		buf_drop(&s->out, s->sent);
		s->sent = 0;
	}
	buf_add(&s->out, data, len);
	watch(s);
}

size_t uv_stream_pending(const struct world_stream *stream)
{
	return pending((const struct uv_strm *)stream);
}

void uv_stream_shutdown(struct world_stream *stream)
{
	struct uv_strm *s = strm_of(stream);

	if (s->phase >= STREAM_ENDED || s->writing != WRITE_OPEN)
		return;
	if (pending(s) || s->connecting)
		s->writing = WRITE_ENDING;
	else
		end_writing(s);
	watch(s);
}

void uv_stream_connecting(struct world_stream *stream)
{
	strm_of(stream)->connecting = true;
}

int uv_stream_lend(struct world_stream *stream)
{
	const struct uv_strm *s = strm_of(stream);

	if (s->phase != STREAM_OPEN || s->writing != WRITE_OPEN || !s->is_socket ||
	    pending(s))
		return -1;
	return fcntl(s->fd, F_DUPFD_CLOEXEC, 0);
}

void uv_stream_await(struct world_stream *stream)
{
	struct uv_strm *s = strm_of(stream);

	if (s->phase != STREAM_OPEN)
		return;
	s->awaits = true;
	watch(s);
}

struct world_peer uv_stream_peer(const struct world_stream *stream)
{
	return ((const struct uv_strm *)stream)->peer;
}

static void on_closed(uv_handle_t *h)
{
	free(h->data);
}

void uv_stream_close(struct world_stream *stream)
{
	struct uv_strm *s = strm_of(stream);

	assert(s->phase != STREAM_CLOSED);
	s->phase = STREAM_CLOSED;
	buf_fini(&s->out);
	/* uv_close() takes the fd out of epoll at once, so the peer may learn of it at once. */
	uv_close((uv_handle_t *)&s->poll, on_closed);
	close(s->fd);
}
