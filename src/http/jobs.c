// SPDX-License-Identifier: Apache-2.0
/* Reading jobs: show, usage; and stopping one. */
#include "http/view.h"

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "http/handlers.h"
#include "http/limits.h"
#include "http/route.h"
#include "http/shown.h"
#include "stream/usage.h"
#include "wire/api.h"
#include "yard/edit.h"

#define USAGE_TRIES    50
#define USAGE_PAUSE_MS 20

struct sight {
	const struct principal *who;
	bool may;
};

static void row_seen(void *arg, const struct store_row *row)
{
	struct sight *s = arg;

	s->may = who_may_see(s->who, row->owner, row->group);
}

bool view_may_see(struct exchange *ex, int64_t job)
{
	struct yard *y = ex->server->config.yard;
	const struct job *live = yard_live(y, job);
	struct sight s = { .who = ex->who };

	if (live)
		return who_may_see(ex->who, live->owner, live->group);
	store_row(yard_store(y), job, row_seen, &s, NULL);
	return s.may;
}

/* Whom it gave way to is told to those who may see both. */
static void hide_ways(struct exchange *ex, struct job *j)
{
	int kept = 0;

	if (j->way && !view_may_see(ex, j->way))
		j->way = 0;
	for (int i = 0; i < WAYS_NAMED; i++)
		if (j->ways.last[i] && view_may_see(ex, j->ways.last[i]))
			j->ways.last[kept++] = j->ways.last[i];
	while (kept < WAYS_NAMED)
		j->ways.last[kept++] = 0;
}

void view_job(struct exchange *ex, const struct job *j, struct buf *out)
{
	struct http_server *s = ex->server;
	struct job shown = *j; /* borrows what it points to */
	AUTO_BUF struct buf why = { 0 };
	size_t count = j->spec->output_count;
	char **outputs = mem_alloc(count + 1, sizeof *outputs);

	/* It is the members of an array that keep something. */
	for (size_t i = 0; i < count && s->config.depot && !job_is_array(j); i++)
		outputs[i] =
			depot_output_path(s->config.depot, j, j->spec->outputs[i].name);
	if (j->state != JOB_ENDED)
		yard_why(s->config.yard, j, ex->who, &why);
	hide_ways(ex, &shown);
	wire_job_write(out, &shown, (const char *const *)outputs,
		       why.len ? why.data : NULL);
	for (size_t i = 0; i < count; i++)
		free(outputs[i]);
	free(outputs);
}

void answer_job(struct exchange *ex, int status, const struct job *j)
{
	struct buf *json = answer_scratch(ex);

	view_job(ex, j, json);
	answer_json(ex, status, json);
}

const struct job *view_find(struct exchange *ex, struct job **owned, struct err *err)
{
	struct yard *y = ex->server->config.yard;
	const struct job *j = yard_live(y, ex->job);

	*owned = NULL;
	if (j)
		return j;
	return *owned = yard_load(y, ex->job, err);
}

void view_cleanup(struct job **owned)
{
	job_destroy(*owned);
}

void handle_show(struct exchange *ex)
{
	struct http_server *s = ex->server;
	uint64_t epoch = yard_deletions(s->config.yard);
	const struct shown_job *before = shown_get(s->shown, epoch, ex->job);
	struct buf *json = answer_scratch(ex);
	struct err err;
	AUTO_JOB struct job *owned = NULL;

	if (before) {
		answer_json(ex, 200, &before->json);
		return;
	}
	const struct job *j = view_find(ex, &owned, &err);
	if (!j) {
		answer_error(ex, &err);
		return;
	}
	view_job(ex, j, json);
	/* What is kept is for everybody. */
	if (owned && j->state == JOB_ENDED && !j->ways.count && !j->way)
		shown_put(s->shown, epoch, j, json);
	answer_json(ex, 200, json);
}

/* The series of an attempt, oldest first: [time_ms, cpu_ms, memory_bytes, pids]. */
static void write_samples(struct exchange *ex, struct json *j, const struct task_ref *ref,
			  int64_t from_ms)
{
	AUTO_FREE char *folder = yard_attempt_folder(ex->server->config.yard, ref->job,
						     ref->task, ref->attempt);
	AUTO_FREE struct usage_sample *s = NULL;
	struct err ignored; /* no series is an empty one */
	size_t count = 0;

	json_array(j, "samples");
	if (usage_read(folder, &s, &count, &ignored) < 0)
		count = 0;
	for (size_t i = 0; i < count; i++) {
		if (s[i].time_ms < from_ms)
			continue;
		json_array(j, NULL);
		json_i64(j, NULL, s[i].time_ms);
		json_i64(j, NULL, s[i].cpu_ms);
		json_i64(j, NULL, s[i].memory_bytes);
		json_i64(j, NULL, s[i].pids);
		json_end(j);
	}
	json_end(j);
}

/* Also after its end: the files stay as long as the job does. */
void handle_usage_series(struct exchange *ex)
{
	struct buf *out = answer_scratch(ex);
	struct err err;
	AUTO_JOB struct job *owned = NULL;
	const struct job *job = view_find(ex, &owned, &err);
	struct task_ref ref = { .job = ex->job, .task = (int)param_int(ex, "task", 0) };
	struct json j;

	if (job && (size_t)ref.task >= job->task_count) {
		err_set(&err, ERR_NOT_FOUND, "task: job %lld has tasks 0 to %zu, not %d",
			(long long)ex->job, job->task_count - 1, ref.task);
		job = NULL;
	}
	if (!job) {
		answer_error(ex, &err);
		return;
	}
	ref.attempt = (int)param_int(ex, "attempt", job->attempt);
	json_init(&j, out);
	json_object(&j, NULL);
	json_i64(&j, "task", ref.task);
	json_i64(&j, "attempt", ref.attempt);
	write_samples(ex, &j, &ref, param_int(ex, "from_ms", 0));
	json_end(&j);
	answer_json(ex, 200, out);
}

static void usage_again(struct exchange *ex)
{
	handle_usage(ex);
}

void handle_usage(struct exchange *ex)
{
	static const struct exchange_ops waiting = { .timer = usage_again };
	intptr_t tries = (intptr_t)ex->state;
	struct buf *out = answer_scratch(ex);
	struct engine_usage u;
	struct json j;
	struct err err;
	int task = (int)param_int(ex, "task", 0);

	if (yard_usage(ex->server->config.yard, ex->job, task, &u, &err) < 0) {
		if (err.code == ERR_BUSY && tries < USAGE_TRIES) { /* measured just now */
			ex->ops = &waiting;
			ex->state = (void *)(tries + 1);
			http_conn_timer(ex->conn, USAGE_PAUSE_MS);
			return;
		}
		answer_error(ex, &err);
		return;
	}
	json_init(&j, out);
	json_object(&j, NULL);
	json_i64(&j, "task", task);
	json_i64(&j, "time_ms", u.time_ms);
	json_i64(&j, "cpu_ms", u.cpu_ms);
	json_i64(&j, "memory_bytes", u.memory_bytes);
	json_i64(&j, "memory_peak_bytes", u.memory_peak_bytes);
	json_i64(&j, "pids", u.pids);
	const struct job *job = yard_live(ex->server->config.yard, ex->job);
	struct task_ref ref = { ex->job, task, job ? job->attempt : 0 };
	write_samples(ex, &j, &ref, 0);
	json_end(&j);
	answer_json(ex, 200, out);
}

void answer_changed(void *arg, int64_t job, bool again, const struct err *e)
{
	struct exchange *ex = arg;
	struct err err;

	(void)job;
	(void)again;
	if (ex->conn && e) {
		answer_error(ex, e);
	} else if (ex->conn) {
		AUTO_JOB struct job *owned = NULL;
		const struct job *j = view_find(ex, &owned, &err);
		if (j)
			answer_job(ex, 200, j);
		else
			answer_error(ex, &err);
	}
	exchange_drop(ex);
}

/* The body is optional: {"reason": "...", "now": true} */
void handle_stop(struct exchange *ex)
{
	AUTO_DOC struct doc *d = NULL;
	const char *reason = NULL;
	bool now = false;
	struct err err;

	if (ex->body.len) {
		d = doc_parse_json(ex->body.data, ex->body.len, &err);
		if (!d || doc_root(d)->kind != DOC_MAP) {
			err_set(&err, ERR_INVALID,
				"the body is not a JSON object such as {\"reason\": \"...\"}");
			answer_error(ex, &err);
			return;
		}
		reason = doc_str(doc_root(d), "reason", NULL);
		now = doc_bool(doc_root(d), "now", false);
	}
	exchange_hold(ex);
	if (now)
		yard_kill(ex->server->config.yard, ex->who, ex->job, reason,
			  answer_changed, ex);
	else
		yard_stop(ex->server->config.yard, ex->who, ex->job, reason,
			  answer_changed, ex);
}
