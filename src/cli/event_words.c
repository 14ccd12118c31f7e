// SPDX-License-Identifier: Apache-2.0
#include "cli/event_words.h"

#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/units.h"

static void submitted(const struct wire_event *e, struct buf *out)
{
	buf_printf(out, "%s by %s", doc_str(doc_get(e->body, "spec"), "name", ""),
		   doc_str(e->body, "by", "somebody"));
}

static void placed(const struct wire_event *e, struct buf *out)
{
	const struct doc_node *places = doc_get(e->body, "places");
	const char *before = "";

	buf_printf(out, "attempt %" PRId64 " on", doc_i64(e->body, "attempt", 0));
	for (const struct doc_node *p = places ? places->first : NULL; p; p = p->next) {
		const char *node = doc_str(p, "node", "");
		if (!str_eq(node, before))
			buf_printf(out, "%s %s", *before ? "," : "", node);
		before = node;
	}
}

static void task(const struct wire_event *e, struct buf *out)
{
	buf_printf(out, "task %" PRId64, doc_i64(e->body, "task", 0));
	if (doc_i64(e->body, "attempt", 1) > 1)
		buf_printf(out, " of attempt %" PRId64, doc_i64(e->body, "attempt", 1));
}

static void exited(const struct wire_event *e, struct buf *out)
{
	const struct doc_node *map = doc_get(e->body, "exit");
	struct task_exit x = { .code = (int)doc_i64(map, "code", 0),
			       .signal = (int)doc_i64(map, "signal", 0),
			       .peak_bytes = doc_i64(map, "peak", 0),
			       .limit_bytes = doc_i64(map, "limit", 0) };
	const char *text = doc_str(map, "text", "");

	exit_kind_from_word(doc_str(map, "kind", ""), &x.kind);
	memcpy(x.text, text, strnlen(text, sizeof x.text - 1));
	task(e, out);
	buf_adds(out, ": ");
	exit_words(&x, out);
}

static void stop(const struct wire_event *e, struct buf *out)
{
	const char *by = doc_str(e->body, "by", NULL),
		   *text = doc_str(e->body, "text", NULL);

	buf_adds(out, doc_str(e->body, "stop", "asked to stop"));
	if (doc_get(e->body, "for"))
		buf_printf(out, ", for job %" PRId64, doc_i64(e->body, "for", 0));
	if (by)
		buf_printf(out, ", by %s", by);
	if (text)
		buf_printf(out, ": %s", text);
}

static void retry(const struct wire_event *e, struct buf *out)
{
	char pause[UNITS_TEXT_MAX];

	buf_printf(out, "%s; again in %s", doc_str(e->body, "text", "it failed"),
		   units_show_duration(doc_i64(e->body, "until", e->time_ms) - e->time_ms,
				       pause));
}

static void ended(const struct wire_event *e, struct buf *out)
{
	const char *outcome = doc_str(e->body, "outcome", ""),
		   *text = doc_str(e->body, "text", "");

	buf_adds(out, outcome);
	if (*text && !str_eq(text, outcome))
		buf_printf(out, ": %s", text);
}

static void priority(const struct wire_event *e, struct buf *out)
{
	buf_printf(out, "%" PRId64 ", by %s", doc_i64(e->body, "priority", 0),
		   doc_str(e->body, "by", "somebody"));
}

static void member(const struct wire_event *e, struct buf *out)
{
	buf_printf(out, "number %" PRId64 " (job %" PRId64 ") %s",
		   doc_i64(e->body, "index", 0), doc_i64(e->body, "member", 0),
		   doc_str(e->body, "outcome", ""));
}

static void about(const struct wire_event *e, struct buf *out)
{
	static const char *const fields[] = { "by", "scope", "name", "text" };

	for (size_t i = 0; i < COUNT_OF(fields); i++) {
		const char *text = doc_str(e->body, fields[i], NULL);
		if (text)
			buf_printf(out, "%s%s", i && out->len ? " " : "", text);
	}
}

static void text(const struct wire_event *e, struct buf *out)
{
	buf_adds(out, doc_str(e->body, "text", ""));
}

static void killed(const struct wire_event *e, struct buf *out)
{
	const char *by = doc_str(e->body, "by", NULL);

	buf_adds(out, "killed what still ran");
	if (by)
		buf_printf(out, " at once, for %s", by);
}

/* clang-format off */
static const struct {
	enum event_kind kind;
	enum table_colour colour;
	void (*words)(const struct wire_event *e, struct buf *out);
} rows[] = {
	{ EV_SUBMITTED, TABLE_BOLD,  submitted },
	{ EV_PLACED,    TABLE_PLAIN, placed },
	{ EV_STARTED,   TABLE_BUSY,  task },
	{ EV_EXITED,    TABLE_PLAIN, exited },
	{ EV_STOP,      TABLE_WARN,  stop },
	{ EV_EXTENDED,  TABLE_WARN,  text },
	{ EV_GRACE_OVER, TABLE_WARN, killed },
	{ EV_RETRY,     TABLE_WARN,  retry },
	{ EV_ENDED,     TABLE_PLAIN, ended },
	{ EV_PRIORITY,  TABLE_PLAIN, priority },
	{ EV_MEMBER,    TABLE_PLAIN, member },
	{ EV_QUOTA,     TABLE_DIM,   about },
	{ EV_USER,      TABLE_DIM,   about },
	{ EV_AUDIT,     TABLE_DIM,   about },
};
/* clang-format on */

static enum table_colour ended_colour(const struct wire_event *e)
{
	const char *outcome = doc_str(e->body, "outcome", "");

	return str_eq(outcome, outcome_word(OUTCOME_SUCCEEDED)) ? TABLE_GOOD
	       : str_eq(outcome, outcome_word(OUTCOME_FAILED))  ? TABLE_BAD
								: TABLE_WARN;
}

enum table_colour event_words(const struct wire_event *e, struct buf *out)
{
	enum event_kind kind;

	if (event_kind_from_word(e->kind, &kind) < 0) {
		text(e, out);
		return TABLE_PLAIN;
	}
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		if (rows[i].kind != kind)
			continue;
		rows[i].words(e, out);
		return kind == EV_ENDED ? ended_colour(e) : rows[i].colour;
	}
	text(e, out);
	return TABLE_PLAIN;
}
