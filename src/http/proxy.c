// SPDX-License-Identifier: Apache-2.0
/* The two streams of a proxied exchange.
 *
 *   ASKING ──head──> ANSWERING ──end──> (the exchange is over)
 *      \─────101───> PIPE ──either side ends──> (the connection is over)
 */
#include "http/proxy.h"

#include "base/mem.h"
#include "base/str.h"
#include "http/auth.h"
#include "http/internal.h"

#define NOTES_MAX                                                                        \
	32 /* heads of 1xx before an answer; more would keep it from its patience */

enum proxy_phase { PROXY_ASKING, PROXY_ANSWERING, PROXY_PIPE };

struct proxy {
	struct exchange *ex;
	struct world_stream *up;
	struct http_parser *parser;
	struct world_timer *timer; /* how long nothing may move */
	enum proxy_phase phase;
	char *address, *prefix;
	struct proxy_target to; /* with those */
	proxy_failed failed;
	bool reached;          /* somebody took the call */
	bool up_paused;        /* the client does not read fast enough */
	bool last;             /* the client's connection ends with this answer */
	bool upgrade, is_head; /* what was asked */
	int notes;             /* heads of 1xx that came */
};

static struct world *world_of(const struct proxy *p)
{
	return p->ex->server->config.world;
}

static int64_t patience_ms(const struct proxy *p)
{
	const struct http_config *c = &p->ex->server->config;

	if (p->phase == PROXY_ANSWERING)
		return c->app_idle_ms;
	return p->reached ? c->app_answer_ms : c->app_connect_ms;
}

static void moved(struct proxy *p)
{
	world_timer_at(p->timer, world_mono_ms(world_of(p)) + patience_ms(p));
}

static void proxy_destroy(struct proxy *p)
{
	world_stream_close(p->up);
	world_timer_destroy(p->timer);
	http_parser_destroy(p->parser);
	free(p->address);
	free(p->prefix);
	free(p);
}

static void proxy_gone(struct exchange *ex)
{
	proxy_destroy(ex->state);
}

/* No whole answer will come.  One that was begun is cut off: its framing tells. */
static void fail(struct proxy *p, enum proxy_fault fault, const struct err *err)
{
	struct exchange *ex = p->ex;
	proxy_failed failed = p->failed;
	struct err why = *err;

	if (ex->begun) {
		ex->body_over = false;
		http_conn_answered(ex);
		return;
	}
	server_unpark(ex);
	ex->ops = NULL;
	ex->state = NULL;
	proxy_destroy(p);
	failed(ex, fault, &why);
}

static void broken(struct proxy *p, const char *why)
{
	struct err err;

	err_set(&err, ERR_IO, "%s", why);
	fail(p, PROXY_BROKEN, &err);
}

/* ---- towards the program ---- */

static void send_up(struct proxy *p, const char *data, size_t len)
{
	world_stream_write(p->up, data, len);
	if (world_stream_pending(p->up) > OUTPUT_LOW)
		http_conn_pause(p->ex->conn, true);
	if (p->phase != PROXY_PIPE)
		moved(p);
}

static void proxy_body(struct exchange *ex, const char *data, size_t len)
{
	struct proxy *p = ex->state;

	if (!ex->head->chunked) {
		send_up(p, data, len);
		return;
	}
	struct buf *out = &ex->server->scratch;
	buf_clear(out);
	http_write_chunk(out, data, len);
	send_up(p, out->data, out->len);
}

static void proxy_body_end(struct exchange *ex)
{
	struct proxy *p = ex->state;

	if (ex->head->chunked)
		send_up(p, "0\r\n\r\n", 5);
	moved(p);
}

static void proxy_raw(struct exchange *ex, const char *data, size_t len)
{
	send_up(ex->state, data, len);
}

static void up_stands(void *arg)
{
	struct proxy *p = arg;

	p->reached = true;
	moved(p);
}

static void up_drain(void *arg)
{
	struct proxy *p = arg;

	http_conn_pause(p->ex->conn, false);
	if (p->phase != PROXY_PIPE)
		moved(p);
}

/* ---- towards the client ---- */

static void send_down(struct proxy *p, const char *data, size_t len)
{
	http_conn_write(p->ex->conn, data, len);
	if (!answer_room(p->ex) && !p->up_paused) {
		p->up_paused = true;
		world_stream_pause(p->up, true);
	}
}

static void proxy_room(struct exchange *ex)
{
	struct proxy *p = ex->state;

	if (!p->up_paused)
		return;
	p->up_paused = false;
	world_stream_pause(p->up, false);
	if (p->phase != PROXY_PIPE)
		moved(p);
}

/* How long the answer is, as its own reader will see it. */
static void write_length(struct proxy *p, const struct http_head *h, struct buf *out)
{
	struct exchange *ex = p->ex;
	const char *said = http_head_get(h, "content-length");

	if (h->status == 204 || h->status == 304)
		return;
	if (p->is_head) {
		if (said)
			http_write_header(out, "Content-Length", said);
		return;
	}
	if (h->length >= 0) {
		http_write_length(out, (uint64_t)h->length);
		return;
	}
	ex->chunked = ex->head->minor == 1;
	if (ex->chunked)
		http_write_header(out, "Transfer-Encoding", "chunked");
	else
		p->last = true; /* HTTP/1.0: the end of the connection is the end */
}

static void count_answer(struct exchange *ex, int status)
{
	ex->server->answered[status / 100 < STATUS_CLASSES ? status / 100 : 0]++;
	ex->begun = true;
}

static void begin_answer(struct proxy *p, const struct http_head *h)
{
	struct exchange *ex = p->ex;
	struct buf *out = &ex->server->scratch;

	p->phase = PROXY_ANSWERING;
	count_answer(ex, h->status);
	buf_clear(out);
	proxy_write_answer(out, h, &p->to);
	write_length(p, h, out);
	p->last |= !ex->head->keep_alive || !ex->body_over;
	if (p->last)
		http_write_header(out, "Connection", "close");
	else if (ex->head->minor == 0)
		http_write_header(out, "Connection", "keep-alive");
	http_write_head_end(out);
	send_down(p, out->data, out->len);
}

static void become_pipe(struct proxy *p, const struct http_head *h)
{
	struct exchange *ex = p->ex;
	struct buf *out = &ex->server->scratch;
	const char *to = http_head_get(h, "upgrade");

	p->phase = PROXY_PIPE;
	world_timer_stop(p->timer);
	count_answer(ex, h->status);
	buf_clear(out);
	proxy_write_answer(out, h, &p->to);
	http_write_header(out, "Connection", "Upgrade");
	if (to)
		http_write_header(out, "Upgrade", to);
	http_write_head_end(out);
	send_down(p, out->data, out->len);
	http_conn_upgraded(ex);
}

static void pass_piece(struct proxy *p, const struct http_piece *piece)
{
	struct buf *out = &p->ex->server->scratch;

	if (!p->ex->chunked) {
		send_down(p, piece->data, piece->len);
		return;
	}
	buf_clear(out);
	http_write_chunk(out, piece->data, piece->len);
	send_down(p, out->data, out->len);
}

/* Frees the proxy. */
static void finish(struct proxy *p)
{
	struct exchange *ex = p->ex;

	if (ex->chunked)
		http_conn_write(ex->conn, "0\r\n\r\n", 5);
	if (p->last)
		ex->body_over = false;
	http_conn_answered(ex);
}

enum next { NEXT_MORE, NEXT_PIPE, NEXT_GONE };

static enum next take_head(struct proxy *p)
{
	const struct http_head *h = http_parser_head(p->parser);

	if (h->status == 101 && p->upgrade && p->ex->body_over) {
		become_pipe(p, h);
		return NEXT_PIPE;
	}
	if (h->status == 101) {
		broken(p, "it answered with another protocol that nobody asked for");
		return NEXT_GONE;
	}
	if (h->status / 100 > 1) { /* the others are notes between neighbours */
		begin_answer(p, h);
	} else if (++p->notes > NOTES_MAX) {
		broken(p, "it sent one note after the other (1xx) and no answer");
		return NEXT_GONE;
	}
	return NEXT_MORE;
}

static enum next take_end(struct proxy *p)
{
	if (p->phase == PROXY_ANSWERING) {
		finish(p);
		return NEXT_GONE;
	}
	if (p->is_head)
		http_parser_no_body(p->parser);
	return NEXT_MORE;
}

/* NEXT_GONE: there is no proxy any more.  NEXT_PIPE: what is left is not HTTP. */
static enum next take_answer(struct proxy *p, const char **data, size_t *len)
{
	enum next next = NEXT_MORE;
	struct http_piece piece;
	struct err err;

	while (next == NEXT_MORE) {
		switch (http_parser_next(p->parser, data, len, &piece, &err)) {
		case HTTP_ITEM_MORE:
			return NEXT_MORE;
		case HTTP_ITEM_HEAD:
			next = take_head(p);
			break;
		case HTTP_ITEM_DATA:
			pass_piece(p, &piece);
			break;
		case HTTP_ITEM_END:
			next = take_end(p);
			break;
		case HTTP_ITEM_FAILED:
			fail(p, PROXY_BROKEN, &err);
			return NEXT_GONE;
		}
	}
	return next;
}

static void up_data(void *arg, const char *data, size_t len)
{
	struct proxy *p = arg;

	if (p->phase != PROXY_PIPE) {
		moved(p);
		if (take_answer(p, &data, &len) != NEXT_PIPE)
			return;
	}
	if (len)
		send_down(p, data, len);
}

static void end_pipe(struct proxy *p)
{
	p->ex->body_over = false; /* never another request */
	http_conn_answered(p->ex);
}

static void up_over(struct proxy *p, const struct err *why)
{
	struct err err;

	if (p->phase == PROXY_PIPE) {
		end_pipe(p);
		return;
	}
	if (why && !p->reached) {
		fail(p, PROXY_REFUSED, why);
		return;
	}
	if (p->phase == PROXY_ANSWERING &&
	    http_parser_eof(p->parser, &err) == HTTP_ITEM_END) {
		finish(p);
		return;
	}
	broken(p, why ? why->text : "it ended before its answer was whole");
}

static void up_eof(void *arg)
{
	up_over(arg, NULL);
}

/* A body that lasts until the end of the stream is whole only when that end is orderly. */
static void up_end(void *arg, const struct err *err)
{
	struct proxy *p = arg;

	if (err && p->phase == PROXY_ANSWERING)
		broken(p, err->text);
	else
		up_over(p, err);
}

/* ---- time ---- */

static void on_time(void *arg)
{
	struct proxy *p = arg;
	bool waits_for_client = p->phase == PROXY_ASKING && p->reached &&
				!p->ex->body_over && world_stream_pending(p->up) == 0;
	struct err err;

	if (p->up_paused || waits_for_client) { /* whose time the connection keeps */
		moved(p);
		return;
	}
	err_set(&err, ERR_TIMEOUT, "nothing came for %lld s",
		(long long)patience_ms(p) / 1000);
	fail(p, p->reached ? PROXY_SLOW : PROXY_REFUSED, &err);
}

static void proxy_event(struct exchange *ex, const struct event *e)
{
	(void)ex; /* its tasks end, and so do their connections */
	(void)e;
}

static void send_head(struct proxy *p)
{
	struct exchange *ex = p->ex;
	struct buf *out = &ex->server->scratch;
	bool remote = ex->auth->peer.uid < 0;

	buf_clear(out);
	proxy_write_request(out, ex->head, &p->to,
			    &(struct proxy_from){
				    .address = ex->auth->peer.address,
				    .user = ex->who ? ex->who->name : NULL,
				    .tls = remote && ex->server->config.tls,
			    });
	send_up(p, out->data, out->len);
}

void proxy_begin(struct exchange *ex, const struct proxy_target *to, proxy_failed failed)
{
	static const struct exchange_ops ops = { .body = proxy_body,
						 .body_end = proxy_body_end,
						 .raw = proxy_raw,
						 .room = proxy_room,
						 .event = proxy_event,
						 .gone = proxy_gone };
	static const struct world_stream_events events = { .on_data = up_data,
							   .on_eof = up_eof,
							   .on_end = up_end,
							   .on_drain = up_drain,
							   .on_connect = up_stands };
	struct err err;
	struct world_stream *up =
		world_connect_tcp(ex->server->config.world, to->address, to->port, &err);

	if (!up) {
		failed(ex, PROXY_REFUSED, &err);
		return;
	}
	struct proxy *p = mem_alloc(1, sizeof *p);
	p->ex = ex;
	p->up = up;
	p->failed = failed;
	p->address = mem_strdup(to->address);
	p->prefix = mem_strdup(to->prefix);
	p->to = (struct proxy_target){ p->address, to->port, p->prefix, to->strip };
	p->parser = http_parser_create(HTTP_RESPONSES);
	p->timer = world_timer_create(ex->server->config.world, on_time, p);
	p->upgrade = proxy_wants_upgrade(ex->head);
	p->is_head = str_eq(ex->head->method, "HEAD");
	if (p->is_head)
		http_parser_no_body(p->parser);
	ex->state = p;
	ex->ops = &ops;
	/* As one who waits for that job: a client that goes is seen to go. */
	server_park(ex, ex->job);
	send_head(p);
	moved(p);
	world_stream_start(up, &events, p);
}
