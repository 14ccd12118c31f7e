// SPDX-License-Identifier: Apache-2.0
/* work.c - many exchanges at a time: threads that each take the next piece. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

#include "remote/remote.h"

#define THREADS_MAX 16
#define SAY_MS      500

struct crew {
	const struct remote_work *work;
	_Atomic size_t next;
	_Atomic bool stop;
	pthread_mutex_t lock;
	pthread_cond_t over;
	int running;
	struct err err; /* the first failure; guarded by lock */
};

static void fail(struct crew *c, const struct err *err)
{
	pthread_mutex_lock(&c->lock);
	if (c->err.code == ERR_NONE)
		c->err = *err;
	pthread_mutex_unlock(&c->lock);
	c->stop = true;
}

static void *hand(void *arg)
{
	struct crew *c = arg;
	struct net *n = net_create();
	size_t at;

	while (!c->stop && (at = c->next++) < c->work->count) {
		struct err err = { .code = ERR_NONE };
		if (c->work->piece(c->work->arg, n, at, &err) < 0)
			fail(c, &err);
	}
	net_destroy(n);
	pthread_mutex_lock(&c->lock);
	c->running--;
	pthread_cond_signal(&c->over);
	pthread_mutex_unlock(&c->lock);
	return NULL;
}

static void say(const struct remote_work *w)
{
	if (w->says >= 0)
		dprintf(w->says, "at %lld %lld\n", (long long)*w->bytes,
			(long long)w->total);
}

/* Until all are done; a line now and then. */
static void watch(struct crew *c)
{
	struct timespec until;

	pthread_mutex_lock(&c->lock);
	while (c->running > 0) {
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += SAY_MS * 1000000L;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		while (c->running > 0 &&
		       pthread_cond_timedwait(&c->over, &c->lock, &until) == 0)
			;
		say(c->work);
	}
	pthread_mutex_unlock(&c->lock);
}

int remote_work(const struct remote_work *w, struct err *err)
{
	struct crew c = { .work = w,
			  .lock = PTHREAD_MUTEX_INITIALIZER,
			  .over = PTHREAD_COND_INITIALIZER };
	size_t want = w->count < THREADS_MAX ? w->count : THREADS_MAX;
	pthread_t threads[THREADS_MAX] = { 0 };
	int made = 0;

	pthread_mutex_lock(&c.lock);
	while ((size_t)made < want && pthread_create(&threads[made], NULL, hand, &c) == 0)
		made++;
	c.running = made;
	pthread_mutex_unlock(&c.lock);
	if (want && !made)
		return err_set(err, ERR_IO, "no thread can be made");
	watch(&c);
	for (int i = 0; i < made; i++)
		pthread_join(threads[i], NULL);
	say(w);
	if (c.err.code == ERR_NONE)
		return 0;
	*err = c.err;
	return -1;
}
