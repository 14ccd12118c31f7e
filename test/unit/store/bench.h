// SPDX-License-Identifier: Apache-2.0
/* bench.h - a store on the bench: committing to it and reading from it. */
#pragma once

#include <stdlib.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/str.h"
#include "store/forget.h"
#include "store/list.h"
#include "store/store.h"
#include "tap.h"
#include "world/world.h"

/* A store under test and how to open it again on what it left. */
struct bench {
	struct world *w;
	struct store *s;
	struct store *(*open)(struct bench *b);
	void *arg;
	int64_t seq; /* of the next event */
};

/* ---- committing ---- */

struct told {
	bool yes;
	struct err err;
};

static inline void on_told(void *arg, const struct err *err)
{
	struct told *t = arg;

	t->yes = true;
	if (err)
		t->err = *err;
}

static inline void stop_world(void *arg)
{
	world_stop(arg);
}

static inline void spin(struct world *w, int64_t ms)
{
	struct world_timer *t = world_timer_create(w, stop_world, w);

	world_timer_at(t, world_mono_ms(w) + ms);
	world_run(w);
	world_timer_destroy(t);
}

static inline bool spin_until(struct world *w, const bool *flag)
{
	for (int i = 0; i < 20000 && !*flag; i++)
		spin(w, 1);
	return *flag;
}

/* ERR_NONE: durable. */
static inline enum err_code commit(struct bench *b, struct store_batch *batch)
{
	struct told t = { 0 };

	store_commit(b->s, batch, on_told, &t);
	if (!spin_until(b->w, &t.yes))
		return ERR_TIMEOUT;
	return t.err.code;
}

static inline struct event an_event(struct bench *b, int64_t job, enum event_kind kind)
{
	return (struct event){
		.seq = b->seq++, .time_ms = 1000 + b->seq, .job = job, .kind = kind
	};
}

static inline struct store_row a_row(int64_t id, const char *owner, enum job_state state)
{
	return (struct store_row){ .id = id,
				   .name = "train",
				   .owner = owner,
				   .group = "default",
				   .reason = "",
				   .state = state,
				   .task_count = 1,
				   .submitted_ms = 1000 };
}

/* A job with its SUBMITTED, in a batch of others. */
static inline void add_job(struct bench *b, struct store_batch *batch,
			   const struct store_row *row, const char *key)
{
	struct event e = an_event(b, row->id, EV_SUBMITTED);

	e.by = (char *)(uintptr_t)row->owner;
	e.key = (char *)(uintptr_t)key;
	e.digest = (char *)(uintptr_t)(key ? "d1g357" : NULL);
	store_batch_event(batch, &e);
	store_batch_row(batch, row);
}

/* ---- reading ---- */

struct seen {
	struct buf kinds; /* "submitted:1 exited:1 " by seq */
	struct buf ids;   /* "9 8 7 " */
	int64_t last_seq, seqs[4000];
	int count;
	bool disorder;
};

static inline void see_event(void *arg, const struct event *e)
{
	struct seen *s = arg;

	buf_printf(&s->kinds, "%s:%lld ", event_kind_word(e->kind), (long long)e->job);
	s->disorder |= e->seq <= s->last_seq;
	s->last_seq = e->seq;
	if (s->count < 4000)
		s->seqs[s->count] = e->seq;
	s->count++;
}

static inline void see_row(void *arg, const struct store_row *row)
{
	struct seen *s = arg;

	buf_printf(&s->ids, "%lld ", (long long)row->id);
	s->count++;
}

static inline void seen_fini(struct seen *s)
{
	buf_fini(&s->kinds);
	buf_fini(&s->ids);
	*s = (struct seen){ 0 };
}

static inline int count_events(struct bench *b, int64_t job)
{
	struct seen *s = mem_alloc(1, sizeof *s);
	int n;

	OK(store_events(b->s, job, 0, STORE_LIMIT_MAX, see_event, s, NULL) == 0,
	   "events are read");
	n = s->count;
	seen_fini(s);
	free(s);
	return n;
}

static inline void reopen(struct bench *b)
{
	store_destroy(b->s);
	b->s = b->open(b);
	if (!OK(b->s != NULL, "the store opens again"))
		exit(END());
}
