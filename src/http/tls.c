// SPDX-License-Identifier: Apache-2.0
#include "http/tls.h"

#include <ctype.h>

#include "base/mem.h"

#define PIECE_BYTES (32u << 10) /* clear bytes that become records at a time */
#define CHUNK_BYTES (16u << 10) /* a record's worth */
#define OWED_MAX                                                                         \
	(1u << 20) /* unsent, and the client makes us say more: it does not read */

enum stage {
	STAGE_FIRST, /* no byte came yet */
	STAGE_TLS,
	STAGE_CLEAR, /* it spoke plain HTTP: so do we, once */
	STAGE_OVER,  /* broken: what comes is dropped */
};

struct tls_filter {
	struct conn *conn;
	struct tls_session *tls;
	enum stage stage;
};

/* What the session has to say, an alert too, goes to the stream. */
static size_t flush(struct tls_filter *f)
{
	char chunk[CHUNK_BYTES];
	size_t n, all = 0;

	while ((n = tls_take(f->tls, chunk, sizeof chunk)) > 0) {
		http_conn_put(f->conn, chunk, n);
		all += n;
	}
	return all;
}

static void give_up(struct tls_filter *f)
{
	flush(f);
	f->stage = STAGE_OVER;
	http_conn_close(f->conn);
}

/* A record of TLS begins with a byte below 32, a request with the letter of a method. */
static void refuse_plain(struct tls_filter *f)
{
	struct err err;

	f->stage = STAGE_CLEAR;
	err_set(&err, ERR_INVALID,
		"this door speaks TLS: use https:// instead of http://");
	http_conn_refuse(f->conn, 400, &err);
}

static void in_tls(struct tls_filter *f, const char *data, size_t len)
{
	char chunk[CHUNK_BYTES];
	ssize_t n = 0;

	if (tls_feed(f->tls, data, len, NULL) < 0) {
		give_up(f);
		return;
	}
	while (f->stage == STAGE_TLS &&
	       (n = tls_read(f->tls, chunk, sizeof chunk, NULL)) > 0)
		http_conn_take(f->conn, chunk, (size_t)n);
	if (n < 0 || (flush(f) && http_conn_pending(f->conn) > OWED_MAX)) {
		give_up(f);
		return;
	}
	if (tls_session_state(f->tls) == TLS_ENDED)
		http_conn_ended(f->conn); /* f may be gone */
}

static void on_in(void *arg, const char *data, size_t len)
{
	struct tls_filter *f = arg;

	if (f->stage == STAGE_FIRST && len > 0) {
		f->stage = STAGE_TLS;
		if (isalpha((unsigned char)data[0])) {
			refuse_plain(f);
			return;
		}
	}
	if (f->stage == STAGE_TLS && tls_session_state(f->tls) != TLS_ENDED)
		in_tls(f, data, len);
}

static void on_out(void *arg, const char *data, size_t len)
{
	struct tls_filter *f = arg;

	if (f->stage == STAGE_CLEAR)
		http_conn_put(f->conn, data, len);
	if (f->stage != STAGE_TLS)
		return;
	while (len > 0) {
		size_t n = len < PIECE_BYTES ? len : PIECE_BYTES;
		if (tls_write(f->tls, data, n, NULL) < 0)
			return; /* reading finds out, or has */
		flush(f);
		data += n;
		len -= n;
	}
}

static void on_end(void *arg)
{
	struct tls_filter *f = arg;

	if (f->stage != STAGE_TLS)
		return;
	tls_end(f->tls);
	flush(f);
}

static void on_destroy(void *arg)
{
	struct tls_filter *f = arg;

	tls_session_destroy(f->tls);
	free(f);
}

void http_tls_filter(struct conn *c, struct tls_context *tls)
{
	static const struct conn_filter filter = {
		.in = on_in, .out = on_out, .end = on_end, .destroy = on_destroy
	};
	struct tls_filter *f = mem_alloc(1, sizeof *f);

	f->conn = c;
	f->tls = tls_accept(tls);
	http_conn_filter(c, &filter, f);
}
