// SPDX-License-Identifier: Apache-2.0
/* What happened: by page, or as it happens (server-sent events).
 *
 * A follower is always fed from the store, from the seq it is owed: that something was
 * committed only makes it look.  So there is no seam between what was and what comes,
 * nothing is lost or told twice, a slow reader costs a number and no memory, and one that
 * comes back with the last id it saw goes on exactly there.
 */
#include "http/view.h"

#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "http/conn.h"
#include "http/handlers.h"
#include "http/limits.h"
#include "http/route.h"
#include "who/who.h"
#include "wire/api.h"

#define HEARTBEAT_MS 15000 /* while somebody listens, so that a dead line shows */
#define READ_EVENTS  200   /* of the store, at a time */
#define TURN_EVENTS  1000  /* of one follower before others have their turn */
#define SCAN_EVENTS  1000  /* looked at for one page: each costs some 15 us */

struct feed {
	struct exchange *ex;
	int64_t job;      /* 0: of all that the caller may see */
	int64_t next;     /* the seq it is owed */
	bool yielded;     /* others have their turn: no heartbeat is due */
	bool over;        /* the job has ended and all was sent */
	int64_t seen_job; /* what was found out last: whether they may see it */
	bool seen;
	struct json *json; /* a page; NULL: a stream, written to out */
	struct buf *out;
	int looked, given;
};

static void row_visible(void *arg, const struct store_row *row)
{
	struct feed *f = arg;

	f->seen = who_may_see(f->ex->who, row->owner, row->group);
}

/* Of no job: what administrators do is theirs to see. */
static bool visible(struct feed *f, const struct event *e)
{
	struct yard *y = f->ex->server->config.yard;
	const struct job *live;

	if (f->job || f->ex->who->role == ROLE_ADMIN)
		return true;
	if (!e->job)
		return false;
	if (e->job == f->seen_job)
		return f->seen;
	f->seen_job = e->job;
	f->seen = false;
	live = yard_live(y, e->job);
	if (live)
		f->seen = who_may_see(f->ex->who, live->owner, live->group);
	else
		store_row(yard_store(y), e->job, row_visible, f, NULL);
	return f->seen;
}

static void write_sse(struct buf *out, const struct event *e)
{
	struct json j;

	buf_printf(out, "id: %lld\nevent: %s\ndata: ", (long long)e->seq,
		   event_kind_word(e->kind));
	json_init(&j, out);
	wire_event_write(&j, NULL, e);
	buf_adds(out, "\n\n");
}

static void give(void *arg, const struct event *e)
{
	struct feed *f = arg;

	f->looked++;
	f->next = e->seq + 1;
	if (!visible(f, e))
		return;
	f->given++;
	struct event told = *e; /* borrows what it points to */
	if (e->way && !view_may_see(f->ex, e->way))
		told.way = 0;
	if (f->json)
		wire_event_write(f->json, NULL, &told);
	else
		write_sse(f->out, &told);
	f->over |= f->job && e->kind == EV_ENDED;
}

/* At most so many; gives how many there were to look at, or -1. */
static int read_on(struct feed *f, int most, struct err *err)
{
	int before = f->looked;

	if (store_events(yard_store(f->ex->server->config.yard), f->job, f->next, most,
			 give, f, err) < 0)
		return -1;
	return f->looked - before;
}

/* ---- as it happens ---- */

static void heartbeat_later(struct feed *f)
{
	http_conn_timer(f->ex->conn, HEARTBEAT_MS);
}

static void pump(struct feed *f)
{
	struct exchange *ex = f->ex;
	struct err err;
	int got = READ_EVENTS, sent = 0;

	while (got == READ_EVENTS && !f->over && answer_room(ex)) {
		if (sent >= TURN_EVENTS) {
			f->yielded = true;
			http_conn_timer(ex->conn, 0);
			return;
		}
		f->out = answer_scratch(ex);
		answer_piece_begin(f->out);
		got = read_on(f, READ_EVENTS, &err);
		sent += READ_EVENTS;
		if (got < 0) {
			ex->body_over = false; /* cut off: the client comes back */
			http_conn_answered(ex);
			return;
		}
		answer_piece(ex, f->out);
	}
	/* One that comes back after the end is told that there is no more. */
	if (f->over ||
	    (f->job && !yard_live(ex->server->config.yard, f->job) && got < READ_EVENTS))
		answer_end(ex);
	else
		heartbeat_later(f);
}

static void feed_room(struct exchange *ex)
{
	pump(ex->state);
}

static void feed_event(struct exchange *ex, const struct event *e)
{
	struct feed *f = ex->state;

	if (e->seq >= f->next)
		pump(f);
}

static void feed_timer(struct exchange *ex)
{
	struct feed *f = ex->state;
	struct buf *out = answer_scratch(ex);

	if (!f->yielded && answer_room(ex)) {
		answer_piece_begin(out);
		buf_adds(out, ": still here\n\n");
		answer_piece(ex, out);
	}
	f->yielded = false;
	pump(f);
}

static void feed_gone(struct exchange *ex)
{
	free(ex->state);
}

static bool wants_stream(const struct exchange *ex)
{
	const char *accept = http_head_get(ex->head, "accept");

	return param_bool(ex, "follow") ||
	       (accept && strstr(accept, "text/event-stream"));
}

static int stream_from(const struct exchange *ex, int64_t *from, struct err *err)
{
	const char *last = http_head_get(ex->head, "last-event-id");
	int64_t seen;

	*from = param_int(ex, "from", -1);
	if (last && str_to_i64(last, 0, INT64_MAX - 1, &seen) < 0)
		return err_set(err, ERR_INVALID,
			       "Last-Event-ID: '%s' is not the id of an event", last);
	if (last)
		*from = seen + 1;
	if (*from < 0) /* of a job its whole history, else what happens from now on */
		*from = ex->job ? 0 : yard_last_seq(ex->server->config.yard) + 1;
	return 0;
}

static void follow(struct exchange *ex)
{
	static const struct exchange_ops ops = {
		.room = feed_room,
		.event = feed_event,
		.timer = feed_timer,
		.gone = feed_gone,
	};
	struct feed *f;
	struct err err;
	int64_t from;

	if (stream_from(ex, &from, &err) < 0) {
		answer_error(ex, &err);
		return;
	}
	f = mem_alloc(1, sizeof *f);
	*f = (struct feed){ .ex = ex, .job = ex->job, .next = from };
	ex->state = f;
	ex->ops = &ops;
	server_park(ex, ex->job ? ex->job : PARK_ALL);
	answer_begin(ex, 200, "text/event-stream");
	pump(f);
}

/* ---- by page ---- */

static void page(struct exchange *ex)
{
	struct buf *out = answer_scratch(ex);
	int limit = (int)param_int(ex, "limit", EVENTS_MAX), got = 1;
	struct json j;
	struct feed f = {
		.ex = ex, .job = ex->job, .next = param_int(ex, "from", 0), .json = &j
	};
	struct err err;

	json_init(&j, out);
	json_object(&j, NULL);
	json_array(&j, "events");
	while (got > 0 && f.given < limit && f.looked < SCAN_EVENTS) {
		int most = limit - f.given;

		got = read_on(&f, most, &err);
		if (got < 0) {
			answer_error(ex, &err);
			return;
		}
	}
	json_end(&j);
	json_i64(&j, "next", f.next);
	json_end(&j);
	answer_json(ex, 200, out);
}

void handle_events(struct exchange *ex)
{
	if (wants_stream(ex))
		follow(ex);
	else
		page(ex);
}
