// SPDX-License-Identifier: Apache-2.0
/* sim_stream.c - streams of the simulated world: two ends, each with the bytes that are
 * on their way to it.  One timer an end does the next thing for it, see act(). */
#include <assert.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/str.h"
#include "world/sim_impl.h"

#define KERNEL_BYTES (64u << 10) /* what a writer gets rid of before anybody reads */

enum phase { STREAM_CALLING, STREAM_IDLE, STREAM_OPEN, STREAM_ENDED, STREAM_CLOSED };
enum reading { READ_ON, READ_PAUSED, READ_OVER };

struct sim_lstn {
	struct world_listener base;
	char *path; /* NULL: TCP */
	int port;
	struct world_listen to;
	struct sim_lstn *next;
};

struct sim_strm {
	struct world_stream base;
	struct sim_strm *next;   /* in the world's list of all, or of closed ones */
	struct sim_strm *peer;   /* NULL: it closed its end */
	struct sim_lstn *called; /* while STREAM_CALLING */
	struct world_timer *timer;
	enum phase phase;
	enum reading reading;
	bool wrote_all;    /* our side is shut down */
	bool peer_ended;   /* no more bytes come */
	bool reset;        /* the peer closed with our bytes unread */
	bool hung_up;      /* told so while paused */
	bool drain_wanted; /* pending() was above 0 and nobody was told of its fall yet */
	bool connecting;   /* by TCP, and nobody has taken the call */
	struct world_stream_events ev;
	void *arg;
	struct buf in;
	struct world_peer peer_cred;
};

static struct sim_strm *strm_of(struct world_stream *s)
{
	return (struct sim_strm *)s;
}

static size_t pending(const struct sim_strm *s)
{
	return s->peer && s->peer->in.len > KERNEL_BYTES ? s->peer->in.len - KERNEL_BYTES
							 : 0;
}

enum act {
	ACT_NONE,
	ACT_ACCEPT,
	ACT_CONNECT,
	ACT_DATA,
	ACT_EOF,
	ACT_HANGUP,
	ACT_LOST,
	ACT_END,
	ACT_DRAIN
};

static enum act next_act(const struct sim_strm *s)
{
	if (s->phase == STREAM_CALLING)
		return ACT_ACCEPT;
	if (s->phase != STREAM_OPEN)
		return ACT_NONE;
	if (s->connecting && (!s->peer || s->peer->phase != STREAM_CALLING))
		return ACT_CONNECT;
	if (s->reading == READ_ON && s->in.len)
		return ACT_DATA;
	if (s->reset)
		return ACT_LOST;
	if (s->peer_ended && s->reading != READ_OVER && !s->in.len)
		return ACT_EOF;
	if (s->peer_ended && s->reading == READ_PAUSED && !s->hung_up)
		return ACT_HANGUP;
	if (s->reading == READ_OVER && (!s->peer || (s->wrote_all && !pending(s))))
		return ACT_END;
	if (s->drain_wanted && !pending(s))
		return ACT_DRAIN;
	return ACT_NONE;
}

static void arm(struct sim_strm *s)
{
	struct sim_world *u = sim_of(s->base.world);

	if (next_act(s) != ACT_NONE && !world_timer_is_set(s->timer))
		world_timer_at(s->timer, sim_soon(u, u->net_most_ms));
}

static void finish(struct sim_strm *s, const struct err *err)
{
	s->phase = STREAM_ENDED;
	if (s->ev.on_end)
		s->ev.on_end(s->arg, err);
}

static void deliver(struct sim_strm *s)
{
	size_t len = 1 + sim_chance(sim_of(s->base.world)) % s->in.len;
	AUTO_FREE char *piece = mem_dup(s->in.data, len);

	buf_drop(&s->in, len);
	if (s->peer)
		arm(s->peer);
	if (s->ev.on_data)
		s->ev.on_data(s->arg, piece, len);
}

static void act(void *arg)
{
	struct sim_strm *s = arg;
	struct err lost = { .code = ERR_IO,
			    .text = "connection lost: the peer closed it" };

	switch (next_act(s)) {
	case ACT_NONE:
		return;
	case ACT_ACCEPT:
		s->phase = STREAM_IDLE;
		if (s->peer)
			arm(s->peer);
		s->called->to.on_stream(s->called->to.arg, &s->base);
		break;
	case ACT_CONNECT:
		s->connecting = false;
		if (s->ev.on_connect)
			s->ev.on_connect(s->arg);
		break;
	case ACT_DATA:
		deliver(s);
		break;
	case ACT_EOF:
		s->reading = READ_OVER;
		if (s->ev.on_eof)
			s->ev.on_eof(s->arg);
		else
			finish(s, NULL);
		break;
	case ACT_HANGUP:
		s->hung_up = true;
		if (s->ev.on_hangup)
			s->ev.on_hangup(s->arg);
		break;
	case ACT_LOST:
		finish(s, &lost);
		break;
	case ACT_END:
		finish(s, NULL);
		break;
	case ACT_DRAIN:
		s->drain_wanted = false;
		if (s->ev.on_drain)
			s->ev.on_drain(s->arg);
		break;
	}
	arm(s); /* a closed one has nothing to do, and is freed only after this step */
}

static struct sim_strm *create(struct sim_world *u)
{
	struct sim_strm *s = mem_alloc(1, sizeof *s);

	s->base.world = &u->base;
	s->phase = STREAM_IDLE;
	s->timer = world_timer_create(&u->base, act, s);
	s->next = u->streams;
	u->streams = s;
	return s;
}

static struct world_stream *call(struct sim_world *u, struct sim_lstn *l)
{
	struct sim_strm *mine = create(u), *theirs = create(u);

	mine->peer = theirs;
	theirs->peer = mine;
	mine->peer_cred =
		l->path ? (struct world_peer){ .pid = 1, .uid = 0, .gid = 0 }
			: (struct world_peer){ .pid = -1, .uid = -1, .gid = -1 };
	theirs->peer_cred = l->path ? u->caller
				    : (struct world_peer){ .pid = -1,
							   .uid = -1,
							   .gid = -1,
							   .address = "192.0.2.1" };
	theirs->phase = STREAM_CALLING;
	theirs->called = l;
	arm(theirs);
	return &mine->base;
}

static struct sim_lstn *find_listener(struct sim_world *u, const char *path, int port)
{
	for (struct sim_lstn *l = u->listeners; l; l = l->next) {
		if (path ? str_eq(l->path, path) : !l->path && l->port == port)
			return l;
	}
	return NULL;
}

static struct sim_lstn *add_listener(struct sim_world *u, const struct world_listen *to)
{
	struct sim_lstn *l = mem_alloc(1, sizeof *l);

	l->base.world = &u->base;
	l->to = *to;
	l->next = u->listeners;
	u->listeners = l;
	return l;
}

struct world_listener *sim_listen_unix(struct world *w, const char *path, int mode,
				       const struct world_listen *to, struct err *err)
{
	struct sim_lstn *l;

	(void)mode;
	if (find_listener(sim_of(w), path, 0)) {
		err_set(err, ERR_CONFLICT, "somebody listens on %s already", path);
		return NULL;
	}
	l = add_listener(sim_of(w), to);
	l->path = mem_strdup(path);
	return &l->base;
}

struct world_listener *sim_listen_tcp(struct world *w, const char *address, int port,
				      const struct world_listen *to, struct err *err)
{
	struct sim_world *u = sim_of(w);
	struct sim_lstn *l;

	if (port && find_listener(u, NULL, port)) {
		err_set(err, ERR_IO, "listen on %s port %d: in use", address, port);
		return NULL;
	}
	l = add_listener(u, to);
	l->port = port ? port : u->next_port++;
	return &l->base;
}

int sim_listener_port(const struct world_listener *l)
{
	return ((const struct sim_lstn *)l)->port;
}

void sim_listener_close(struct world_listener *listener)
{
	struct sim_lstn *l = (struct sim_lstn *)listener, **at;
	struct sim_world *u = sim_of(listener->world);

	for (struct sim_strm *s = u->streams, *following; s; s = following) {
		following = s->next;
		if (s->phase == STREAM_CALLING && s->called == l)
			sim_stream_close(&s->base);
	}
	for (at = &u->listeners; *at != l; at = &(*at)->next)
		;
	*at = l->next;
	free(l->path);
	free(l);
}

struct world_stream *sim_stream_open(struct world *w, int fd, struct err *err)
{
	(void)w;
	err_set(err, ERR_UNSUPPORTED,
		"a simulated world has no descriptors (asked for %d)", fd);
	return NULL;
}

struct world_stream *sim_connect_unix(struct world *w, const char *path, struct err *err)
{
	struct sim_lstn *l = find_listener(sim_of(w), path, 0);

	if (l)
		return call(sim_of(w), l);
	err_set(err, ERR_NOT_FOUND, "connect to %s: nobody listens there", path);
	return NULL;
}

struct world_stream *sim_connect_tcp(struct world *w, const char *address, int port,
				     struct err *err)
{
	struct sim_lstn *l = find_listener(sim_of(w), NULL, port);

	if (l) {
		struct world_stream *s = call(sim_of(w), l);
		strm_of(s)->connecting = true;
		return s;
	}
	err_set(err, ERR_IO, "connect to %s port %d: nobody listens there", address,
		port);
	return NULL;
}

struct world_stream *world_sim_connect_tcp(struct world *w, int port, struct err *err)
{
	struct sim_lstn *l = find_listener(sim_of(w), NULL, port);

	if (l)
		return call(sim_of(w), l);
	err_set(err, ERR_NOT_FOUND, "connect to port %d: nobody listens there", port);
	return NULL;
}

void sim_stream_start(struct world_stream *stream, const struct world_stream_events *ev,
		      void *arg)
{
	struct sim_strm *s = strm_of(stream);

	assert(s->phase == STREAM_IDLE);
	s->phase = STREAM_OPEN;
	s->ev = *ev;
	s->arg = arg;
	arm(s);
}

void sim_stream_pause(struct world_stream *stream, bool paused)
{
	struct sim_strm *s = strm_of(stream);

	if (s->reading != READ_OVER)
		s->reading = paused ? READ_PAUSED : READ_ON;
	arm(s);
}

void sim_stream_write(struct world_stream *stream, const void *data, size_t len)
{
	struct sim_strm *s = strm_of(stream);

	if (s->phase >= STREAM_ENDED || s->wrote_all)
		return;
	if (!s->peer) {
		s->reset = true;
		arm(s);
		return;
	}
	buf_add(&s->peer->in, data, len);
	if (pending(s))
		s->drain_wanted = true;
	arm(s->peer);
}

size_t sim_stream_pending(const struct world_stream *stream)
{
	return pending((const struct sim_strm *)stream);
}

void sim_stream_shutdown(struct world_stream *stream)
{
	struct sim_strm *s = strm_of(stream);

	if (s->phase >= STREAM_ENDED || s->wrote_all)
		return;
	s->wrote_all = true;
	if (s->peer) {
		s->peer->peer_ended = true;
		arm(s->peer);
	}
	arm(s);
}

struct world_peer sim_stream_peer(const struct world_stream *stream)
{
	return ((const struct sim_strm *)stream)->peer_cred;
}

static void leave_peer(struct sim_strm *s)
{
	struct sim_strm *peer = TAKE(s->peer);

	peer->peer = NULL;
	peer->peer_ended = true;
	peer->reset |= s->in.len > 0;
	if (!s->wrote_all && peer->in.len > KERNEL_BYTES) {
		peer->in.len = KERNEL_BYTES;
		peer->reset = true;
	}
	arm(peer);
}

void sim_stream_close(struct world_stream *stream)
{
	struct sim_strm *s = strm_of(stream), **at;
	struct sim_world *u = sim_of(stream->world);

	assert(s->phase != STREAM_CLOSED);
	if (s->peer)
		leave_peer(s);
	s->phase = STREAM_CLOSED;
	world_timer_stop(s->timer);
	for (at = &u->streams; *at != s; at = &(*at)->next)
		;
	*at = s->next;
	s->next = u->closed;
	u->closed = s;
}

void sim_streams_reap(struct sim_world *u)
{
	while (u->closed) {
		struct sim_strm *s = u->closed;
		u->closed = s->next;
		world_timer_destroy(s->timer);
		buf_fini(&s->in);
		free(s);
	}
}
