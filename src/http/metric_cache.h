// SPDX-License-Identifier: Apache-2.0
/* metric_cache.h - metrics of jobs that were asked for lately, read on at every question.
 *
 * Reading is done in a lane of its own, a while for one job, then for the next, so that
 * large files hold up nobody's small ones and never the loop.  Questions about one job that
 * come together are answered by one reading.  What is kept is bounded in bytes and number;
 * the one not asked for the longest goes first, and is read anew when it is asked for again.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "stream/metrics.h"
#include "world/world.h"

#define METRIC_CACHE_BYTES ((size_t)256 << 20)
#define METRIC_CACHE_JOBS  200
#define METRIC_WAIT_MS     20000 /* that one may wait for an answer */
#define METRIC_LOGS_MAX    64    /* of one turn */

struct metric_cache;

struct metric_logs { /* those that are to be read now */
	struct metrics_log items[METRIC_LOGS_MAX];
	size_t count;
	bool more; /* there are others behind them */
};

/* What the cache asks back, on the loop. */
struct metric_cache_ops {
	/* Fills in what is to be read of the job; strings are freed by the cache. */
	void (*logs)(void *arg, int64_t job, const struct metrics *m,
		     struct metric_logs *out);
	/* Whether somebody still waits for this answer. */
	bool (*waits)(void *who);
	/* Once for every ask. */
	void (*answer)(void *who, const struct buf *json);
};

struct metric_cache *metric_cache_create(struct world *w,
					 const struct metric_cache_ops *ops, void *arg);
/* Begins nothing more; before the world is destroyed. */
void metric_cache_close(struct metric_cache *c);
void metric_cache_destroy(struct metric_cache *c); /* after it; NULL is fine */

struct metric_ask {
	int64_t job;
	char **names; /* taken, as is the list */
	size_t name_count, points;
	int64_t wait_ms; /* then what was read by then is told */
	char *note;      /* a problem to be told beside the others, or NULL; taken */
	void *who;
};
/* What is kept under this key, or NULL; what is made for it is then given to be kept. */
struct metrics *metric_cache_find(const struct metric_cache *c, const char *key);
void metric_cache_ask(struct metric_cache *c, const char *key, struct metrics *made,
		      const struct metric_ask *ask);
