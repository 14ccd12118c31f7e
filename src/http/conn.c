// SPDX-License-Identifier: Apache-2.0
#include "http/conn_impl.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "http/app.h"
#include "http/route.h"
#include "wire/outcome.h"
#include "world/lend.h"

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
	c->put += len;
	if (world_stream_pending(c->stream))
		server_sweep(c->server);
}

void http_conn_write(struct conn *c, const void *data, size_t len)
{
	if (c->filter)
		c->filter->out(c->filter_arg, data, len);
	else
		http_conn_put(c, data, len);
}

/* What a filter makes of bytes only it can send. */
int http_conn_lend(struct conn *c)
{
	return c->filter ? -1 : world_stream_lend(c->stream);
}

void http_conn_await(struct conn *c)
{
	world_stream_await(c->stream);
}

size_t http_conn_pending(const struct conn *c)
{
	return world_stream_pending(c->stream);
}

void http_conn_timer(struct conn *c, int64_t in_ms)
{
	world_timer_at(c->timer, world_mono_ms(c->server->config.world) + in_ms);
}

/* A body may pause, but each byte buys only its own time: what trickles is cut off. */
static void await_body(struct conn *c)
{
	int64_t pause_ms = c->server->config.body_ms;
	int64_t due =
		c->body_began_ms + pause_ms + c->body_bytes * 1000 / BODY_BYTES_A_SECOND;
	int64_t latest = world_mono_ms(c->server->config.world) + pause_ms;

	world_timer_at(c->timer, due < latest ? due : latest);
}

/* A body that waits for us is not late. */
void http_conn_pause(struct conn *c, bool paused)
{
	int64_t now_ms = world_mono_ms(c->server->config.world);

	if (c->paused == paused)
		return;
	world_stream_pause(c->stream, paused);
	c->paused = paused;
	if (paused)
		c->paused_ms = now_ms;
	if (c->state != CONN_BODY)
		return;
	if (paused) {
		world_timer_stop(c->timer);
	} else {
		c->body_began_ms += now_ms - c->paused_ms;
		await_body(c);
	}
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
	if (*c->counted)
		server_uncount(s, c->counted);
	auth_fini(&c->auth);
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

/* One of whom nothing is known has no long time to say it. */
int64_t conn_idle_ms(const struct conn *c)
{
	const struct http_config *config = &c->server->config;
	bool stranger = c->auth.by == AUTH_NOBODY && c->auth.peer.uid < 0;

	return stranger && config->head_ms < config->idle_ms ? config->head_ms
							     : config->idle_ms;
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
	http_conn_timer(c, c->resume ? 0 : conn_idle_ms(c));
}

void http_conn_upgraded(struct exchange *ex)
{
	struct conn *c = ex->conn;

	world_timer_stop(c->timer);
	c->state = CONN_RAW;
	if (c->input.len == 0)
		return;
	http_conn_pause(c, false); /* what came before is the handler's too, and first */
	c->resume = true;
	http_conn_timer(c, 0);
}

/* Once it is known who it is, the connection counts as theirs and no more as one of an
 * address or a uid. */
static int count_as(struct conn *c, const struct principal *who, struct err *err)
{
	bool admin = who->role == ROLE_ADMIN;
	char key[CONNS_KEY_MAX] = "";

	if (!admin)
		snprintf(key, sizeof key, "user %s", who->name);
	if (str_eq(key, c->counted))
		return 0;
	if (!admin && !server_count(c->server, key, c->server->config.conns_per_user))
		return err_set(err, ERR_BUSY,
			       "you have too many connections; close some first");
	if (*c->counted)
		server_uncount(c->server, c->counted);
	memcpy(c->counted, key, sizeof key);
	return 0;
}

static int judge(struct conn *c, struct exchange *ex, struct err *err)
{
	ex->who = c->auth.by == AUTH_NOBODY ? NULL : &c->auth.who;
	if ((ex->who && count_as(c, ex->who, err) < 0) || route_admit(ex, err) < 0)
		return -1;
	http_parser_body_max(c->parser, ex->route->body_max);
	if (ex->head->length > ex->route->body_max)
		return err_set(err, ERR_TOO_LARGE,
			       "the body has %lld bytes, here at most %lld are taken",
			       (long long)ex->head->length,
			       (long long)ex->route->body_max);
	return 0;
}

/* It is known who asks, or that they are refused: only now is a body taken. */
static void admit(struct conn *c, const struct err *refusal, int64_t retry_ms)
{
	struct exchange *ex = c->ex;
	struct err err;

	if (refusal && refusal->code == ERR_BUSY) {
		answer_busy(ex, refusal, retry_ms);
		return;
	}
	if (refusal || judge(c, ex, &err) < 0) {
		answer_error(ex, refusal ? refusal : &err);
		return;
	}
	c->body_began_ms = world_mono_ms(c->server->config.world);
	c->body_bytes = 0;
	if (ex->head->expect && !ex->body_over)
		http_conn_write(c, "HTTP/1.1 100 Continue\r\n\r\n", 25);
	if (ex->route->takes == ROUTE_STREAM)
		ex->route->handle(ex);
}

/* With the bytes that were kept; soon, not from here. */
void conn_go_on(struct conn *c, enum conn_state state)
{
	c->state = state;
	http_conn_pause(c, false);
	c->resume = true;
	http_conn_timer(c, 0);
}

void conn_who_seen(void *arg, const struct err *err, int64_t retry_ms)
{
	struct conn *c = arg;

	c->state = CONN_BODY;
	admit(c, err, retry_ms);
	if (c->state == CONN_BODY || c->state == CONN_HEAD)
		conn_go_on(c, c->state);
}

static void begin_exchange(struct conn *c)
{
	struct exchange *ex = mem_alloc(1, sizeof *ex);
	struct err err;
	int status = 0;

	c->ex = ex;
	c->state = CONN_BODY;
	ex->server = c->server;
	ex->conn = c;
	ex->auth = &c->auth;
	ex->head = http_parser_head(c->parser);
	ex->body_over = ex->head->length == 0;
	if (route_find(ex, &status, &err) < 0) {
		if (status == 204)
			answer_empty(ex, status);
		else
			answer_status(ex, status, &err, NULL);
		return;
	}
	int rc = ex->route->opaque ? app_ask(ex, &err)
				   : auth_ask(&c->auth, ex->head,
					      ex->route->rule == RULE_PUBLIC, &err);
	if (rc <= 0) {
		admit(c, rc < 0 ? &err : NULL, 0);
		return;
	}
	c->state = CONN_WHO;
	world_timer_stop(c->timer);
}

static void take_body(struct conn *c, const struct http_piece *piece)
{
	static const struct err too_much = {
		ERR_BUSY, "you send too much at a time: wait for the answers to some"
	};
	struct exchange *ex = c->ex;

	c->body_bytes += (int64_t)piece->len;

	if (!ex)
		return;
	if (ex->route->takes == ROUTE_STREAM)
		ex->ops->body(ex, piece->data, piece->len);
	else if (!exchange_take(ex, c->counted, piece->data, piece->len))
		answer_error(ex, &too_much);
}

static void end_body(struct conn *c)
{
	struct exchange *ex = c->ex;
	struct err err;

	if (!ex)
		return; /* answered already, by its head alone */
	ex->body_over = true;
	c->state = CONN_BUSY;
	world_timer_stop(c->timer);
	/* A body may take long: what was allowed when it began is asked again. */
	if (auth_check(&c->auth, &err) < 0)
		answer_error(ex, &err);
	else if (ex->route->takes == ROUTE_STREAM)
		ex->ops->body_end(ex);
	else if (route_body(ex, &err) < 0)
		answer_error(ex, &err);
	else
		ex->route->handle(ex);
}

void http_conn_refuse(struct conn *c, int status, const struct err *err)
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

	if (c->state == CONN_BODY && c->paused) {
		world_timer_stop(c->timer);
	} else if (c->state == CONN_BODY) {
		await_body(c);
	} else if (http_parser_idle(c->parser)) {
		c->head_begun = false;
		http_conn_timer(c, conn_idle_ms(c));
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
		if (c->state == CONN_HEAD && http_conn_pending(c) > OUTPUT_HIGH) {
			c->state =
				CONN_FULL; /* who lets it rest is let go by the sweep */
			world_timer_stop(c->timer);
			break;
		}
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
			http_conn_refuse(c, http_parser_status(c->parser), &err);
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
	if (c->state != CONN_BUSY && c->state != CONN_WHO && c->state != CONN_FULL)
		return;
	buf_add(&c->input, data, len);
	if (c->input.len >= INPUT_MAX)
		http_conn_pause(c, true);
}

void http_conn_take(struct conn *c, const char *data, size_t len)
{
	if (c->resume) { /* about to go on with what is there: keep the order */
		buf_add(&c->input, data, len);
		return;
	}
	if (c->input.len == 0)
		feed(c, &data, &len);
	keep_rest(c, data, len);
}

void conn_resume(struct conn *c)
{
	struct buf input = c->input;
	const char *data = buf_str(&input);
	size_t len = input.len;

	c->resume = false;
	c->input = (struct buf){ 0 };
	feed(c, &data, &len);
	keep_rest(c, data, len);
	buf_fini(&input);
}
