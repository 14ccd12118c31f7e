// SPDX-License-Identifier: Apache-2.0
/* The laws of the simulated engine, each over many seeds: it may lie about when and how
 * often, never about what. */
#include "base/buf.h"
#include "base/mem.h"
#include "engine/engine.h"
#include "tap.h"
#include "world/world_sim.h"

#define TASKS 12
#define SEEDS 300

struct seen {
	int started, exited;
	struct task_exit exit;
};

struct daemon {
	struct world *world;
	struct engine_sim_machine *machine;
	struct engine *engine;
	struct seen seen[TASKS];
	struct buf history;
	int nodes, strange, early;
};

static struct task_ref ref_of(int i)
{
	return (struct task_ref){ .job = 100 + i / 4, .task = i % 4, .attempt = 1 };
}

static int index_of(const struct task_ref *r)
{
	for (int i = 0; i < TASKS; i++) {
		struct task_ref at = ref_of(i);

		if (at.job == r->job && at.task == r->task && at.attempt == r->attempt)
			return i;
	}
	return -1;
}

static void on_started(void *arg, const struct task_ref *ref)
{
	struct daemon *d = arg;
	int i = index_of(ref);

	buf_printf(&d->history, "%lld s%d;", (long long)world_mono_ms(d->world), i);
	if (i < 0) {
		d->strange++;
		return;
	}
	d->seen[i].started++;
	d->strange += engine_sim_starts(d->machine, ref) != 1;
}

static void on_exited(void *arg, const struct task_ref *ref, const struct task_exit *exit)
{
	struct daemon *d = arg;
	int i = index_of(ref);
	struct task_exit truth;

	buf_printf(&d->history, "%lld x%d=%d/%d;", (long long)world_mono_ms(d->world), i,
		   exit->kind, exit->code);
	if (i < 0) {
		d->strange++;
		return;
	}
	d->early += !engine_sim_truth(d->machine, ref, &truth) ||
		    truth.kind != exit->kind || truth.code != exit->code;
	if (d->seen[i].exited++ && d->seen[i].exit.kind != exit->kind)
		d->strange++;
	d->seen[i].exit = *exit;
}

static void on_node(void *arg, const struct node *n)
{
	((struct daemon *)arg)->nodes += n->up;
}

static const struct node one_node = {
	.name = "n1",
	.up = true,
	.capacity = { .cpu_milli = 1000 * TASKS, .memory_bytes = 1 << 30 },
};

static void boot(struct daemon *d)
{
	const struct engine_sink sink = { d, on_started, on_exited, on_node };

	d->engine = engine_sim_create(d->machine, &sink);
	d->engine->ops->begin(d->engine);
}

static void open_daemon(struct daemon *d, uint64_t seed,
			const struct engine_sim_faults *f)
{
	*d = (struct daemon){ .world = world_sim_create(seed) };
	d->machine = engine_sim_machine_create(d->world, &one_node, 1, f);
	boot(d);
}

static void close_daemon(struct daemon *d)
{
	d->engine->ops->destroy(d->engine);
	engine_sim_machine_destroy(d->machine);
	world_destroy(d->world);
	buf_fini(&d->history);
}

static void crash(struct daemon *d, bool power, bool world_first)
{
	if (world_first)
		world_sim_crash(d->world);
	engine_sim_machine_crash(d->machine, power);
	if (!world_first)
		world_sim_crash(d->world);
	d->engine->ops->destroy(d->engine);
}

static void start(struct daemon *d, int i)
{
	struct bundle *b = bundle_create(ref_of(i));

	b->limits = (struct resources){ .cpu_milli = 1000, .memory_bytes = 1 << 20 };
	snprintf(b->place.node, sizeof b->place.node, "n1");
	b->place.slot = i;
	d->engine->ops->start(d->engine, b);
}

static void run_for(struct daemon *d, int64_t ms)
{
	world_sim_run_until(d->world, world_mono_ms(d->world) + ms);
}

static const struct engine_sim_faults plain = { .run_ms_max = 1000 };
static const struct engine_sim_faults nasty = { .lie_percent = 40,
						.start_fail_percent = 10,
						.lost_percent = 10,
						.run_ms_max = 1000,
						.ignore_term_percent = 30,
						.fail_percent = 30 };

static void truthful(void)
{
	struct daemon d;
	int once = 0, ok = 0;

	open_daemon(&d, 1, &plain);
	IS_INT(d.nodes, 1, "begin() reports the nodes");
	for (int i = 0; i < TASKS; i++)
		start(&d, i);
	run_for(&d, 10000);
	for (int i = 0; i < TASKS; i++) {
		once += d.seen[i].started == 1 && d.seen[i].exited == 1;
		ok += exit_ok(&d.seen[i].exit);
	}
	IS_INT(once, TASKS,
	       "an engine that does not lie reports each start and each exit once");
	IS_INT(ok, TASKS, "and a machine without faults lets every task succeed");
	IS_INT(engine_sim_running(d.machine), 0, "and nothing runs after");
	OK(!engine_sim_violation(d.machine), "nothing was violated");
	close_daemon(&d);
}

/* One whole story with crashes; the counts of broken laws go to bad[]. */
static void story(uint64_t seed, int bad[8], struct buf *history)
{
	struct daemon d;

	open_daemon(&d, seed, &nasty);
	for (int i = 0; i < TASKS; i++)
		start(&d, i);
	for (int crashes = 0; crashes < 3; crashes++) {
		run_for(&d, (int64_t)(world_random(d.world) % 300));
		crash(&d, world_random(d.world) % 4 == 0, world_random(d.world) % 2);
		run_for(&d,
			(int64_t)(world_random(d.world) % 300)); /* the daemon is away */
		boot(&d);
		for (int i = 0; i < TASKS; i++) {
			struct task_ref r = ref_of(i);

			if (d.seen[i].exited)
				continue;
			if (d.seen[i].started && world_random(d.world) % 2)
				d.engine->ops->adopt(d.engine, &r, "folder");
			else
				start(&d, i);
			if (i % 5 == 0)
				d.engine->ops->stop(d.engine, &r,
						    crashes == 2 ? NULL : "{}");
		}
	}
	run_for(&d, 20000);
	for (int i = 0; i < TASKS; i++) {
		struct task_ref r = ref_of(i);

		bad[0] += engine_sim_starts(d.machine, &r) > 1;
		bad[1] += !d.seen[i].exited;
		bad[5] += d.seen[i].exited > 1 || d.seen[i].started > 1;
	}
	bad[2] += engine_sim_running(d.machine) != 0;
	bad[3] += d.early;
	bad[4] += d.strange;
	bad[6] += engine_sim_violation(d.machine) != NULL;
	buf_add(history, buf_str(&d.history), d.history.len);
	close_daemon(&d);
}

static void laws(void)
{
	int bad[8] = { 0 }, ignored[8] = { 0 }, differ = 0, same = 0;
	AUTO_BUF struct buf last = { 0 };

	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		AUTO_BUF struct buf a = { 0 }, b = { 0 };

		story(seed, bad, &a);
		story(seed, ignored, &b);
		differ += a.len != b.len || memcmp(buf_str(&a), buf_str(&b), a.len) != 0;
		same += last.len == a.len &&
			memcmp(buf_str(&a), buf_str(&last), a.len) == 0;
		buf_clear(&last);
		buf_add(&last, buf_str(&a), a.len);
	}
	IS_INT(bad[0], 0, "no attempt is started twice, whatever crashes");
	IS_INT(bad[1], 0, "every attempt that was asked for is reported to have ended");
	IS_INT(bad[2], 0, "nothing runs at the end");
	IS_INT(bad[3], 0, "no exit is reported of a task that runs, and each as it was");
	IS_INT(bad[4], 0, "nothing is told of tasks that never were");
	OK(bad[5] > SEEDS, "an engine that lies tells things twice (%d times)", bad[5]);
	IS_INT(bad[6], 0, "a yard that does no wrong is not accused");
	IS_INT(differ, 0, "the same seed gives the same history");
	IS_INT(same, 0, "and another seed another one");
}

static void survival(void)
{
	struct engine_sim_faults f = plain;
	struct daemon d;
	struct task_ref r0 = ref_of(0), r1 = ref_of(1), r2 = ref_of(2), r3 = ref_of(3);

	f.run_ms_max = 1 << 20;
	open_daemon(&d, 5, &f);
	start(&d, 0);
	start(&d, 1);
	run_for(&d, 100);
	start(&d, 2);
	IS_INT(engine_sim_running(d.machine), 2, "two run");
	crash(&d, false, true);
	IS_INT(engine_sim_running(d.machine), 2, "and go on when the daemon dies");
	run_for(&d, 100);
	boot(&d);
	IS_INT(engine_sim_starts(d.machine, &r2), 0,
	       "a start that had left no mark did not happen");
	d.engine->ops->stop(d.engine, &r0, NULL);
	run_for(&d, 100);
	IS_INT(engine_sim_running(d.machine), 2,
	       "an engine stops nothing that it was not told of");
	d.engine->ops->adopt(d.engine, &r0, "folder");
	d.engine->ops->stop(d.engine, &r0, NULL);
	run_for(&d, 100);
	OK(d.seen[0].exited && d.seen[0].exit.kind == EXIT_STOPPED,
	   "an adopted task can be stopped");
	d.engine->ops->adopt(d.engine, &r3, "folder");
	run_for(&d, 100);
	OK(d.seen[3].exited && d.seen[3].exit.kind == EXIT_UNSTARTED,
	   "a task that never began is fenced and told as that");
	crash(&d, true, false);
	IS_INT(engine_sim_running(d.machine), 0, "without power nothing runs");
	boot(&d);
	start(&d, 1);
	start(&d, 2);
	d.engine->ops->stop(d.engine, &r2, NULL);
	run_for(&d, 100);
	OK(d.seen[1].exited && d.seen[1].exit.kind == EXIT_LOST,
	   "its mark remains: lost, not started again");
	IS_INT(engine_sim_starts(d.machine, &r1), 1, "it was started once");
	OK(d.seen[2].exited && d.seen[2].exit.kind == EXIT_UNSTARTED,
	   "a stop before the start prevents it");
	IS_INT(engine_sim_starts(d.machine, &r2), 0, "for good");
	close_daemon(&d);
}

static void stops(void)
{
	struct engine_sim_faults f = { .run_ms_max = 1 << 20, .ignore_term_percent = 50 };
	struct daemon d;
	int stubborn;

	open_daemon(&d, 9, &f);
	for (int i = 0; i < TASKS; i++)
		start(&d, i);
	run_for(&d, 100);
	for (int i = 0; i < TASKS; i++)
		d.engine->ops->stop(d.engine, &(struct task_ref){ 100 + i / 4, i % 4, 1 },
				    "{}");
	run_for(&d, 500);
	stubborn = engine_sim_running(d.machine);
	OK(stubborn > 0 && stubborn < TASKS, "some ignore a polite stop (%d of %d)",
	   stubborn, TASKS);
	for (int i = 0; i < TASKS; i++)
		d.engine->ops->stop(d.engine, &(struct task_ref){ 100 + i / 4, i % 4, 1 },
				    NULL);
	run_for(&d, 500);
	IS_INT(engine_sim_running(d.machine), 0, "none ignores the other one");
	d.engine->ops->stop(d.engine, &(struct task_ref){ 7, 7, 7 }, NULL);
	run_for(&d, 500);
	IS_INT(d.strange, 0, "a stop of what never was does nothing");
	close_daemon(&d);
}

static void accuses(void)
{
	struct engine_sim_faults f = { .run_ms_max = 1 << 20 };
	struct daemon d;
	struct bundle *b;

	open_daemon(&d, 3, &f);
	start(&d, 0);
	b = bundle_create(ref_of(1));
	snprintf(b->place.node, sizeof b->place.node, "n1");
	b->limits.cpu_milli = 1000 * TASKS;
	b->place.slot = 1;
	d.engine->ops->start(d.engine, b);
	run_for(&d, 100);
	OK(engine_sim_violation(d.machine), "more than a node holds: %s",
	   engine_sim_violation(d.machine));
	close_daemon(&d);

	open_daemon(&d, 3, &f);
	start(&d, 0);
	b = bundle_create((struct task_ref){ 100, 0, 2 });
	snprintf(b->place.node, sizeof b->place.node, "n1");
	b->place.slot = 1;
	d.engine->ops->start(d.engine, b);
	run_for(&d, 100);
	OK(engine_sim_violation(d.machine), "two attempts at once: %s",
	   engine_sim_violation(d.machine));
	close_daemon(&d);
}

int main(void)
{
	truthful();
	laws();
	survival();
	stops();
	accuses();
	return END();
}
