// SPDX-License-Identifier: Apache-2.0
/* look.c - looks at the checkpoints of a job that runs or is being stopped. */
#include "base/mem.h"
#include "base/str.h"
#include "depot/checkpoint.h"
#include "depot/files.h"
#include "depot/layout.h"

#define MS_NS 1000000

struct look_op {
	struct depot_files *depot;
	depot_looked done;
	void *arg;
	char *folder;
	int64_t now_ms;
	struct depot_sight sight;
	struct err err;
	bool failed;
};

static void look_work(void *arg)
{
	struct look_op *op = arg;
	const struct checkpoint_entry *last;
	struct checkpoint_sight s;

	op->failed = checkpoint_look(op->folder, &s, &op->err) < 0;
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

	if (!op->depot->gone)
		op->done(op->arg, op->failed ? NULL : &op->sight,
			 op->failed ? &op->err : NULL);
	depot_files_unref(op->depot);
	free(op->folder);
	free(op);
}

void depot_files_look(struct depot *base, const struct job *j, depot_looked done,
		      void *arg)
{
	struct depot_files *d = depot_files_of(base);
	struct look_op *op = mem_alloc(1, sizeof *op);

	d->refs++;
	*op = (struct look_op){ .depot = d,
				.done = done,
				.arg = arg,
				.folder = depot_layout_output(d->state, j->id,
							      DEPOT_CHECKPOINTS),
				.now_ms = world_now_ms(d->world) };
	world_lane_work(d->looks, look_work, look_done, op);
}
