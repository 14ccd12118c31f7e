// SPDX-License-Identifier: Apache-2.0
/* depot_sim.c - a depot without disks: takes virtual time, fails by seed.
 *
 * Most calls are done within a few milliseconds, some take seconds, so that a stop, a
 * crash or a second call comes in between.  done() is never called from inside the
 * call, and never after destroy.  All chance comes from the world: a seed replays.
 */
#include "depot/depot_sim.h"

#include <stdio.h>

#include "base/mem.h"
#include "base/str.h"
#include "depot/layout.h"

#define SIM_QUICK_MS 5
#define SIM_SLOW_MS  20000

struct sim_op {
	struct depot_sim *depot;
	struct sim_op *prev, *next;
	struct world_timer *timer;
	depot_prepared prepared; /* one of the three is set */
	depot_collected collected;
	depot_looked looked;
	int64_t job;
	int attempt;
	bool tells; /* how far it is, before it is done */
	char resume[32];
	void *arg;
	char *code, **inputs, **outputs;
	size_t input_count, output_count;
	bool fails;
};

struct depot_sim {
	struct depot base;
	struct world *world;
	int fail_percent;
	struct sim_op *ops; /* under way */
};

static void op_unlink(struct sim_op *op)
{
	if (op->prev)
		op->prev->next = op->next;
	else
		op->depot->ops = op->next;
	if (op->next)
		op->next->prev = op->prev;
}

static void op_destroy(struct sim_op *op)
{
	world_timer_destroy(op->timer);
	for (size_t i = 0; i < op->input_count; i++)
		free(op->inputs[i]);
	for (size_t i = 0; i < op->output_count; i++)
		free(op->outputs[i]);
	free(op->inputs);
	free(op->outputs);
	free(op->code);
	free(op);
}

bool depot_sim_grows(int64_t job)
{
	return job % 3 == 0;
}

void depot_sim_resume(int64_t job, int attempt, char out[32])
{
	out[0] = 0;
	if (attempt > 1 && job % 4 != 3)
		snprintf(out, 32, "step-%d", attempt - 1);
}

/* Of every third job they grow for ever, of every third now and then, of others never. */
static struct depot_sight sight_of(const struct sim_op *op)
{
	int64_t now_ms = world_mono_ms(op->depot->world);
	int64_t every_ms = depot_sim_grows(op->job) ? 700 : 15000;

	return (struct depot_sight){
		.files = 1,
		.bytes = 1,
		.print = op->job % 3 < 2 ? (uint64_t)(now_ms / every_ms) : 1,
		.complete_ms = op->job % 2 ? world_now_ms(op->depot->world) - 1000 : 0
	};
}

static void op_due(void *arg)
{
	struct sim_op *op = arg;
	struct err failure, *err = NULL;
	struct depot_places places = { .code = op->code,
				       .inputs = (const char *const *)op->inputs,
				       .outputs = (const char *const *)op->outputs,
				       .resume = op->resume[0] ? op->resume : NULL };
	struct depot_sight sight = sight_of(op);

	if (op->fails) {
		err_set(&failure, ERR_IO, "simulated depot: no space left on device");
		err = &failure;
	}
	if (op->tells && op->job && op->depot->base.outside.progress)
		op->depot->base.outside.progress(op->depot->base.outside.arg, op->job,
						 op->attempt, "simulated: all of it");
	op_unlink(op); /* done() may destroy the depot */
	if (op->prepared)
		op->prepared(op->arg, err ? NULL : &places, err);
	else if (op->looked)
		op->looked(op->arg, err ? NULL : &sight, err);
	else
		op->collected(op->arg, err);
	op_destroy(op);
}

static struct sim_op *op_create(struct depot_sim *d, void *arg)
{
	struct sim_op *op = mem_alloc(1, sizeof *op);
	uint64_t luck = world_random(d->world);
	/* One in eight is slow. */
	uint64_t span = luck % 8 == 0 ? SIM_SLOW_MS : SIM_QUICK_MS;

	op->depot = d;
	op->arg = arg;
	op->tells = luck >> 60 & 1;
	op->fails = (int)((luck >> 8) % 100) < d->fail_percent;
	op->next = d->ops;
	if (d->ops)
		d->ops->prev = op;
	d->ops = op;
	op->timer = world_timer_create(d->world, op_due, op);
	world_timer_at(op->timer,
		       world_mono_ms(d->world) + (int64_t)((luck >> 16) % span));
	return op;
}

static void sim_prepare(struct depot *base, const struct job *j, int64_t uid_base,
			depot_prepared done, void *arg)
{
	struct depot_sim *d = (struct depot_sim *)base;
	const struct spec *s = j->spec;
	struct sim_op *op = op_create(d, arg);

	(void)uid_base;
	op->prepared = done;
	op->job = j->id;
	op->attempt = j->attempt;
	if (s->code)
		op->code = str_printf("/sim/code/%s/tree", s->code);
	op->input_count = s->input_count;
	op->inputs = mem_alloc(s->input_count + 1, sizeof *op->inputs);
	for (size_t i = 0; i < s->input_count; i++)
		op->inputs[i] = str_printf("/sim/input/%s", s->inputs[i].name);
	op->output_count = s->output_count;
	op->outputs = mem_alloc(s->output_count + 1, sizeof *op->outputs);
	for (size_t i = 0; i < s->output_count; i++)
		op->outputs[i] = depot_output_path(base, j, s->outputs[i].name);
	for (size_t i = 0; i < s->output_count; i++)
		if (str_eq(s->outputs[i].name, DEPOT_CHECKPOINTS))
			depot_sim_resume(j->id, j->attempt, op->resume);
}

/* Not at once: the answer never comes from inside the call. */
static void sim_cancel(struct depot *base, int64_t job)
{
	struct depot_sim *d = (struct depot_sim *)base;

	for (struct sim_op *op = d->ops; op; op = op->next) {
		if (!op->prepared || op->job != job)
			continue;
		op->fails = true;
		world_timer_at(op->timer, world_mono_ms(d->world));
	}
}

static void sim_look(struct depot *base, const struct job *j, depot_looked done,
		     void *arg)
{
	struct sim_op *op = op_create((struct depot_sim *)base, arg);

	op->looked = done;
	op->job = j->id;
}

static void sim_collect(struct depot *base, const struct job *j, depot_collected done,
			void *arg)
{
	struct sim_op *op = op_create((struct depot_sim *)base, arg);

	op->collected = done;
	op->job = j->id;
	op->attempt = j->attempt;
}

static void sim_remove(struct depot *base, int64_t job, depot_collected done, void *arg)
{
	(void)job;
	op_create((struct depot_sim *)base, arg)->collected = done;
}

static char *sim_attempt_folder(struct depot *base, int64_t job, int task, int attempt)
{
	(void)base;
	return depot_layout_attempt("/sim", job, task, attempt);
}

static char *sim_output_folder(struct depot *base, int64_t job, const char *output)
{
	(void)base;
	return depot_layout_output("/sim", job, output);
}

static void sim_destroy(struct depot *base)
{
	struct depot_sim *d = (struct depot_sim *)base;

	for (struct sim_op *op = d->ops, *next; op; op = next) {
		next = op->next;
		op_destroy(op);
	}
	free(d);
}

static const struct depot_ops sim_ops = {
	.prepare = sim_prepare,
	.cancel = sim_cancel,
	.collect = sim_collect,
	.look = sim_look,
	.remove = sim_remove,
	.attempt_folder = sim_attempt_folder,
	.output_folder = sim_output_folder,
	.destroy = sim_destroy,
};

struct depot *depot_sim_create(struct world *w, int fail_percent)
{
	struct depot_sim *d = mem_alloc(1, sizeof *d);

	d->base.ops = &sim_ops;
	d->world = w;
	d->fail_percent = fail_percent;
	return &d->base;
}
