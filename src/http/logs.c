// SPDX-License-Identifier: Apache-2.0
/* A job's output, all of it or as it comes, from one attempt to the next.
 *
 * The yard's events say which attempt is the newest and when no more can come; the log
 * files hold the rest.  A source is read again after it is known that its attempt is
 * over, so that nothing a task said is left out.  A slow reader stops the reading, not
 * the task.
 */
#include "http/route.h"

#include <limits.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "http/handlers.h"
#include "http/view.h"
#include "stream/stream.h"
#include "wire/api.h"

#define PIECE_BYTES (256u << 10)
#define TURN_BYTES  (4u << 20) /* of one client before others have their turn */
#define FROM_MAX    SPEC_TASKS_MAX

struct logs;

struct source {
	struct logs *logs;
	int rank;
	bool more; /* may have something to read */
	struct log_reader *reader;
	struct log_follow *follow;
	uint64_t skipped; /* told so far */
};

struct log_from {
	int64_t rank, attempt, offset;
};

struct logs {
	struct exchange *ex;
	bool frames, follow, ended;
	int64_t task, tail; /* task -1: all; tail -1: whole */
	int64_t since_us;   /* nothing older; 0: from the beginning */
	int attempt;        /* whose sources are open; 0: none yet */
	int first, last;    /* attempts that are wanted */
	int newest;         /* attempt of the job */
	size_t task_count;
	struct log_from *from;
	size_t from_count, from_cap;
	struct source *sources;
	size_t source_count, turn; /* turn: the source that is read next */
};

static void pump(struct logs *l);

static void close_sources(struct logs *l)
{
	for (size_t i = 0; i < l->source_count; i++) {
		log_follow_destroy(l->sources[i].follow);
		log_reader_close(l->sources[i].reader);
	}
	free(TAKE(l->sources));
	l->source_count = l->turn = 0;
}

static void logs_gone(struct exchange *ex)
{
	struct logs *l = ex->state;

	close_sources(l);
	free(l->from);
	free(l);
}

static void on_more(void *arg)
{
	struct source *s = arg;

	s->more = true;
	pump(s->logs);
}

static int64_t offset_of(const struct logs *l, int rank)
{
	for (size_t i = 0; i < l->from_count; i++)
		if (l->from[i].rank == rank && l->from[i].attempt == l->attempt)
			return l->from[i].offset;
	return -1;
}

static int open_source(struct logs *l, struct source *s, int rank, struct err *err)
{
	struct yard *y = l->ex->server->config.yard;
	AUTO_FREE char *folder = yard_attempt_folder(y, l->ex->job, rank, l->attempt);
	int64_t offset = offset_of(l, rank);
	uint64_t start = offset < 0 ? 0 : (uint64_t)offset;

	*s = (struct source){ .logs = l, .rank = rank, .more = true };
	if (offset < 0 && l->since_us &&
	    log_since_offset(folder, l->since_us, &start, err) < 0)
		return -1;
	if (offset < 0 && l->tail >= 0)
		s->reader = log_reader_open_tail(folder, l->tail, err);
	else
		s->reader = log_reader_open(folder, start, err);
	if (!s->reader)
		return -1;
	if (!l->follow)
		return 0;
	s->follow =
		log_follow_create(l->ex->server->config.world, folder, on_more, s, err);
	return s->follow ? 0 : -1;
}

static int open_attempt(struct logs *l, int attempt, struct err *err)
{
	size_t count = l->task < 0 ? l->task_count : 1;

	close_sources(l);
	if (l->attempt)
		l->tail = -1; /* of the first one shown only */
	l->attempt = attempt;
	l->sources = mem_alloc(count, sizeof *l->sources);
	for (size_t i = 0; i < count; i++) {
		l->source_count = i + 1;
		if (open_source(l, &l->sources[i], l->task < 0 ? (int)i : (int)l->task,
				err) < 0)
			return -1;
	}
	return 0;
}

static void add_record(struct logs *l, const struct source *s,
		       const struct logframe *frame, const char *data, struct buf *out)
{
	struct wire_log_head head = { .rank = (uint32_t)s->rank,
				      .attempt = (uint32_t)l->attempt,
				      .offset = log_reader_offset(s->reader) };
	uint8_t bytes[WIRE_LOG_HEAD_BYTES + LOGFRAME_BYTES];

	if (l->frames) {
		wire_log_head_write(&head, bytes);
		logframe_write(frame, bytes + WIRE_LOG_HEAD_BYTES);
		buf_add(out, bytes, sizeof bytes);
	}
	buf_add(out, data, frame->len);
}

static void add_note(struct logs *l, const struct source *s, const char *text,
		     struct buf *out)
{
	int64_t now_us = world_now_ms(l->ex->server->config.world) * 1000;
	struct logframe frame = { .stream = LOG_NOTE,
				  .len = (uint32_t)strlen(text),
				  .time_us = now_us };

	add_record(l, s, &frame, text, out);
}

static void tell_skipped(struct logs *l, struct source *s, struct buf *out)
{
	uint64_t skipped = log_reader_skipped(s->reader);

	if (skipped == s->skipped)
		return;
	AUTO_FREE char *text =
		str_printf("[%llu bytes of this log were dropped by its size limit]\n",
			   (unsigned long long)(skipped - s->skipped));
	s->skipped = skipped;
	add_note(l, s, text, out);
}

/* One piece of one source. */
static size_t send_piece(struct logs *l, struct source *s)
{
	struct buf *out = answer_scratch(l->ex);
	struct logframe frame;
	const char *data;
	struct err err;
	size_t passed = 0; /* bytes that are too old */
	int got = 1;

	answer_piece_begin(out);
	size_t most = answer_high(l->ex) < PIECE_BYTES ? answer_high(l->ex) : PIECE_BYTES;
	while (out->len < most && got > 0 && passed < TURN_BYTES) {
		got = log_reader_next(s->reader, &frame, &data, &err);
		tell_skipped(l, s, out);
		if (got > 0 && frame.time_us < l->since_us)
			passed += LOGFRAME_BYTES + frame.len;
		else if (got > 0)
			add_record(l, s, &frame, data, out);
	}
	if (got < 0) {
		AUTO_FREE char *text =
			str_printf("[this log cannot be read further: %s]\n", err.text);
		add_note(l, s, text, out);
	}
	s->more = got > 0;
	if (!s->more &&
	    !l->follow) /* a job has many tasks: a descriptor only while it is read */
		log_reader_close(TAKE(s->reader));
	answer_piece(l->ex, out);
	return out->len + passed;
}

/* The next source that may have something.  A follower hears all of them in turn. */
static struct source *next_source(struct logs *l)
{
	for (size_t i = 0; i < l->source_count; i++) {
		struct source *s = &l->sources[(l->turn + i) % l->source_count];
		if (!s->more)
			continue;
		l->turn = (l->turn + i + (l->follow ? 1 : 0)) % l->source_count;
		return s;
	}
	return NULL;
}

/* Everything of this attempt was sent: 1 there is a next one, 0 wait, -1 that was all. */
static int next_attempt(struct logs *l)
{
	int want = l->attempt ? l->attempt + 1 : l->first;

	if (want <= l->last && want <= l->newest)
		return 1;
	if (!l->follow || l->ended || want > l->last)
		return l->follow && !l->ended && l->newest <= l->attempt ? 0 : -1;
	return 0;
}

static void pump(struct logs *l)
{
	struct exchange *ex = l->ex;
	size_t sent = 0;
	struct err err;

	while (answer_room(ex)) {
		struct source *s = next_source(l);
		if (s) {
			sent += send_piece(l, s);
			if (sent > TURN_BYTES) {
				http_conn_timer(ex->conn, 0);
				return;
			}
			continue;
		}
		int next = next_attempt(l);
		if (next == 0)
			return;
		if (next < 0) {
			answer_end(ex);
			return;
		}
		if (open_attempt(l, l->attempt ? l->attempt + 1 : l->first, &err) < 0) {
			ex->body_over =
				false; /* cut off: the client sees that it is not whole */
			http_conn_answered(ex);
			return;
		}
	}
}

static void logs_pump(struct exchange *ex)
{
	pump(ex->state);
}

static void logs_event(struct exchange *ex, const struct event *e)
{
	struct logs *l = ex->state;

	if (e->kind != EV_PLACED && e->kind != EV_ENDED)
		return;
	if (e->kind == EV_PLACED && e->attempt > l->newest)
		l->newest = e->attempt;
	l->ended |= e->kind == EV_ENDED;
	for (size_t i = 0; i < l->source_count; i++)
		l->sources[i].more = true; /* once more, now that it is over */
	pump(l);
}

/* "rank:attempt:offset,..." */
static int read_from(struct logs *l, const char *text, struct err *err)
{
	AUTO_FREE char *copy = mem_strdup(text);
	char *rest = copy;

	for (char *item; (item = strsep(&rest, ",")) && *item;) {
		char *rank = strsep(&item, ":"),
		     *attempt = item ? strsep(&item, ":") : NULL;
		struct log_from f;
		if (!attempt || !item || str_to_i64(rank, 0, INT_MAX, &f.rank) < 0 ||
		    str_to_i64(attempt, 1, INT_MAX, &f.attempt) < 0 ||
		    str_to_i64(item, 0, INT64_MAX, &f.offset) < 0 ||
		    l->from_count == FROM_MAX)
			return err_set(err, ERR_INVALID,
				       "from: '%s' is not RANK:ATTEMPT:OFFSET,...", text);
		mem_grow(&l->from, &l->from_cap, l->from_count, sizeof *l->from);
		l->from[l->from_count++] = f;
		if (l->from_count == 1 || f.attempt < l->first)
			l->first = (int)f.attempt;
	}
	return 0;
}

static void read_attempt(struct logs *l)
{
	int one = (int)param_int(l->ex, "attempt", 0);

	l->last = one ? one : INT_MAX;
	if (one)
		l->first = one;
	else if (str_eq(param_text(l->ex, "attempt"), "all"))
		l->first = 1;
}

static int read_task(struct logs *l, struct err *err)
{
	l->task = param_int(l->ex, "task", -1);
	if (l->task < (int64_t)l->task_count)
		return 0;
	return err_set(err, ERR_INVALID,
		       "task: '%lld' is not all or a rank from 0 to %zu",
		       (long long)l->task, l->task_count - 1);
}

/* An array has no output of its own: which of its members to ask for, a failed one first. */
static int refuse_array(const struct job *j, struct err *err)
{
	long long id = (long long)j->id;
	bool bad = j->members.failed + j->members.stopped > 0;

	return err_set(
		err, ERR_CONFLICT,
		"job %lld is an array: its members have output, %lld.0 to %lld.%d; "
		"try yard logs %lld.%lld%s",
		id, id, id, j->spec->array.count - 1, id, (long long)j->members.not_ok[0],
		bad ? ", which did not succeed" : "");
}

static int read_question(struct logs *l, const struct job *j, struct err *err)
{
	const struct exchange *ex = l->ex;
	const char *from = param_text(ex, "from");

	if (job_is_array(j))
		return refuse_array(j, err);
	l->task_count =
		(size_t)spec_task_count(j->spec); /* an attempt may have had fewer */
	l->newest = j->attempt;
	l->ended = !yard_live(ex->server->config.yard, j->id);
	l->first = j->attempt ? j->attempt : 1;
	l->tail = param_int(ex, "tail", -1);
	l->since_us = param_int(ex, "since_ms", 0) * 1000;
	l->frames = str_eq(param_text(ex, "format"), "frames");
	l->follow = param_bool(ex, "follow");
	read_attempt(l);
	if (read_task(l, err) < 0)
		return -1;
	return from ? read_from(l, from, err) : 0;
}

void handle_logs(struct exchange *ex)
{
	static const struct exchange_ops ops = {
		.room = logs_pump,
		.event = logs_event,
		.timer = logs_pump,
		.gone = logs_gone,
	};
	struct err err;
	AUTO_JOB struct job *owned = NULL;
	const struct job *j = view_find(ex, &owned, &err);
	struct logs *l = mem_alloc(1, sizeof *l);

	l->ex = ex;
	ex->state = l;
	ex->ops = &ops;
	if (!j || read_question(l, j, &err) < 0) {
		answer_error(ex, &err);
		return;
	}
	if (l->follow && !l->ended)
		server_park(ex, ex->job);
	answer_begin(ex, 200, l->frames ? WIRE_LOG_TYPE : "text/plain; charset=utf-8");
	pump(l);
}
