// SPDX-License-Identifier: Apache-2.0
/* Why a job waits, of one that is there or that would be submitted. */
#include "http/why.h"

#include "base/mem.h"
#include "http/handlers.h"
#include "http/route.h"
#include "http/view.h"

static void write_ahead(struct json *j, const struct yard *y, const struct yard_reason *r)
{
	json_i64(j, "ahead_count", (int64_t)r->ahead);
	json_array(j, "ahead");
	for (size_t i = 0; i < r->job_count; i++) {
		const struct job *job = yard_live(y, r->jobs[i]);
		if (!job)
			continue;
		json_object(j, NULL);
		json_i64(j, "id", job->id);
		json_str(j, "name", job->spec->name);
		json_str(j, "owner", job->owner);
		json_str(j, "group", job->group);
		json_end(j);
	}
	json_end(j);
}

static void write_time(struct json *j, const char *key, int64_t ms)
{
	if (ms == INT64_MAX)
		json_null(j, key);
	else
		json_i64(j, key, ms);
}

static void write_estimate(struct json *j, const struct plan_when *w)
{
	if (w->soonest_ms == INT64_MAX) {
		json_null(j, "estimate");
		return;
	}
	json_object(j, "estimate");
	json_i64(j, "soonest_ms", w->soonest_ms);
	write_time(j, "likely_ms", w->likely_ms);
	write_time(j, "latest_ms", w->latest_ms);
	json_i64(j, "sure", w->sure);
	json_array(j, "after");
	for (size_t i = 0; i < w->after_count; i++) {
		json_object(j, NULL);
		json_i64(j, "id", w->after[i].job);
		json_i64(j, "ends_ms", w->after[i].end_ms);
		json_end(j);
	}
	json_end(j);
	json_end(j);
}

void why_write(struct json *j, const struct yard *y, const struct yard_reason *r)
{
	bool waits = r->kind != PLAN_REASON_NONE;

	json_str(j, "kind", waits ? plan_reason_word(r->kind) : NULL);
	json_str(j, "reason", waits ? buf_str(&r->cause) : NULL);
	if (waits)
		json_i64(j, "position", r->position);
	else
		json_null(j, "position");
	json_i64(j, "waiting", (int64_t)r->waiting);
	write_ahead(j, y, r);
	if (r->freed)
		json_i64(j, "freed_by", r->freed);
	else
		json_null(j, "freed_by");
	if (waits)
		write_estimate(j, &r->when);
	else
		json_null(j, "estimate");
	json_array(j, "offers");
	for (size_t i = 0; i < r->offer_count; i++) {
		json_object(j, NULL);
		json_str(j, "text", r->offers[i].text);
		json_str(j, "flags", r->offers[i].flags);
		json_end(j);
	}
	json_end(j);
}

void handle_why(struct exchange *ex)
{
	struct yard *y = ex->server->config.yard;
	struct buf *out = answer_scratch(ex);
	AUTO_BUF struct buf words = { 0 };
	struct yard_reason reason;
	struct json j;
	struct err err;
	AUTO_JOB struct job *owned = NULL;
	const struct job *job = view_find(ex, &owned, &err);

	if (!job) {
		answer_error(ex, &err);
		return;
	}
	if (job->state != JOB_ENDED)
		yard_why(y, job, ex->who, &words);
	yard_reason(y, job, ex->who, &reason);
	json_init(&j, out);
	json_object(&j, NULL);
	json_i64(&j, "id", job->id);
	json_str(&j, "state", job_state_word(job->state));
	json_str(&j, "why", words.len ? words.data : job->reason ? job->reason : "");
	why_write(&j, y, &reason);
	json_end(&j);
	yard_reason_fini(&reason);
	answer_json(ex, 200, out);
}

/* Checks everything a submit would, and says what would happen now. */
void why_dry_run(struct exchange *ex, const struct spec *spec)
{
	struct yard *y = ex->server->config.yard;
	struct buf *out = answer_scratch(ex);
	AUTO_BUF struct buf words = { 0 }, text = { 0 };
	struct yard_reason reason;
	struct json j;
	struct err err;

	if (yard_try(y, ex->who, spec, &reason, &err) < 0) {
		yard_reason_fini(&reason);
		answer_error(ex, &err);
		return;
	}
	if (reason.kind == PLAN_REASON_NEW)
		buf_adds(&words, "it would start at once");
	else
		buf_printf(&words, "it would wait: %s", buf_str(&reason.cause));
	spec_to_json(spec, &text);
	json_init(&j, out);
	json_object(&j, NULL);
	json_bool(&j, "dry_run", true);
	json_str(&j, "words", buf_str(&words));
	why_write(&j, y, &reason);
	json_raw(&j, "spec", buf_str(&text));
	json_end(&j);
	yard_reason_fini(&reason);
	answer_json(ex, 200, out);
}
