// SPDX-License-Identifier: Apache-2.0
/* The laws of arrays, by the store's whole history: every number is made once and in order,
 * the array ends when the last of its members has, and what it counts is the truth. */
#include <string.h>

#include "base/mem.h"
#include "model.h"

void each_member(struct run *r, int64_t array,
		 void (*each)(struct run *r, const struct job *j, void *arg), void *arg)
{
	const struct job *j = yard_live(r->yard, array);
	int64_t id;

	for (int64_t i = 0; j && i < j->members.made; i++) {
		const struct job *member = NULL;
		if (store_find_member(r->store, array, i, &id, NULL) == 0)
			member = yard_live(r->yard, id);
		if (member)
			each(r, member, arg);
	}
}

#define MEMBERS_MOST 16

struct truth {
	struct run *r;
	int64_t array, next_seq;
	int page;
	int64_t made, ended, failed, stopped;
	int64_t ids[MEMBERS_MOST];
	struct job *fold; /* of the array itself */
	bool over;        /* its own end was seen */
};

static void end_of_member(struct truth *t, const struct event *e)
{
	for (int64_t i = 0; i < t->made; i++) {
		if (t->ids[i] != e->job)
			continue;
		t->ended++;
		t->failed += e->outcome == OUTCOME_FAILED;
		t->stopped += e->outcome == OUTCOME_STOPPED;
		if (t->over)
			broke(t->r, "member %lld of array %lld ended after the array",
			      (long long)i, (long long)t->array);
	}
}

static void own_event(struct truth *t, const struct event *e)
{
	if (e->kind == EV_SUBMITTED)
		t->fold = job_create(e, NULL);
	else
		job_apply(t->fold, e);
	/* The two stand in one batch, the member's end first. */
	if (e->kind == EV_MEMBER && t->fold->members.ended != t->ended)
		broke(t->r, "array %lld counts %lld ended members, there are %lld",
		      (long long)t->array, (long long)t->fold->members.ended,
		      (long long)t->ended);
	t->over |= e->kind == EV_ENDED;
}

static void see(void *arg, const struct event *e)
{
	struct truth *t = arg;

	t->page++;
	t->next_seq = e->seq + 1;
	if (e->job == t->array)
		own_event(t, e);
	if (e->kind == EV_ENDED)
		end_of_member(t, e);
	if (e->kind != EV_SUBMITTED || e->array != t->array)
		return;
	if (e->index != t->made || t->made == MEMBERS_MOST) {
		broke(t->r,
		      "array %lld: member %lld was made when it was the turn of %lld",
		      (long long)t->array, (long long)e->index, (long long)t->made);
		return;
	}
	if (t->over || t->fold->state != JOB_OPEN)
		broke(t->r, "array %lld made member %lld when it was %s",
		      (long long)t->array, (long long)e->index,
		      job_state_word(t->fold->state));
	t->ids[t->made++] = e->job;
	if (t->fold->spec->array.parallel &&
	    t->made - t->ended > t->fold->spec->array.parallel)
		broke(t->r, "array %lld has more members at once than it may",
		      (long long)t->array);
}

static void compare_row(void *arg, const struct store_row *row)
{
	const struct truth *t = arg;

	if (row->members_ended != t->ended || row->members_failed != t->failed ||
	    row->members_running)
		broke(t->r,
		      "the row of array %lld counts %lld ended, %lld failed, %lld "
		      "running; true are %lld, %lld, 0",
		      (long long)t->array, (long long)row->members_ended,
		      (long long)row->members_failed, (long long)row->members_running,
		      (long long)t->ended, (long long)t->failed);
}

static void compare(struct truth *t)
{
	const struct job *j = t->fold;
	const struct members *m = &j->members;
	bool good = t->ended == j->spec->array.count && !t->failed && !t->stopped;

	if (t->made != t->ended || m->ended != t->ended || m->failed != t->failed ||
	    m->stopped != t->stopped || m->made != t->made)
		broke(t->r,
		      "array %lld: %lld made, %lld ended, but it counts %lld and %lld",
		      (long long)t->array, (long long)t->made, (long long)t->ended,
		      (long long)m->made, (long long)m->ended);
	if (j->stop == STOP_NONE && t->made != j->spec->array.count)
		broke(t->r, "array %lld ended with %lld of %d members made",
		      (long long)t->array, (long long)t->made, j->spec->array.count);
	if (j->stop == STOP_NONE && (j->outcome == OUTCOME_SUCCEEDED) != good)
		broke(t->r, "array %lld %s, which is not what its members did",
		      (long long)t->array, outcome_word(j->outcome));
	if (j->stop == STOP_POLICY && t->failed < j->spec->array.stop_after)
		broke(t->r, "array %lld was stopped after too few failures",
		      (long long)t->array);
	store_row(t->r->store, t->array, compare_row, t, NULL);
}

void check_members_of(struct run *r, int64_t array)
{
	struct truth t = { .r = r, .array = array, .page = STORE_LIMIT_MAX };

	while (t.page == STORE_LIMIT_MAX) {
		t.page = 0;
		store_events(r->store, 0, t.next_seq, STORE_LIMIT_MAX, see, &t, NULL);
	}
	if (t.fold)
		compare(&t);
	for (int64_t i = 0; i < t.made; i++)
		check_history(r, t.ids[i]);
	job_destroy(t.fold);
}
