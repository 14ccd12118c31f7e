// SPDX-License-Identifier: Apache-2.0
#include "stream/log_metric.h"

#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/str.h"
#include "stream/stream.h"

#define STREAMS 2 /* of output: what is not whole of one is not mixed with the other */

struct line {
	struct buf text; /* as much of it as is looked at */
	int64_t time_us; /* of its first byte */
	bool begun;
};

struct log_source {
	int rank, attempt;
	uint64_t offset;
	struct line lines[STREAMS];
	uint64_t *counts; /* of matches, by metric */
};

/* A search of one line: what pattern_found needs. */
struct finding {
	struct metric_set *set;
	struct metric_run *run;
	const struct log_metric *metric;
	uint64_t *count;
	int64_t time_ms;
};

struct log_source *log_source_create(int rank)
{
	struct log_source *s = mem_alloc(1, sizeof *s);

	s->rank = rank;
	s->attempt = 1;
	return s;
}

void log_source_destroy(struct log_source *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < STREAMS; i++)
		buf_fini(&s->lines[i].text);
	free(s->counts);
	free(s);
}

int log_source_rank(const struct log_source *s)
{
	return s->rank;
}

int log_source_attempt(const struct log_source *s)
{
	return s->attempt;
}

size_t log_source_bytes(const struct log_source *s)
{
	return sizeof *s + s->lines[0].text.cap + s->lines[1].text.cap;
}

static void found(void *arg, const char *text, size_t len)
{
	struct finding *f = arg;
	struct series_point p = { .time_ms = f->time_ms };

	if (str_to_real(text, len, &p.value) < 0) {
		metric_set_problem(f->set, "metric %s: '%.*s' is not a number",
				   f->metric->name, (int)(len < 40 ? len : 40), text);
		return;
	}
	p.step = (int64_t)++ * f->count;
	metric_run_number(f->run, f->metric->name, strlen(f->metric->name), &p);
}

/* What all lines of one reading have in common. */
struct reading {
	struct log_source *source;
	const struct log_metric *metrics;
	size_t count;
	struct metric_set *set;
	struct metric_run *run;
	int64_t *budget;
};

/* Slow patterns are charged as the bytes that would take as long: a turn stays short. */
#define NS_A_BYTE 16

static void end_line(const struct reading *r, struct line *l)
{
	struct err err;

	for (size_t i = 0; i < r->count; i++) {
		struct finding f = { r->set, r->run, &r->metrics[i],
				     &r->source->counts[i], l->time_us / 1000 };
		int64_t before = pattern_cost_ns(r->metrics[i].pattern);
		if (pattern_search(r->metrics[i].pattern, buf_str(&l->text), l->text.len,
				   found, &f, &err) < 0)
			metric_set_problem(r->set, "metric %s: %s", r->metrics[i].name,
					   err.text);
		*r->budget -=
			(pattern_cost_ns(r->metrics[i].pattern) - before) / NS_A_BYTE;
	}
	buf_clear(&l->text);
	l->begun = false;
}

static void take_bytes(const struct reading *r, struct line *l, const char *data,
		       size_t len, int64_t time_us)
{
	while (len) {
		const char *end = memchr(data, '\n', len);
		size_t n = end ? (size_t)(end - data) : len;
		size_t room = PATTERN_LINE_MAX - l->text.len;
		if (!l->begun)
			l->time_us = time_us;
		l->begun = true;
		buf_add(&l->text, data, n < room ? n : room);
		if (end)
			end_line(r, l);
		n += end ? 1 : 0;
		data += n;
		len -= n;
	}
}

/* The attempt is over and read to its end: lines without an end are whole, too. */
static void end_attempt(const struct reading *r)
{
	struct log_source *s = r->source;

	for (size_t i = 0; i < STREAMS; i++)
		if (s->lines[i].begun)
			end_line(r, &s->lines[i]);
	s->attempt++;
	s->offset = 0;
}

/* 1: there is more; 0: that was all for now; -1: err. */
static int read_frames(const struct reading *r, const char *folder, int64_t *budget,
		       struct err *err)
{
	struct log_source *s = r->source;
	struct log_reader *reader = log_reader_open(folder, s->offset, err);
	struct logframe frame;
	const char *data;
	int got = reader ? 1 : -1;

	while (got > 0 && *budget > 0) {
		got = log_reader_next(reader, &frame, &data, err);
		if (got <= 0)
			break;
		*budget -= LOGFRAME_BYTES + frame.len;
		if (frame.stream == LOG_STDOUT || frame.stream == LOG_STDERR)
			take_bytes(r, &s->lines[frame.stream == LOG_STDERR], data,
				   frame.len, frame.time_us);
	}
	if (reader)
		s->offset = log_reader_offset(reader);
	log_reader_close(reader);
	return got;
}

bool log_source_read(struct log_source *s, const struct metrics_log *log,
		     const struct log_metric *metrics, size_t count,
		     struct metric_set *set, int64_t *budget)
{
	struct reading r = {
		s, metrics, count, set, metric_set_run(set, METRIC_LOG, log->run), budget
	};
	struct err err;

	if (log->attempt != s->attempt || !count || !r.run)
		return false;
	if (!s->counts)
		s->counts = mem_alloc(count, sizeof *s->counts);
	int got = read_frames(&r, log->folder, budget, &err);
	if (got < 0)
		metric_set_problem(set, "the log of run %s cannot be read: %s", log->run,
				   err.text);
	if (got <= 0 && log->over)
		end_attempt(&r);
	return got > 0;
}
