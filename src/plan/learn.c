// SPDX-License-Identifier: Apache-2.0
/* The nearest key says how long; the farther ones say it too, but together they count
 * only as PRIOR observations of the nearer: one job of a new command moves little, ten of
 * them decide. */
#include "plan/learn.h"

#include <assert.h>
#include <string.h>

#include "base/buf.h"
#include "base/map.h"
#include "base/mem.h"
#include "plan/spread.h"

#define KEYS_MAX  4096
#define PRIOR     3
#define ENOUGH    8 /* observations of a key that need no other to be believed */
#define ERRORS    256
#define SCORE_MAX 1000 /* then halved: what was long ago fades */

enum nearness {
	NEAR_ALL,
	NEAR_COMMAND,
	NEAR_USER,
	NEAR_GROUP,
	NEAR_EVERYBODY,
	LEVEL_COUNT
};

struct row { /* of one key, in the order in which they were last noted */
	char *key;
	struct row *older, *newer;
	struct spread spread;
};

struct learn {
	struct map *rows;
	struct row *oldest, *newest;
	int64_t told, within, close; /* ever */
	int64_t recent_told, recent_within;
	int64_t errors[ERRORS];
	size_t error_count, error_at;
};

struct learn *learn_create(void)
{
	struct learn *l = mem_alloc(1, sizeof *l);

	l->rows = map_create();
	return l;
}

static void row_unlink(struct learn *l, struct row *r)
{
	if (r->older)
		r->older->newer = r->newer;
	else
		l->oldest = r->newer;
	if (r->newer)
		r->newer->older = r->older;
	else
		l->newest = r->older;
	r->older = r->newer = NULL;
}

static void row_newest(struct learn *l, struct row *r)
{
	r->older = l->newest;
	if (l->newest)
		l->newest->newer = r;
	else
		l->oldest = r;
	l->newest = r;
}

static void drop_oldest(struct learn *l)
{
	struct row *r = l->oldest;

	assert(r != l->newest); /* it goes because there are too many */
	l->oldest = r->newer;
	l->oldest->older = NULL;
	map_dels(l->rows, r->key);
	free(r->key);
	free(r);
}

void learn_destroy(struct learn *l)
{
	if (!l)
		return;
	for (struct row *r = l->oldest, *next; r; r = next) {
		next = r->newer;
		free(r->key);
		free(r);
	}
	map_destroy(l->rows);
	free(l);
}

/* False: of this job such a key cannot be made. */
static bool key_of(const struct learn_who *w, enum nearness level, struct buf *out)
{
	bool user = level <= NEAR_USER, command = level <= NEAR_COMMAND,
	     devices = level == NEAR_ALL || level == NEAR_USER || level == NEAR_GROUP;

	if ((user && !w->user) || (command && !w->command) ||
	    (level == NEAR_GROUP && !w->group))
		return false;
	buf_clear(out);
	buf_addc(out, (char)('a' + level));
	if (devices)
		buf_add_i64(out, w->device_milli);
	buf_printf(out, "\n%s\n%s",
		   user                  ? w->user
		   : level == NEAR_GROUP ? w->group
					 : "",
		   command ? w->command : "");
	return true;
}

static struct row *row_get(struct learn *l, const char *key)
{
	struct row *r = map_gets(l->rows, key);

	if (r) {
		row_unlink(l, r);
	} else {
		if (map_count(l->rows) == KEYS_MAX)
			drop_oldest(l);
		r = mem_alloc(1, sizeof *r);
		r->key = mem_strdup(key);
		map_puts(l->rows, key, r);
	}
	row_newest(l, r);
	return r;
}

void learn_note(struct learn *l, const struct learn_who *who, int64_t ran_ms)
{
	AUTO_BUF struct buf key = { 0 };

	for (enum nearness k = LEVEL_COUNT; k-- > 0;) {
		if (key_of(who, k, &key))
			spread_note(&row_get(l, buf_str(&key))->spread,
				    ran_ms > 0 ? ran_ms : 0);
	}
}

int64_t learn_seen(const struct learn *l)
{
	AUTO_BUF struct buf key = { 0 };
	const struct row *r;

	key_of(&(struct learn_who){ 0 }, NEAR_EVERYBODY, &key);
	r = map_gets(l->rows, buf_str(&key));
	return r ? r->spread.seen : 0;
}

/* From the farthest to the nearest; gives of how many ended jobs it is known. */
static int64_t mix_of(const struct learn *l, const struct learn_who *who,
		      struct spread_mix *mix)
{
	AUTO_BUF struct buf key = { 0 };
	int64_t count = 0;

	for (enum nearness k = LEVEL_COUNT; k-- > 0;) {
		const struct row *r =
			key_of(who, k, &key) ? map_gets(l->rows, buf_str(&key)) : NULL;
		if (!r)
			continue;
		spread_mix(mix, &r->spread, PRIOR);
		if (!count || r->spread.seen >= ENOUGH)
			count = r->spread.seen;
	}
	return count;
}

static void guess_from(const struct spread_mix *mix, int64_t count, struct guess *out)
{
	*out = (struct guess){ .low_ms = spread_quantile(mix, 100),
			       .likely_ms = spread_quantile(mix, 500),
			       .high_ms = spread_quantile(mix, 900),
			       .mean_ms = spread_mean(mix),
			       .count = count };
}

void learn_guess(const struct learn *l, const struct learn_who *who, struct guess *out)
{
	struct spread_mix mix = { 0 };
	int64_t count = mix_of(l, who, &mix);

	*out = (struct guess){ 0 };
	if (count)
		guess_from(&mix, count, out);
}

void learn_left(const struct learn *l, const struct learn_who *who, int64_t ran_ms,
		struct guess *out)
{
	struct spread_mix mix = { 0 };
	int64_t count = mix_of(l, who, &mix), ran = ran_ms > 0 ? ran_ms : 0;

	*out = (struct guess){ 0 };
	if (!count)
		return;
	if (!spread_longer(&mix, ran)) {
		/* None ran so long before.  Of run times whose logarithm tells nothing, one
		 * in ten is over after a ninth more, half after as much again. */
		*out = (struct guess){ ran / 9, ran, 9 * ran, 2 * ran, count };
		return;
	}
	guess_from(&mix, count, out);
	out->low_ms = out->low_ms > ran ? out->low_ms - ran : 0;
	out->likely_ms = out->likely_ms > ran ? out->likely_ms - ran : 0;
	out->high_ms = out->high_ms > ran ? out->high_ms - ran : 0;
	out->mean_ms = out->mean_ms > ran ? out->mean_ms - ran : 0;
}

void learn_scored(struct learn *l, int64_t waited_ms, int64_t soonest_ms,
		  int64_t likely_ms, int64_t latest_ms)
{
	int64_t error =
		waited_ms > likely_ms ? waited_ms - likely_ms : likely_ms - waited_ms;
	bool within = waited_ms >= soonest_ms && waited_ms <= latest_ms;

	l->told++;
	l->within += within;
	l->close += error <= likely_ms / 5 || error <= 60000;
	l->recent_told++;
	l->recent_within += within;
	if (l->recent_told == SCORE_MAX) {
		l->recent_told /= 2;
		l->recent_within /= 2;
	}
	l->errors[l->error_at] = error;
	l->error_at = (l->error_at + 1) % ERRORS;
	l->error_count += l->error_count < ERRORS;
}

static int by_size(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

void learn_score(const struct learn *l, struct learn_score *out)
{
	int64_t sorted[ERRORS];

	*out = (struct learn_score){ .told = l->told,
				     .within = l->within,
				     .close = l->close };
	if (!l->error_count)
		return;
	memcpy(sorted, l->errors, l->error_count * sizeof *sorted);
	qsort(sorted, l->error_count, sizeof *sorted, by_size);
	out->error_ms = sorted[l->error_count / 2];
}

int learn_sure(const struct learn *l, int nominal)
{
	return (int)((l->recent_within * 100 + (int64_t)nominal * ENOUGH) /
		     (l->recent_told + ENOUGH));
}
