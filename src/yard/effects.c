// SPDX-License-Identifier: Apache-2.0
/* Effects on the outside, once their event is on disk.  Each means "make it so" and looks
 * at the job as it is now: what was overtaken meanwhile is not begun. */
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "contract/contract.h"
#include "who/who.h"
#include "yard/internal.h"
#include "yard/shelf.h"

#define LOG_LIMIT_BYTES (1ll << 30)

bool yard_has_outputs(const struct job *j)
{
	return j->spec->output_count > 0;
}

int64_t yard_uid_base(const struct yard *y, const char *owner)
{
	const struct user *u = map_gets(y->users, owner);

	if (y->config.uid_base < 0 || !u)
		return -1;
	return y->config.uid_base + (int64_t)u->slot * WHO_RANGE;
}

struct errand *yard_errand_begin(struct yard *y, int64_t job, int attempt)
{
	struct errand *e = mem_alloc(1, sizeof *e);

	*e = (struct errand){
		.yard = y, .job = job, .attempt = attempt, .next = y->errands
	};
	if (y->errands)
		y->errands->prev = e;
	y->errands = e;
	return e;
}

void yard_errand_end(struct errand *e)
{
	if (e->prev)
		e->prev->next = e->next;
	else
		e->yard->errands = e->next;
	if (e->next)
		e->next->prev = e->prev;
	free(e);
}

static struct task_ref ref_of(const struct job *j, size_t rank)
{
	return (struct task_ref){ .job = j->id,
				  .task = (int)rank,
				  .attempt = j->attempt };
}

/* Tasks that will never reach the engine end here, with the reason. */
static void end_unstarted(struct yard *y, struct live *l, const char *why)
{
	int64_t id = l->job->id;
	int attempt = l->job->attempt;

	for (size_t i = 0; i < l->job->task_count; i++) {
		struct event e = {
			.job = id, .kind = EV_EXITED, .attempt = attempt, .task = (int)i
		};

		e.exit.kind = EXIT_UNSTARTED;
		strncpy(e.exit.text, why, sizeof e.exit.text - 1);
		yard_record(y, &e, NULL, NULL);
	}
}

/* What all tasks of an attempt have in common. */
struct common {
	struct contract_peers *peers;
	struct secret_set *secrets;
	struct shelf_list shelf;
};

static void start_task(struct yard *y, struct live *l, size_t rank,
		       const struct depot_places *p, const struct common *common)
{
	const struct job *j = l->job;
	struct task_ref ref = ref_of(j, rank);
	AUTO_FREE char *folder = y->config.depot->ops->attempt_folder(
		y->config.depot, j->id, (int)rank, j->attempt);
	struct contract_places places = {
		.attempt_folder = folder,
		.yard = y->config.identity,
		.code = p->code,
		.code_bind = p->code_bind,
		.requirements = p->requirements,
		.code_wheels = p->code_wheels,
		.inputs = p->inputs,
		.input_files = p->input_files,
		.outputs = p->outputs,
		.input_binds = p->input_binds,
		.output_binds = p->output_binds,
		.pip = y->config.pip,
		.user_path = y->config.user_path,
		.uid_base = yard_uid_base(y, j->owner),
		.uid_count = WHO_RANGE,
		.peers = common->peers,
		.folders = common->shelf.items,
		.folder_count = common->shelf.count,
		.resume = p->resume,
		.resume_input = p->resume_input,
	};
	struct bundle *b;

	if (j->tasks[rank].state == TASK_RUNNING) {
		y->engine->ops->adopt(y->engine, &ref, folder);
		return;
	}
	b = contract_bundle(j, (int)rank, &places);
	b->secrets = secret_set_ref(common->secrets);
	for (size_t i = 0; i < common->shelf.missing_count; i++)
		bundle_note(b, "%s", common->shelf.missing[i]);
	b->log_limit_bytes =
		y->config.log_limit_bytes ? y->config.log_limit_bytes : LOG_LIMIT_BYTES;
	y->engine->ops->start(y->engine, b);
}

static void adopt(struct yard *y, struct live *l)
{
	const struct job *j = l->job;

	l->launched = true;
	for (size_t i = 0; i < j->task_count; i++) {
		struct task_ref ref = ref_of(j, i);
		AUTO_FREE char *folder = y->config.depot->ops->attempt_folder(
			y->config.depot, j->id, (int)i, j->attempt);
		if (j->tasks[i].state != TASK_OVER)
			y->engine->ops->adopt(y->engine, &ref, folder);
	}
}

/* notice NULL: kill. */
static void stop_task(struct yard *y, struct live *l, size_t rank, const char *notice)
{
	struct task_ref ref = ref_of(l->job, rank);

	if (l->job->tasks[rank].state != TASK_OVER)
		y->engine->ops->stop(y->engine, &ref, notice);
}

static void stop_tasks(struct yard *y, struct live *l, int task, bool kill)
{
	AUTO_BUF struct buf notice = { 0 };

	/* Not the engine's yet: what prepares them sees the state and starts none. */
	if (!l->launched) {
		y->config.depot->ops->cancel(y->config.depot, l->job->id);
		return;
	}
	if (!kill)
		contract_notice(l->job, yard_grace_end(y, l->job), &notice);
	for (size_t i = 0; i < l->job->task_count; i++)
		if (task < 0 || (size_t)task == i)
			stop_task(y, l, i, kill ? NULL : buf_str(&notice));
}

/* The attempt will not be begun.  Only the engine knows whether an earlier process did: it
 * finds what runs and fences what never began. */
static void do_not_begin(struct yard *y, struct live *l, const char *why)
{
	if (!l->maybe_begun) {
		end_unstarted(y, l, why);
		return;
	}
	adopt(y, l);
	if (l->job->state == JOB_STOPPING)
		stop_tasks(y, l, -1, l->job->killed);
}

static void prepared(void *arg, const struct depot_places *p, const struct err *err)
{
	struct errand errand = *(struct errand *)arg;
	struct yard *y = errand.yard;
	struct live *l = yard_find(y, errand.job);

	yard_errand_end(arg);
	if (!l || l->job->attempt != errand.attempt)
		return;
	if (l->launched)
		return;
	if (err) {
		do_not_begin(y, l, err->text);
		return;
	}
	if (l->job->state != JOB_STARTING) {
		do_not_begin(y, l, "stopped before it was started");
		return;
	}
	struct common common = { 0 };
	struct err lost;
	if (secrets_grant(y->config.secrets, l->job, &common.secrets, &lost) < 0) {
		do_not_begin(y, l, lost.text);
		return;
	}
	l->launched = true;
	common.peers = contract_peers_create(l->job, y->config.identity, p->requirements);
	shelf_list(y->shelf, l->job->owner, l->job->owner_uid, &common.shelf);
	for (size_t i = 0; i < l->job->task_count; i++)
		if (l->job->tasks[i].state != TASK_OVER)
			start_task(y, l, i, p, &common);
	shelf_list_fini(&common.shelf);
	contract_peers_destroy(common.peers);
	secret_set_unref(common.secrets);
}

static void prepare(struct yard *y, const struct job *j, struct errand *errand)
{
	y->config.depot->ops->prepare(y->config.depot, j, yard_uid_base(y, j->owner),
				      prepared, errand);
}

static void shelf_is_ready(void *arg)
{
	struct errand *errand = arg;
	struct live *l = yard_find(errand->yard, errand->job);

	if (!l || l->job->attempt != errand->attempt) {
		yard_errand_end(errand);
		return;
	}
	prepare(l->yard, l->job, errand);
	/* Stopped while it waited: then there was nothing to cancel yet. */
	if (l->job->state != JOB_STARTING)
		l->yard->config.depot->ops->cancel(l->yard->config.depot, l->job->id);
}

static void launch(struct yard *y, struct live *l)
{
	const struct job *j = l->job;
	struct errand *errand = yard_errand_begin(y, j->id, j->attempt);

	l->launched = false;
	l->maybe_begun = y->booting;
	if (shelf_ready(y->shelf, j->owner, j->owner_uid, shelf_is_ready, errand))
		prepare(y, j, errand);
}

static void collected(void *arg, const struct err *err)
{
	struct errand errand = *(struct errand *)arg;
	struct yard *y = errand.yard;
	struct live *l = yard_find(y, errand.job);
	struct event e = { .job = errand.job,
			   .kind = EV_COLLECTED,
			   .attempt = errand.attempt };

	yard_errand_end(arg);
	if (l)
		l->collecting = false;
	if (err)
		e.text = mem_strdup(err->text);
	yard_record(y, &e, NULL, NULL);
}

static void collect(struct yard *y, struct live *l)
{
	if (l->collecting || l->job->state != JOB_COLLECTING)
		return;
	l->collecting = true;
	y->config.depot->ops->collect(y->config.depot, l->job, collected,
				      yard_errand_begin(y, l->job->id, l->job->attempt));
}

/* The one timer of a job; its state says what the time means. */
static void on_timer(void *arg)
{
	struct live *l = arg;
	struct event e = { .job = l->job->id };

	switch (l->job->state) {
	case JOB_STARTING:
	case JOB_RUNNING:
		e.kind = EV_STOP;
		e.stop = STOP_TIME_LIMIT;
		break;
	case JOB_STOPPING:
		yard_grace_due(l->yard, l);
		return;
	case JOB_BACKOFF:
		e.kind = EV_REQUEUED;
		break;
	case JOB_NEW:
	case JOB_HELD:
	case JOB_QUEUED:
	case JOB_COLLECTING:
	case JOB_SETTLING:
	case JOB_OPEN:
	case JOB_DRAINING:
	case JOB_ENDED:
	case JOB_STATE_COUNT:
		return;
	}
	yard_record(l->yard, &e, NULL, NULL);
}

void yard_set_timer(struct yard *y, struct live *l, int64_t mono_ms)
{
	if (!l->timer)
		l->timer = world_timer_create(y->world, on_timer, l);
	world_timer_at(l->timer, mono_ms);
}

/* Wall-clock moments become durations at once: a clock that jumps later moves nothing. */
static void set_timer(struct yard *y, struct live *l, int64_t at_ms)
{
	int64_t left = at_ms - world_now_ms(y->world);

	yard_set_timer(y, l, world_mono_ms(y->world) + (left > 0 ? left : 0));
}

static void forget(struct yard *y, struct live *l)
{
	const struct job *j = l->job;

	for (size_t i = 0; i < j->task_count && j->attempt; i++) {
		struct task_ref ref = ref_of(j, i);
		AUTO_FREE char *folder = y->config.depot->ops->attempt_folder(
			y->config.depot, j->id, (int)i, j->attempt);
		y->engine->ops->forget(y->engine, &ref, folder);
	}
}

void yard_act(struct yard *y, struct live *l, uint32_t effects, int task)
{
	const struct job *j = l->job;

	if (effects & FX_LAUNCH)
		launch(y, l);
	if (effects & FX_ADOPT)
		adopt(y, l);
	if (effects & FX_WATCH_LIMIT && j->spec->time_limit_ms && j->started_ms &&
	    (j->state == JOB_STARTING || j->state == JOB_RUNNING))
		set_timer(y, l, j->started_ms + j->spec->time_limit_ms);
	if (effects & FX_WATCH_LIMIT)
		yard_keep_watch(y, l);
	if (effects & FX_TERM && j->state == JOB_STOPPING) {
		yard_grace_begin(y, l);
		stop_tasks(y, l, task, j->killed);
	}
	if (effects & FX_KILL && j->state == JOB_STOPPING)
		stop_tasks(y, l, -1, true);
	if (effects & FX_COLLECT && yard_has_outputs(j))
		collect(y, l);
	if (effects & FX_PAUSE && j->state == JOB_BACKOFF)
		set_timer(y, l, j->retry_at_ms);
	if (effects & (FX_PAUSE | FX_FORGET))
		forget(y, l);
}

static void sink_started(void *arg, const struct task_ref *ref)
{
	struct event e = { .kind = EV_STARTED,
			   .job = ref->job,
			   .attempt = ref->attempt,
			   .task = ref->task };

	yard_record(arg, &e, NULL, NULL);
}

static void sink_exited(void *arg, const struct task_ref *ref,
			const struct task_exit *exit)
{
	struct event e = { .kind = EV_EXITED,
			   .job = ref->job,
			   .attempt = ref->attempt,
			   .task = ref->task };

	e.exit = *exit;
	yard_record(arg, &e, NULL, NULL);
}

static void sink_node(void *arg, const struct node *n)
{
	yard_node_reported(arg, n);
}

void yard_sink(struct yard *y, struct engine_sink *out)
{
	*out = (struct engine_sink){ y, sink_started, sink_exited, sink_node };
}
