// SPDX-License-Identifier: Apache-2.0
/* look.c - looks at the checkpoints of a job that runs or is being stopped. */
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "depot/checkpoint.h"
#include "depot/files.h"
#include "depot/layout.h"
#include "depot/op.h"

#define MS_NS 1000000

struct look_op {
	struct files_op op; /* as much of one as finding a place needs */
	struct place place; /* the output */
	depot_looked done;
	void *arg;
	int64_t now_ms;
	struct depot_sight sight;
	struct err err;
	bool failed;
};

/* What is brought elsewhere in the end lies with the job until then. */
static int find_folder(struct look_op *op, struct err *err)
{
	struct place *p = &op->place;

	if (p->kind != PLACE_OWN && p->kind != PLACE_REMOTE)
		return place_find_input(&op->op, p, err);
	p->path = depot_layout_output(op->op.depot->state, op->op.job, p->name);
	return 0;
}

static void look_work(void *arg)
{
	struct look_op *op = arg;
	const struct checkpoint_entry *last;
	struct checkpoint_sight s;

	op->failed = op->failed || find_folder(op, &op->err) < 0 ||
		     checkpoint_look(op->place.path, &s, &op->err) < 0;
	if (op->failed)
		return;
	last = checkpoint_last(&s, op->now_ms);
	op->sight = (struct depot_sight){ .files = s.files,
					  .bytes = s.bytes,
					  .print = s.print,
					  .complete_ms =
						  last ? last->written_ns / MS_NS : 0 };
	checkpoint_fini(&s);
}

static void look_done(void *arg)
{
	struct look_op *op = arg;
	struct depot_files *d = op->op.depot;

	if (!d->gone)
		op->done(op->arg, op->failed ? NULL : &op->sight,
			 op->failed ? &op->err : NULL);
	place_fini(&op->place);
	free(op->op.owner);
	free(op);
	depot_files_unref(d);
}

void depot_files_look(struct depot *base, const struct job *j, depot_looked done,
		      void *arg)
{
	struct depot_files *d = depot_files_of(base);
	struct look_op *op = mem_alloc(1, sizeof *op);
	const struct spec *s = j->spec;

	d->refs++;
	*op = (struct look_op){ .done = done,
				.arg = arg,
				.now_ms = world_now_ms(d->world) };
	op->op = (struct files_op){ .depot = d,
				    .job = j->id,
				    .owner = mem_strdup(j->owner),
				    .owner_uid = j->owner_uid,
				    .uid_base = geteuid() == 0 ? 0 : -1 };
	op->place.name = mem_strdup(DEPOT_CHECKPOINTS);
	for (size_t i = 0; i < s->output_count; i++)
		if (str_eq(s->outputs[i].name, DEPOT_CHECKPOINTS))
			op->place.uri = mem_strdup(s->outputs[i].uri);
	op->failed = place_sort(&op->op, &op->place, true, &op->err) < 0;
	world_lane_work(d->looks, look_work, look_done, op);
}
