// SPDX-License-Identifier: Apache-2.0
/* remove.c - everything a deleted job left: outputs, logs, run-time files. */
#include "base/mem.h"
#include "depot/files.h"
#include "depot/layout.h"
#include "depot/tree.h"

struct removal {
	struct depot_files *depot;
	char *folder;
	depot_collected done;
	void *arg;
	bool failed;
	struct err err;
};

static void remove_work(void *arg)
{
	struct removal *r = arg;

	r->failed = tree_delete(r->folder, &r->err) < 0;
}

static void remove_answer(void *arg)
{
	struct removal *r = arg;

	if (!r->depot->gone)
		r->done(r->arg, r->failed ? &r->err : NULL);
	depot_files_unref(r->depot);
	free(r->folder);
	free(r);
}

void depot_files_remove(struct depot *base, int64_t job, depot_collected done, void *arg)
{
	struct depot_files *d = depot_files_of(base);
	struct removal *r = mem_alloc(1, sizeof *r);

	*r = (struct removal){ .depot = d,
			       .folder = depot_layout_job(d->state, job),
			       .done = done,
			       .arg = arg };
	d->refs++;
	world_lane_work(d->removals, remove_work, remove_answer, r);
}
