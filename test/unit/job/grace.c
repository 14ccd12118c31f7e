// SPDX-License-Identifier: Apache-2.0
/* A stop waits while checkpoints grow, and not longer: every way of writing, moment by
 * moment, against the laws of grace.h. */
#include "job/grace.h"

#include "tap.h"

/* One stop, played to its end. */
struct play {
	int64_t grace_ms, max_ms;
	int64_t writes_until_ms, every_ms; /* something is written every so often */
	int64_t look_takes_ms;
	int64_t away_ms; /* the daemon comes to it that long after the notice */
};

struct outcome {
	int64_t killed_ms;
	int extensions, looks;
	bool early; /* an extension that went back, or beyond the longest */
};

static uint64_t written(const struct play *p, int64_t now_ms)
{
	int64_t at = now_ms < p->writes_until_ms ? now_ms : p->writes_until_ms;

	return (uint64_t)(at / p->every_ms);
}

static struct outcome run(const struct play *p)
{
	struct outcome o = { 0 };
	struct grace g;
	int64_t now = p->away_ms, before;

	grace_begin(&g, p->grace_ms, p->max_ms);
	now = grace_first(&g, now);
	for (;;) {
		struct grace_step s;

		before = g.until_ms;
		o.looks++;
		s = grace_seen(&g, written(p, now), now);
		now += p->look_takes_ms;
		if (s.verdict == GRACE_OVER) {
			o.killed_ms = now;
			return o;
		}
		if (s.verdict == GRACE_EXTEND) {
			o.extensions++;
			o.early |= g.until_ms <= before || g.until_ms > p->max_ms;
			now = grace_first(&g, now);
		} else {
			o.early |= s.at_ms <= now - p->look_takes_ms;
			now = s.at_ms > now ? s.at_ms : now;
		}
		if (o.looks > 100000)
			return o;
	}
}

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static const int64_t graces[] = { 1, 200, 1000, 3000, 10000, 30000, 300000 };
static const int64_t further[] = { 0, 1, 900, 5000, 20000, 600000 };
static const int64_t writes[] = { 0, 500, 4000, 29000, 60000, 1 << 30 };
static const int64_t evers[] = { 10, 700, 1900, 20000 };
static const int64_t takes[] = { 0, 3, 1500 };
static const int64_t aways[] = { 0, 100, 31000, 10000000 };

struct broken {
	long plays, soon, late, asleep, early;
};

static void one(const struct play *p, struct broken *b)
{
	struct outcome o = run(p);
	int64_t due = p->away_ms > p->grace_ms ? p->away_ms : p->grace_ms;
	int64_t last = p->max_ms > p->away_ms ? p->max_ms : p->away_ms;
	/* As long as something is written at least as often as anybody looks. */
	bool steady = p->every_ms <= GRACE_LOOK_MS;

	b->plays++;
	b->early += o.early;
	b->soon += o.killed_ms < least(due, last);
	if (steady && p->writes_until_ms > due)
		b->soon += o.killed_ms < least(p->writes_until_ms, last);
	b->late += o.killed_ms > last + GRACE_LOOK_MS + 2 * p->look_takes_ms;
	/* Who writes no more is not waited for longer than once more. */
	if (p->writes_until_ms < due)
		b->asleep += o.killed_ms > due + GRACE_STEP_MS + GRACE_QUIET_MS +
						   GRACE_LOOK_MS + 3 * p->look_takes_ms;
}

static void all(struct broken *b)
{
	struct play p;

	for (size_t i = 0; i < 7 * 6 * 6 * 4 * 3 * 4; i++) {
		size_t n = i;

		p.grace_ms = graces[n % 7], n /= 7;
		p.max_ms = p.grace_ms + further[n % 6], n /= 6;
		p.writes_until_ms = writes[n % 6], n /= 6;
		p.every_ms = evers[n % 4], n /= 4;
		p.look_takes_ms = takes[n % 3], n /= 3;
		p.away_ms = aways[n % 4];
		one(&p, b);
	}
}

int main(void)
{
	struct broken b = { 0 };
	struct outcome o;

	all(&b);
	OK(b.plays == 12096, "%ld ways to write and to be late", b.plays);
	OK(b.soon == 0, "nobody is killed within the grace, nor while it writes and may");
	OK(b.late == 0, "nor lives beyond its longest grace");
	OK(b.asleep == 0, "who writes no more is not waited for");
	OK(b.early == 0, "the end only moves on, and never beyond the longest");
	o = run(&(struct play){ .grace_ms = 30000,
				.max_ms = 300000,
				.writes_until_ms = 1 << 30,
				.every_ms = 100 });
	OK(o.killed_ms == 300000 && o.extensions == 27,
	   "who writes for ever has the longest grace, in %d steps", o.extensions);
	o = run(&(struct play){ .grace_ms = 1000,
				.max_ms = 300000,
				.writes_until_ms = 0,
				.every_ms = 100,
				.away_ms = 5000 });
	OK(o.killed_ms == 5000 + GRACE_LOOK_MS && o.looks == 2,
	   "a daemon that comes back late looks twice");
	return END();
}
