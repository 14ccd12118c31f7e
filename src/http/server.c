// SPDX-License-Identifier: Apache-2.0
#include "http/internal.h"

#include "base/mem.h"
#include "stream/stream.h"
#include "wire/api.h"
#include "wire/outcome.h"

/* One user must not take all connections there are from the others. */
bool server_count(struct http_server *s, int64_t uid, int more)
{
	intptr_t count = (intptr_t)map_get(s->by_uid, uid) + more;

	if (more > 0 && uid != 0 && uid != s->config.daemon_uid &&
	    count > s->config.conns_per_user)
		return false;
	if (count > 0)
		map_put(s->by_uid, uid, (void *)count);
	else
		map_del(s->by_uid, uid);
	return true;
}

static void refuse(struct world_stream *stream)
{
	AUTO_BUF struct buf out = { 0 }, body = { 0 };
	struct err err;

	err_set(&err, ERR_BUSY, "you have too many connections; close some first");
	wire_error_write(&body, &err, NULL);
	http_write_status(&out, wire_http_status(err.code));
	http_write_header(&out, "Content-Type", "application/json");
	http_write_header(&out, "Connection", "close");
	http_write_length(&out, body.len);
	http_write_head_end(&out);
	buf_add(&out, body.data, body.len);
	world_stream_write(stream, out.data, out.len);
	world_stream_close(stream);
}

static void on_stream(void *arg, struct world_stream *stream)
{
	struct http_server *s = arg;

	int64_t uid = world_stream_peer(stream).uid;
	bool admin = uid == 0 || uid == s->config.daemon_uid;

	/* Many users together, each within their own, must not lock the admin out. */
	if (s->conn_count >= (size_t)s->config.conns_max + (admin ? CONNS_RESERVE : 0) ||
	    !server_count(s, uid, 1)) {
		refuse(stream);
		return;
	}
	http_conn_open(s, stream);
}

/* Those who wait for this job.  One may be answered by what it hears, and freed; none
 * is added meanwhile, since a connection goes on to its next request later. */
static void on_event(void *arg, const struct event *e)
{
	struct http_server *s = arg;
	struct exchange *ex = map_get(s->parked, e->job);

	while (ex) {
		struct exchange *next = ex->next_parked;
		ex->ops->event(ex, e);
		ex = next;
	}
}

void server_park(struct exchange *ex, int64_t job)
{
	struct map *parked = ex->server->parked;
	struct exchange *first = map_get(parked, job);

	ex->parked = job;
	ex->prev_parked = NULL;
	ex->next_parked = first;
	if (first)
		first->prev_parked = ex;
	map_put(parked, job, ex);
}

void server_unpark(struct exchange *ex)
{
	struct map *parked = ex->server->parked;

	if (!ex->parked)
		return;
	if (ex->next_parked)
		ex->next_parked->prev_parked = ex->prev_parked;
	if (ex->prev_parked)
		ex->prev_parked->next_parked = ex->next_parked;
	else if (ex->next_parked)
		map_put(parked, ex->parked, ex->next_parked);
	else
		map_del(parked, ex->parked);
	ex->parked = 0;
	ex->prev_parked = ex->next_parked = NULL;
}

struct http_server *http_server_create(const struct http_config *c)
{
	struct http_server *s = mem_alloc(1, sizeof *s);

	s->config = *c;
	if (!s->config.idle_ms)
		s->config.idle_ms = 120000;
	if (!s->config.head_ms)
		s->config.head_ms = 15000;
	if (!s->config.body_ms)
		s->config.body_ms = 60000;
	if (!s->config.conns_per_user)
		s->config.conns_per_user = 1000;
	if (!s->config.conns_max)
		s->config.conns_max = CONNS_MAX;
	s->parked = map_create();
	s->by_uid = map_create();
	s->watch = yard_watch_add(c->yard, on_event, s);
	s->logs = log_hub_keep(c->world);
	return s;
}

void http_server_close(struct http_server *s)
{
	world_listener_close(TAKE(s->unix_listener));
	world_listener_close(TAKE(s->tcp_listener));
	yard_watch_remove(TAKE(s->watch));
	while (s->conns)
		http_conn_destroy(s->conns);
	log_hub_release(TAKE(s->logs));
}

void http_server_destroy(struct http_server *s)
{
	if (!s)
		return;
	while (s->held) { /* their answers never came: the yard ended first */
		s->held->holds = 1;
		exchange_drop(s->held);
	}
	map_destroy(s->parked);
	map_destroy(s->by_uid);
	buf_fini(&s->scratch);
	buf_fini(&s->json);
	free(s);
}

int http_server_listen_unix(struct http_server *s, const char *path, int mode,
			    struct err *err)
{
	s->unix_listener =
		world_listen_unix(s->config.world, path, mode, on_stream, s, err);
	return s->unix_listener ? 0 : -1;
}

int http_server_listen_tcp(struct http_server *s, const char *address, int port,
			   int *bound, struct err *err)
{
	s->tcp_listener =
		world_listen_tcp(s->config.world, address, port, on_stream, s, err);
	if (!s->tcp_listener)
		return -1;
	*bound = world_listener_port(s->tcp_listener);
	return 0;
}

size_t http_server_connections(const struct http_server *s)
{
	return s->conn_count;
}
