// SPDX-License-Identifier: Apache-2.0
/* storm.h - many streams that write, pause, end and close at random; for every world. */
#pragma once

#include "laws.h"

#define STORM_PAIRS 12
#define STORM_OPS   1500

/* Byte i of what an end sends is a function of i and the end, so counts are a full record. */
struct gust {
	struct storm *storm;
	struct world_stream *s;
	struct gust *other;
	size_t sent, got;
	unsigned salt;
	bool shut, closed, eof, ended, failed, paused;
};

struct storm {
	struct world *w;
	struct gust ends[2 * STORM_PAIRS];
	struct world_listener *l;
	int accepted, wrong;
	const char *what; /* the first thing that was wrong */
};

static void amiss(struct gust *g, bool bad, const char *what)
{
	if (!bad)
		return;
	if (!g->storm->wrong++)
		g->storm->what = what;
}

static char pattern(const struct gust *g, size_t i)
{
	return (char)((i * 31 + i / 251 + g->salt) & 0xff);
}

static void gust_close(struct gust *g)
{
	g->closed = true;
	world_stream_close(TAKE(g->s));
}

static void gust_data(void *arg, const char *data, size_t len)
{
	struct gust *g = arg;

	amiss(g, !g->s || g->ended || g->eof, "bytes after the end");
	amiss(g, g->paused, "bytes while paused");
	for (size_t i = 0; i < len; i++)
		amiss(g, data[i] != pattern(g->other, g->got + i),
		      "other bytes than were sent");
	g->got += len;
	amiss(g, g->got > g->other->sent, "more bytes than were sent");
	if (world_random(g->storm->w) % 300 == 0)
		gust_close(g);
}

static void gust_eof(void *arg)
{
	struct gust *g = arg;

	amiss(g, !g->s || g->ended || g->eof, "an end of file after the end");
	amiss(g, !g->other->shut && !g->other->closed, "an end of file that nobody sent");
	amiss(g, !g->other->closed && g->got != g->other->sent,
	      "an end of file before the last byte");
	g->eof = true;
	if (world_random(g->storm->w) % 8 == 0)
		gust_close(g);
}

static void gust_end(void *arg, const struct err *err)
{
	struct gust *g = arg;

	amiss(g, !g->s || g->ended, "a second end");
	amiss(g, err && !g->other->closed, "a failure without a cause");
	amiss(g, !err && !g->eof, "an orderly end without an end of file");
	g->ended = true;
	g->failed = err != NULL;
	world_stream_close(TAKE(g->s));
}

static void gust_drain(void *arg)
{
	struct gust *g = arg;

	amiss(g, !g->s || g->ended, "a drain after the end");
	amiss(g, world_stream_pending(g->s) != 0, "a drain with bytes pending");
}

static void gust_hangup(void *arg)
{
	struct gust *g = arg;

	amiss(g, !g->paused || g->eof, "a hang-up out of turn");
}

static const struct world_stream_events gust_events = { gust_data, gust_eof, gust_end,
							gust_drain, gust_hangup };

static void gust_write(struct gust *g, size_t len)
{
	char *text = mem_alloc(1, len);

	for (size_t i = 0; i < len; i++)
		text[i] = pattern(g, g->sent + i);
	g->sent += len;
	world_stream_write(g->s, text, len);
	free(text);
}

static void storm_accept(void *arg, struct world_stream *s)
{
	struct storm *t = arg;
	struct gust *g = &t->ends[2 * t->accepted++ + 1];

	g->s = s;
	world_stream_start(s, &gust_events, g);
}

static void storm_op(struct storm *t)
{
	uint64_t r = world_random(t->w);
	struct gust *g = &t->ends[r % (2 * STORM_PAIRS)];
	uint64_t kind = r / 64 % 100;

	if (!g->s)
		return;
	if (kind < 70 && !g->shut && world_stream_pending(g->s) < (1 << 20))
		gust_write(g, 1 + r / 8192 % (kind < 60 ? 3000 : 200000));
	else if (kind < 80)
		world_stream_pause(g->s, g->paused = true);
	else if (kind < 95)
		world_stream_pause(g->s, g->paused = false);
	else if (kind < 98) {
		g->shut = true;
		world_stream_shutdown(g->s);
	} else if (r / 8192 % 4 == 0)
		gust_close(g);
}

static void storm_open(struct storm *t, const char *path)
{
	t->l = world_listen_unix(t->w, path, 0600, storm_accept, t, NULL);
	for (int i = 0; i < 2 * STORM_PAIRS; i++) {
		t->ends[i].storm = t;
		t->ends[i].salt = (unsigned)i * 7;
		t->ends[i].other = &t->ends[i ^ 1];
	}
	/* One after the other: who is accepted is who called. */
	for (int i = 0; i < STORM_PAIRS; i++) {
		struct gust *g = &t->ends[2 * i];
		g->s = world_connect_unix(t->w, path, NULL);
		world_stream_start(g->s, &gust_events, g);
		for (int k = 0; k < 2000 && t->accepted <= i; k++)
			spin(t->w, 1);
	}
}

/* Everybody reads on and ends: now all must end, with all bytes. */
static void storm_calm(struct storm *t)
{
	bool over = false;

	for (int i = 0; i < 2 * STORM_PAIRS; i++) {
		struct gust *g = &t->ends[i];
		if (!g->s)
			continue;
		g->paused = false;
		g->shut = true;
		world_stream_pause(g->s, false);
		world_stream_shutdown(g->s);
	}
	for (int k = 0; k < 3000 && !over; k++) {
		spin(t->w, 1);
		over = true;
		for (int i = 0; i < 2 * STORM_PAIRS; i++)
			over &= !t->ends[i].s;
	}
	for (int i = 0; i < 2 * STORM_PAIRS; i++) {
		struct gust *g = &t->ends[i];
		amiss(g, g->s != NULL, "an end that never came");
		amiss(g, !g->closed && !g->other->closed && g->got != g->other->sent,
		      "bytes that were lost");
		world_stream_close(g->s);
	}
}

/* NULL: nothing was wrong. */
static const char *storm_run(struct world *w, const char *path)
{
	struct storm t = { .w = w };

	storm_open(&t, path);
	for (int i = 0; i < STORM_OPS; i++) {
		storm_op(&t);
		if (world_random(w) % 8 == 0)
			spin(w, (int64_t)(world_random(w) % 2));
	}
	storm_calm(&t);
	world_listener_close(t.l);
	return t.what;
}
