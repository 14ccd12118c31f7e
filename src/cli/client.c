// SPDX-License-Identifier: Apache-2.0
#include "cli/client.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "cli/link.h"
#include "wire/api.h"

#define READ_BYTES   (256 << 10)
#define ANSWER_MAX   (64 << 20)
#define TRIES        12
#define TRIES_AGAIN  40 /* of a daemon that was there before: it is being restarted */
#define TRIES_OWN    8  /* of one's own that nobody but we would start again: 3 s */
#define PAUSE_MS     20 /* doubled each time, up to a second */
#define PAUSE_MAX_MS 1000

struct client {
	const struct server *server;
	bool may_start, unreachable;
	bool met; /* was there before */
	void (*started)(const struct server *s);
	bool refused; /* its certificate is not trusted: to ask again is of no use */
	struct link *link;
	char *host; /* as the requests name it */
	struct http_parser *parser;
	char *in;
	size_t at, len; /* what was read and not yet taken */
	bool eof, send_failed;
	int status; /* of the last answer; 0: none came */
};

struct client *client_create(const struct server *s, bool may_start,
			     void (*started)(const struct server *s))
{
	struct client *c = mem_alloc(1, sizeof *c);

	c->server = s;
	c->may_start = may_start && s->state;
	c->started = started;
	c->host = server_authority(s);
	c->in = mem_alloc(1, READ_BYTES);
	return c;
}

void client_drop(struct client *c)
{
	link_close(TAKE(c->link));
	http_parser_destroy(TAKE(c->parser));
	c->at = c->len = 0;
	c->eof = c->send_failed = false;
}

void client_destroy(struct client *c)
{
	if (!c)
		return;
	client_drop(c);
	free(c->in);
	free(c->host);
	free(c);
}

bool client_unreachable(const struct client *c)
{
	return c->unreachable;
}

int client_fd(const struct client *c)
{
	return c->link ? link_fd(c->link) : -1;
}

bool client_over(const struct client *c)
{
	return c->eof && c->at == c->len;
}

static int say_unreachable(struct client *c, struct err *err)
{
	const struct server *s = c->server;

	c->unreachable = true;
	if (s->state)
		return err_wrap(err, "no daemon answers (`yard up` starts one)");
	return err_wrap(err, "the server that %s names does not answer",
			s->named ? s->named : "nobody");
}

static int open_connection(struct client *c, struct err *err)
{
	if (c->link)
		return 0;
	c->link = link_open(c->server, NULL, err);
	if (!c->link && c->may_start) {
		int rc = server_start(c->server, NULL, err);
		if (rc < 0) {
			c->unreachable = true;
			return -1;
		}
		if (rc > 0 && c->started)
			c->started(c->server);
		c->started = NULL;
		c->link = link_open(c->server, NULL, err);
	}
	if (!c->link && err && err->code == ERR_DENIED) {
		c->refused = true;
		return -1;
	}
	if (!c->link)
		return say_unreachable(c, err);
	c->unreachable = false;
	c->met = true;
	c->parser = http_parser_create(HTTP_RESPONSES);
	return 0;
}

int client_write(struct client *c, const void *data, size_t len, struct err *err)
{
	int rc = link_send(c->link, data, len, err);

	c->send_failed |= rc < 0;
	return rc;
}

int client_send(struct client *c, const void *data, size_t len, struct err *err)
{
	char head[24];
	int n = snprintf(head, sizeof head, "%zx\r\n", len);

	if (len == 0)
		return 0;
	if (client_write(c, head, (size_t)n, err) < 0 ||
	    client_write(c, data, len, err) < 0)
		return -1;
	return client_write(c, "\r\n", 2, err);
}

static int send_request(struct client *c, const struct request *r, struct err *err)
{
	AUTO_BUF struct buf out = { 0 };
	AUTO_FREE char *target = str_printf("%s%s", WIRE_PREFIX, r->target);

	http_write_request(&out, r->method, target, c->host);
	if (c->server->token) {
		AUTO_FREE char *bearer = str_printf("Bearer %s", c->server->token);
		http_write_header(&out, "Authorization", bearer);
	}
	if (r->key)
		http_write_header(&out, "Idempotency-Key", r->key);
	if (r->upgrade) {
		http_write_header(&out, "Connection", "Upgrade");
		http_write_header(&out, "Upgrade", r->upgrade);
	}
	for (size_t i = 0; i < r->header_count; i++)
		http_write_header(&out, r->headers[i].name, r->headers[i].value);
	if (r->write_body && !r->sized)
		http_write_header(&out, "Transfer-Encoding", "chunked");
	else if (r->body || r->sized || str_eq(r->method, "POST") ||
		 str_eq(r->method, "PUT"))
		http_write_length(&out, r->body_len);
	http_write_head_end(&out);
	if (r->body)
		buf_add(&out, r->body, r->body_len);
	if (str_eq(r->method, "HEAD"))
		http_parser_no_body(c->parser);
	if (client_write(c, out.data, out.len, err) < 0)
		return -1;
	if (r->write_body && r->write_body(r->arg, c, err) < 0)
		return -1;
	return r->write_body && !r->sized ? client_write(c, "0\r\n\r\n", 5, err) : 0;
}

int client_fill(struct client *c, struct err *err)
{
	if (c->at < c->len)
		memmove(c->in, c->in + c->at, c->len - c->at);
	c->len -= c->at;
	c->at = 0;
	size_t got;
	if (link_fill(c->link, c->in + c->len, READ_BYTES - c->len, &got, &c->eof, err) <
	    0)
		return -1;
	c->len += got;
	return 0;
}

enum http_item client_next(struct client *c, struct http_piece *piece, struct err *err)
{
	if (c->at == c->len && c->eof) {
		enum http_item item = http_parser_eof(c->parser, err);
		if (item == HTTP_ITEM_MORE) {
			err_set(err, ERR_IO, "the daemon closed the connection");
			return HTTP_ITEM_FAILED;
		}
		return item;
	}
	const char *data = c->in + c->at;
	size_t len = c->len - c->at;
	enum http_item item = http_parser_next(c->parser, &data, &len, piece, err);
	c->at = c->len - len;
	return item;
}

struct http_piece client_rest(struct client *c)
{
	struct http_piece rest = { c->in + c->at, c->len - c->at };

	c->at = c->len = 0;
	return rest;
}

/* The next item, whatever it takes. */
static enum http_item next_blocking(struct client *c, struct http_piece *piece,
				    struct err *err)
{
	for (;;) {
		enum http_item item = client_next(c, piece, err);
		if (item != HTTP_ITEM_MORE)
			return item;
		if (client_fill(c, err) < 0)
			return HTTP_ITEM_FAILED;
	}
}

enum http_item client_next_waiting(struct client *c, struct http_piece *piece,
				   struct err *err)
{
	enum http_item item = next_blocking(c, piece, err);

	if (item == HTTP_ITEM_FAILED)
		c->status = 0;
	if (item == HTTP_ITEM_FAILED ||
	    (item == HTTP_ITEM_END && !http_parser_head(c->parser)->keep_alive))
		client_drop(c);
	return item;
}

int client_status(const struct client *c)
{
	return c->status;
}

const char *client_header(const struct client *c, const char *name)
{
	return c->parser ? http_head_get(http_parser_head(c->parser), name) : NULL;
}

static int read_body(struct client *c, struct buf *out, struct err *err)
{
	struct http_piece piece = { NULL, 0 };

	http_parser_body_max(c->parser, ANSWER_MAX);
	for (;;) {
		switch (next_blocking(c, &piece, err)) {
		case HTTP_ITEM_DATA:
			buf_add(out, piece.data, piece.len);
			break;
		case HTTP_ITEM_END:
			if (!http_parser_head(c->parser)->keep_alive)
				client_drop(c);
			return 0;
		default:
			client_drop(c);
			c->status = 0;
			return -1;
		}
	}
}

/* Sends and reads the head; *broke: nothing of an answer came. */
static int exchange(struct client *c, const struct request *r, int *status, bool *broke,
		    struct err *err)
{
	struct http_piece piece = { NULL, 0 };
	struct err later;

	*broke = false;
	c->status = 0;
	if (open_connection(c, err) < 0) {
		*broke = !c->refused;
		return -1;
	}
	/* A server that refuses a body early answers and closes: its words are worth more
	 * than our broken pipe. */
	int sent = send_request(c, r, err);
	if (sent < 0 && !c->send_failed) { /* what was to be sent could not be made */
		client_drop(c);
		return -1;
	}
	do {
		if (next_blocking(c, &piece, sent < 0 ? &later : err) != HTTP_ITEM_HEAD) {
			*broke = true;
			client_drop(c);
			return -1;
		}
		*status = http_parser_head(c->parser)->status;
	} while (*status >= 100 && *status < 200 && *status != 101);
	c->status = *status;
	return 0;
}

static bool repeatable(const struct request *r)
{
	return !str_eq(r->method, "POST") || r->key;
}

static int patience(const struct client *c)
{
	if (!c->met)
		return TRIES;
	return c->server->state && !c->may_start ? TRIES_OWN : TRIES_AGAIN;
}

static int exchange_patiently(struct client *c, const struct request *r, int *status,
			      struct err *err)
{
	int pause = PAUSE_MS;
	bool broke, fresh = !c->link;

	for (int i = 0;; i++) {
		if (exchange(c, r, status, &broke, err) == 0)
			return 0;
		/* One we kept open may have been closed meanwhile: that was no answer to this. */
		bool again = repeatable(r) || (!fresh && i == 0 && !r->upgrade);
		bool nobody = c->unreachable && !c->met && i > 1;
		if (!broke || !again || nobody || i >= patience(c))
			return -1;
		usleep((useconds_t)pause * 1000);
		pause = pause * 2 < PAUSE_MAX_MS ? pause * 2 : PAUSE_MAX_MS;
	}
}

void answer_fini(struct answer *a)
{
	buf_fini(&a->body);
	doc_destroy(TAKE(a->doc));
	problems_fini(&a->problems);
}

static int refused(const struct answer *a, struct problems *problems, struct err *err)
{
	wire_error_read(buf_str(&a->body), a->body.len, a->status, err, problems);
	return -1;
}

int client_call(struct client *c, const struct request *r, struct answer *out,
		struct err *err)
{
	*out = (struct answer){ .status = 0 };
	for (int i = 0;; i++) {
		if (exchange_patiently(c, r, &out->status, err) < 0)
			return -1;
		buf_clear(&out->body);
		if (read_body(c, &out->body, err) < 0) {
			if (repeatable(r) && i < TRIES)
				continue;
			return -1;
		}
		if (out->status != 503 || !repeatable(r) || i == TRIES)
			break;
		usleep(PAUSE_MAX_MS * 100); /* busy: it says so itself */
	}
	if (out->status < 200 || out->status > 299)
		return refused(out, &out->problems, err);
	if (out->body.len && (out->body.data[0] == '{' || out->body.data[0] == '[')) {
		out->doc = doc_parse_json(out->body.data, out->body.len, err);
		if (!out->doc)
			return err_wrap(err, "the server's answer");
	}
	return 0;
}

int client_begin(struct client *c, const struct request *r, struct err *err)
{
	AUTO_ANSWER struct answer a = { .status = 0 };

	if (exchange_patiently(c, r, &a.status, err) < 0)
		return -1;
	if (a.status == 101 || (a.status >= 200 && a.status <= 299)) {
		http_parser_body_max(c->parser, INT64_MAX);
		return 0;
	}
	if (read_body(c, &a.body, err) < 0)
		return -1;
	return refused(&a, &a.problems, err);
}
