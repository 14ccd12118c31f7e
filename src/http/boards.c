// SPDX-License-Identifier: Apache-2.0
#include "http/boards.h"

#include <stdio.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "http/internal.h"

#define KNOWN_MAX 4096 /* apps; beyond that all are asked anew */
#define PROBE_MS  5000

struct pending {
	char owner[NAME_MAX_BYTES];
	int64_t of;
};

struct probe {
	struct http_server *server;
	struct world_stream *stream;
	struct world_timer *timer;
	int64_t app;
	int attempt;
};

struct boards {
	struct map *up;      /* app → attempt that answered */
	struct map *pending; /* of → struct pending */
	struct map *probes;  /* app → struct probe */
};

struct boards *boards_create(void)
{
	struct boards *b = mem_alloc(1, sizeof *b);

	b->up = map_create();
	b->pending = map_create();
	b->probes = map_create();
	return b;
}

static void probe_end(struct probe *p)
{
	map_del(p->server->boards->probes, p->app);
	world_timer_destroy(p->timer);
	world_stream_close(p->stream);
	free(p);
}

void boards_quiet(struct boards *b)
{
	struct probe *p;

	for (size_t it = 0; (p = map_next(b->probes, &it));)
		probe_end(p);
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
	map_destroy(b->probes);
	free(b);
}

bool boards_answered(const struct boards *b, int64_t app, int attempt)
{
	return (intptr_t)map_get(b->up, app) == attempt && attempt > 0;
}

void boards_note(struct boards *b, int64_t app, int attempt)
{
	if (map_count(b->up) >= KNOWN_MAX) {
		map_destroy(b->up);
		b->up = map_create();
	}
	map_put(b->up, app, (void *)(intptr_t)attempt);
}

static void probe_stands(void *arg)
{
	struct probe *p = arg;

	boards_note(p->server->boards, p->app, p->attempt);
	probe_end(p);
}

static void probe_over(void *arg, const struct err *err)
{
	(void)err;
	probe_end(arg);
}

static void probe_late(void *arg)
{
	probe_end(arg);
}

void boards_probe(struct http_server *s, const struct app *a)
{
	static const struct world_stream_events events = { .on_end = probe_over,
							   .on_connect = probe_stands };
	struct world_stream *stream;

	if (!a->port || boards_answered(s->boards, a->id, a->attempt) ||
	    map_get(s->boards->probes, a->id))
		return;
	stream = world_connect_tcp(s->config.world, a->address, a->port, NULL);
	if (!stream)
		return;
	struct probe *p = mem_alloc(1, sizeof *p);
	*p = (struct probe){ s, stream, NULL, a->id, a->attempt };
	p->timer = world_timer_create(s->config.world, probe_late, p);
	world_timer_at(p->timer, world_mono_ms(s->config.world) + PROBE_MS);
	map_put(s->boards->probes, a->id, p);
	world_stream_start(stream, &events, p);
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
