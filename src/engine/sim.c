// SPDX-License-Identifier: Apache-2.0
/* sim.c - the simulated engine: what a daemon sees of a sim_machine.
 *
 * It tells the truth about what happened, but by lie_percent tells it twice, late, in
 * the wrong order, or about an attempt long gone: what a network, a restart or a bug
 * in a real engine may do.  It never says that a task ended which still runs, and
 * never forgets to say that one ended whose end was asked for by start() or adopt().
 */
#include "engine/engine.h"

#include <stdio.h>

#include "base/mem.h"
#include "engine/sim_machine.h"

struct sim_engine {
	struct engine base;
	struct engine_sim_machine *m;
	struct engine_sink sink;
	struct world_timer *timer;
	bool dead; /* its daemon crashed */
};

static struct sim_engine *cast(struct engine *e)
{
	return (struct sim_engine *)e;
}

static void arm(struct sim_engine *e)
{
	int64_t at_ms;

	if (sim_machine_next(e->m, &at_ms))
		world_timer_at(e->timer, at_ms);
	else
		world_timer_stop(e->timer);
}

static void on_timer(void *arg)
{
	struct sim_engine *e = arg;

	if (e->dead)
		return;
	sim_machine_run(e->m);
	arm(e);
}

/* The machine's reports, when their time has come. */
static void on_started(void *arg, const struct task_ref *ref)
{
	struct sim_engine *e = arg;

	e->sink.started(e->sink.arg, ref);
}

static void on_exited(void *arg, const struct task_ref *ref, const struct task_exit *exit)
{
	struct sim_engine *e = arg;

	e->sink.exited(e->sink.arg, ref, exit);
}

static void sim_begin(struct engine *base)
{
	struct sim_engine *e = cast(base);
	const struct node *nodes;
	size_t count = sim_machine_nodes(e->m, &nodes);

	for (size_t i = 0; i < count; i++)
		e->sink.node(e->sink.arg, &nodes[i]);
}

static void sim_start(struct engine *base, struct bundle *b)
{
	struct sim_engine *e = cast(base);

	sim_machine_start(e->m, b);
	bundle_destroy(b);
	arm(e);
}

static void sim_adopt(struct engine *base, const struct task_ref *ref, const char *folder)
{
	struct sim_engine *e = cast(base);

	(void)folder;
	sim_machine_adopt(e->m, ref);
	arm(e);
}

static void sim_stop(struct engine *base, const struct task_ref *ref, const char *notice)
{
	struct sim_engine *e = cast(base);

	sim_machine_stop(e->m, ref, !notice);
	arm(e);
}

static void sim_forget(struct engine *base, const struct task_ref *ref,
		       const char *folder)
{
	/* The mark and the exit stay, as in a real attempt's folder. */
	(void)base;
	(void)ref;
	(void)folder;
}

static int sim_exec(struct engine *base, const struct task_ref *ref,
		    const char *const *argv, bool tty, struct world_stream **out,
		    struct err *err)
{
	(void)base;
	(void)ref;
	(void)argv;
	(void)tty;
	(void)out;
	return err_set(err, ERR_UNSUPPORTED,
		       "a simulated task cannot run a further command");
}

static int sim_usage(struct engine *base, const struct task_ref *ref,
		     struct engine_usage *out, struct err *err)
{
	if (!sim_machine_usage(cast(base)->m, ref, out))
		return err_set(err, ERR_NOT_FOUND, "the task does not run");
	return 0;
}

static void sim_destroy(struct engine *base)
{
	struct sim_engine *e = cast(base);

	if (e->dead)
		return; /* freed with the machine */
	world_timer_destroy(e->timer);
	sim_machine_detach(e->m);
	free(e);
}

static const struct engine_ops sim_ops = {
	.name = "sim",
	.begin = sim_begin,
	.start = sim_start,
	.adopt = sim_adopt,
	.stop = sim_stop,
	.forget = sim_forget,
	.exec = sim_exec,
	.usage = sim_usage,
	.destroy = sim_destroy,
};

struct engine *engine_sim_create(struct engine_sim_machine *m,
				 const struct engine_sink *sink)
{
	struct sim_engine *e = mem_alloc(1, sizeof *e);
	const struct sim_sink up = { .arg = e,
				     .started = on_started,
				     .exited = on_exited };

	e->base.ops = &sim_ops;
	e->m = m;
	e->sink = *sink;
	e->timer = world_timer_create(sim_machine_world(m), on_timer, e);
	sim_machine_attach(m, &up);
	arm(e);
	return &e->base;
}

void engine_sim_machine_crash(struct engine_sim_machine *m, bool power)
{
	struct sim_engine *e = sim_machine_detach(m);

	/* The daemon may still be taken apart by its test, so the engine stays until the machine goes. */
	if (e) {
		e->dead = true;
		world_timer_destroy(TAKE(e->timer));
		sim_machine_bury(m, e);
	}
	sim_machine_crash(m, power);
}
