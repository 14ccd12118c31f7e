// SPDX-License-Identifier: Apache-2.0
/* uv_lane.c - a lane of the real world: its threads, made when first needed, sleep on a
 * condition; an async handle brings what they finished back to the loop.
 *
 * Destroying one calls nothing and waits for nothing: its threads end once the queue is
 * empty, the loop joins them when it has called the last done().
 */
#include <assert.h>
#include <pthread.h>
#include <signal.h>

#include "base/mem.h"
#include "world/uv_impl.h"

#define LANE_THREADS_MAX 4
#define LANE_STACK_BYTES                                                                 \
	(1u << 20) /* of address space; memory only as far as it is used */

struct lane_job {
	world_cb work, done;
	void *arg;
	struct lane_job *next;
};

struct lane_queue {
	struct lane_job *first, **last;
};

struct uv_lane {
	struct world_lane base;
	uv_async_t async;
	int threads_most;
	/* The loop's. */
	pthread_t threads[LANE_THREADS_MAX];
	int threads_made, under_way;
	bool destroyed, closed;
	/* Shared. */
	pthread_mutex_t lock;
	pthread_cond_t wake;
	struct lane_queue todo, finished;
	int idle, waiting; /* threads; works in todo */
	bool ending;
};

static void queue_init(struct lane_queue *q)
{
	q->first = NULL;
	q->last = &q->first;
}

static void queue_add(struct lane_queue *q, struct lane_job *j)
{
	j->next = NULL;
	*q->last = j;
	q->last = &j->next;
}

static struct lane_job *queue_take(struct lane_queue *q)
{
	struct lane_job *j = q->first;

	if (j && !(q->first = j->next))
		q->last = &q->first;
	return j;
}

static void *lane_thread(void *arg)
{
	struct uv_lane *l = arg;
	struct lane_job *j;

	pthread_mutex_lock(&l->lock);
	for (;;) {
		while (!(j = queue_take(&l->todo)) && !l->ending) {
			l->idle++;
			pthread_cond_wait(&l->wake, &l->lock);
			l->idle--;
		}
		if (!j)
			break;
		l->waiting--;
		pthread_mutex_unlock(&l->lock);
		j->work(j->arg);
		pthread_mutex_lock(&l->lock);
		queue_add(&l->finished, j);
		uv_async_send(&l->async);
	}
	pthread_mutex_unlock(&l->lock);
	return NULL;
}

/* Signals are for the loop's thread.  False: the system gives no thread. */
static bool add_thread(struct uv_lane *l)
{
	pthread_attr_t attr;
	sigset_t all, old;
	int rc;

	sigfillset(&all);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, LANE_STACK_BYTES);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = pthread_create(&l->threads[l->threads_made], &attr, lane_thread, l);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	l->threads_made += rc == 0;
	return rc == 0;
}

static void on_lane_closed(uv_handle_t *h)
{
	struct uv_lane *l = h->data;

	pthread_cond_destroy(&l->wake);
	pthread_mutex_destroy(&l->lock);
	uv_world_of(l->base.world)->lanes--;
	free(l);
}

static void close_when_done(struct uv_lane *l)
{
	if (!l->destroyed || l->closed || l->under_way > 0)
		return;
	l->closed = true;
	pthread_mutex_lock(&l->lock);
	l->ending = true;
	pthread_cond_broadcast(&l->wake);
	pthread_mutex_unlock(&l->lock);
	for (int i = 0; i < l->threads_made; i++)
		pthread_join(l->threads[i], NULL); /* they only sleep: at once */
	uv_close((uv_handle_t *)&l->async, on_lane_closed);
}

static struct lane_job *next_finished(struct uv_lane *l)
{
	struct lane_job *j;

	pthread_mutex_lock(&l->lock);
	j = queue_take(&l->finished);
	pthread_mutex_unlock(&l->lock);
	return j;
}

static void on_finished(uv_async_t *async)
{
	struct uv_lane *l = async->data;
	struct lane_job *j;

	while ((j = next_finished(l))) {
		world_cb done = j->done;
		void *arg = j->arg;

		free(j);
		l->under_way--;
		uv_world_of(l->base.world)->works--;
		done(arg); /* may destroy the lane, which is closed below */
	}
	close_when_done(l);
}

struct world_lane *uv_lane_create(struct world *w, int threads)
{
	struct uv_lane *l = mem_alloc(1, sizeof *l);

	assert(threads >= 1 && threads <= LANE_THREADS_MAX);
	l->base.world = w;
	l->threads_most = threads;
	queue_init(&l->todo);
	queue_init(&l->finished);
	pthread_mutex_init(&l->lock, NULL);
	pthread_cond_init(&l->wake, NULL);
	uv_async_init(&uv_world_of(w)->loop, &l->async, on_finished);
	l->async.data = l;
	uv_world_of(w)->lanes++;
	return &l->base;
}

void uv_lane_work(struct world_lane *lane, world_cb work, world_cb done, void *arg)
{
	struct uv_lane *l = (struct uv_lane *)lane;
	struct lane_job *j = mem_alloc(1, sizeof *j);
	bool busy;

	*j = (struct lane_job){ .work = work, .done = done, .arg = arg };
	l->under_way++;
	uv_world_of(l->base.world)->works++;
	pthread_mutex_lock(&l->lock);
	queue_add(&l->todo, j);
	busy = ++l->waiting > l->idle;
	pthread_cond_signal(&l->wake);
	pthread_mutex_unlock(&l->lock);
	if (busy && l->threads_made < l->threads_most && !add_thread(l) &&
	    l->threads_made == 0) {
		/* No thread at all: late is better than never. */
		j = queue_take(&l->todo);
		l->waiting--;
		j->work(j->arg);
		queue_add(&l->finished, j);
		uv_async_send(&l->async);
	}
}

void uv_lane_destroy(struct world_lane *lane)
{
	struct uv_lane *l = (struct uv_lane *)lane;

	l->destroyed = true;
	uv_async_send(&l->async);
}
