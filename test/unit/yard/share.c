// SPDX-License-Identifier: Apache-2.0
/* How the nodes are shared, as an administrator says: it counts as soon as it is recorded,
 * it is there after a crash, and rules that do not go together are refused. */
#include "rig.h"

#include "base/str.h"
#include "wire/facts.h"
#include "yard/share.h"

static const struct engine_sim_faults quick = { .run_ms_max = 1 };
static const struct node node = {
	.name = "n1",
	.up = true,
	.port_first = 20000,
	.port_last = 20999,
	.capacity = { .cpu_milli = 2000, .memory_bytes = 1ll << 30 },
};

static void say(struct rig *g, const char *kind, const char *name, const char *body)
{
	struct yard_doc doc = { kind, name, body };
	struct answer a = { 0 };

	yard_change(g->yard, &g->root, &(struct yard_change){ &doc, 1, "test", name },
		    done, &a);
	for (int i = 0; i < 100 && !a.came; i++)
		pass(g, 1);
	OK(a.came && a.err.code == ERR_NONE, "%s %s is recorded", kind, name);
}

static enum job_state state(struct rig *g, int64_t job)
{
	const struct job *j = yard_live(g->yard, job);

	return j ? j->state : JOB_ENDED;
}

static bool waits(struct rig *g, int64_t job)
{
	pass(g, 2000);
	return state(g, job) == JOB_QUEUED;
}

static bool ends(struct rig *g, int64_t job)
{
	for (int i = 0; i < 1000 && state(g, job) != JOB_ENDED; i++)
		pass(g, 10);
	return state(g, job) == JOB_ENDED;
}

/* The daemon dies and another one finds what it left. */
static void reboot(struct rig *g, const struct engine_sim_faults *f)
{
	struct yard_config c = rules;

	engine_sim_machine_crash(g->machine, false);
	world_sim_crash(g->world);
	yard_destroy(g->yard);
	store_destroy(g->store);
	g->depot->ops->destroy(g->depot);
	c.make_engine = make_engine;
	c.world = g->world;
	c.store = g->store = store_memory_open(g->world, g->disk);
	c.depot = g->depot = depot_sim_create(g->world, 0);
	engine_sim_machine_destroy(g->machine); /* nothing ran there */
	c.make_engine_arg = g->machine = engine_sim_machine_create(g->world, &node, 1, f);
	g->yard = yard_create(&c, NULL);
	pass(g, 10);
}

static void nodes(void)
{
	struct yard_node n;
	struct node_facts f;
	struct rig g;

	up(&g, &quick);
	pass(&g, 10);
	OK(!yard_node_facts(g.yard, "n2", &f) && yard_node_facts(g.yard, "n1", &f) &&
		   f.state == NODE_OPEN,
	   "a node that its engine reported is there, and open");
	say(&g, YARD_NODE_KIND, "n1",
	    "{\"state\":\"drain\",\"reason\":\"disk\",\"rack\":\"r1\"}");
	int64_t job = submit(&g, spec("a", 100));
	OK(job && waits(&g, job), "on a drained node nothing begins, but it may wait");
	OK(yard_nodes(g.yard, &n, 1) == 1 && n.node.state == NODE_DRAIN &&
		   str_eq(n.node.reason, "disk") && str_eq(n.node.rack, "r1") &&
		   n.node.capacity.cpu_milli == 2000,
	   "what was said and what was reported are one node");
	reboot(&g, &quick);
	OK(waits(&g, job), "it is drained after a crash too");
	say(&g, YARD_NODE_KIND, "n1", "{\"state\":\"open\"}");
	OK(ends(&g, job), "once it is open again the job runs");
	say(&g, YARD_NODE_KIND, "n1", "{\"state\":\"drain\"}");
	job = submit(&g, spec("b", 100));
	OK(waits(&g, job), "drained again");
	say(&g, YARD_NODE_KIND, "n1", NULL);
	OK(ends(&g, job), "nothing said any more: it is as its engine reports it");
	say(&g, YARD_NODE_KIND, "n1", "{\"state\":\"nonsense\"}");
	job = submit(&g, spec("c", 100));
	OK(ends(&g, job), "what cannot be read says nothing");
	down(&g);
}

/* A window ends while nothing else happens: the yard wakes by itself. */
static void windows(void)
{
	struct rig g;
	char body[128];

	up(&g, &quick);
	pass(&g, 10);
	int64_t now = world_now_ms(g.world);
	snprintf(body, sizeof body,
		 "{\"windows\":[{\"from_ms\":%lld,\"to_ms\":%lld,\"group\":\"other\"}]}",
		 (long long)now, (long long)now + 600000);
	say(&g, YARD_NODE_KIND, "n1", body);
	int64_t job = submit(&g, spec("w", 100));
	OK(job && waits(&g, job), "in a window of another group's it waits");
	pass(&g, 590000);
	OK(state(&g, job) == JOB_QUEUED, "as long as that lasts");
	pass(&g, 70000);
	OK(ends(&g, job), "then it runs, though nobody did anything");
	down(&g);
}

static void like(const char *got, const char *part, const char *law)
{
	if (!OK(strstr(got, part), "%s", law))
		printf("# got %s\n", got);
}

static struct tenant_rule gpus(const char *parent, int count)
{
	struct tenant_rule r = wire_tenant_default;

	strcpy(r.parent, parent);
	resources_set_device(&r.guarantee, "gpu", count);
	return r;
}

static const char *refusal(struct rig *g, const char *group, struct tenant_rule r)
{
	static struct err err;

	err = (struct err){ 0 };
	return yard_tenant_check(g->yard, group, &r, &err) < 0 ? err.text : "fine";
}

static void set(struct rig *g, const char *group, struct tenant_rule r)
{
	AUTO_BUF struct buf body = { 0 };
	struct json j;

	json_init(&j, &body);
	wire_tenant_write(&j, NULL, &r);
	say(g, YARD_TENANT_KIND, group, buf_str(&body));
}

static void count_rules(void *arg, const char *group, const struct tenant_rule *rule)
{
	(void)group;
	(void)rule;
	++*(int *)arg;
}

static void tenants(void)
{
	struct tenant_rule r;
	struct rig g;
	int count = 0;

	up(&g, &quick);
	OK(!yard_tenant(g.yard, "lab", &r) && r.weight == 1 && !r.parent[0],
	   "of a group of which nothing is said the default counts");
	set(&g, "site", gpus("", 8));
	set(&g, "lab", gpus("site", 4));
	OK(yard_tenant(g.yard, "lab", &r) && str_eq(r.parent, "site") &&
		   resources_device(&r.guarantee, "gpu") == 4,
	   "what is said counts");
	IS(refusal(&g, "den", gpus("site", 4)), "fine", "the rest is for the next");
	like(refusal(&g, "den", gpus("site", 5)),
	     "below 'site' would be guaranteed 9 gpu", "and no more than the rest");
	like(refusal(&g, "site", gpus("", 3)), "below 'site' would be guaranteed 4 gpu",
	     "a parent's cannot go below its children's");
	like(refusal(&g, "site", gpus("lab", 9)), "below itself", "there are no circles");
	like(refusal(&g, "site", gpus("site", 9)), "below itself",
	     "not the smallest either");
	r = gpus("site", 2);
	r.shapes[r.shape_count++] = (struct tenant_shape){ 2, { "gpu", 2, 0 } };
	like(refusal(&g, "den", r), "guaranteed 10 gpu", "shapes count as devices");
	r = gpus("site", 2);
	resources_set_device(&r.lend, "gpu", 3);
	like(refusal(&g, "den", r), "lend: ", "nobody lends what they have not");
	IS(refusal(&g, "lab", gpus("site", 8)), "fine",
	   "its own old rule does not count");
	reboot(&g, &quick);
	yard_each_tenant(g.yard, count_rules, &count);
	IS_INT(count, 2, "rules are there after a crash");
	say(&g, YARD_TENANT_KIND, "lab", NULL);
	OK(!yard_tenant(g.yard, "lab", &r), "and can be taken back");
	down(&g);
}

static void note_share(void *arg, const struct yard_share *s)
{
	*(struct yard_share *)arg = *s;
}

static void shares(void)
{
	struct yard_share s = { 0 };
	struct resources all;
	struct rig g;

	up(&g, &(struct engine_sim_faults){ .run_ms_max = 1000000000 });
	submit(&g, spec("a", 1500));
	int64_t waiting = submit(&g, spec("b", 1500));
	pass(&g, 1000);
	yard_each_share(g.yard, note_share, &s);
	OK(str_eq(s.group, "lab") && s.running == 1 && s.waiting == 1 &&
		   s.held.cpu_milli == 1500 && s.held.memory_bytes == 1 << 20,
	   "who holds what, and how many wait");
	yard_capacity(g.yard, &all);
	OK(all.cpu_milli == 2000 && state(&g, waiting) == JOB_QUEUED,
	   "of how much there is");
	down(&g);
}

static void policy(void)
{
	struct plan_policy p = plan_policy_default;
	struct rig g;

	up(&g, &(struct engine_sim_faults){ .run_ms_max = 1000000000 });
	int64_t first = submit(&g, spec("a", 1500));
	int64_t head = submit(&g, spec("b", 1000)), small = submit(&g, spec("c", 100));
	pass(&g, 1000);
	OK(state(&g, first) == JOB_RUNNING && state(&g, head) == JOB_QUEUED,
	   "one runs, the next one waits");
	enum job_state before = state(&g, small);
	p.backfill = false;
	yard_set_policy(g.yard, &p);
	int64_t later = submit(&g, spec("d", 100));
	pass(&g, 1000);
	OK(state(&g, later) == JOB_QUEUED, "without backfill nobody passes the head");
	p.backfill = true;
	yard_set_policy(g.yard, &p);
	pass(&g, 1000);
	OK(state(&g, later) == before, "with it again, it is as before, at once");
	down(&g);
}

static int64_t submit_as(struct rig *g, const char *group, struct spec *s)
{
	struct principal who = g->alice;
	struct answer a = { 0 };

	strcpy(who.name, group);
	strcpy(who.group, group);
	yard_submit(g->yard, &who, s, NULL, NULL, done, &a);
	for (int i = 0; i < 100 && !a.came; i++)
		pass(g, 1);
	return a.job;
}

/* Who used much goes behind who used little, also when the daemon was away meanwhile. */
static void past_use(void)
{
	struct rig g;
	struct spec *s = spec("long", 2000);
	int64_t greedy, modest;

	up(&g, &(struct engine_sim_faults){ .run_ms_max = 1000000000 });
	s->time_limit_ms = 3 * 3600000;
	greedy = submit_as(&g, "greedy", s);
	for (int i = 0; i < 400 && state(&g, greedy) != JOB_ENDED; i++)
		pass(&g, 60000);
	OK(state(&g, greedy) == JOB_ENDED, "one had all of it for some time");
	for (int i = 0; i < 2; i++) {
		int64_t other = submit_as(&g, "other", spec("wall", 2000));
		pass(&g, 1000);
		greedy = submit_as(&g, "greedy", spec("more", 500));
		modest = submit_as(&g, "modest", spec("some", 500));
		pass(&g, 1000);
		OK(yard_position(g.yard, modest) == 1 &&
			   yard_position(g.yard, greedy) == 2,
		   "who used less goes first%s", i ? ", after a restart too" : "");
		for (int64_t id = other; id <= modest; id++) {
			struct answer a = { 0 };
			yard_stop(g.yard, &g.root, id, NULL, done, &a);
			pass(&g, 60000);
		}
		OK(state(&g, other) == JOB_ENDED && state(&g, modest) == JOB_ENDED,
		   "all is stopped");
		reboot(&g, &(struct engine_sim_faults){ .run_ms_max = 1000000000 });
	}
	down(&g);
}

int main(void)
{
	past_use();
	nodes();
	windows();
	tenants();
	shares();
	policy();
	return END();
}
