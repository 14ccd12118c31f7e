// SPDX-License-Identifier: Apache-2.0
#include "http/internal.h"

#include "base/mem.h"
#include "http/app.h"
#include "http/job_metrics.h"
#include "http/shown.h"
#include "stream/stream.h"
#include "wire/api.h"
#include "wire/outcome.h"

/* One user must not take all connections there are from the others. */
bool server_count(struct http_server *s, const char *key, int limit)
{
	intptr_t count = (intptr_t)map_gets(s->counts, key) + 1;

	if (limit && count > limit)
		return false;
	map_puts(s->counts, key, (void *)count);
	return true;
}

void server_uncount(struct http_server *s, const char *key)
{
	intptr_t count = (intptr_t)map_gets(s->counts, key) - 1;

	if (count > 0)
		map_puts(s->counts, key, (void *)count);
	else
		map_dels(s->counts, key);
}

static void sweep(void *arg)
{
	struct http_server *s = arg;
	int64_t now = world_mono_ms(s->config.world);
	bool again = false;

	for (struct conn *c = s->conns, *next; c; c = next) {
		next = http_conn_next(c);
		again |= http_conn_stuck(c, now);
	}
	if (again)
		server_sweep(s);
}

void server_sweep(struct http_server *s)
{
	if (!world_timer_is_set(s->sweep))
		world_timer_at(s->sweep, world_mono_ms(s->config.world) +
						 s->config.write_ms / 4 + 1);
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

/* What a client that expects TLS cannot read is not sent. */
static void turn_away(struct http_server *s, struct world_stream *stream)
{
	if (s->config.tls && world_stream_peer(stream).uid < 0)
		world_stream_close(stream);
	else
		refuse(stream);
}

static void on_stream(void *arg, struct world_stream *stream)
{
	struct http_server *s = arg;

	int64_t uid = world_stream_peer(stream).uid;
	bool admin = uid == 0 || uid == s->config.daemon_uid;

	/* Many users together, each within their own, must not lock the admin out. */
	if (s->conn_count >= (size_t)s->config.conns_max + (admin ? CONNS_RESERVE : 0) ||
	    !http_conn_open(s, stream, admin))
		turn_away(s, stream);
}

/* Accounts may have changed: who is still being answered must still be who they were. */
static void look_again(struct http_server *s)
{
	for (struct conn *c = s->conns, *next; c; c = next) {
		next = http_conn_next(c);
		http_conn_look_again(c);
	}
}

/* Those who are parked there.  One may be answered by what it hears, and freed; none
 * is added meanwhile, since a connection goes on to its next request later. */
static void tell_parked(struct http_server *s, int64_t place, const struct event *e)
{
	struct exchange *ex = map_get(s->parked, place);

	while (ex) {
		struct exchange *next = ex->next_parked;
		ex->ops->event(ex, e);
		ex = next;
	}
}

static void on_event(void *arg, const struct event *e)
{
	struct http_server *s = arg;

	if (e->kind == EV_AUDIT)
		look_again(s);
	if (e->job)
		tell_parked(s, e->job, e);
	tell_parked(s, PARK_ALL, e);
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
	ex->server->parked_count++;
}

void server_unpark(struct exchange *ex)
{
	struct map *parked = ex->server->parked;

	if (!ex->parked)
		return;
	ex->server->parked_count--;
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
	if (!s->config.write_ms)
		s->config.write_ms = 300000;
	if (!s->config.conns_per_address)
		s->config.conns_per_address = 256;
	if (!s->config.conns_per_user)
		s->config.conns_per_user = 1000;
	if (!s->config.conns_max)
		s->config.conns_max = CONNS_MAX;
	if (!s->config.app_connect_ms)
		s->config.app_connect_ms = 10000;
	if (!s->config.app_answer_ms)
		s->config.app_answer_ms = 120000;
	if (!s->config.app_idle_ms)
		s->config.app_idle_ms = 600000;
	s->parked = map_create();
	s->counts = map_create();
	s->bodies = map_create();
	s->shown = shown_create(SHOWN_BYTES);
	s->sweep = world_timer_create(c->world, sweep, s);
	s->watch = yard_watch_add(c->yard, on_event, s);
	s->logs = log_hub_keep(c->world);
	s->job_metrics = job_metrics_create(s);
	apps_open(s);
	return s;
}

void http_server_close(struct http_server *s)
{
	world_listener_close(TAKE(s->unix_listener));
	world_listener_close(TAKE(s->tcp_listener));
	yard_watch_remove(TAKE(s->watch));
	while (s->conns)
		http_conn_destroy(s->conns);
	world_timer_destroy(TAKE(s->sweep));
	log_hub_release(TAKE(s->logs));
	metric_cache_close(s->job_metrics);
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
	map_destroy(s->counts);
	map_destroy(s->bodies);
	shown_destroy(s->shown);
	apps_close(s);
	metric_cache_destroy(s->job_metrics);
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
