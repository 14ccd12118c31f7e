// SPDX-License-Identifier: Apache-2.0
/* array.c - the members of an array: made as room appears, counted as they end.
 *
 * Of an array only a window of members is alive, so that neither the plan nor memory ever
 * sees a million of them.  They are made in the order of their numbers, and the end of one
 * (EV_MEMBER of the array) and the making of the next stand in one batch: those made are
 * always those ended and those alive, which is how boot knows where to go on.
 */
#include <inttypes.h>

#include "base/mem.h"
#include "base/str.h"
#include "yard/internal.h"

/* Enough that none waits to be made while there is room for it to run, few enough to plan. */
#define WINDOW_LEAST 64
#define WINDOW_MOST  512
#define WINDOW_TIMES 2 /* what the machines hold at once */

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static size_t window(const struct yard *y, const struct spec *s)
{
	struct resources each = spec_total(s);
	int64_t room = 0;

	for (size_t i = 0; i < y->node_count; i++) {
		const struct resources *all = &y->nodes[i].capacity;
		if (y->nodes[i].up)
			room += least(all->cpu_milli / each.cpu_milli,
				      all->memory_bytes / each.memory_bytes);
	}
	room = least(room * WINDOW_TIMES, WINDOW_MOST);
	room = room < WINDOW_LEAST ? WINDOW_LEAST : room;
	return (size_t)(s->array.parallel ? least(s->array.parallel, room) : room);
}

void yard_array_join(struct yard *y, const struct job *j)
{
	struct live *array = j->array ? yard_find(y, j->array) : NULL;

	if (!array)
		return;
	mem_grow(&array->members, &array->member_cap, array->member_count,
		 sizeof *array->members);
	array->members[array->member_count++] = j->id;
}

static void part(struct live *array, int64_t member)
{
	size_t kept = 0;

	for (size_t i = 0; i < array->member_count; i++)
		if (array->members[i] != member)
			array->members[kept++] = array->members[i];
	array->member_count = kept;
}

static bool at_work(enum job_state s)
{
	return s == JOB_STARTING || s == JOB_RUNNING || s == JOB_STOPPING ||
	       s == JOB_COLLECTING;
}

void yard_array_moved(struct yard *y, const struct job *j, enum job_state before)
{
	struct live *array = yard_find(y, j->array);
	int more = at_work(j->state) - at_work(before);

	if (!array || !more)
		return;
	array->job->members.running += more;
	yard_mark_dirty(y, array);
}

void yard_array_left(struct yard *y, const struct job *j)
{
	struct live *array = yard_find(y, j->array);
	struct event e = { .job = j->array, .kind = EV_MEMBER };

	if (!array)
		return;
	part(array, j->id);
	e.member = j->id;
	e.index = j->index;
	e.outcome = j->outcome;
	yard_record(y, &e, NULL, NULL);
}

static void make_member(struct yard *y, struct job *array)
{
	struct spec *spec = array_member(array->spec, array->members.made);
	struct event e = { .kind = EV_SUBMITTED, .uid = array->owner_uid };

	spec->priority = array->priority;
	e.array = array->id;
	e.index = array->members.made++;
	e.count = array->spec->array.count;
	e.by = mem_strdup(array->owner);
	e.group = mem_strdup(array->group);
	yard_record_submit(y, &e, spec, NULL, NULL);
}

/* Many arrays may begin at once: beyond what their owner may have, each has one member. */
static bool may_grow(const struct yard *y, const struct live *l)
{
	return l->member_count == 0 ||
	       yard_jobs_of(y, l->job->owner) < (size_t)y->config.max_jobs_per_user;
}

void yard_array_fill(struct yard *y, struct live *l)
{
	struct job *j = l->job;
	size_t most = window(y, j->spec);

	if (y->booting)
		return; /* yard_array_resume() does it, once all that lives is known */
	while (j->state == JOB_OPEN && j->members.made < j->spec->array.count &&
	       l->member_count < most && may_grow(y, l))
		make_member(y, j);
}

void yard_array_drain(struct yard *y, struct live *l)
{
	AUTO_FREE int64_t *ids = NULL;
	size_t count = l->member_count;

	if (y->booting)
		return;
	/* Those that waited end at once, and leave the list while we walk. */
	ids = mem_dup(l->members, count * sizeof *ids);
	for (size_t i = 0; i < count; i++) {
		struct event e = { .job = ids[i], .kind = EV_STOP, .stop = STOP_ARRAY };
		struct live *m = yard_find(y, ids[i]);

		if (!m || m->job->stop == STOP_ARRAY || m->job->stop == STOP_USER)
			continue;
		e.by = mem_strdup(l->job->stop_by);
		e.text = str_printf(l->job->stop == STOP_POLICY
					    ? "so many members of array %lld failed that "
					      "the rest was stopped"
					    : "array %lld was stopped",
				    (long long)l->job->id);
		yard_record(y, &e, NULL, NULL);
	}
}

void yard_array_priority(struct yard *y, const struct live *l)
{
	for (size_t i = 0; i < l->member_count; i++) {
		struct event e = { .job = l->members[i], .kind = EV_PRIORITY };

		e.priority = l->job->priority;
		yard_record(y, &e, NULL, NULL);
	}
}

void yard_array_count(struct yard *y)
{
	struct live *l;

	for (size_t it = 0; (l = map_next(y->live, &it));) {
		struct members *m = &l->job->members;

		if (!job_is_array(l->job))
			continue;
		m->made = m->ended;
		if (YARD_PLANT != PLANT_ARRAY)
			m->made += (int64_t)l->member_count;
		for (size_t i = 0; i < l->member_count; i++) {
			const struct live *member = yard_find(y, l->members[i]);
			m->running += at_work(member->job->state);
		}
	}
}

void yard_array_resume(struct yard *y)
{
	AUTO_FREE int64_t *ids = mem_alloc(map_count(y->live) + 1, sizeof *ids);
	struct live *l;
	size_t count = 0;

	/* Making members changes the map: first who, then what. */
	for (size_t it = 0; (l = map_next(y->live, &it));)
		if (job_is_array(l->job))
			ids[count++] = l->job->id;
	for (size_t i = 0; i < count; i++) {
		l = yard_find(y, ids[i]);
		yard_follow_up(y, l, job_at_boot(l->job) & (FX_MEMBERS | FX_DRAIN));
	}
}

void yard_array_why(struct yard *y, const struct job *j, const struct plan_eyes *eyes,
		    struct buf *words)
{
	const struct live *l = yard_find(y, j->id);
	const struct members *m = &j->members;
	int64_t alive = l ? (int64_t)l->member_count : 0;

	buf_printf(words, "%" PRId64 " of %d members have ended", m->ended,
		   j->spec->array.count);
	if (m->failed)
		buf_printf(words, " (%" PRId64 " failed)", m->failed);
	buf_printf(words, "; %" PRId64 " run, %" PRId64 " wait", m->running,
		   alive - m->running);
	if (j->state == JOB_DRAINING)
		buf_adds(words, "; no more are made, because it is being stopped");
	else if (m->made < j->spec->array.count)
		buf_printf(words, ", %" PRId64 " are not made yet",
			   j->spec->array.count - m->made);
	for (size_t i = 0; l && i < l->member_count; i++) {
		const struct live *member = yard_find(y, l->members[i]);

		if (!member || member->job->state != JOB_QUEUED)
			continue;
		buf_printf(words, "; the first that waits, %" PRId64 ".%" PRId64 ": ",
			   j->id, member->job->index);
		plan_why(y->plan, member->job->id, eyes, words);
		break;
	}
}
