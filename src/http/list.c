// SPDX-License-Identifier: Apache-2.0
/* Lists of jobs: what the caller may see, newest first, by page. */
#include "http/view.h"

#include "base/str.h"
#include "http/handlers.h"
#include "http/limits.h"
#include "http/route.h"
#include "http/shown.h"
#include "store/list.h"
#include "wire/api.h"
#include "yard/stats.h"

static void list_row(void *arg, const struct store_row *r)
{
	wire_row_write(arg, NULL,
		       &(struct wire_row){ .id = r->id,
					   .name = r->name,
					   .owner = r->owner,
					   .group = r->group,
					   .reason = r->reason,
					   .state = r->state,
					   .outcome = r->outcome,
					   .priority = r->priority,
					   .attempt = r->attempt,
					   .task_count = r->task_count,
					   .exit_code = r->exit_code,
					   .submitted_ms = r->submitted_ms,
					   .started_ms = r->started_ms,
					   .ended_ms = r->ended_ms,
					   .array = r->array,
					   .index = r->index,
					   .members = r->members,
					   .members_ended = r->members_ended,
					   .members_failed = r->members_failed,
					   .members_running = r->members_running });
}

/* "live", "ended", "all", or the word of one state. */
static void read_state(const char *word, struct store_query *q)
{
	if (!word || str_eq(word, "all"))
		return;
	if (str_eq(word, "live") || str_eq(word, "ended")) {
		q->live = str_eq(word, "live");
		return;
	}
	q->live = 1;
	job_state_from_word(word, &q->state);
}

static int read_outcome(const char *word)
{
	for (int o = 0; word && o < OUTCOME_COUNT; o++)
		if (str_eq(word, outcome_word((enum outcome)o)))
			return o;
	return -1;
}

static void list_query(const struct exchange *ex, struct store_query *q)
{
	*q = (struct store_query){
		.live = -1,
		.owner = param_text(ex, "owner"),
		.group = param_text(ex, "group"),
		.name = param_text(ex, "name"),
		.search = param_text(ex, "search"),
		.label = param_text(ex, "label"),
		.array = param_int(ex, "array", 0),
		.outcome = read_outcome(param_text(ex, "outcome")),
		.before = param_int(ex, "before", 0),
		.limit = (int)param_int(ex, "limit", LIST_DEFAULT),
		.see = ex->who->role == ROLE_ADMIN ? NULL : ex->who,
	};
	read_state(param_text(ex, "state"), q);
}

/* Who sees the same and asks the same.  No name holds a line end, and no query does. */
static void list_key(const struct exchange *ex, struct buf *key)
{
	const struct principal *p = ex->who;

	if (p->role != ROLE_ADMIN) {
		buf_adds(key, p->name);
		for (size_t i = 0; i < p->group_count; i++) {
			buf_addc(key, '\n');
			buf_adds(key, p->groups[i]);
		}
	}
	buf_adds(key, "\n?");
	buf_adds(key, ex->head->query);
}

static int write_list(struct exchange *ex, struct buf *out, struct err *err)
{
	struct store_query q;
	struct json j;
	int64_t next;

	list_query(ex, &q);
	json_init(&j, out);
	json_object(&j, NULL);
	json_array(&j, "jobs");
	if (store_list(yard_store(ex->server->config.yard), &q, list_row, &j, &next,
		       err) < 0)
		return -1;
	json_end(&j);
	if (next)
		json_i64(&j, "next", next);
	else
		json_null(&j, "next");
	json_end(&j);
	return 0;
}

void handle_list(struct exchange *ex)
{
	struct shown *shown = ex->server->shown;
	uint64_t epoch = yard_commits(ex->server->config.yard);
	struct buf *out = answer_scratch(ex);
	AUTO_BUF struct buf key = { 0 };
	struct err err;

	list_key(ex, &key);
	const struct buf *before = shown_list(shown, epoch, buf_str(&key));
	if (before) {
		answer_json(ex, 200, before);
		return;
	}
	if (write_list(ex, out, &err) < 0) {
		answer_error(ex, &err);
		return;
	}
	shown_put_list(shown, epoch, buf_str(&key), out);
	answer_json(ex, 200, out);
}
