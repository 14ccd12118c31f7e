// SPDX-License-Identifier: Apache-2.0
/* internal.h - what the yard's own files share.
 *
 *   record.c   an event: append, fold, what follows in memory; commit; answer and act
 *   effects.c  what is done outside once an event is on disk
 *   boot.c     fold what the store has, find what runs, repeat what must be repeated
 *   held.c     jobs that wait for other jobs
 *   array.c    arrays and their members
 *   submit.c   what callers may ask for
 *   change.c   documents: changed with a line of the audit log, given to who keeps them
 *   edit.c     a job's priority; deleting it
 *   keep.c     checkpoints: a stop that waits for them, a plan that knows of them
 *   outside.c  what the depot asks for, and tells on the way
 *   place.c    the plan's deltas and decisions
 *   told.c     what the plan is told, written down (tape.c: the file)
 *   shelf.c    the storage tree as tasks see it
 *   share.c    how the nodes are shared: facts of nodes, rules of groups, the policy
 *   hope.c     how long jobs run and when they start, learned and scored
 *   why.c      why a job waits, behind whom, until when, and what would start now
 *   query.c    what callers may read
 */
#pragma once

#include "yard/feed.h"
#include "yard/plant.h"
#include "yard/state.h"

/* record.c: takes what the event owns.  The answer, if any, comes after the commit. */
void yard_record(struct yard *y, struct event *e, yard_done done, void *arg);
void yard_record_submit(struct yard *y, struct event *e, struct spec *spec,
			yard_done done, void *arg);
/* An EV_AUDIT with the documents it tells of; takes both. */
void yard_record_docs(struct yard *y, struct event *e, struct yard_doc *docs,
		      size_t count, yard_done done, void *arg);
/* An EV_AUDIT, or NULL, with the jobs that are deleted; takes both. */
void yard_record_forget(struct yard *y, struct event *e, struct forget *forgets,
			size_t count, yard_done done, void *arg);
void yard_answer(struct yard *y, int64_t job, bool again, yard_done done, void *arg);
void yard_refuse(struct yard *y, const struct err *err, yard_done done, void *arg);
void yard_kick(struct yard *y); /* a flush comes soon */
void yard_follow_up(struct yard *y, struct live *l,
		    uint32_t effects); /* those in memory */
struct live *yard_find(const struct yard *y, int64_t job);
struct live *yard_adopt_job(struct yard *y, struct job *j);
void yard_drop_job(struct yard *y, struct live *l);
void yard_mark_dirty(struct yard *y, struct live *l); /* its row goes into the batch */

/* effects.c */
/* task: the only one that FX_TERM concerns; -1: all. */
void yard_act(struct yard *y, struct live *l, uint32_t effects, int task);
bool yard_has_outputs(const struct job *j);
struct errand *yard_errand_begin(struct yard *y, int64_t job, int attempt);
void yard_errand_end(struct errand *e);
void yard_set_timer(struct yard *y, struct live *l, int64_t mono_ms); /* its only one */
int64_t yard_uid_base(const struct yard *y, const char *owner); /* -1: private mode */

/* outside.c */
struct depot_outside;
void yard_outside(struct yard *y, struct depot_outside *out);

/* change.c */
int yard_read_docs(struct yard *y, struct err *err); /* at boot: to their sinks */
void yard_free_docs(struct yard_doc *docs, size_t count);

/* stats.c */
void yard_count_event(struct yard *y, const struct event *e); /* durable */
void yard_count_commit(struct yard *y, int64_t took_ms);

/* edit.c */
bool yard_is_forgotten(const struct yard *y, int64_t job); /* not on disk yet */
void yard_forgotten(struct yard *y, const struct forget *forgets, size_t count);
void yard_free_forgets(struct forget *forgets, size_t count);
int yard_resume_forgetting(struct yard *y, struct err *err); /* at boot */

/* submit.c: all that a submit is checked for; what one who is not admin may give */
int yard_check_submit(struct yard *y, const struct principal *who, const struct spec *s,
		      struct err *err);
const char *yard_group_of(const struct principal *who, const struct spec *s);
int yard_check_priority(const struct yard *y, const struct principal *who, int priority,
			struct err *err);

/* range.c: whether uids are left for that user or "@group", who gets the next ones */
int yard_check_range(const struct yard *y, const char *key, struct err *err);
void yard_range_note(struct yard *y, const char *key);

/* boot.c */
int yard_boot(struct yard *y, struct err *err);

/* held.c: dependencies of a held job, looked at when it is held and when one ends */
void yard_check_held(struct yard *y, struct live *l);

/* array.c */
void yard_array_join(struct yard *y, const struct job *j); /* it is alive from now on */
void yard_array_left(struct yard *y, const struct job *j); /* its end is recorded */
void yard_array_moved(struct yard *y, const struct job *j, enum job_state before);
void yard_array_fill(struct yard *y, struct live *l);
void yard_array_drain(struct yard *y, struct live *l);
void yard_array_priority(struct yard *y, const struct live *l); /* those alive */
void yard_array_count(struct yard *y);  /* at boot, once all is folded */
void yard_array_resume(struct yard *y); /* at boot, last: make and stop what is due */
void yard_array_why(struct yard *y, const struct job *j, const struct plan_eyes *eyes,
		    struct buf *words);

void yard_sink(struct yard *y,
	       struct engine_sink *out); /* effects.c: the engine's reports */
void yard_note_user(struct yard *y, const char *name, int slot);
void yard_note_quota(struct yard *y, const char *scope, const char *name,
		     const struct quota *q);

struct yard_watch {
	struct yard *yard;
	void (*each)(void *arg, const struct event *e);
	void *arg;
	struct yard_watch *prev, *next;
};
