// SPDX-License-Identifier: Apache-2.0
/* What would start now does: told by hand, and tried. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"
#include "mirror.h"
#include "tap.h"

#define GI ((int64_t)1 << 30)

static int64_t started[64];
static size_t started_count;

static void on_start(void *arg, const struct plan_decision *d)
{
	(void)arg;
	if (d->verb == PLAN_START && started_count < COUNT_OF(started))
		started[started_count++] = d->job;
}

static bool has_started(int64_t id)
{
	for (size_t i = 0; i < started_count; i++)
		if (started[i] == id)
			return true;
	return false;
}

static void step(struct plan *p)
{
	started_count = 0;
	plan_step(p, 1000, 0, on_start, NULL);
}

static void add_node(struct plan *p, const char *name, int cores, const char *type,
		     int devices)
{
	struct node n = { .up = true, .port_first = 30000, .port_last = 30009 };
	struct plan_delta d = { .kind = PLAN_NODE, .node = &n };

	strcpy(n.name, name);
	n.capacity.cpu_milli = 1000 * cores;
	n.capacity.memory_bytes = 64 * GI;
	resources_set_device(&n.capacity, type, devices);
	plan_apply(p, &d);
}

static struct gang_role role(int count, int cores, int64_t memory, const char *type,
			     int devices)
{
	struct gang_role r = { .count = count,
			       .each = { 1000 * cores, memory, { { "", 0 } } } };

	if (devices)
		resources_set_device(&r.each, type, devices);
	return r;
}

static struct plan_job job(int64_t id, const struct gang_role *r, int64_t limit_ms)
{
	return (struct plan_job){ .id = id,
				  .user = "ada",
				  .group = "red",
				  .limit_ms = limit_ms,
				  .gang = { .roles = r, .role_count = 1 } };
}

static void submit(struct plan *p, int64_t id, struct gang_role r, int64_t limit_ms)
{
	struct plan_job j = job(id, &r, limit_ms);
	struct plan_delta d = { .kind = PLAN_WAIT, .job = &j };

	plan_apply(p, &d);
	step(p);
}

/* What is offered for a request, one a line; each is tried. */
static void offers(struct plan *p, int64_t id, struct gang_role r, int64_t limit_ms,
		   const char *want)
{
	struct plan_job j = job(id, &r, limit_ms);
	struct plan_offer out[PLAN_OFFERS_MAX];
	size_t count = plan_offers(p, &j, 1000, out);
	AUTO_BUF struct buf b = { 0 };

	for (size_t i = 0; i < count; i++)
		buf_printf(&b, "%s%s [%s]", i ? "\n" : "", out[i].text, out[i].flags);
	IS(buf_str(&b), want, "what would start instead of job %d", (int)id);
	plan_offers_free(out, count);
	step(p);
	OK(started_count == 0, "asking started nobody");
}

static void test_words(void)
{
	struct plan *p = plan_create();

	add_node(p, "node-a", 16, "gpu", 8);
	submit(p, 1, role(1, 4, GI, "gpu", 3), 0);
	submit(p, 2, role(1, 4, GI, "gpu", 8), 0);
	offers(p, 2, role(1, 4, GI, "gpu", 8), 0, "with 5 gpu instead of 8 [--gpu 5]");
	submit(p, 3, role(1, 1, GI, "gpu", 1), 0);
	OK(started_count == 0, "a small one behind is held back");
	offers(p, 3, role(1, 1, GI, "gpu", 1), 0,
	       "with a time limit of 7d [--time-limit 7d]");
	offers(p, 2, role(1, 4, GI, "gpu", 8), 0,
	       "with 5 gpu instead of 8 and a time limit of 8h [--gpu 5 --time-limit 8h]");
	offers(p, 9, role(1, 16, GI, "", 0), 3600000,
	       "with 12 cpu instead of 16 [--cpu 12]");
	offers(p, 9, role(20, 1, GI, "", 0), 3600000,
	       "with 0.6 cpu instead of 1 [--cpu 0.6]\n"
	       "with 12 tasks instead of 20 [--count 12]");
	offers(p, 9, role(1, 1, 80 * GI, "", 0), 3600000,
	       "with 63 GiB memory instead of 80 GiB [--mem 63Gi]");
	offers(p, 9, role(2, 8, GI, "gpu", 4), 3600000,
	       "with 2 gpu instead of 4, 4 cpu and 512 MiB memory [--gpu 2 --cpu 4 --mem 512Mi]\n"
	       "with 1 task instead of 2 [--count 1]");
	plan_destroy(p);
}

static void test_models(void)
{
	struct plan *p = plan_create();

	add_node(p, "node-a", 16, "gpu:a100", 4);
	add_node(p, "node-b", 32, "gpu:v100", 4);
	submit(p, 1, role(1, 4, GI, "gpu:a100", 4), 0);
	submit(p, 2, role(1, 4, GI, "gpu:a100", 4), 0);
	offers(p, 2, role(1, 4, GI, "gpu:a100", 4), 0,
	       "on gpu:v100, too [--gpu-model a100,v100]");
	offers(p, 9, role(1, 64, GI, "gpu:v100", 8), 0,
	       "with 4 gpu:v100 instead of 8, 32 cpu and 512 MiB memory [--gpu 4 --cpu 32 --mem 512Mi]");
	plan_destroy(p);
}

/* Tries an offer on a plan of the same yard, as a person would: submit it, stop the other. */
static bool holds(const struct mirror *m, const struct m_job *j,
		  const struct plan_offer *o)
{
	struct plan *p = m_rebuild(m);
	struct plan_job instead = o->job;
	struct plan_delta d = { .kind = PLAN_WAIT, .job = &instead };
	bool ok;

	step(p);
	instead.id = 1 << 30;
	plan_apply(p, &d);
	step(p);
	ok = has_started(instead.id);
	if (!ok) {
		d = (struct plan_delta){ .kind = PLAN_LEAVE, .id = j->job.id };
		plan_apply(p, &d);
		step(p);
		ok = has_started(instead.id);
	}
	plan_destroy(p);
	return ok;
}

static void on_decision(void *arg, const struct plan_decision *d)
{
	m_decide(arg, d, 1000);
}

static void fill(struct mirror *m, uint64_t seed)
{
	struct plan *p;

	*m = (struct mirror){ 0 };
	for (int i = 0; i < M_NODES; i++)
		m_make_node(m, i, &seed);
	for (int i = 0; i < M_JOBS / 2; i++)
		m_make_job(&m->jobs[i], i + 1, &seed);
	p = m_rebuild(m);
	plan_step(p, 1000, 0, on_decision, m);
	plan_destroy(p);
}

/* Who is said to make room by ending does; gives whether somebody is. */
static bool freed(struct mirror *m, const struct plan *p, const struct m_job *j,
		  int *broken)
{
	int64_t id = plan_freed(p, j->job.id);
	struct m_job *x = id ? m_find(m, id) : NULL;

	if (!id)
		return false;
	if (!x || x->state != M_RUNNING) {
		++*broken;
		return false;
	}
	x->state = M_NONE;
	*broken += !m_fits(m, j);
	x->state = M_RUNNING;
	return true;
}

/* Those ahead are ahead, and no more than the queue has. */
static bool ahead_right(const struct plan *p, const struct m_job *j)
{
	int64_t ids[M_JOBS];
	size_t count = plan_ahead(p, j->job.id, ids, M_JOBS);
	int position = plan_position(p, j->job.id);

	for (size_t i = 0; i < count; i++)
		if (plan_position(p, ids[i]) < 1 || plan_position(p, ids[i]) >= position)
			return false;
	return count < (size_t)position;
}

#define YARDS 150

static void test_tried(void)
{
	struct mirror *m = mem_alloc(1, sizeof *m);
	int made = 0, broken = 0, asked = 0, misled = 0, hopes = 0;

	for (uint64_t seed = 1; seed <= YARDS; seed++) {
		fill(m, seed);
		struct plan *p = m_rebuild(m);
		step(p);
		for (int i = 0; i < M_JOBS; i++) {
			struct m_job *j = &m->jobs[i];
			struct plan_offer out[PLAN_OFFERS_MAX];
			if (j->state != M_WAITING)
				continue;
			size_t count = plan_offers(p, &j->job, 1000, out);
			asked++;
			hopes += freed(m, p, j, &misled);
			misled += !ahead_right(p, j);
			made += (int)count;
			for (size_t k = 0; k < count; k++) {
				if (holds(m, j, &out[k]))
					continue;
				broken++;
				printf("# seed %" PRIu64 ", job %" PRId64 ": %s\n", seed,
				       j->job.id, out[k].text);
			}
			plan_offers_free(out, count);
		}
		step(p);
		broken += started_count > 0;
		plan_destroy(p);
	}
	OK(!broken, "every offer starts when it is taken (%d of %d for %d jobs)",
	   made - broken, made, asked);
	OK(made > 200, "and there are some");
	OK(!misled && hopes > 100,
	   "whose end is said to make room does, and who is ahead is (%d)", hopes);
	free(m);
}

struct seen {
	enum plan_reason_kind kind;
	int position;
	struct plan_when when;
};

static void look(void *arg, struct plan *p, int64_t id)
{
	struct seen *s = arg;
	AUTO_BUF struct buf b = { 0 };

	s->kind = plan_why(p, id, NULL, &b);
	s->position = plan_position(p, id);
	plan_estimate(p, id, 1000, NULL, &s->when);
}

static void test_try(void)
{
	struct plan *p = plan_create();
	struct gang_role all = role(1, 4, GI, "gpu", 4), one = role(1, 1, GI, "gpu", 1);
	struct plan_job big = job(0, &all, 0), small = job(0, &one, 0);
	struct seen s;

	add_node(p, "node-a", 16, "gpu", 4);
	plan_try(p, &big, look, &s);
	OK(s.kind == PLAN_REASON_NEW && s.when.likely_ms == 1000 && s.position == 1,
	   "what would start at once says so");
	submit(p, 1, role(1, 4, GI, "gpu", 2), 60000);
	plan_try(p, &big, look, &s);
	OK(s.kind == PLAN_REASON_CAPACITY && s.when.likely_ms == 61000,
	   "what would wait says for what and until when");
	submit(p, 2, all, 0);
	plan_try(p, &small, look, &s);
	OK(s.kind == PLAN_REASON_ORDER && s.position == 2, "and behind whom");
	OK(plan_waiting(p) == 1 && plan_position(p, 2) == 1, "and leaves nothing behind");
	step(p);
	OK(started_count == 0, "nor changes anything");
	plan_destroy(p);
}

/* All who are ahead, each once and in order, also in a long queue. */
static void test_ahead(void)
{
	enum { MANY = 700 };
	struct plan *p = plan_create();
	int64_t ids[MANY], line[MANY];
	bool same = true;

	add_node(p, "a", 8, "gpu", 4);
	for (int i = 1; i <= MANY; i++)
		submit(p, i, role(1, 1 + i % 5, GI, "gpu", 4), 0);
	size_t count = plan_ahead(p, MANY, ids, MANY);
	size_t all = plan_queue(p, 1, line, MANY);
	OK(count == MANY - 2 && all == MANY - 1,
	   "one runs; all others are ahead of the last");
	for (size_t i = 0; i < count && i < all; i++)
		same &= ids[i] == line[i];
	OK(same, "in the order of the queue");
	OK(plan_ahead(p, MANY, ids, 3) == count && ids[2] == line[2],
	   "the first are given, and all are counted");
	OK(plan_ahead(p, line[0], ids, MANY) == 0 && plan_ahead(p, 1, ids, MANY) == 0,
	   "nobody is ahead of the first, nor of one that runs");
	plan_destroy(p);
}

int main(void)
{
	test_words();
	test_models();
	test_try();
	test_tried();
	test_ahead();
	return END();
}
