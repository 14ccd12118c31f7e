// SPDX-License-Identifier: Apache-2.0
#include "http/boards.h"

#include <stdio.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "http/internal.h"

#define KNOWN_MAX 4096 /* apps; beyond that all are asked anew */

struct pending {
	char owner[NAME_MAX_BYTES];
	int64_t of;
};

struct boards {
	struct map *up;      /* app → attempt that answered */
	struct map *pending; /* of → struct pending */
};

struct boards *boards_create(void)
{
	struct boards *b = mem_alloc(1, sizeof *b);

	b->up = map_create();
	b->pending = map_create();
	return b;
}

void boards_destroy(struct boards *b)
{
	struct pending *one;

	if (!b)
		return;
	for (size_t it = 0; (one = map_next(b->pending, &it));)
		free(one);
	map_destroy(b->up);
	map_destroy(b->pending);
	free(b);
}

static void note_up(struct boards *b, int64_t app, int attempt)
{
	if (map_count(b->up) >= KNOWN_MAX) {
		map_destroy(b->up);
		b->up = map_create();
	}
	map_put(b->up, app, (void *)(intptr_t)attempt);
}

bool boards_is_up(struct http_server *s, const struct app *a)
{
	if ((intptr_t)map_get(s->boards->up, a->id) == a->attempt)
		return true;
	if (!app_is_there(s, a, NULL))
		return false;
	note_up(s->boards, a->id, a->attempt);
	return true;
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
