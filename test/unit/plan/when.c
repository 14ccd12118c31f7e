// SPDX-License-Identifier: Apache-2.0
/* Estimates of starts: told by hand, and against what then comes. */
#include <stdlib.h>

#include "base/mem.h"
#include "plan/plan.h"
#include "plan/why.h"
#include "tap.h"

#define GI     ((int64_t)1 << 30)
#define MINUTE 60000
#define NO     INT64_MAX

static void ignore(void *arg, const struct plan_decision *d)
{
	(void)arg;
	(void)d;
}

static void add_kept_node(struct plan *p, const char *name, int gpus,
			  struct node_window window)
{
	struct node n = { .up = true, .port_first = 30000, .port_last = 30009 };
	struct plan_delta d = { .kind = PLAN_NODE, .node = &n };

	strcpy(n.name, name);
	n.capacity.cpu_milli = 16000;
	n.capacity.memory_bytes = 64 * GI;
	resources_set_device(&n.capacity, "gpu", gpus);
	n.window_count = window.to_ms > 0;
	n.windows[0] = window;
	plan_apply(p, &d);
}

static void add_node(struct plan *p, const char *name, int gpus)
{
	add_kept_node(p, name, gpus, (struct node_window){ 0 });
}

struct ask_of {
	int64_t id;
	int tasks, gpus;
	int64_t limit, guess; /* minutes */
	const char *user;
};

static void submit(struct plan *p, struct ask_of a)
{
	struct gang_role r = { .count = a.tasks, .each = { 1000, GI, { { "", 0 } } } };
	struct plan_job j = { .id = a.id,
			      .user = a.user ? a.user : "ada",
			      .group = "red",
			      .limit_ms = a.limit * MINUTE,
			      .guess_ms = a.guess * MINUTE,
			      .guess_low_ms = a.guess * MINUTE / 2,
			      .guess_high_ms = a.guess * MINUTE * 2,
			      .gang = { .roles = &r, .role_count = 1 } };
	struct plan_delta d = { .kind = PLAN_WAIT, .job = &j };

	resources_set_device(&r.each, "gpu", a.gpus);
	plan_apply(p, &d);
	plan_step(p, 0, 0, ignore, NULL);
}

static void starts(const struct plan *p, int64_t id, int64_t now, const int64_t want[3],
		   const char *law)
{
	struct plan_when w;
	int64_t got[3];
	bool ok = true;

	plan_estimate(p, id, now * MINUTE, NULL, &w);
	got[0] = w.soonest_ms;
	got[1] = w.likely_ms;
	got[2] = w.latest_ms;
	for (int i = 0; i < 3; i++)
		ok &= got[i] == (want[i] == NO ? NO : want[i] * MINUTE);
	if (!OK(ok, "%s", law))
		printf("# got %lld %lld %lld s\n", (long long)got[0] / 1000,
		       (long long)got[1] / 1000, (long long)got[2] / 1000);
	OK(w.soonest_ms <= w.likely_ms && w.likely_ms <= w.latest_ms &&
		   (w.sure > 0) == (w.likely_ms != NO),
	   "in order, and sure if anything is told");
}

#define STARTS(p, id, now, a, b, c, law)                                                 \
	starts(p, id, now, (const int64_t[]){ a, b, c }, law)

static void test_one(void)
{
	struct plan *p = plan_create();

	add_node(p, "a", 4);
	submit(p, (struct ask_of){ 1, 1, 4, 0, 10 });
	submit(p, (struct ask_of){ 2, 1, 2, 0, 10 });
	submit(p, (struct ask_of){ 3, 1, 4, 0, 10 });
	STARTS(p, 2, 0, 5, 10, 20, "when the one that holds it all ends");
	STARTS(p, 2, 4, 5, 10, 20, "the same while it runs");
	STARTS(p, 3, 0, 10, 20, 40, "behind one that waits: when that has ended, too");
	STARTS(p, 1, 0, NO, NO, NO, "of one that runs nothing is told");
	STARTS(p, 9, 0, NO, NO, NO, "nor of one that is not there");
	struct plan_when w;
	plan_estimate(p, 3, 0, NULL, &w);
	OK(w.after_count == 1 && w.after[0].job == 1 && w.after[0].end_ms == 10 * MINUTE,
	   "and whose end makes the room");
	plan_estimate(p, 2, 15 * MINUTE, NULL, &w);
	OK(w.soonest_ms >= 15 * MINUTE && w.likely_ms > 15 * MINUTE &&
		   w.likely_ms <= 20 * MINUTE && w.latest_ms == 20 * MINUTE,
	   "one that runs past its likely end is judged by its latest");
	plan_estimate(p, 2, 60 * MINUTE, NULL, &w);
	OK(w.soonest_ms > 60 * MINUTE && w.likely_ms == 120 * MINUTE &&
		   w.latest_ms > w.likely_ms && w.latest_ms != NO,
	   "and past all marks by how long it ran");
	plan_destroy(p);
}

static void test_unknown(void)
{
	struct plan *p = plan_create();

	add_node(p, "a", 4);
	submit(p, (struct ask_of){ 1, 1, 2, 0, 0 });
	submit(p, (struct ask_of){ 2, 1, 2, 30, 0 });
	submit(p, (struct ask_of){ 3, 1, 4, 0, 0 });
	submit(p, (struct ask_of){ 4, 1, 2, 10, 0 });
	STARTS(p, 3, 0, NO, NO, NO, "no telling when nothing is known of one before");
	STARTS(p, 4, 0, 30, 30, NO, "a short one passes whom nothing is known of");
	submit(p, (struct ask_of){ 5, 1, 5, 10, 0 });
	STARTS(p, 5, 0, NO, NO, NO, "nor of what can never start");
	plan_destroy(p);
	p = plan_create();
	add_node(p, "a", 4);
	submit(p, (struct ask_of){ 1, 1, 4, 30, 100 });
	submit(p, (struct ask_of){ 2, 1, 4, 0, 0 });
	STARTS(p, 2, 0, 30, 30, 30, "a limit is kept, whatever was learned");
	STARTS(p, 2, 45, 45, 45, 45, "one past its limit ends at any moment");
	plan_destroy(p);
}

static void test_passing(void)
{
	struct plan *p = plan_create();

	add_node(p, "a", 4);
	add_node(p, "b", 4);
	submit(p, (struct ask_of){ 1, 1, 3, 60, 0 });
	submit(p, (struct ask_of){ 2, 1, 4, 20, 0 });
	submit(p, (struct ask_of){ 3, 2, 4, 10, 0 });
	submit(p, (struct ask_of){ 4, 1, 2, 30, 0 });
	submit(p, (struct ask_of){ 5, 1, 2, 90, 0 });
	STARTS(p, 3, 0, 60, 60, 60, "a gang when all its nodes are free");
	STARTS(p, 4, 0, 20, 20, 70, "a short one passes the head as soon as it fits");
	STARTS(p, 5, 0, 20, 70, 70, "a long one has to wait for it");
	plan_destroy(p);
}

static void test_quota(void)
{
	struct plan *p = plan_create();
	struct quota q = { { -1, -1, { { "gpu", 2 } } }, -1 };
	struct plan_delta d = { .kind = PLAN_QUOTA_USER, .name = "bo", .quota = &q };

	add_node(p, "a", 8);
	plan_apply(p, &d);
	submit(p, (struct ask_of){ 1, 1, 2, 20, 0, "ada" });
	submit(p, (struct ask_of){ 2, 1, 2, 40, 0, "bo" });
	submit(p, (struct ask_of){ 3, 1, 1, 40, 0, "bo" });
	STARTS(p, 3, 0, 40, 40, 40, "whom a quota stops waits for its own");
	plan_destroy(p);
}

/* The group's part of the tree may borrow no more. */
static void test_tenant(void)
{
	struct plan *p = plan_create();
	struct tenant_rule rule = { .guarantee = { -1, -1, { { "", 0 } } },
				    .borrow = { -1, -1, { { "gpu", 4 } } },
				    .lend = { -1, -1, { { "", 0 } } } };
	struct plan_delta d = { .kind = PLAN_TENANT, .name = "red", .tenant = &rule };

	add_node(p, "a", 8);
	plan_apply(p, &d);
	submit(p, (struct ask_of){ 1, 1, 2, 20, 0, "ada" });
	submit(p, (struct ask_of){ 2, 1, 2, 40, 0, "bo" });
	submit(p, (struct ask_of){ 3, 1, 4, 10, 0, "cy" });
	STARTS(p, 3, 0, 40, 40, 40,
	       "one whose group may borrow no more waits for its group");
	submit(p, (struct ask_of){ 4, 1, 2, 10, 0, "cy" });
	STARTS(p, 4, 0, 20, 20, 20, "until enough came back");
	plan_destroy(p);
}

static void test_long(void)
{
	struct plan *p = plan_create();
	struct plan_when w;

	add_node(p, "a", 8);
	for (int64_t i = 1; i <= 1200; i++)
		submit(p, (struct ask_of){ i, 1, 1 + (int)(i % 8), 10, 0 });
	plan_estimate(p, 1200, 0, NULL, &w);
	OK(w.likely_ms > 1200 * 3 * MINUTE && w.likely_ms < 1200 * 10 * MINUTE,
	   "a long queue goes on as its beginning does (%lld min)",
	   (long long)w.likely_ms / MINUTE);
	OK(w.sure > 0 && w.sure < 50, "of which one is less sure");
	plan_destroy(p);
}

#define YARDS 40
#define JOBS  60

struct fate {
	int64_t limit_ms, start_ms, end_ms;
	struct plan_when told;
	bool asked, runs;
};

struct yard {
	struct plan *p;
	struct fate jobs[JOBS + 1];
	int64_t now_ms;
};

static void on_start(void *arg, const struct plan_decision *d)
{
	struct yard *y = arg;
	struct fate *f = &y->jobs[d->job];

	f->runs = true;
	f->start_ms = y->now_ms;
	f->end_ms = y->now_ms + f->limit_ms;
}

/* The first that ends; gives its number, 0: none runs. */
static int64_t end_next(struct yard *y)
{
	int64_t first = 0;

	for (int64_t i = 1; i <= JOBS; i++) {
		if (y->jobs[i].runs &&
		    (!first || y->jobs[i].end_ms < y->jobs[first].end_ms))
			first = i;
	}
	if (first) {
		struct plan_delta d = { .kind = PLAN_RELEASE, .id = first };
		y->now_ms = y->jobs[first].end_ms;
		y->jobs[first].runs = false;
		plan_apply(y->p, &d);
		plan_step(y->p, y->now_ms, 0, on_start, y);
	}
	return first;
}

static int roll(uint64_t *seed, int below)
{
	uint64_t x = *seed += 0x9e3779b97f4a7c15ULL;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
	return (int)((x ^ (x >> 27)) % (uint64_t)below);
}

/* All come at once, run as long as their limits say, and each is foretold at the start. */
static void live(struct yard *y, uint64_t seed)
{
	y->p = plan_create();
	add_node(y->p, "a", 8);
	add_node(y->p, "b", 8);
	add_node(y->p, "c", 4);
	for (int64_t i = 1; i <= JOBS; i++) {
		struct gang_role r = { .count = roll(&seed, 5) ? 1 : 2,
				       .each = { 500, GI, { { "", 0 } } } };
		struct plan_job j = { .id = i,
				      .user = "ada",
				      .group = "red",
				      .gang = { .roles = &r, .role_count = 1 } };
		struct plan_delta d = { .kind = PLAN_WAIT, .job = &j };
		resources_set_device(&r.each, "gpu", 1 + roll(&seed, 6));
		y->jobs[i].limit_ms = j.limit_ms = MINUTE * (1 + roll(&seed, 120));
		plan_apply(y->p, &d);
	}
	plan_step(y->p, 0, 0, on_start, y);
	for (int64_t i = 1; i <= JOBS; i++) {
		y->jobs[i].asked = !y->jobs[i].runs;
		if (y->jobs[i].asked)
			plan_estimate(y->p, i, 0, NULL, &y->jobs[i].told);
	}
	while (end_next(y))
		;
	plan_destroy(y->p);
}

static int by_size(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static void test_truth(void)
{
	int64_t errors[YARDS * JOBS];
	size_t told = 0, within = 0;

	for (uint64_t seed = 1; seed <= YARDS; seed++) {
		struct yard y = { 0 };
		live(&y, seed);
		for (int i = 1; i <= JOBS; i++) {
			const struct fate *f = &y.jobs[i];
			int64_t off = f->start_ms - f->told.likely_ms;
			if (!f->asked)
				continue;
			within += f->start_ms >= f->told.soonest_ms &&
				  f->start_ms <= f->told.latest_ms;
			errors[told++] = off < 0 ? -off : off;
		}
	}
	qsort(errors, told, sizeof *errors, by_size);
	printf("# %zu starts foretold: %.1f %% within, median error %lld s, 90 %% %lld s\n",
	       told, 100.0 * (double)within / (double)told,
	       (long long)errors[told / 2] / 1000,
	       (long long)errors[told * 9 / 10] / 1000);
	OK(told > 1000 && within * 100 > told * 85,
	   "of jobs that run as long as they said nearly all start within what was told");
	OK(errors[told / 2] < 15 * MINUTE, "and half of them close to it");
}

static void test_windows(void)
{
	struct plan *p = plan_create();
	struct plan_when w;

	add_kept_node(p, "a", 8, (struct node_window){ 0, 60 * MINUTE, "" });
	add_node(p, "b", 8);
	submit(p, (struct ask_of){ 1, 1, 8, 20, 0 });
	submit(p, (struct ask_of){ 2, 2, 8, 20, 0 });
	submit(p, (struct ask_of){ 3, 1, 8, 20, 0 });
	STARTS(p, 2, 0, 60, 60, 60,
	       "who needs a node that is kept: when the window ends");
	plan_estimate(p, 2, 0, NULL, &w);
	OK(w.after_count == 0, "and nobody's end is said to make the room");
	OK(plan_freed(p, 2) == 0, "nor would it, alone");
	OK(plan_freed(p, 3) == 1, "but for one that needs the other node");
	plan_destroy(p);

	p = plan_create();
	add_kept_node(p, "a", 8, (struct node_window){ 30 * MINUTE, 60 * MINUTE, "" });
	submit(p, (struct ask_of){ 1, 1, 8, 20, 0 });
	submit(p, (struct ask_of){ 2, 1, 8, 20, 0 });
	submit(p, (struct ask_of){ 3, 1, 8, 10, 0 });
	STARTS(p, 2, 0, 60, 60, 60, "who would run into a window: when that ends");
	STARTS(p, 3, 0, 20, 20, 80, "who ends before it begins: as if there were none");
	plan_destroy(p);

	p = plan_create();
	add_kept_node(p, "a", 8, (struct node_window){ 0, 60 * MINUTE, "" });
	submit(p, (struct ask_of){ 1, 1, 8, 0, 0 });
	STARTS(p, 1, 0, 60, 60, 60, "who waits for a window only: when that ends");
	plan_destroy(p);

	p = plan_create();
	add_kept_node(p, "a", 8, (struct node_window){ 0, 60 * MINUTE, "red" });
	submit(p, (struct ask_of){ 1, 1, 8, 20, 0 });
	submit(p, (struct ask_of){ 2, 1, 8, 20, 0 });
	STARTS(p, 2, 0, 20, 20, 20, "its own group's window is in nobody's way");
	plan_destroy(p);
}

int main(void)
{
	test_windows();
	test_one();
	test_unknown();
	test_passing();
	test_quota();
	test_tenant();
	test_long();
	test_truth();
	return END();
}
