// SPDX-License-Identifier: Apache-2.0
#include "http/boards.h"

#include <stdio.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "http/internal.h"

#define KNOWN_MAX 4096 /* apps; beyond that all are asked anew */
#define FRESH_MS  1000 /* how long what was seen stands */

struct pending {
	char owner[NAME_MAX_BYTES];
	int64_t of;
};

/* That an app's own program listened. */
struct sight {
	int attempt;
	int64_t mono_ms;
};

struct boards {
	struct map *up;      /* app → struct sight */
	struct map *pending; /* of → struct pending */
};

struct boards *boards_create(void)
{
	struct boards *b = mem_alloc(1, sizeof *b);

	b->up = map_create();
	b->pending = map_create();
	return b;
}

static void forget_all(struct boards *b)
{
	struct sight *one;

	for (size_t it = 0; (one = map_next(b->up, &it));)
		free(one);
	map_destroy(b->up);
	b->up = map_create();
}

void boards_destroy(struct boards *b)
{
	struct pending *one;

	if (!b)
		return;
	for (size_t it = 0; (one = map_next(b->pending, &it));)
		free(one);
	forget_all(b);
	map_destroy(b->up);
	map_destroy(b->pending);
	free(b);
}

static void note(struct boards *b, const struct app *a, int64_t now)
{
	struct sight *one = map_get(b->up, a->id);

	if (!one && map_count(b->up) >= KNOWN_MAX)
		forget_all(b);
	if (!one) {
		one = mem_alloc(1, sizeof *one);
		map_put(b->up, a->id, one);
	}
	*one = (struct sight){ a->attempt, now };
}

bool boards_is_there(struct http_server *s, const struct app *a, struct err *err)
{
	const struct sight *one = map_get(s->boards->up, a->id);
	int64_t now = world_mono_ms(s->config.world);

	if (one && one->attempt == a->attempt && now - one->mono_ms < FRESH_MS)
		return true;
	if (!app_is_there(s, a, err))
		return false;
	note(s->boards, a, now);
	return true;
}

bool boards_is_up(struct http_server *s, const struct app *a)
{
	const struct sight *one = map_get(s->boards->up, a->id);

	return (one && one->attempt == a->attempt) || boards_is_there(s, a, NULL);
}

bool boards_begin(struct boards *b, const char *owner, int64_t of)
{
	struct pending *one;

	if (map_get(b->pending, of))
		return false;
	one = mem_alloc(1, sizeof *one);
	snprintf(one->owner, sizeof one->owner, "%s", owner);
	one->of = of;
	map_put(b->pending, of, one);
	return true;
}

void boards_done(struct boards *b, int64_t of)
{
	free(map_del(b->pending, of));
}

int boards_pending(const struct boards *b, const char *owner)
{
	struct pending *one;
	int n = 0;

	for (size_t it = 0; (one = map_next(b->pending, &it));)
		n += str_eq(one->owner, owner);
	return n;
}
