// SPDX-License-Identifier: Apache-2.0
/* The standard workload format of parallel machines: eighteen numbers a line, -1 for what
 * is not known, comments behind ';'.
 *
 * A processor is a device here.  Lines of jobs that never ran (no run time, or no
 * processors) are counted as skipped. */
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "base/buf.h"
#include "base/str.h"
#include "sim/parts.h"
#include "sim/sniff.h"

/* clang-format off */
enum field {
	NUMBER, SUBMIT, WAITED, RAN, GOT, CPU_TIME, MEM_USED, ASKED, TIME_ASKED, MEM_ASKED,
	STATUS, USER, GROUP, PROGRAM, QUEUE, PARTITION, BEFORE, THINK, FIELD_COUNT
};
static const char *const field_names[FIELD_COUNT] = {
	"job number", "submit time", "wait time", "run time", "allocated processors",
	"average cpu time", "used memory", "requested processors", "requested time",
	"requested memory", "status", "user", "group", "program", "queue", "partition",
	"preceding job", "think time",
};
/* clang-format on */

#define LINE_MAX_BYTES 4096
#define NUMBER_BYTES   40

struct line {
	int64_t number;
	const char *at, *end;
	int columns[FIELD_COUNT]; /* where a field begins, from 1 */
	int64_t values[FIELD_COUNT];
};

static int fault(const struct line *l, int column, struct err *err, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

static int fault(const struct line *l, int column, struct err *err, const char *fmt, ...)
{
	AUTO_BUF struct buf words = { 0 };
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(&words, fmt, ap);
	va_end(ap);
	return err_set(err, ERR_INVALID, "line %" PRId64 ", column %d: %s", l->number,
		       column, buf_str(&words));
}

static bool blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* "12", "-1", "12.75": the part behind the point is dropped (average times have one). */
static int to_number(const char *from, size_t len, int64_t *out)
{
	char text[NUMBER_BYTES];
	size_t whole;

	if (len >= sizeof text)
		return -1;
	memcpy(text, from, len);
	text[len] = '\0';
	whole = strcspn(text, ".");
	if (text[whole] && strspn(text + whole + 1, "0123456789") != len - whole - 1)
		return -1;
	text[whole] = '\0';
	return str_to_i64(text, -1, SIM_TIME_MAX_MS / 1000, out);
}

/* 1: a job's line was read; 0: empty or a comment. */
static int read_line(struct line *l, struct err *err)
{
	const char *s = l->at;
	int n = 0;

	if (l->end - l->at > LINE_MAX_BYTES)
		return fault(l, 1, err, "longer than %d bytes", LINE_MAX_BYTES);
	for (;;) {
		const char *from;
		while (s < l->end && blank(*s))
			s++;
		if (s == l->end || *s == ';')
			break;
		from = s;
		while (s < l->end && !blank(*s))
			s++;
		if (n == FIELD_COUNT)
			return fault(l, (int)(from - l->at) + 1, err,
				     "more than %d fields", FIELD_COUNT);
		if (to_number(from, (size_t)(s - from), &l->values[n]) < 0)
			return fault(l, (int)(from - l->at) + 1, err,
				     "field %d (%s) is not a number", n + 1,
				     field_names[n]);
		l->columns[n++] = (int)(from - l->at) + 1;
	}
	if (n && n < FIELD_COUNT)
		return fault(l, (int)(s - l->at) + 1, err, "%d fields; there must be %d",
			     n, FIELD_COUNT);
	return n > 0;
}

static const char *numbered(struct sim_trace *t, const char *what, int64_t number)
{
	AUTO_BUF struct buf text = { 0 };

	if (number < 0)
		return NULL;
	buf_adds(&text, what);
	buf_add_i64(&text, number);
	return sim_word(t, buf_str(&text));
}

static int take(const struct line *l, struct sim_trace *t, struct err *err)
{
	const int64_t *v = l->values;
	int64_t processors = v[ASKED] > 0 ? v[ASKED] : v[GOT];
	struct sim_job *j;

	if (v[SUBMIT] < 0)
		return fault(l, l->columns[SUBMIT], err, "a job must have a submit time");
	if (v[RAN] < 0 || processors <= 0) {
		t->skipped++;
		return 0;
	}
	if (processors > SIM_GPUS_MAX)
		return fault(l, l->columns[v[ASKED] > 0 ? ASKED : GOT], err,
			     "more than %d processors", SIM_GPUS_MAX);
	if (t->count == SIM_JOBS_MAX)
		return fault(l, 1, err, "more than %d jobs", SIM_JOBS_MAX);
	j = sim_trace_add(t);
	j->name = numbered(t, "", v[NUMBER]);
	j->submit_ms = v[SUBMIT] * 1000;
	j->duration_ms = v[RAN] * 1000;
	j->limit_ms = v[TIME_ASKED] > 0 ? v[TIME_ASKED] * 1000 : 0;
	/* Who outruns the limit was let do so there: to us the limit is what it took. */
	if (j->limit_ms && j->limit_ms < j->duration_ms)
		j->limit_ms = j->duration_ms;
	j->gpus = (int)processors;
	j->user = numbered(t, "u", v[USER]);
	j->group = numbered(t, "g", v[GROUP]);
	j->command = numbered(t, "program ", v[PROGRAM]);
	return 0;
}

static bool sniff(const char *text, size_t len)
{
	struct line l = { .number = 1, .end = text + len };
	struct err err;

	for (l.at = text; l.at < l.end && (blank(*l.at) || *l.at == '\n'); l.at++)
		;
	if (l.at < l.end && *l.at == ';')
		return true;
	const char *nl = memchr(l.at, '\n', (size_t)(l.end - l.at));
	l.end = nl ? nl : l.end;
	return read_line(&l, &err) > 0;
}

static int read(const char *text, size_t len, struct sim_trace *out, struct err *err)
{
	const char *end = text + len;
	struct line l = { .at = text };

	while (l.at < end) {
		const char *nl = memchr(l.at, '\n', (size_t)(end - l.at));
		int got;
		l.end = nl ? nl : end;
		l.number++;
		got = read_line(&l, err);
		if (got < 0 || (got > 0 && take(&l, out, err) < 0))
			return -1;
		l.at = nl ? nl + 1 : end;
	}
	sim_trace_sort(out);
	return 0;
}

const struct sim_reader sim_read_swf = {
	.name = "swf",
	.about = "standard workload format: 18 columns, ';' comments",
	.sniff = sniff,
	.read = read,
};
