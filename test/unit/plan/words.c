// SPDX-License-Identifier: Apache-2.0
/* What a person reads. */
#include "base/mem.h"
#include "plan/plan.h"
#include "plan/why.h"
#include "tap.h"

#define GI ((int64_t)1 << 30)

static int started;

static void on_decision(void *arg, const struct plan_decision *d)
{
	(void)arg;
	(void)d;
	started++;
}

static void add_node(struct plan *p, const char *name, int cores, int gpus)
{
	struct node n = { .up = true, .port_first = 30000, .port_last = 30009 };
	struct plan_delta d = { .kind = PLAN_NODE, .node = &n };

	strcpy(n.name, name);
	n.capacity.cpu_milli = 1000 * cores;
	n.capacity.memory_bytes = 16 * GI;
	resources_set_device(&n.capacity, "gpu", gpus);
	plan_apply(p, &d);
}

static struct plan_job job(int64_t id, struct gang_role *r, int64_t limit_ms)
{
	return (struct plan_job){ id,    0,        "ada",
				  "red", limit_ms, { .roles = r, .role_count = 1 } };
}

static struct gang_role role(int count, int cores, int64_t memory, int gpus)
{
	struct gang_role r = { .count = count,
			       .each = { 1000 * cores, memory, { { "", 0 } } } };

	resources_set_device(&r.each, "gpu", gpus);
	return r;
}

static void submit(struct plan *p, int64_t id, struct gang_role r, int64_t limit_ms)
{
	struct plan_job j = job(id, &r, limit_ms);
	struct plan_delta d = { .kind = PLAN_WAIT, .job = &j };

	plan_apply(p, &d);
	plan_step(p, 1000, 0, on_decision, NULL);
}

static void why(const struct plan *p, int64_t id, enum plan_reason_kind kind,
		const char *words)
{
	AUTO_BUF struct buf b = { 0 };

	IS_INT(plan_why(p, id, NULL, &b), kind,
	       "job %d waits for the right kind of reason", (int)id);
	IS(buf_str(&b), words, "and says so");
}

static bool sees(void *arg, int64_t job)
{
	return job == *(const int64_t *)arg;
}

/* As it is told to one who may know of one job alone. */
static void whose(const struct plan *p, int64_t id, int64_t seen, const char *words)
{
	AUTO_BUF struct buf b = { 0 };

	plan_why(p, id, &(struct plan_eyes){ sees, &seen }, &b);
	IS(buf_str(&b), words, "of jobs one may not see no number is told");
}

static void refused(const struct plan *p, struct gang_role r, enum err_code code,
		    const char *words)
{
	struct plan_job j = job(99, &r, 0);
	struct err err = { 0 };

	OK(plan_possible(p, &j, &err) < 0, "what can never run is refused");
	IS_INT(err.code, code, "as the right kind of error");
	IS(err.text, words, "with the nearest that could");
}

static void test_waiting(void)
{
	struct plan *p = plan_create();

	started = 0;
	add_node(p, "node-a", 8, 4);
	submit(p, 1, role(1, 1, GI, 3), 0);
	submit(p, 2, role(1, 1, GI, 2), 0);
	submit(p, 3, role(1, 1, GI, 2), 0);
	submit(p, 4, role(1, 1, GI, 1), 0);
	submit(p, 5, role(1, 1, 15 * GI, 0), 0);
	submit(p, 6, role(6, 1, GI, 1), 0);
	why(p, 2, PLAN_REASON_CAPACITY,
	    "waits for 2 gpu on one node; none of the 4 on node-a is free; job 1 holds 3 gpu there, job 4 1 gpu; "
	    "it is first in the queue");
	why(p, 3, PLAN_REASON_CAPACITY,
	    "waits for 2 gpu on one node; none of the 4 on node-a is free; job 1 holds 3 gpu there, job 4 1 gpu; "
	    "job 2 is ahead; number 2 of 4 in the queue");
	whose(p, 3, 4,
	      "waits for 2 gpu on one node; none of the 4 on node-a is free; somebody's job holds 3 gpu there, job 4 1 gpu; "
	      "somebody's job is ahead; number 2 of 4 in the queue");
	IS_INT(started, 2, "job 4 passed: beside the head a gpu is left over");
	why(p, 5, PLAN_REASON_CAPACITY,
	    "waits for 15 GiB memory on one node; the nearest, node-a, has 14 GiB of 16 GiB free; job 1 holds 1 GiB "
	    "memory there, job 4 1 GiB memory; job 2 is ahead; number 3 of 4 in the queue");
	why(p, 6, PLAN_REASON_NEVER,
	    "can never start as the nodes are now: 6 tasks of 1 gpu, 1 cpu, 1 GiB memory each do not fit on all "
	    "nodes together: at most 4 do; number 4 of 4 in the queue");
	why(p, 1, PLAN_REASON_NONE, "");
	plan_destroy(p);
}

/* Tasks that ask for next to nothing are still too many at some point. */
static void test_tasks(void)
{
	struct node n = { .name = "node-a", .up = true, .max_tasks = 4 };
	struct plan_delta d = { .kind = PLAN_NODE, .node = &n };
	struct plan *p = plan_create();

	n.capacity.cpu_milli = 8000;
	n.capacity.memory_bytes = 16 * GI;
	plan_apply(p, &d);
	started = 0;
	submit(p, 1, role(3, 0, 1 << 20, 0), 0);
	submit(p, 2, role(1, 0, 1 << 20, 0), 0);
	submit(p, 3, role(1, 0, 1 << 20, 0), 0);
	IS_INT(started, 2, "a node takes as many tasks as it says");
	why(p, 3, PLAN_REASON_CAPACITY,
	    "waits for 1 task slot on one node; none of the 4 on node-a is free; job 1 holds 3 task slots "
	    "there, job 2 1 task slot; it is first in the queue");
	refused(p, role(5, 0, 1 << 20, 0), ERR_INVALID,
		"5 tasks of 0 cpu, 1 MiB memory each do not fit on all nodes together: at most 4 do");
	d = (struct plan_delta){ .kind = PLAN_RELEASE, .id = 2 };
	plan_apply(p, &d);
	plan_step(p, 1000, 0, on_decision, NULL);
	IS_INT(started, 3, "one that ends makes room for another");
	plan_destroy(p);
}

static void test_order(void)
{
	struct plan *p = plan_create();

	add_node(p, "node-a", 8, 4);
	submit(p, 1, role(1, 1, GI, 2), 60000);
	submit(p, 2, role(1, 1, GI, 4), 0);
	submit(p, 3, role(1, 1, GI, 1), 0);
	submit(p, 4, role(1, 1, GI, 1), 120000);
	started = 0;
	submit(p, 5, role(1, 1, GI, 1), 60000);
	IS_INT(started, 1, "who is done before the head starts may pass");
	why(p, 3, PLAN_REASON_ORDER,
	    "would fit now, but would delay job 2, which is ahead and starts when job 5 ends; with a time limit "
	    "of at most 1m it could start before; number 2 of 3 in the queue");
	IS_INT(plan_position(p, 4), 3, "positions count everybody who waits");
	IS_INT((long long)plan_waiting(p), 3, "three wait");
	plan_destroy(p);
}

static void test_quota(void)
{
	struct plan *p = plan_create();
	struct quota q = { { -1, -1, { { "gpu", 2 } } }, 3 };
	struct plan_delta d = { .kind = PLAN_QUOTA_USER, .name = "ada", .quota = &q };

	add_node(p, "node-a", 8, 4);
	plan_apply(p, &d);
	submit(p, 1, role(1, 1, GI, 2), 0);
	submit(p, 2, role(1, 1, GI, 1), 0);
	why(p, 2, PLAN_REASON_USER_QUOTA,
	    "the quota of user ada is 2 gpu at once; 2 held, this job asks for 1; it is first in the queue");
	refused(p, role(1, 1, GI, 3), ERR_QUOTA,
		"the quota of user ada is 2 gpu at once; 2 held, this job asks for 3: more than may ever run at "
		"once; ask for at most 2 gpu in all");
	started = 0;
	submit(p, 3, role(1, 1, GI, 0), 0);
	submit(p, 4, role(1, 1, GI, 0), 0);
	submit(p, 5, role(1, 1, GI, 0), 0);
	IS_INT(started, 2, "a job over its quota does not block others behind it");
	why(p, 5, PLAN_REASON_USER_QUOTA,
	    "the quota of user ada is 3 jobs at once; 3 run; number 2 of 2 in the queue");
	d.quota = NULL;
	plan_apply(p, &d);
	plan_step(p, 2000, 0, on_decision, NULL);
	IS_INT(started, 4, "without the quota they start");
	plan_destroy(p);
}

static void test_possible(void)
{
	struct plan *p = plan_create();
	struct gang_role npu = role(1, 1, GI, 0);
	struct gang_role two[2] = { role(2, 4, GI, 4), role(1, 1, GI, 1) };
	struct plan_job gang = job(7, two, 0);
	struct err err = { 0 };

	refused(p, role(1, 1, GI, 0), ERR_INVALID, "no node is up");
	add_node(p, "node-a", 8, 4);
	add_node(p, "node-b", 4, 4);
	refused(p, role(1, 9, GI, 8), ERR_INVALID,
		"a task asks for 8 gpu, 9 cpu, 1 GiB memory, and no node has all of that; the nearest, node-a, "
		"has only 4 gpu and 8 cpu");
	refused(p, role(20, 1, GI, 1), ERR_INVALID,
		"20 tasks of 1 gpu, 1 cpu, 1 GiB memory each do not fit on all nodes together: at most 8 do");
	resources_set_device(&npu.each, "npu", 1);
	refused(p, npu, ERR_INVALID, "no node has devices of type npu (there are: gpu)");
	gang.gang.role_count = 2;
	OK(plan_possible(p, &gang, &err) < 0,
	   "a gang whose roles fit alone but not together is refused");
	IS(err.text,
	   "its 3 tasks do not fit on all nodes at once, though each role alone would: ask for fewer tasks",
	   "in words");
	two[1].each.devices[0].count = 0;
	OK(plan_possible(p, &gang, &err) == 0, "what fits is let in");
	plan_destroy(p);
}

static void test_blocks(void)
{
	struct plan *p = plan_create();
	struct gang_role half = role(1, 1, GI, 1);
	struct node closed = { .name = "node-c", .up = true, .state = NODE_DRAIN };
	struct plan_delta d = { .kind = PLAN_NODE, .node = &closed };

	add_node(p, "node-a", 8, 4);
	add_node(p, "node-b", 8, 4);
	submit(p, 1, role(1, 1, GI, 3), 0);
	submit(p, 2, role(1, 1, GI, 2), 0);
	submit(p, 3, role(1, 1, GI, 4), 0);
	why(p, 3, PLAN_REASON_CAPACITY,
	    "waits for 4 gpu on one node; the largest free block is 2 of 4, on node-b; job 2 holds 2 gpu there; "
	    "it is first in the queue");
	submit(p, 4, role(1, 8, GI, 3), 0);
	why(p, 4, PLAN_REASON_CAPACITY,
	    "waits for 3 gpu and 8 cpu on one node; the nearest, node-b, has 2 of 4 gpu and 7 of 8 cpu free; "
	    "job 3 is ahead; number 2 of 2 in the queue");
	strcpy(closed.reason, "a new disk");
	closed.capacity.cpu_milli = 8000;
	closed.capacity.memory_bytes = 16 * GI;
	resources_set_device(&closed.capacity, "gpu", 4);
	plan_apply(p, &d);
	plan_step(p, 1000, 0, on_decision, NULL);
	why(p, 3, PLAN_REASON_CAPACITY,
	    "waits for 4 gpu on one node; the largest free block is 2 of 4, on node-b; job 2 holds 2 gpu there; "
	    "node-c has room, but is drained (a new disk); it is first in the queue");
	half.each.devices[0].share_milli = 500;
	submit(p, 5, role(1, 1, GI, 2), 60000);
	submit(p, 6, role(1, 1, GI, 1), 60000);
	submit(p, 7, half, 0);
	why(p, 7, PLAN_REASON_CAPACITY,
	    "waits for 0.5 gpu on one node; none is free on any node; job 1 holds 3 gpu on node-a, job 6 1 "
	    "gpu; node-c has room, but is drained (a new disk); job 3 is ahead; number 3 of 3 in the queue");
	plan_destroy(p);
}

static void test_places(void)
{
	struct plan *p = plan_create();
	struct node n = { .name = "node-a", .up = true, .labels = "zone=a" };
	struct plan_delta d = { .kind = PLAN_NODE, .node = &n };
	struct gang_role r = role(1, 1, GI, 2), four = role(4, 1, GI, 2);
	struct plan_job gang = job(9, &four, 0);
	struct err err = { 0 };

	n.capacity.cpu_milli = 8000;
	n.capacity.memory_bytes = 16 * GI;
	resources_set_device(&n.capacity, "gpu:a100", 4);
	strcpy(n.rack, "r1");
	plan_apply(p, &d);
	strcpy(n.name, "node-b");
	strcpy(n.labels, "zone=b");
	strcpy(n.rack, "r2");
	resources_set_device(&n.capacity, "gpu:a100", 8);
	plan_apply(p, &d);
	r.labels = "zone=c";
	refused(p, r, ERR_INVALID, "no node that is up has the label zone=c");
	r = role(1, 1, GI, 8);
	r.labels = "zone=a";
	refused(p, r, ERR_INVALID,
		"a task asks for 8 gpu, 1 cpu, 1 GiB memory, and no node with zone=a has all of that; one "
		"without has");
	gang.gang.within = LEVEL_NODE;
	gang.gang.within_must = true;
	OK(plan_possible(p, &gang, &err) == 0, "four of two fit on the large node");
	four.count = 5;
	OK(plan_possible(p, &gang, &err) < 0, "five do not");
	IS(err.text,
	   "its 5 tasks do not fit in one node: ask for fewer, or do not insist on it (within-must)",
	   "and what could be done is told");
	r = role(1, 1, GI, 1);
	strcpy(r.each.devices[0].type, "gpu:v100");
	refused(p, r, ERR_INVALID,
		"no node has devices of type gpu:v100 (there are: gpu:a100)");
	plan_destroy(p);
}

static void test_window(void)
{
	struct plan *p = plan_create();
	struct node n = { .name = "node-a", .up = true, .window_count = 1 };
	struct plan_delta d = { .kind = PLAN_NODE, .node = &n };

	n.capacity.cpu_milli = 8000;
	n.capacity.memory_bytes = 16 * GI;
	n.windows[0] = (struct node_window){ 3601000, 7201000, "blue" };
	plan_apply(p, &d);
	submit(p, 1, role(1, 1, GI, 0), 7200000);
	why(p, 1, PLAN_REASON_ORDER,
	    "would fit now, but on nodes that are kept for others: node-a is kept for group blue in 1h, "
	    "before it would end; it is first in the queue");
	started = 0;
	submit(p, 2, role(1, 1, GI, 0), 3600000);
	IS_INT(started, 1, "one that ends before starts");
	plan_destroy(p);

	p = plan_create();
	n.windows[0] = (struct node_window){ 0, 601000, "" };
	plan_apply(p, &d);
	submit(p, 1, role(1, 1, GI, 0), 0);
	why(p, 1, PLAN_REASON_ORDER,
	    "would fit now, but on nodes that are kept for others: node-a is kept for maintenance for "
	    "another 10m; it is first in the queue");
	strcpy(n.name, "node-b");
	n.window_count = 0;
	plan_apply(p, &d);
	submit(p, 2, role(1, 5, GI, 0), 0);
	submit(p, 3, role(2, 5, GI, 0), 0);
	why(p, 3, PLAN_REASON_CAPACITY,
	    "waits for room for 2 tasks at once, each 5 cpu, 1 GiB memory; none would fit now; "
	    "node-a is kept for maintenance for another 10m; it is first in the queue");
	plan_destroy(p);
}

int main(void)
{
	test_window();
	test_blocks();
	test_places();
	test_waiting();
	test_tasks();
	test_order();
	test_quota();
	test_possible();
	return END();
}
