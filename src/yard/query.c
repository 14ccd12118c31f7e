// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/units.h"
#include "who/who.h"
#include "yard/internal.h"

const struct job *yard_live(const struct yard *y, int64_t job)
{
	struct live *l = yard_find(y, job);

	return l ? l->job : NULL;
}

size_t yard_live_count(const struct yard *y)
{
	return map_count(y->live);
}

bool yard_uses_code(const struct yard *y, const char *hash)
{
	const struct live *l;

	for (size_t it = 0; (l = map_next(y->live, &it));)
		if (l->job->spec->code && strcmp(l->job->spec->code, hash) == 0)
			return true;
	return false;
}

struct store *yard_store(struct yard *y)
{
	return y->config.store;
}

struct loading {
	struct job *job;
	int64_t next_seq;
	int count; /* of this page */
};

static void fold_one(void *arg, const struct event *e)
{
	struct loading *l = arg;

	l->count++;
	l->next_seq = e->seq + 1;
	if (e->kind == EV_SUBMITTED && !l->job)
		l->job = job_create(e, NULL);
	else if (l->job && job_legal(l->job, e))
		job_apply(l->job, e);
}

static void take_row(void *arg, const struct store_row *row)
{
	struct job *j = arg;

	j->state = row->state;
	j->outcome = row->outcome;
	j->started_ms = row->started_ms;
	j->ended_ms = row->ended_ms;
	j->members.made = j->members.ended = row->members_ended;
	j->members.failed = row->members_failed;
	free(j->reason);
	j->reason = mem_strdup(row->reason);
}

struct job *yard_load(struct yard *y, int64_t job, struct err *err)
{
	struct loading l = { .count = STORE_LIMIT_MAX };

	while (l.count == STORE_LIMIT_MAX) {
		l.count = 0;
		if (store_events(y->config.store, job, l.next_seq, STORE_LIMIT_MAX,
				 fold_one, &l, err) < 0) {
			job_destroy(l.job);
			return NULL;
		}
		/* An array has an event for each member: its row knows what they come to. */
		if (l.job && job_is_array(l.job) && l.count == STORE_LIMIT_MAX &&
		    store_row(y->config.store, job, take_row, l.job, NULL) == 0)
			break;
	}
	if (!l.job)
		err_set(err, ERR_NOT_FOUND, "there is no job %lld", (long long)job);
	return l.job;
}

struct asker {
	const struct yard *yard;
	const struct principal *who; /* NULL: one who may see all */
};

static bool asker_sees(void *arg, int64_t job)
{
	const struct asker *a = arg;
	const struct job *j = yard_live(a->yard, job);

	return !a->who || (j && who_may_see(a->who, j->owner, j->group));
}

static void why_held(struct yard *y, const struct job *j, const struct plan_eyes *eyes,
		     struct buf *words)
{
	for (size_t i = 0; i < j->spec->after_count; i++) {
		const struct dependency *d = &j->spec->after[i];
		const struct job *on = yard_live(y, d->job);

		if (!on || on->state == JOB_ENDED)
			continue;
		buf_printf(words, "%sit waits for job %lld", words->len ? "; " : "",
			   (long long)d->job);
		if (eyes->see(eyes->arg, d->job)) /* its number is in the spec anyway */
			buf_printf(words, " (%s, %s)", on->spec->name,
				   job_state_word(on->state));
		buf_adds(words, d->ok ? " to succeed" : " to end");
	}
}

/* How far the grace of one that still writes checkpoints goes, for now. */
static void how_long(const struct yard *y, const struct job *j, struct buf *words)
{
	int64_t left = j->grace_until_ms - world_now_ms(y->world);
	char more[UNITS_TEXT_MAX];

	if (j->state == JOB_STOPPING && !j->killed && j->grace_until_ms)
		buf_printf(words,
			   "; its checkpoints still grow, so it is not killed yet: it "
			   "has %s more, and longer while they do",
			   units_show_duration(left > 0 ? left : 0, more));
}

static void where_it_runs(const struct job *j, const struct plan_eyes *eyes,
			  struct buf *words)
{
	buf_printf(words, "it is %s", job_state_word(j->state));
	for (size_t i = 0; i < j->task_count && i < 4; i++)
		buf_printf(words, "%s%s", i ? ", " : " on ", j->tasks[i].place.node);
	if (j->task_count > 4)
		buf_printf(words, " and %zu more", j->task_count - 4);
	if (j->stop == STOP_PREEMPTED && eyes->see(eyes->arg, j->way))
		buf_printf(words, "; it was told to give way to job %lld, and comes back",
			   (long long)j->way);
	else if (j->stop == STOP_PREEMPTED)
		buf_adds(words,
			 "; it was told to give way to another job, and comes back");
}

static void why_backoff(const struct yard *y, const struct job *j, struct buf *words)
{
	int64_t left = j->retry_at_ms - world_now_ms(y->world);
	const char *reason = j->reason ? j->reason : "unknown";
	char pause[UNITS_TEXT_MAX];

	if (j->way)
		buf_printf(words, "attempt %d %s", j->attempt, reason);
	else
		buf_printf(words, "attempt %d failed (%s); it is tried again in %s",
			   j->attempt, reason,
			   units_show_duration(left > 0 ? left : 0, pause));
}

void yard_why(struct yard *y, const struct job *j, const struct principal *who,
	      struct buf *words)
{
	const struct plan_eyes eyes = { asker_sees, &(struct asker){ y, who } };

	switch (j->state) {
	case JOB_HELD:
		why_held(y, j, &eyes, words);
		break;
	case JOB_QUEUED:
		plan_why(y->plan, j->id, &eyes, words);
		break;
	case JOB_BACKOFF:
		why_backoff(y, j, words);
		break;
	case JOB_ENDED:
		buf_printf(words, "it does not wait: it has ended (%s): %s",
			   outcome_word(j->outcome), j->reason ? j->reason : "");
		break;
	case JOB_STARTING:
	case JOB_RUNNING:
	case JOB_STOPPING:
	case JOB_COLLECTING:
		buf_adds(words, "it does not wait: ");
		where_it_runs(j, &eyes, words);
		how_long(y, j, words);
		break;
	case JOB_OPEN:
	case JOB_DRAINING:
		yard_array_why(y, j, &eyes, words);
		break;
	case JOB_NEW:
	case JOB_SETTLING:
	case JOB_STATE_COUNT:
		buf_adds(words, "it is between two states");
		break;
	}
}

int yard_position(const struct yard *y, int64_t job)
{
	return plan_position(y->plan, job);
}

char *yard_attempt_folder(struct yard *y, int64_t job, int task, int attempt)
{
	return y->config.depot->ops->attempt_folder(y->config.depot, job, task, attempt);
}

static int running_task(struct yard *y, int64_t job, int task, struct task_ref *ref,
			struct err *err)
{
	const struct job *j = yard_live(y, job);

	if (!j)
		return err_set(err, ERR_CONFLICT, "job %lld does not run",
			       (long long)job);
	if (job_is_array(j))
		return err_set(
			err, ERR_CONFLICT,
			"job %lld is an array: it is its members that run, %lld.0 to "
			"%lld.%d",
			(long long)job, (long long)job, (long long)job,
			j->spec->array.count - 1);
	if (task < 0 || (size_t)task >= j->task_count)
		return err_set(err, ERR_NOT_FOUND, "job %lld has tasks 0 to %zu, not %d",
			       (long long)job, j->task_count - 1, task);
	if (j->tasks[task].state != TASK_RUNNING)
		return err_set(
			err, ERR_CONFLICT,
			"task %d of job %lld does not run (it is %s; the job is %s)",
			task, (long long)job, task_state_word(j->tasks[task].state),
			job_state_word(j->state));
	*ref = (struct task_ref){ .job = job, .task = task, .attempt = j->attempt };
	return 0;
}

int yard_exec(struct yard *y, const struct task_ref *which, const char *const *argv,
	      bool tty, struct world_stream **out, struct err *err)
{
	struct task_ref ref;

	if (running_task(y, which->job, which->task, &ref, err) < 0)
		return -1;
	return y->engine->ops->exec(y->engine, &ref, argv, tty, out, err);
}

int yard_usage(struct yard *y, int64_t job, int task, struct engine_usage *out,
	       struct err *err)
{
	struct task_ref ref;

	if (running_task(y, job, task, &ref, err) < 0)
		return -1;
	return y->engine->ops->usage(y->engine, &ref, out, err);
}

int yard_quota(const struct yard *y, const char *scope, const char *name,
	       struct quota *out)
{
	AUTO_FREE char *key = str_printf("%s/%s", scope, name);
	const struct quota_entry *entry = map_gets(y->quotas, key);

	if (!entry)
		return -1;
	*out = entry->quota;
	return 0;
}

void yard_each_quota(const struct yard *y,
		     void (*each)(void *arg, const char *scope, const char *name,
				  const struct quota *q),
		     void *arg)
{
	const struct quota_entry *entry;

	for (size_t it = 0; (entry = map_next(y->quotas, &it));)
		each(arg, entry->scope, entry->name, &entry->quota);
}

size_t yard_nodes(const struct yard *y, struct yard_node *out, size_t max)
{
	for (size_t i = 0; i < y->node_count && i < max; i++) {
		out[i] = (struct yard_node){ .node = y->nodes[i] };
		plan_node_used(y->plan, y->nodes[i].name, &out[i].used, &out[i].tasks);
	}
	return y->node_count;
}

struct yard_watch *
yard_watch_add(struct yard *y, void (*each)(void *arg, const struct event *e), void *arg)
{
	struct yard_watch *w = mem_alloc(1, sizeof *w);

	*w = (struct yard_watch){
		.yard = y, .each = each, .arg = arg, .next = y->watches
	};
	if (y->watches)
		y->watches->prev = w;
	y->watches = w;
	return w;
}

void yard_watch_remove(struct yard_watch *w)
{
	if (!w)
		return;
	if (w->yard->watch_next == w)
		w->yard->watch_next = w->next;
	if (w->prev)
		w->prev->next = w->next;
	else
		w->yard->watches = w->next;
	if (w->next)
		w->next->prev = w->prev;
	free(w);
}

int64_t yard_last_seq(const struct yard *y)
{
	return y->committed_seq;
}

void yard_set_limits(struct yard *y, int64_t max_jobs_per_user, int64_t max_priority,
		     int64_t log_limit_bytes)
{
	y->config.max_jobs_per_user = max_jobs_per_user;
	y->config.max_priority = max_priority;
	y->config.log_limit_bytes = log_limit_bytes;
}
