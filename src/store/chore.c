// SPDX-License-Identifier: Apache-2.0
#include "store/chore.h"

#include "base/mem.h"

struct chore *chore_create(struct sqlite_store *s, struct chore **list,
			   void (*run)(struct chore *t))
{
	struct chore *t = mem_alloc(1, sizeof *t);

	t->store = s;
	t->run = run;
	t->list = list;
	t->next = *list;
	*list = t;
	pthread_mutex_init(&t->lock, NULL);
	pthread_cond_init(&t->finished, NULL);
	return t;
}

bool chore_done(struct chore *t)
{
	struct chore **at;

	if (!t->store)
		return false;
	for (at = t->list; *at != t; at = &(*at)->next)
		;
	*at = t->next;
	return true;
}

void chore_destroy(struct chore *t)
{
	store_batch_destroy(t->batch);
	free(t->path);
	free(t->target);
	pthread_cond_destroy(&t->finished);
	pthread_mutex_destroy(&t->lock);
	free(t);
}

/* True for the one who may run it: a thread of the lane, or who leaves it. */
static bool take(struct chore *t)
{
	bool mine;

	pthread_mutex_lock(&t->lock);
	mine = t->phase == CHORE_QUEUED;
	if (mine)
		t->phase = CHORE_TAKEN;
	pthread_mutex_unlock(&t->lock);
	return mine;
}

static void finish(struct chore *t)
{
	pthread_mutex_lock(&t->lock);
	t->phase = CHORE_FINISHED;
	pthread_cond_broadcast(&t->finished);
	pthread_mutex_unlock(&t->lock);
}

static void work(void *arg)
{
	struct chore *t = arg;

	if (!take(t))
		return;
	t->run(t);
	finish(t);
}

void chore_start(struct chore *t, struct world_lane *l, world_cb done)
{
	world_lane_work(l, work, done, t);
}

void chore_leave(struct chore *t, bool run)
{
	atomic_store(&t->cancelled, true);
	if (take(t)) {
		if (run)
			t->run(t);
		finish(t);
	}
	pthread_mutex_lock(&t->lock);
	while (t->phase != CHORE_FINISHED)
		pthread_cond_wait(&t->finished, &t->lock);
	pthread_mutex_unlock(&t->lock);
	t->store = NULL;
}
