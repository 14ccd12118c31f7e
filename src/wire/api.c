// SPDX-License-Identifier: Apache-2.0
#include "wire/api.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "wire/outcome.h"
#include "wire/parts.h"

enum job_state wire_state_read(const struct doc_node *map)
{
	enum job_state s = JOB_NEW;

	job_state_from_word(doc_str(map, "state", ""), &s);
	return s;
}

enum outcome wire_outcome_read(const struct doc_node *map)
{
	const char *word = doc_str(map, "outcome", "");

	for (int o = 0; o < OUTCOME_COUNT; o++)
		if (str_eq(word, outcome_word((enum outcome)o)))
			return (enum outcome)o;
	return OUTCOME_NONE;
}

int wire_int(const struct doc_node *map, const char *key)
{
	int64_t v = doc_i64(map, key, 0);

	return v < INT32_MIN || v > INT32_MAX ? 0 : (int)v;
}

void wire_time_write(struct json *j, const char *key, int64_t ms)
{
	if (ms)
		json_i64(j, key, ms);
	else
		json_null(j, key);
}

void wire_row_write(struct json *j, const char *key, const struct wire_row *row)
{
	json_object(j, key);
	json_i64(j, "id", row->id);
	json_str(j, "name", row->name);
	json_str(j, "owner", row->owner);
	json_str(j, "group", row->group);
	json_str(j, "state", job_state_word(row->state));
	json_str(j, "outcome", row->outcome ? outcome_word(row->outcome) : NULL);
	json_str(j, "reason", row->reason && *row->reason ? row->reason : NULL);
	json_i64(j, "priority", row->priority);
	json_i64(j, "attempt", row->attempt);
	json_i64(j, "task_count", row->task_count);
	json_i64(j, "exit_code", row->exit_code);
	wire_time_write(j, "submitted_ms", row->submitted_ms);
	wire_time_write(j, "started_ms", row->started_ms);
	wire_time_write(j, "ended_ms", row->ended_ms);
	if (row->members) {
		json_object(j, "array");
		json_i64(j, "count", row->members);
		json_i64(j, "ended", row->members_ended);
		json_i64(j, "failed", row->members_failed);
		json_i64(j, "running", row->members_running);
		json_end(j);
	}
	if (row->array) {
		json_i64(j, "array_id", row->array);
		json_i64(j, "index", row->index);
	}
	json_end(j);
}

void wire_row_read(const struct doc_node *map, struct wire_row *out)
{
	const struct doc_node *array = doc_get(map, "array");

	*out = (struct wire_row){
		.id = doc_i64(map, "id", 0),
		.name = doc_str(map, "name", ""),
		.owner = doc_str(map, "owner", ""),
		.group = doc_str(map, "group", ""),
		.reason = doc_str(map, "reason", ""),
		.state = wire_state_read(map),
		.outcome = wire_outcome_read(map),
		.priority = wire_int(map, "priority"),
		.attempt = wire_int(map, "attempt"),
		.task_count = wire_int(map, "task_count"),
		.exit_code = wire_int(map, "exit_code"),
		.submitted_ms = doc_i64(map, "submitted_ms", 0),
		.started_ms = doc_i64(map, "started_ms", 0),
		.ended_ms = doc_i64(map, "ended_ms", 0),
		.array = doc_i64(map, "array_id", 0),
		.index = doc_i64(map, "index", 0),
		.members = doc_i64(array, "count", 0),
		.members_ended = doc_i64(array, "ended", 0),
		.members_failed = doc_i64(array, "failed", 0),
		.members_running = doc_i64(array, "running", 0),
	};
}

void wire_event_write(struct json *j, const char *key, const struct event *e)
{
	AUTO_BUF struct buf body = { 0 };

	event_encode(e, &body);
	json_object(j, key);
	json_i64(j, "seq", e->seq);
	json_i64(j, "time_ms", e->time_ms);
	json_i64(j, "job", e->job);
	json_str(j, "kind", event_kind_word(e->kind));
	json_raw(j, "body", buf_str(&body));
	json_end(j);
}

void wire_event_read(const struct doc_node *map, struct wire_event *out)
{
	*out = (struct wire_event){
		.seq = doc_i64(map, "seq", 0),
		.time_ms = doc_i64(map, "time_ms", 0),
		.job = doc_i64(map, "job", 0),
		.kind = doc_str(map, "kind", ""),
		.body = doc_get(map, "body"),
	};
}

/* A message that is about a field begins with it: "limit: ...".  How many bytes it has,
 * 0: it is about none. */
static size_t field_bytes(const struct err *err)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.[]";
	size_t n = strspn(err->text, plain);

	return str_starts(err->text + n, ": ") && wire_http_status(err->code) < 500 ? n
										    : 0;
}

void wire_error_write(struct buf *out, const struct err *err,
		      const struct problems *problems)
{
	struct json j;

	json_init(&j, out);
	json_object(&j, NULL);
	json_object(&j, "error");
	json_str(&j, "code", err_word(err->code));
	json_str(&j, "message", err->text);
	if (field_bytes(err) && !(problems && problems->count))
		json_strn(&j, "field", err->text, field_bytes(err));
	if (problems && problems->count) {
		json_str(&j, "field", problems->items[0].field);
		json_array(&j, "problems");
		for (size_t i = 0; i < problems->count; i++) {
			const struct problem *p = &problems->items[i];
			json_object(&j, NULL);
			json_i64(&j, "line", p->line);
			json_i64(&j, "column", p->column);
			json_str(&j, "field", p->field);
			json_str(&j, "message", p->text);
			json_end(&j);
		}
		json_end(&j);
	}
	json_end(&j);
	json_end(&j);
	buf_addc(out, '\n');
}

void wire_refusal_write(struct buf *out, const struct err *err, const char *reason)
{
	struct json j;

	json_init(&j, out);
	json_object(&j, NULL);
	json_object(&j, "error");
	json_str(&j, "code", err_word(err->code));
	json_str(&j, "message", err->text);
	json_str(&j, "reason", reason);
	json_end(&j);
	json_end(&j);
	buf_addc(out, '\n');
}

void wire_error_read(const char *body, size_t len, int status, struct err *out,
		     struct problems *problems)
{
	AUTO_DOC struct doc *d = doc_parse_json(body, len, NULL);
	const struct doc_node *e = d ? doc_get(doc_root(d), "error") : NULL;

	if (!e || e->kind != DOC_MAP) {
		err_set(out, wire_code_from_status(status),
			"the server answered with status %d", status);
		return;
	}
	const char *word = doc_str(e, "code", "");
	err_set(out, wire_code_from_word(word), "%s", doc_str(e, "message", word));

	const struct doc_node *list = doc_get(e, "problems");
	for (const struct doc_node *p = list ? list->first : NULL; p && problems;
	     p = p->next)
		problems_add(problems, wire_int(p, "line"), wire_int(p, "column"),
			     doc_str(p, "field", ""), "%s", doc_str(p, "message", ""));
}

static void put_le(uint8_t *out, uint64_t v, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		out[i] = (uint8_t)(v >> (8 * i));
}

static uint64_t get_le(const uint8_t *in, size_t bytes)
{
	uint64_t v = 0;

	for (size_t i = 0; i < bytes; i++)
		v |= (uint64_t)in[i] << (8 * i);
	return v;
}

void wire_log_head_write(const struct wire_log_head *h, uint8_t out[WIRE_LOG_HEAD_BYTES])
{
	put_le(out, h->rank, 4);
	put_le(out + 4, h->attempt, 4);
	put_le(out + 8, h->offset, 8);
}

void wire_log_head_read(const uint8_t in[WIRE_LOG_HEAD_BYTES], struct wire_log_head *out)
{
	out->rank = (uint32_t)get_le(in, 4);
	out->attempt = (uint32_t)get_le(in + 4, 4);
	out->offset = get_le(in + 8, 8);
}

/* clang-format off */
static const char *const state_words[JOB_STATE_COUNT] = {
	[JOB_NEW]        = "is being submitted",
	[JOB_HELD]       = "waits for the jobs it depends on",
	[JOB_QUEUED]     = "waits for its turn and for room",
	[JOB_STARTING]   = "has its place; its tasks are being started",
	[JOB_RUNNING]    = "is running",
	[JOB_STOPPING]   = "is being stopped",
	[JOB_COLLECTING] = "has finished; its outputs are being kept",
	[JOB_SETTLING]   = "has finished; what comes next is being decided",
	[JOB_BACKOFF]    = "failed and pauses before it is tried again",
	[JOB_OPEN]       = "its members are run, some at a time",
	[JOB_DRAINING]   = "is being stopped; members of it are still ending",
	[JOB_ENDED]      = "has ended",
};
/* clang-format on */

const char *wire_state_words(enum job_state s)
{
	return state_words[s];
}
