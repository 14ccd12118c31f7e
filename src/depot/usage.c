// SPDX-License-Identifier: Apache-2.0
#include "depot/usage.h"

#include <pthread.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/units.h"
#include "depot/file.h"

#define STALE_MS INT64_C(300000)

struct home {
	int64_t bytes; /* valid once counted */
	int64_t taken; /* on their way */
	int64_t since; /* what changed while it was being counted */
	int64_t counted_ms;
	bool counted, counting, asked;
};

struct usage {
	int64_t quota_bytes;
	pthread_mutex_t lock;
	pthread_cond_t counted; /* somebody's count is over */
	struct map *homes;      /* by their folder → struct home */
};

struct usage *usage_create(int64_t quota_bytes)
{
	struct usage *u = mem_alloc(1, sizeof *u);

	u->quota_bytes = quota_bytes;
	pthread_mutex_init(&u->lock, NULL);
	pthread_cond_init(&u->counted, NULL);
	u->homes = map_create();
	return u;
}

void usage_destroy(struct usage *u)
{
	if (!u)
		return;
	struct home *h;
	for (size_t it = 0; (h = map_next(u->homes, &it));)
		free(h);
	map_destroy(u->homes);
	pthread_cond_destroy(&u->counted);
	pthread_mutex_destroy(&u->lock);
	free(u);
}

int64_t usage_quota(const struct usage *u, const struct volume_place *p)
{
	return p->area == VOLUME_HOME ? u->quota_bytes : 0;
}

static struct home *home_of(struct usage *u, const struct volume_place *p)
{
	struct home *h = map_gets(u->homes, p->folder);

	if (!h) {
		h = mem_alloc(1, sizeof *h);
		map_puts(u->homes, p->folder, h);
	}
	return h;
}

/* With the lock held, which is given up while the disk is read. */
static int count(struct usage *u, struct home *h, const struct volume_place *p,
		 struct err *err)
{
	struct volume_place whole = *p;
	struct tree_size size = { 0 };
	char nothing[] = "";

	while (h->counting)
		pthread_cond_wait(&u->counted, &u->lock);
	if (h->counted && !h->asked)
		return 0;
	h->counting = true;
	h->since = 0;
	pthread_mutex_unlock(&u->lock);
	whole.rel = nothing;
	int rc = file_measure(&whole, NULL, &size, err);
	pthread_mutex_lock(&u->lock);
	if (rc == 0) {
		h->bytes = size.bytes + h->since;
		h->counted = true;
	}
	h->counting = h->asked = false;
	pthread_cond_broadcast(&u->counted);
	return rc;
}

static int take(struct usage *u, const struct volume_place *p, int64_t bytes,
		struct err *err)
{
	char has[UNITS_TEXT_MAX], most[UNITS_TEXT_MAX], more[UNITS_TEXT_MAX];
	struct home *h = home_of(u, p);

	if (!h->counted && count(u, h, p, err) < 0)
		return -1;
	if (h->bytes + h->taken + bytes <= u->quota_bytes) {
		h->taken += bytes;
		return 0;
	}
	return err_set(err, ERR_QUOTA,
		       "the home of %s may hold %s (storage-quota): it has %s, and %s "
		       "more do not fit; remove something first",
		       p->name, units_show_bytes(u->quota_bytes, most),
		       units_show_bytes(h->bytes + h->taken, has),
		       units_show_bytes(bytes, more));
}

int usage_take(struct usage *u, const struct volume_place *p, int64_t bytes,
	       struct err *err)
{
	if (!usage_quota(u, p))
		return 0;
	pthread_mutex_lock(&u->lock);
	int rc = take(u, p, bytes, err);
	pthread_mutex_unlock(&u->lock);
	return rc;
}

void usage_settle(struct usage *u, const struct volume_place *p, int64_t taken,
		  int64_t more)
{
	if (!usage_quota(u, p))
		return;
	pthread_mutex_lock(&u->lock);
	struct home *h = home_of(u, p);
	h->taken -= taken;
	h->bytes += more;
	h->since += more;
	if (h->bytes < 0)
		h->bytes = 0;
	pthread_mutex_unlock(&u->lock);
}

bool usage_stale(struct usage *u, const struct volume_place *p, int64_t now_ms)
{
	if (!usage_quota(u, p))
		return false;
	pthread_mutex_lock(&u->lock);
	struct home *h = home_of(u, p);
	bool stale = h->counted && !h->asked && now_ms - h->counted_ms > STALE_MS;
	h->asked |= stale;
	if (stale)
		h->counted_ms = now_ms;
	pthread_mutex_unlock(&u->lock);
	return stale;
}

int usage_count(struct usage *u, const struct volume_place *p, int64_t now_ms,
		struct err *err)
{
	if (!usage_quota(u, p))
		return 0;
	pthread_mutex_lock(&u->lock);
	struct home *h = home_of(u, p);
	h->asked = true;
	int rc = count(u, h, p, err);
	h->counted_ms = now_ms;
	pthread_mutex_unlock(&u->lock);
	return rc;
}
