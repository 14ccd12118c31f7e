// SPDX-License-Identifier: Apache-2.0
#include "http/conn_impl.h"

#include <stdio.h>

#include "base/mem.h"
#include "http/tls.h"

static void on_data(void *arg, const char *data, size_t len)
{
	struct conn *c = arg;

	if (c->filter)
		c->filter->in(c->filter_arg, data, len);
	else
		http_conn_take(c, data, len);
}

/* The client sends no more.  One that waits for something has gone; one that has a
 * short answer under way gets it, in case it only ended its side. */
static void over(struct conn *c)
{
	if (c->state == CONN_CLOSING || c->state == CONN_WHO || c->state == CONN_FULL ||
	    (c->state == CONN_BUSY && !c->ex->parked))
		return;
	if (c->state == CONN_HEAD)
		http_conn_close(c); /* what was answered may not be out yet */
	else
		http_conn_destroy(c);
}

static void on_timer(void *arg)
{
	struct conn *c = arg;
	struct err err;

	if (c->resume) {
		conn_resume(c);
		if (c->eof)
			over(c);
		return;
	}
	switch (c->state) {
	case CONN_HEAD:
		if (http_parser_idle(c->parser)) {
			http_conn_destroy(c);
			return;
		}
		err_set(&err, ERR_TIMEOUT, "the request's head took longer than %lld s",
			(long long)c->server->config.head_ms / 1000);
		http_conn_refuse(c, 408, &err);
		break;
	case CONN_BODY:
		err_set(&err, ERR_TIMEOUT,
			"the request's body did not come: nothing for %lld s, or less "
			"than %d bytes a second",
			(long long)c->server->config.body_ms / 1000, BODY_BYTES_A_SECOND);
		http_conn_refuse(c, 408, &err);
		break;
	case CONN_FULL:
	case CONN_WHO:
		break;
	case CONN_BUSY:
	case CONN_RAW:
		c->ex->ops->timer(c->ex);
		break;
	case CONN_CLOSING:
		http_conn_destroy(c);
		break;
	}
}

void http_conn_ended(struct conn *c)
{
	c->eof = true;
	if (c->resume)
		conn_resume(c);
	over(c);
}

static void on_eof(void *arg)
{
	http_conn_ended(arg);
}

static void on_end(void *arg, const struct err *err)
{
	(void)err;
	http_conn_destroy(arg);
}

static void on_drain(void *arg)
{
	struct conn *c = arg;

	if (c->state == CONN_CLOSING)
		http_conn_timer(c, LINGER_MS);
	else if (c->state == CONN_FULL)
		conn_go_on(c, CONN_HEAD);
	else if (c->ex && c->ex->ops && c->ex->ops->room)
		c->ex->ops->room(c->ex);
}

bool http_conn_stuck(struct conn *c, int64_t now_ms)
{
	size_t pending = world_stream_pending(c->stream);
	uint64_t taken = c->put - pending;

	if (pending == 0) {
		c->stuck_ms = 0;
		return false;
	}
	if (!c->stuck_ms || taken != c->taken) {
		c->taken = taken;
		c->stuck_ms = now_ms;
	} else if (now_ms - c->stuck_ms >= c->server->config.write_ms) {
		http_conn_destroy(c);
		return false;
	}
	return true;
}

/* A short answer that is due still goes out, such as that of the change itself. */
void http_conn_look_again(struct conn *c)
{
	if (c->ex && (c->ex->parked || c->ex->begun) && !auth_stands(&c->auth))
		http_conn_destroy(c);
}

bool http_conn_open(struct http_server *s, struct world_stream *stream, bool admin)
{
	static const struct world_stream_events events = {
		.on_data = on_data,
		.on_eof = on_eof,
		.on_end = on_end,
		.on_drain = on_drain,
		.on_hangup = on_eof,
	};
	struct world_peer peer = world_stream_peer(stream);
	struct conn *c = mem_alloc(1, sizeof *c);

	auth_init(&c->auth, s, &peer);
	c->auth.done = conn_who_seen;
	c->auth.arg = c;
	if (peer.uid >= 0)
		snprintf(c->counted, sizeof c->counted, "uid %lld", (long long)peer.uid);
	else
		snprintf(c->counted, sizeof c->counted, "from %s", c->auth.place);
	if (!server_count(s, c->counted,
			  admin           ? 0
			  : peer.uid >= 0 ? s->config.conns_per_user
					  : s->config.conns_per_address)) {
		free(c);
		return false;
	}
	c->server = s;
	c->stream = stream;
	c->parser = http_parser_create(HTTP_REQUESTS);
	c->timer = world_timer_create(s->config.world, on_timer, c);
	c->next = s->conns;
	if (s->conns)
		s->conns->prev = c;
	s->conns = c;
	s->conn_count++;
	if (s->config.tls && peer.uid < 0)
		http_tls_filter(c, s->config.tls);
	world_stream_start(stream, &events, c);
	http_conn_timer(c, conn_idle_ms(c));
	return true;
}
