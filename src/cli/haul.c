// SPDX-License-Identifier: Apache-2.0
#include "cli/haul.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/file_place.h"
#include "cli/haul_impl.h"

#define QUEUE_MAX     50000 /* files that wait; who finds them waits when there are more */
#define SYNC_EACH     32    /* files; of more, all at once at the end */
#define HANDS_MAX     64
#define PARTS_AT_ONCE 4  /* of one file: more only take turns at its lock, at both ends */
#define BEGIN_ANEW    2  /* times, for a file that changes under way */
#define FAILS_TOLD    20 /* of more, the summary tells how many */

struct queued {
	struct queued *next;
	struct haul_file file;
};

struct haul {
	struct cli *cli;
	int parallel;
	struct watch *watch;
	struct haul_count count;
	int64_t started_ms;

	pthread_mutex_t lock; /* guards what is below */
	pthread_cond_t work, space;
	struct queued *first, *last;
	size_t waiting;
	struct big *bigs; /* those with parts that nobody took yet, and others */
	struct hand hands[HANDS_MAX];
	int hand_count, idle, busy;
	bool over, dead;
	char *unsynced; /* one of those that were put and are not durable yet; or NULL */
	struct err why; /* dead */
};

static const struct way *const ways[] = {
	[HAUL_PUT] = &way_put, [HAUL_GET] = &way_get, [HAUL_RELAY] = &way_relay
};

struct haul_count *haul_counts(struct haul *h)
{
	return &h->count;
}

struct cli *haul_cli(struct haul *h)
{
	return h->cli;
}

static void file_fini(struct haul_file *f)
{
	free(TAKE(f->from));
	free(TAKE(f->to));
}

static void big_destroy(struct big *b)
{
	file_fini(&b->file);
	if (b->fd >= 0)
		close(b->fd);
	free(b->partial);
	free(b->upload);
	free(b->etag);
	free(b->sums);
	free(b->have);
	free(b);
}

/* -- what there is to do; all with the lock held -- */

static void *hand_run(void *arg);

static void enqueue(struct haul *h, const struct haul_file *f)
{
	struct queued *q = mem_alloc(1, sizeof *q);

	q->file = *f;
	if (h->last)
		h->last->next = q;
	else
		h->first = q;
	h->last = q;
	h->waiting++;
	pthread_cond_signal(&h->work);
}

static void dequeue(struct haul *h, struct haul_file *out)
{
	struct queued *q = h->first;

	*out = q->file;
	h->first = q->next;
	if (!h->first)
		h->last = NULL;
	h->waiting--;
	free(q);
	pthread_cond_signal(&h->space);
}

/* One more hand, when there is more to do than hands that wait for it. */
static void hire(struct haul *h)
{
	if (h->idle > 0 || h->hand_count >= h->parallel)
		return;
	struct hand *w = &h->hands[h->hand_count];
	hand_init(w, h);
	int rc = pthread_create(&w->thread, NULL, hand_run, w);
	if (rc == 0) {
		h->hand_count++;
		return;
	}
	hand_fini(w);
	if (h->hand_count == 0) {
		h->dead = true;
		err_set(&h->why, ERR_IO, "start a thread: %s", strerror(rc));
	}
}

static struct big *big_with_parts(struct haul *h)
{
	for (struct big *b = h->bigs; b; b = b->next)
		if (b->taken < b->parts.count && b->running < PARTS_AT_ONCE)
			return b;
	return NULL;
}

static void unlink_big(struct haul *h, const struct big *b)
{
	struct big **at = &h->bigs;

	while (*at != b)
		at = &(*at)->next;
	*at = b->next;
}

enum job_kind { NOTHING, A_FILE, A_PART };

/* Waits for something to do; NOTHING: there will be no more. */
static enum job_kind take(struct haul *h, struct haul_file *f, struct big **b, size_t *n)
{
	for (;;) {
		if (h->dead || (h->over && !h->busy && !h->first && !h->bigs)) {
			pthread_cond_broadcast(&h->work);
			pthread_cond_broadcast(&h->space);
			return NOTHING;
		}
		*b = big_with_parts(h);
		if (*b || h->first)
			break;
		h->idle++;
		pthread_cond_wait(&h->work, &h->lock);
		h->idle--;
	}
	h->busy++;
	if (*b) {
		*n = (*b)->taken++;
		(*b)->running++;
		if (big_with_parts(h)) {
			pthread_cond_signal(&h->work);
			hire(h);
		}
		return A_PART;
	}
	dequeue(h, f);
	return A_FILE;
}

/* -- the hands -- */

static bool gives_up(const struct hand *w, const struct err *err)
{
	return err->code == ERR_UNKNOWN_CALLER || client_unreachable(w->client);
}

/* Of a file that will not be there. */
static void settle_failed(struct hand *w, struct haul_file *f, const struct err *err)
{
	struct haul *h = w->haul;

	pthread_mutex_lock(&h->lock);
	bool anew = err->code == ERR_CONFLICT && f->begun < BEGIN_ANEW && !h->dead;
	if (gives_up(w, err) && !h->dead) {
		h->dead = true;
		h->why = *err;
	}
	bool dead = h->dead;
	if (anew) {
		f->begun++;
		enqueue(h, f);
	}
	pthread_mutex_unlock(&h->lock);
	if (anew)
		return;
	h->count.files_all--;
	h->count.bytes_all -= f->size;
	if (!dead)
		haul_fail(h, f->way == HAUL_GET ? f->to : f->from, err);
	file_fini(f);
}

static void settle_done(struct haul *h, struct haul_file *f)
{
	h->count.files++;
	file_fini(f);
}

struct same_step {
	const struct haul_file *file;
	bool same;
};

static int run_same(struct hand *w, void *arg, struct err *err)
{
	struct same_step *s = arg;

	return ways[s->file->way]->same(w, s->file, &s->same, err);
}

static int run_small(struct hand *w, void *arg, struct err *err)
{
	const struct haul_file *f = arg;

	return ways[f->way]->small(w, f, err);
}

static int run_open(struct hand *w, void *arg, struct err *err)
{
	struct big *b = arg;

	return ways[b->file.way]->open(w, b, err);
}

static int run_close(struct hand *w, void *arg, struct err *err)
{
	struct big *b = arg;

	return ways[b->file.way]->close(w, b, err);
}

static void begin_big(struct hand *w, const struct haul_file *f)
{
	struct big *b = mem_alloc(1, sizeof *b);
	struct haul *h = w->haul;
	struct err err;

	b->file = *f;
	b->fd = -1;
	if (hand_try(w, run_open, b, &err) < 0) {
		settle_failed(w, &b->file, &err);
		b->file = (struct haul_file){ 0 };
		big_destroy(b);
		return;
	}
	pthread_mutex_lock(&h->lock);
	b->next = h->bigs;
	h->bigs = b;
	pthread_cond_signal(&h->work);
	pthread_mutex_unlock(&h->lock);
}

static void move_file(struct hand *w, struct haul_file *f)
{
	struct same_step same = { .file = f };
	struct err err;

	if (f->compare) {
		if (hand_try(w, run_same, &same, &err) < 0) {
			settle_failed(w, f, &err);
			return;
		}
		if (same.same) {
			hand_spared(w, f->size);
			w->haul->count.files_all--;
			haul_there(w->haul, 1);
			file_fini(f);
			return;
		}
	}
	if (f->size > PART_BYTES)
		begin_big(w, f);
	else if (hand_try(w, run_small, f, &err) < 0)
		settle_failed(w, f, &err);
	else
		settle_done(w->haul, f);
}

struct part_step {
	struct big *big;
	size_t n;
};

static int run_part(struct hand *w, void *arg, struct err *err)
{
	const struct part_step *s = arg;

	return ways[s->big->file.way]->part(w, s->big, s->n, err);
}

static void end_big(struct hand *w, struct big *b)
{
	struct err err = b->err;

	if (!b->failed && hand_try(w, run_close, b, &err) < 0)
		b->failed = true;
	if (b->failed)
		settle_failed(w, &b->file, &err);
	else
		settle_done(w->haul, &b->file);
	b->file = (struct haul_file){ 0 };
	big_destroy(b);
}

static void move_part(struct hand *w, struct big *b, size_t n)
{
	struct part_step step = { b, n };
	struct haul *h = w->haul;
	struct err err;
	int rc = hand_try(w, run_part, &step, &err);

	pthread_mutex_lock(&h->lock);
	if (rc < 0 && !b->failed) {
		b->failed = true;
		b->err = err;
		b->taken = b->parts.count; /* no more of it */
	}
	b->running--;
	bool last = b->taken == b->parts.count && b->running == 0;
	if (last)
		unlink_big(h, b);
	pthread_mutex_unlock(&h->lock);
	if (last)
		end_big(w, b);
}

static void *hand_run(void *arg)
{
	struct hand *w = arg;
	struct haul *h = w->haul;
	struct haul_file f;
	struct big *b;
	size_t n;

	pthread_mutex_lock(&h->lock);
	for (;;) {
		enum job_kind kind = take(h, &f, &b, &n);
		pthread_mutex_unlock(&h->lock);
		switch (kind) {
		case NOTHING:
			return NULL;
		case A_FILE:
			move_file(w, &f);
			break;
		case A_PART:
			move_part(w, b, n);
			break;
		}
		pthread_mutex_lock(&h->lock);
		h->busy--;
	}
}

/* -- from outside -- */

struct haul *haul_create(struct cli *c, const struct haul_options *o)
{
	struct haul *h = mem_alloc(1, sizeof *h);

	h->cli = c;
	h->parallel = o->parallel < 1           ? 1
		      : o->parallel > HANDS_MAX ? HANDS_MAX
						: o->parallel;
	h->started_ms = cli_now_ms();
	h->count.counting = true;
	pthread_mutex_init(&h->lock, NULL);
	pthread_cond_init(&h->work, NULL);
	pthread_cond_init(&h->space, NULL);
	h->watch = watch_create(h, o);
	return h;
}

void haul_add(struct haul *h, const struct haul_file *f)
{
	struct haul_file mine = *f;

	pthread_mutex_lock(&h->lock);
	while (h->waiting >= QUEUE_MAX && !h->dead)
		pthread_cond_wait(&h->space, &h->lock);
	bool dead = h->dead;
	if (!dead) {
		h->count.files_all++;
		h->count.bytes_all += mine.size;
		enqueue(h, &mine);
		hire(h);
	}
	pthread_mutex_unlock(&h->lock);
	if (dead)
		file_fini(&mine);
}

bool haul_syncs_later(struct haul *h, const char *path)
{
	if (h->count.files_all <= SYNC_EACH)
		return false;
	pthread_mutex_lock(&h->lock);
	if (!h->unsynced)
		h->unsynced = mem_strdup(path);
	pthread_mutex_unlock(&h->lock);
	return true;
}

void haul_there(struct haul *h, int64_t files)
{
	h->count.there += files;
}

void haul_skip(struct haul *h, const char *path, const char *why)
{
	h->count.skipped++;
	watch_say(h->watch, false, "%s: %s", path, why);
}

void haul_fail(struct haul *h, const char *path, const struct err *why)
{
	if (h->count.failed++ < FAILS_TOLD)
		watch_say(h->watch, true, "%s: %s", path, why->text);
}

bool haul_dead(struct haul *h)
{
	pthread_mutex_lock(&h->lock);
	bool dead = h->dead;
	pthread_mutex_unlock(&h->lock);
	return dead;
}

static void forget_all(struct haul *h)
{
	struct haul_file f;

	while (h->first) {
		dequeue(h, &f);
		file_fini(&f);
	}
	while (h->bigs) {
		struct big *b = h->bigs;
		h->bigs = b->next;
		big_destroy(b);
	}
}

static int make_durable(struct haul *h, struct err *err)
{
	AUTO_FREE char *target =
		h->unsynced ? place_target("/files/sync", h->unsynced) : NULL;
	AUTO_ANSWER struct answer a = { 0 };
	struct request r = { .method = "POST", .target = target };

	if (!target)
		return 0;
	if (client_call(h->cli->client, &r, &a, err) < 0)
		return err_wrap(err, "make what was sent durable");
	return 0;
}

int haul_finish(struct haul *h, struct haul_sum *out, struct err *err)
{
	pthread_mutex_lock(&h->lock);
	h->over = true;
	h->count.counting = false;
	pthread_cond_broadcast(&h->work);
	/* Hands may still hire others; the last of them leaves no one out. */
	for (int i = 0; i < h->hand_count; i++) {
		pthread_mutex_unlock(&h->lock);
		pthread_join(h->hands[i].thread, NULL);
		hand_fini(&h->hands[i]);
		pthread_mutex_lock(&h->lock);
	}
	pthread_mutex_unlock(&h->lock);
	forget_all(h);
	int rc = h->dead ? -1 : make_durable(h, err);
	if (h->dead && err)
		*err = h->why;
	watch_destroy(h->watch);
	*out = (struct haul_sum){ .files = h->count.files,
				  .bytes = h->count.bytes,
				  .there = h->count.there,
				  .skipped = h->count.skipped,
				  .failed = h->count.failed,
				  .ms = cli_now_ms() - h->started_ms };
	pthread_cond_destroy(&h->work);
	pthread_cond_destroy(&h->space);
	pthread_mutex_destroy(&h->lock);
	free(h->unsynced);
	free(h);
	return rc;
}
