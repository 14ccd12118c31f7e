// SPDX-License-Identifier: Apache-2.0
/* When a job will start, by running ahead: those that run end, those before it start as
 * room comes, until it starts itself.  Three times: with short run times, and everybody
 * starts who fits; with likely ones, and who does not delay the head may pass it; with
 * long ones, in the order of the queue.
 *
 * What it costs is bounded: so many jobs ahead, so many ends, so many that run are looked
 * at; a longer queue is taken to go on as its beginning did. */
#include "base/mem.h"
#include "plan/cells.h"
#include "plan/order.h"
#include "plan/pace.h"
#include "plan/reason.h"
#include "plan/tenant.h"

#define LINE_MOST    256
#define ENDS_MAX     2048
#define RUNNING_MAX  4096
#define SHADOW_ROOMS 16000 /* looked at to see when heads will start */
#define SURE_KNOWN   80    /* below the short and above the long: one in ten each */
#define SURE_PART    50    /* how late it may get is not known */
#define SURE_FAR     40    /* not all that are ahead were looked at */

struct end {
	int64_t ms;
	int64_t order;            /* breaks ties */
	const struct entry *runs; /* NULL: one that started on the way, */
	size_t started;           /* this one */
};

struct started {
	const struct entry *entry;
	struct cells_takes takes;
};

struct line { /* one that waits */
	const struct entry *entry;
	int want;
	struct span span;
};

struct shadow { /* when the first in line will start, as it looks now */
	const struct entry *head;
	int64_t at_ms;
};

struct runner { /* one that runs */
	const struct entry *entry;
	bool guessed;
	int64_t end_ms[PACE_COUNT]; /* FOREVER: no telling */
};

struct runs {
	struct runner *items;
	size_t count;
};

struct way { /* one run */
	const struct plan *p;
	const struct entry *target; /* NULL: it is too far behind */
	struct line *line;
	size_t count;
	size_t ahead;    /* so many up to the target */
	size_t position; /* of the target in the queue */
	enum pace pace;
	int64_t from_ms, at_ms;
	struct cells *cells;
	struct end *ends; /* a heap, the first on top */
	size_t end_count, end_cap, ended;
	struct started *started;
	size_t started_count;
	struct owner *user, *group; /* the target's, as they would be */
	const struct owner *group_of;
	const struct tenant *brake; /* may take no more of something, */
	int brake_dim;              /* of this, */
	int64_t lacks;              /* until so much came back */
	struct plan_after *gone;    /* that ran at first, in the order of their ends */
	size_t gone_count;
	bool by_window; /* nobody ended at at_ms: a window did, or began */
	struct shadow shadow;
	size_t shadow_ends; /* so many more may be gone through to find them */
};

static bool sooner(const struct end *a, const struct end *b)
{
	return a->ms != b->ms ? a->ms < b->ms : a->order < b->order;
}

static void sink(struct way *w, size_t at)
{
	for (;;) {
		size_t child = 2 * at + 1;
		struct end swap = w->ends[at];
		if (child >= w->end_count)
			return;
		if (child + 1 < w->end_count &&
		    sooner(&w->ends[child + 1], &w->ends[child]))
			child++;
		if (!sooner(&w->ends[child], &w->ends[at]))
			return;
		w->ends[at] = w->ends[child];
		w->ends[child] = swap;
		at = child;
	}
}

static void push(struct way *w, struct end end)
{
	size_t at = w->end_count;

	mem_grow(&w->ends, &w->end_cap, w->end_count, sizeof *w->ends);
	w->ends[w->end_count++] = end;
	for (; at && sooner(&w->ends[at], &w->ends[(at - 1) / 2]); at = (at - 1) / 2) {
		struct end swap = w->ends[at];
		w->ends[at] = w->ends[(at - 1) / 2];
		w->ends[(at - 1) / 2] = swap;
	}
}

/* Of all that run, at every pace. */
static void find_ends(const struct plan *p, int64_t now_ms,
		      const struct plan_hints *hints, int *asked, struct runs *out)
{
	size_t cap = 0;

	for (struct tree_node *n = tree_first(&p->running); n && out->count < RUNNING_MAX;
	     n = tree_next(n)) {
		const struct entry *e = TREE_OF(n, struct entry, at);
		struct runner r = { .entry = e };
		struct span span = pace_span(e, hints, asked);
		r.guessed = span.likely_ms > 0;
		for (enum pace k = 0; k < PACE_COUNT; k++)
			r.end_ms[k] = pace_end(&span, k, e->since_ms, now_ms);
		mem_grow(&out->items, &cap, out->count, sizeof *out->items);
		out->items[out->count++] = r;
	}
}

static void fill_ends(struct way *w, const struct runs *runs)
{
	w->end_cap = runs->count + w->count + 1;
	w->ends = mem_alloc(w->end_cap, sizeof *w->ends);
	for (size_t i = 0; i < runs->count; i++) {
		const struct runner *r = &runs->items[i];
		if (r->end_ms[w->pace] != FOREVER)
			w->ends[w->end_count++] =
				(struct end){ r->end_ms[w->pace], r->entry->id, r->entry,
					      0 };
	}
	for (size_t i = w->end_count / 2; i-- > 0;)
		sink(w, i);
}

static int64_t amount_of(const struct plan *p, const struct shape *s, int dim)
{
	return dim == 0   ? s->ask->total.cpu_milli
	       : dim == 1 ? s->ask->total.memory_bytes
			  : ask_milli(s->ask, p->dims.types[dim - 2]);
}

static void charge(struct way *w, const struct entry *e, int sign)
{
	if (!w->target)
		return;
	if (e->user == w->target->user)
		owner_charge(w->user, e->shape, sign);
	if (tenant_below(e->group->tenant, w->group->tenant))
		owner_charge(w->group, e->shape, sign);
	if (w->brake && tenant_below(e->group->tenant, w->brake))
		w->lacks += sign * amount_of(w->p, e->shape, w->brake_dim);
}

/* Only what the target's own people hold is followed: quotas of others move as well, but
 * whom one stops now is taken to be out of the way. */
static bool quota_ok(const struct way *w, const struct entry *e)
{
	int limit;

	if (e != w->target)
		return true;
	return (!w->brake || w->lacks <= 0) &&
	       owner_short(w->user, e->shape, NULL, &limit) == QUOTA_OK &&
	       owner_short(w->group, e->shape, NULL, &limit) == QUOTA_OK;
}

/* How much more its part of the tree may take, what it keeps itself left out. */
static int64_t brake_room(const struct tenant *t, int dim)
{
	int64_t more = t->seen[dim] - t->keep[dim];

	if (!t->parent)
		return t->pool[dim] - t->seen[dim];
	return t->borrow[dim] + t->pool[dim] - t->keep[dim] - (more > 0 ? more : 0);
}

/* Of the groups above the target the one whose quota stops it, or its own; or the part of
 * the tree that may take no more, and how much of what has to come back before. */
static void find_brake(struct way *w)
{
	enum quota_short what;
	int limit;
	struct owner *o = queue_quota_owner(w->target->bucket, &what, &limit);

	if (!o)
		return;
	if (what == QUOTA_BORROW || what == QUOTA_KEPT) {
		w->brake = o->tenant;
		w->brake_dim = limit;
		w->lacks = amount_of(w->p, w->target->shape, limit) -
			   brake_room(o->tenant, limit);
	} else if (o->is_group) {
		w->group_of = o;
	}
}

static struct end pop(struct way *w)
{
	struct end e = w->ends[0];

	w->ends[0] = w->ends[--w->end_count];
	sink(w, 0);
	return e;
}

static void give_back(struct way *w, const struct end *e, int sign)
{
	const struct started *s = &w->started[e->started];

	if (e->runs)
		cells_end(w->cells, e->runs, sign);
	else
		cells_move(w->cells, s->entry->shape, &s->takes, sign);
}

/* When next somebody ends, or a window does or begins; FOREVER: never. */
static int64_t next_ms(const struct way *w)
{
	int64_t ends = w->end_count ? w->ends[0].ms : FOREVER;

	return w->cells->edge_ms < ends ? w->cells->edge_ms : ends;
}

/* All that end at the next moment; false: nobody does any more. */
static bool next_end(struct way *w)
{
	int64_t next = next_ms(w);

	if (next == FOREVER || w->ended >= ENDS_MAX)
		return false;
	w->at_ms = next;
	cells_at(w->cells, next);
	w->by_window = !w->end_count || w->ends[0].ms != next;
	w->ended += w->by_window;
	while (w->end_count && w->ends[0].ms == w->at_ms) {
		struct end e = pop(w);
		w->ended++;
		if (e.runs)
			w->gone[w->gone_count++] =
				(struct plan_after){ e.runs->id, e.ms };
		charge(w, e.runs ? e.runs : w->started[e.started].entry, -1);
		give_back(w, &e, 1);
	}
	return true;
}

/* Lets those end that have to until the first in line fits, and takes it back: when that
 * is; FOREVER: never, or it is too costly to find out. */
static int64_t cast_shadow(struct way *w)
{
	struct end *gone = mem_alloc(w->end_count + 1, sizeof *gone);
	int64_t at = w->at_ms;
	size_t count = 0;
	bool fits;

	while (!cells_enough(w->cells, w->line[0].want) && next_ms(w) != FOREVER &&
	       w->shadow_ends) {
		at = next_ms(w);
		cells_at(w->cells, at);
		w->shadow_ends--;
		if (!w->end_count || w->ends[0].ms != at)
			continue;
		gone[count] = pop(w);
		give_back(w, &gone[count++], 1);
	}
	fits = cells_enough(w->cells, w->line[0].want);
	while (count) {
		give_back(w, &gone[--count], -1);
		push(w, gone[count]);
	}
	cells_at(w->cells, w->at_ms);
	free(gone);
	return fits ? at : FOREVER;
}

static void begin(struct way *w, const struct line *l)
{
	int64_t lasts = pace_length(&l->span, w->pace);

	w->started[w->started_count].entry = l->entry;
	charge(w, l->entry, 1);
	if (lasts < FOREVER - w->at_ms)
		push(w, (struct end){ w->at_ms + lasts, l->entry->id, NULL,
				      w->started_count });
	w->started_count++;
}

/* With its room taken: it is over before the head starts, or the head starts as soon. */
static bool passes(struct way *w, const struct line *l)
{
	struct shadow *s = &w->shadow;
	int64_t lasts = entry_lasts(l->entry); /* as plan believes */

	if (lasts > 0 && (s->at_ms == FOREVER || lasts <= s->at_ms - w->at_ms))
		return true;
	return s->at_ms != FOREVER && cast_shadow(w) <= s->at_ms;
}

/* Whether it may start though one is first in line. */
static bool try_pass(struct way *w, const struct line *l, struct cells_takes *takes)
{
	if (w->pace == PACE_LONG || !w->shadow_ends)
		return false;
	if (w->pace == PACE_LIKELY && w->shadow.head != w->line[0].entry)
		w->shadow = (struct shadow){ w->line[0].entry, cast_shadow(w) };
	if (!cells_take(w->cells, l->want, takes))
		return false;
	if (w->pace == PACE_SHORT || passes(w, l))
		return true;
	cells_move(w->cells, l->entry->shape, takes, 1);
	return false;
}

static bool try_start(struct way *w, const struct line *l, bool first)
{
	struct cells_takes *takes = &w->started[w->started_count].takes;

	if (!cells_enough(w->cells, l->want) || !quota_ok(w, l->entry))
		return false;
	if (first ? !cells_take(w->cells, l->want, takes) : !try_pass(w, l, takes))
		return false;
	begin(w, l);
	return true;
}

/* Starts whom it can; true: the target, or (there is none) the last. */
static bool move_up(struct way *w)
{
	size_t kept = 0;

	for (size_t i = 0; i < w->count; i++) {
		struct line l = w->line[i];
		if (try_start(w, &l, !kept)) {
			if (l.entry == w->target)
				return true;
			continue;
		}
		w->line[kept++] = l;
	}
	w->count = kept;
	return !w->target && !kept;
}

static bool any_room(const struct way *w)
{
	for (size_t i = 0; i < w->cells->want_count; i++) {
		const struct want *x = &w->cells->wants[i];
		if (x->have >= x->role->least)
			return true;
	}
	return false;
}

static struct owner *owner_copy(const struct owner *o)
{
	struct owner *out = mem_dup(o, sizeof *o);

	out->held = mem_alloc(o->held_count + 1, sizeof *o->held);
	out->held_cap = o->held_count + 1;
	for (size_t i = 0; i < o->held_count; i++)
		out->held[i] = o->held[i];
	return out;
}

/* The rest goes on as those that were gone through did. */
static int64_t stretch(const struct way *w)
{
	const int64_t most = FOREVER / 4;
	__int128 took = (__int128)(w->at_ms - w->from_ms) * (int64_t)w->position /
			(int64_t)(w->started_count ? w->started_count : 1);

	return !w->started_count || took > most ? FOREVER : w->from_ms + (int64_t)took;
}

static bool any_guess(const struct way *w, const struct runs *runs)
{
	for (size_t i = 0; i < runs->count; i++) {
		if (runs->items[i].guessed)
			return true;
	}
	for (size_t i = 0; i < w->count; i++) {
		if (w->line[i].entry != w->target && w->line[i].span.likely_ms > 0)
			return true;
	}
	return false;
}

static bool made_room(const struct entry *e, const struct cells_takes *takes)
{
	for (size_t i = 0; i < e->grants.count; i++) {
		for (size_t k = 0; k < takes->count; k++) {
			if (e->grants.items[i].node == takes->items[k].node)
				return true;
		}
	}
	return false;
}

/* Of those who ran: the last that ended where the target, the last that started, now is. */
static void find_after(const struct way *w, struct plan_when *out)
{
	const struct started *s = &w->started[w->started_count - 1];

	for (size_t i = w->gone_count; i-- > 0 && out->after_count < PLAN_AFTER_MAX;) {
		const struct plan_after *g = &w->gone[i];
		if (made_room(map_get(w->p->jobs, g->job), &s->takes))
			out->after[out->after_count++] = *g;
	}
}

/* When the target starts.  One that is too far behind, or too much later, is reached as
 * fast as those before it that were gone through. */
static int64_t run(const struct way *begin_with, const struct cells *cells,
		   const struct runs *runs, enum pace pace, struct plan_when *when)
{
	struct way w = *begin_with;
	int64_t at = FOREVER;

	w.pace = pace;
	if (w.target && pace != PACE_LIKELY)
		w.count = w.ahead; /* who is behind may take room, but not in order */
	w.cells = cells_copy(cells);
	w.line = mem_dup(w.line, (w.count + 1) * sizeof *w.line);
	w.started = mem_alloc(begin_with->count + 1, sizeof *w.started);
	w.shadow_ends = SHADOW_ROOMS / (w.cells->want_count + 1);
	if (w.target) {
		w.user = owner_copy(w.target->user);
		w.group = owner_copy(w.group_of);
	}
	fill_ends(&w, runs);
	w.gone = mem_alloc(w.end_count + 1, sizeof *w.gone);
	while (at == FOREVER && next_end(&w)) {
		if (any_room(&w) && move_up(&w))
			at = w.at_ms;
	}
	if (at != FOREVER && w.target && pace == PACE_LIKELY && !w.by_window)
		find_after(&w, when);
	if (!w.target || (at == FOREVER && w.ended >= ENDS_MAX))
		at = stretch(&w);
	for (size_t i = 0; i <= begin_with->count; i++)
		free(w.started[i].takes.items);
	if (w.target) {
		free(w.user->held);
		free(w.group->held);
	}
	free(w.user);
	free(w.group);
	free(w.started);
	free(w.line);
	free(w.ends);
	free(w.gone);
	cells_destroy(w.cells);
	return at;
}

/* Who waits and no quota stops, and the target, in order; false: it is too far behind. */
static bool find_line(struct way *w, struct cells *cells, const struct plan_hints *hints,
		      int *asked)
{
	int64_t ids[LINE_MOST];
	size_t look = plan_queue(w->p, 1, ids, LINE_MOST);

	w->line = mem_alloc(look + 1, sizeof *w->line);
	cells_want(cells, w->target); /* it must have a place there, come who may */
	for (size_t i = 0; i < look; i++) {
		const struct entry *e = map_get(w->p->jobs, ids[i]);
		if (e != w->target && !reason_in_way(w->p, e))
			continue;
		w->line[w->count] = (struct line){ e, cells_want(cells, e),
						   pace_span(e, hints, asked) };
		if (w->line[w->count].want < 0)
			break;
		w->count++;
		if (e == w->target)
			w->ahead = w->count;
	}
	return w->ahead > 0;
}

void plan_estimate(const struct plan *p, int64_t job, int64_t now_ms,
		   const struct plan_hints *hints, struct plan_when *out)
{
	const struct entry *e = map_get(p->jobs, job);
	struct way w = { .p = p, .target = e, .from_ms = now_ms, .at_ms = now_ms };
	struct runs runs = { 0 };
	struct cells *cells;
	int64_t at[PACE_COUNT];
	enum plan_reason_kind kind;
	int asked = 0;
	bool all;

	*out = (struct plan_when){ .soonest_ms = FOREVER,
				   .likely_ms = FOREVER,
				   .latest_ms = FOREVER };
	w.position = (size_t)plan_position(p, job);
	if (!e || !w.position)
		return;
	w.group_of = e->group;
	kind = reason_kind(p, e, now_ms);
	if (kind == PLAN_REASON_NEW)
		*out = (struct plan_when){ now_ms, now_ms, now_ms, .sure = 100 };
	if (kind == PLAN_REASON_NEW || kind == PLAN_REASON_NEVER)
		return;
	cells = cells_create(p, now_ms);
	if (e->bucket)
		find_brake(&w);
	all = find_line(&w, cells, hints, &asked);
	find_ends(p, now_ms, hints, &asked, &runs);
	if (!all)
		w.target = NULL;
	for (enum pace k = 0; k < PACE_COUNT; k++)
		at[k] = run(&w, cells, &runs, k, out);
	out->guessed = any_guess(&w, &runs);
	free(w.line);
	free(runs.items);
	cells_destroy(cells);
	out->likely_ms = at[PACE_LIKELY];
	out->soonest_ms =
		at[PACE_SHORT] < at[PACE_LIKELY] ? at[PACE_SHORT] : at[PACE_LIKELY];
	out->latest_ms =
		at[PACE_LONG] > at[PACE_LIKELY] ? at[PACE_LONG] : at[PACE_LIKELY];
	if (out->likely_ms != FOREVER)
		out->sure = !all                        ? SURE_FAR
			    : out->latest_ms == FOREVER ? SURE_PART
							: SURE_KNOWN;
}
