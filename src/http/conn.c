// SPDX-License-Identifier: Apache-2.0
#include "http/internal.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "http/route.h"
#include "who/who.h"
#include "wire/outcome.h"

#define LINGER_MS                                                                        \
	2000 /* a client that was refused may still be sending: let it read why */

enum conn_state {
	CONN_HEAD,    /* between requests, or in the middle of a head */
	CONN_BODY,    /* a request's body comes in */
	CONN_BUSY,    /* a handler works on it; further bytes are kept */
	CONN_RAW,     /* upgraded: bytes are the handler's */
	CONN_CLOSING, /* answered for the last time; what comes is dropped */
};

struct conn {
	struct http_server *server;
	struct world_stream *stream;
	const struct conn_filter *filter; /* NULL: the stream's bytes are clear */
	void *filter_arg;
	struct world_timer *timer;
	struct http_parser *parser;
	enum conn_state state;
	struct exchange *ex;
	struct buf input; /* came before it could be used */
	int64_t uid;      /* -1: not known, by TCP */
	struct principal who;
	bool who_known;
	bool feeding;    /* inside feed(): it goes on by itself */
	bool head_begun; /* the head's time runs */
	bool resume;     /* the timer is set to go on with the input */
	bool paused, eof;
	struct conn *prev, *next;
};

struct conn *http_conn_next(struct conn *c)
{
	return c->next;
}

void http_conn_filter(struct conn *c, const struct conn_filter *f, void *arg)
{
	c->filter = f;
	c->filter_arg = arg;
}

void http_conn_put(struct conn *c, const void *data, size_t len)
{
	world_stream_write(c->stream, data, len);
}

void http_conn_write(struct conn *c, const void *data, size_t len)
{
	if (c->filter)
		c->filter->out(c->filter_arg, data, len);
	else
		http_conn_put(c, data, len);
}

size_t http_conn_pending(const struct conn *c)
{
	return world_stream_pending(c->stream);
}

void http_conn_timer(struct conn *c, int64_t in_ms)
{
	world_timer_at(c->timer, world_mono_ms(c->server->config.world) + in_ms);
}

void http_conn_pause(struct conn *c, bool paused)
{
	if (c->paused != paused)
		world_stream_pause(c->stream, paused);
	c->paused = paused;
}

void exchange_hold(struct exchange *ex)
{
	struct http_server *s = ex->server;

	if (ex->holds++ > 0)
		return;
	ex->next_held = s->held;
	if (s->held)
		s->held->prev_held = ex;
	s->held = ex;
}

void exchange_free(struct exchange *ex)
{
	if (ex->holds > 0)
		return;
	for (size_t i = 0; i < ROUTE_PARAMS_MAX; i++)
		free(ex->param[i]);
	free(ex->allow);
	url_query_fini(&ex->query);
	buf_fini(&ex->body);
	free(ex);
}

void exchange_drop(struct exchange *ex)
{
	if (--ex->holds > 0)
		return;
	if (ex->next_held)
		ex->next_held->prev_held = ex->prev_held;
	if (ex->prev_held)
		ex->prev_held->next_held = ex->next_held;
	else
		ex->server->held = ex->next_held;
	ex->prev_held = ex->next_held = NULL;
	if (!ex->conn)
		exchange_free(ex);
}

/* The exchange is over for the connection. */
static void detach(struct conn *c)
{
	struct exchange *ex = TAKE(c->ex);

	if (!ex)
		return;
	server_unpark(ex);
	ex->conn = NULL;
	if (ex->ops && ex->ops->gone)
		ex->ops->gone(ex);
	ex->ops = NULL;
	exchange_free(ex);
}

void http_conn_destroy(struct conn *c)
{
	struct http_server *s = c->server;

	detach(c);
	if (c->prev)
		c->prev->next = c->next;
	else
		s->conns = c->next;
	if (c->next)
		c->next->prev = c->prev;
	s->conn_count--;
	server_count(s, c->uid, -1);
	world_timer_destroy(c->timer);
	if (c->filter)
		c->filter->destroy(c->filter_arg);
	world_stream_close(c->stream);
	http_parser_destroy(c->parser);
	buf_fini(&c->input);
	free(c);
}

void http_conn_close(struct conn *c)
{
	c->state = CONN_CLOSING;
	buf_fini(&c->input);
	http_conn_pause(c, false);
	if (c->filter)
		c->filter->end(c->filter_arg);
	world_stream_shutdown(c->stream);
	http_conn_timer(c, http_conn_pending(c) ? c->server->config.idle_ms : LINGER_MS);
}

void http_conn_answered(struct exchange *ex)
{
	struct conn *c = ex->conn;
	bool keep = ex->head->keep_alive && ex->body_over && !c->eof;

	detach(c);
	if (!keep) {
		http_conn_close(c);
		return;
	}
	c->state = CONN_HEAD;
	c->head_begun = false;
	if (c->feeding)
		return;
	http_conn_pause(c, false);
	/* Not from here: the caller may be in the middle of telling others. */
	c->resume = c->input.len > 0;
	http_conn_timer(c, c->resume ? 0 : c->server->config.idle_ms);
}

void http_conn_upgraded(struct exchange *ex)
{
	world_timer_stop(ex->conn->timer);
	ex->conn->state = CONN_RAW;
}

/* NULL: nobody; refusal then says why a caller by the unix socket is turned away. */
static const struct principal *caller(struct conn *c, struct err *refusal)
{
	struct world_peer peer = world_stream_peer(c->stream);

	const struct who_rules rules = { c->server->config.daemon_uid,
					 c->server->config.uid_base };

	if (!c->who_known && peer.uid >= 0)
		c->who_known = who_from_peer(&peer, &rules, &c->who, refusal) == 0;
	return c->who_known ? &c->who : NULL;
}

static void begin_exchange(struct conn *c)
{
	struct exchange *ex = mem_alloc(1, sizeof *ex);
	struct err err, refusal = { 0 };
	int status = 0;

	c->ex = ex;
	c->state = CONN_BODY;
	ex->server = c->server;
	ex->conn = c;
	ex->head = http_parser_head(c->parser);
	ex->body_over = ex->head->length == 0;
	ex->who = caller(c, &refusal);
	int rc = route_find(ex, &status, &err);
	if (rc < 0 && status == 204) {
		answer_empty(ex, status);
		return;
	}
	if (rc == 0) {
		status = 0;
		rc = route_admit(ex, &err);
	}
	if (rc < 0 && err.code == ERR_UNKNOWN_CALLER && refusal.code != ERR_NONE)
		err = refusal;
	if (rc < 0) {
		answer_status(ex, status ? status : wire_http_status(err.code), &err,
			      NULL);
		return;
	}
	http_parser_body_max(c->parser, ex->route->body_max);
	if (ex->head->length > ex->route->body_max) {
		err_set(&err, ERR_TOO_LARGE,
			"the body has %lld bytes, here at most %lld are taken",
			(long long)ex->head->length, (long long)ex->route->body_max);
		answer_error(ex, &err);
		return;
	}
	if (ex->head->expect && !ex->body_over)
		http_conn_write(c, "HTTP/1.1 100 Continue\r\n\r\n", 25);
	if (ex->route->takes == ROUTE_STREAM)
		ex->route->handle(ex);
}

static void take_body(struct conn *c, const struct http_piece *piece)
{
	struct exchange *ex = c->ex;

	if (!ex)
		return;
	if (ex->route->takes == ROUTE_STREAM)
		ex->ops->body(ex, piece->data, piece->len);
	else
		buf_add(&ex->body, piece->data, piece->len);
}

static void end_body(struct conn *c)
{
	struct exchange *ex = c->ex;

	if (!ex)
		return; /* answered already, by its head alone */
	ex->body_over = true;
	c->state = CONN_BUSY;
	world_timer_stop(c->timer);
	if (ex->route->takes == ROUTE_STREAM)
		ex->ops->body_end(ex);
	else
		ex->route->handle(ex);
}

static void refuse_bytes(struct conn *c, int status, const struct err *err)
{
	static const struct http_head none = { .method = "GET" };

	if (!c->ex) {
		c->ex = mem_alloc(1, sizeof *c->ex);
		c->ex->server = c->server;
		c->ex->conn = c;
	}
	c->ex->head = &none;
	c->ex->body_over = false;
	if (c->ex->begun)
		http_conn_close(c);
	else
		answer_status(c->ex, status, err, NULL);
}

static void await_more(struct conn *c)
{
	const struct http_config *config = &c->server->config;

	if (c->state == CONN_BODY) {
		http_conn_timer(c, config->body_ms);
	} else if (http_parser_idle(c->parser)) {
		c->head_begun = false;
		http_conn_timer(c, config->idle_ms);
	} else if (!c->head_begun) {
		c->head_begun =
			true; /* never extended: a head that trickles in is cut off */
		http_conn_timer(c, config->head_ms);
	}
}

static void feed(struct conn *c, const char **data, size_t *len)
{
	struct http_piece piece;
	struct err err;

	c->feeding = true;
	while (c->state == CONN_HEAD || c->state == CONN_BODY) {
		enum http_item item =
			http_parser_next(c->parser, data, len, &piece, &err);
		if (item == HTTP_ITEM_MORE) {
			await_more(c);
			break;
		}
		if (item == HTTP_ITEM_HEAD)
			begin_exchange(c);
		else if (item == HTTP_ITEM_DATA)
			take_body(c, &piece);
		else if (item == HTTP_ITEM_END)
			end_body(c);
		else
			refuse_bytes(c, http_parser_status(c->parser), &err);
	}
	c->feeding = false;
}

/* What feed() left: the next requests of a client that does not wait for answers. */
static void keep_rest(struct conn *c, const char *data, size_t len)
{
	if (len == 0)
		return;
	if (c->state == CONN_RAW)
		c->ex->ops->raw(c->ex, data, len);
	if (c->state != CONN_BUSY)
		return;
	buf_add(&c->input, data, len);
	if (c->input.len >= INPUT_MAX)
		http_conn_pause(c, true);
}

void http_conn_take(struct conn *c, const char *data, size_t len)
{
	if (c->input.len == 0)
		feed(c, &data, &len);
	else if (c->state == CONN_HEAD) { /* about to resume: keep the order */
		buf_add(&c->input, data, len);
		return;
	}
	keep_rest(c, data, len);
}

static void on_data(void *arg, const char *data, size_t len)
{
	struct conn *c = arg;

	if (c->filter)
		c->filter->in(c->filter_arg, data, len);
	else
		http_conn_take(c, data, len);
}

static void resume(struct conn *c)
{
	struct buf input = c->input;
	const char *data = input.data;
	size_t len = input.len;

	c->input = (struct buf){ 0 };
	feed(c, &data, &len);
	keep_rest(c, data, len);
	buf_fini(&input);
}

static void on_timer(void *arg)
{
	struct conn *c = arg;
	struct err err;

	if (c->resume) {
		c->resume = false;
		resume(c);
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
		refuse_bytes(c, 408, &err);
		break;
	case CONN_BODY:
		err_set(&err, ERR_TIMEOUT,
			"nothing of the request's body came for %lld s",
			(long long)c->server->config.body_ms / 1000);
		refuse_bytes(c, 408, &err);
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

/* The client sends no more.  One that waits for something has gone; one that has a
 * short answer under way gets it, in case it only ended its side. */
static void on_eof(void *arg)
{
	struct conn *c = arg;

	c->eof = true;
	if (c->state == CONN_CLOSING || (c->state == CONN_BUSY && !c->ex->parked))
		return;
	if (c->resume)
		resume(c);
	c->resume = false;
	if (c->state == CONN_CLOSING || (c->state == CONN_BUSY && !c->ex->parked))
		return;
	if (c->state == CONN_HEAD)
		http_conn_close(c); /* what was answered may not be out yet */
	else
		http_conn_destroy(c);
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
	else if (c->ex && c->ex->ops && c->ex->ops->room)
		c->ex->ops->room(c->ex);
}

void http_conn_open(struct http_server *s, struct world_stream *stream)
{
	static const struct world_stream_events events = {
		.on_data = on_data,
		.on_eof = on_eof,
		.on_end = on_end,
		.on_drain = on_drain,
		.on_hangup = on_eof,
	};
	struct conn *c = mem_alloc(1, sizeof *c);

	c->server = s;
	c->stream = stream;
	c->uid = world_stream_peer(stream).uid;
	c->parser = http_parser_create(HTTP_REQUESTS);
	c->timer = world_timer_create(s->config.world, on_timer, c);
	c->next = s->conns;
	if (s->conns)
		s->conns->prev = c;
	s->conns = c;
	s->conn_count++;
	world_stream_start(stream, &events, c);
	http_conn_timer(c, s->config.idle_ms);
}
