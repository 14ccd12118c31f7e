// SPDX-License-Identifier: Apache-2.0
/* What is seen from outside while a run goes on: time spent in the plan, and what stands
 * idle over simulated time. */
#include "base/mem.h"
#include "sim/mirror.h"
#include "sim/native.h"

/* ---- how long calls take: buckets of an eighth of a power of two ---- */

#define BUCKETS 512

struct native_timer {
	int64_t (*clock_ns)(void);
	int64_t begin_ns, total_ns, steps;
	int64_t count[BUCKETS];
};

struct native_timer *native_timer_create(int64_t (*clock_ns)(void))
{
	struct native_timer *t = mem_alloc(1, sizeof *t);

	t->clock_ns = clock_ns;
	return t;
}

void native_timer_destroy(struct native_timer *t)
{
	free(t);
}

void native_timer_begin(struct native_timer *t)
{
	if (t->clock_ns)
		t->begin_ns = t->clock_ns();
}

static int bucket_of(int64_t ns)
{
	int log = 0;

	if (ns < 8)
		return ns > 0 ? (int)ns : 0;
	while (ns >> log >= 16)
		log++;
	return 8 * log + (int)(ns >> log);
}

static double bucket_ns(int b)
{
	return b < 16 ? b : (double)((int64_t)(8 + b % 8) << (b / 8 - 1));
}

void native_timer_end(struct native_timer *t, bool step)
{
	int64_t ns;

	if (!t->clock_ns)
		return;
	ns = t->clock_ns() - t->begin_ns;
	t->total_ns += ns;
	if (!step)
		return;
	t->steps++;
	t->count[bucket_of(ns)]++;
}

static double quantile_ns(const struct native_timer *t, double part)
{
	int64_t upto = (int64_t)(part * (double)t->steps), seen = 0;

	for (int b = 0; b < BUCKETS; b++) {
		seen += t->count[b];
		if (seen > upto)
			return bucket_ns(b);
	}
	return 0;
}

void native_timer_report(const struct native_timer *t, int64_t decisions,
			 struct sim_result *out)
{
	sim_figure_set(out, "decisions", (double)decisions);
	if (!t->clock_ns || !t->steps)
		return;
	sim_figure_set(out, "decisions_per_s",
		       (double)decisions * 1e9 / (double)(t->total_ns ? t->total_ns : 1));
	sim_figure_set(out, "p50_step_ns", quantile_ns(t, 0.5));
	sim_figure_set(out, "p99_step_ns", quantile_ns(t, 0.99));
}

/* ---- use over time ---- */

#define SAMPLES 1024

struct native_watch {
	double device_ms;    /* devices × time given away */
	double idle_waiting; /* devices × time idle while somebody waited */
	double fragment_ms;  /* fragmentation × time */
	double gang_ms;
	int64_t first_ms, last_ms; /* -1: nothing yet */
	int64_t next_ms, apart_ms; /* of samples */
	struct sim_sample now;
	struct sim_sample samples[SAMPLES];
	size_t count;
};

struct native_watch *native_watch_create(const struct sim_cluster *c)
{
	struct native_watch *w = mem_alloc(1, sizeof *w);

	(void)c;
	w->first_ms = w->last_ms = -1;
	w->apart_ms = 1000;
	return w;
}

void native_watch_destroy(struct native_watch *w)
{
	free(w);
}

/* Twice as far apart from now on, and so are those that are there. */
static void thin(struct native_watch *w)
{
	for (size_t i = 0; i < SAMPLES / 2; i++)
		w->samples[i] = w->samples[2 * i];
	w->count = SAMPLES / 2;
	w->apart_ms *= 2;
}

/* What stands now has stood since last_ms and goes on until to_ms. */
void native_watch_move(struct native_watch *w, const struct native *x, int64_t to_ms)
{
	double total = (double)mirror_total_milli(x->mirror);
	double span = (double)(to_ms - w->last_ms);

	if (w->last_ms < 0) {
		w->first_ms = w->last_ms = w->next_ms = to_ms;
		return;
	}
	if (to_ms <= w->last_ms)
		return;
	w->now.use = total > 0 ? (double)mirror_used_milli(x->mirror) / total : 0;
	w->now.waiting = (double)plan_waiting(x->plan);
	w->device_ms += w->now.use * span;
	if (w->now.waiting > 0)
		w->idle_waiting += (1 - w->now.use) * total / DEVICE_SHARE * span;
	if (to_ms > w->next_ms) {
		w->now.fragment = mirror_fragment(x->mirror);
		w->now.gang = (double)mirror_gang(x->mirror);
		for (; w->next_ms < to_ms; w->next_ms += w->apart_ms) {
			if (w->count == SAMPLES)
				thin(w);
			w->now.at = (double)w->next_ms / 1000;
			w->samples[w->count++] = w->now;
		}
	}
	w->fragment_ms += w->now.fragment * span;
	w->gang_ms += w->now.gang * span;
	w->last_ms = to_ms;
}

void native_watch_report(const struct native_watch *w, struct sim_result *out)
{
	double span = (double)(w->last_ms - w->first_ms);

	for (size_t i = 0; i < w->count; i++)
		sim_sample_add(out, &w->samples[i]);
	if (w->last_ms <= w->first_ms)
		return;
	sim_figure_set(out, "use_percent", 100 * w->device_ms / span);
	sim_figure_set(out, "idle_while_waiting_devices", w->idle_waiting / span);
	sim_figure_set(out, "fragmentation_percent", 100 * w->fragment_ms / span);
	sim_figure_set(out, "largest_gang_devices", w->gang_ms / span);
}
