// SPDX-License-Identifier: Apache-2.0
/* The simulated depot keeps the interface's laws: one answer, later, never after destroy. */
#include "depot/depot_sim.h"

#include "base/mem.h"
#include "job/job.h"
#include "tap.h"
#include "world/world_sim.h"

static int prepared, failed, collected, places_right;

static void on_prepared(void *arg, const struct depot_places *p, const struct err *err)
{
	prepared++;
	failed += err != NULL;
	if (!err && p->code && strstr(p->code, "abc") && strstr(p->inputs[0], "data") &&
	    strstr(p->outputs[0], "/7/output/model"))
		places_right++;
	(void)arg;
}

static void on_collected(void *arg, const struct err *err)
{
	(void)arg, (void)err;
	collected++;
}

static struct job *a_job(void)
{
	struct job *j = mem_alloc(1, sizeof *j);

	j->id = 7;
	j->spec = spec_create();
	j->spec->code = mem_strdup("abc");
	j->spec->input_count = j->spec->output_count = 1;
	j->spec->inputs = mem_alloc(1, sizeof(struct channel));
	j->spec->outputs = mem_alloc(1, sizeof(struct channel));
	j->spec->inputs[0].name = mem_strdup("data");
	j->spec->inputs[0].uri = mem_strdup("/data");
	j->spec->outputs[0].name = mem_strdup("model");
	return j;
}

static uint64_t history(uint64_t seed, int calls, int fail_percent)
{
	struct world *w = world_sim_create(seed);
	struct depot *d = depot_sim_create(w, fail_percent);
	struct job *j = a_job();

	prepared = failed = collected = places_right = 0;
	for (int i = 0; i < calls; i++) {
		d->ops->prepare(d, j, -1, on_prepared, NULL);
		d->ops->collect(d, j, on_collected, NULL);
	}
	OK(prepared == 0 && collected == 0, "no answer comes from inside the call");
	spec_destroy(j->spec);
	free(j); /* the depot must not need it any more */
	OK(world_sim_settle(w, 100000), "every call comes to an end");
	uint64_t h = world_sim_history(w);
	d->ops->destroy(d);
	world_destroy(w);
	return h;
}

int main(void)
{
	history(1, 200, 0);
	OK(prepared == 200 && collected == 200, "each call is answered once");
	OK(failed == 0 && places_right == 200, "without faults all is there");
	uint64_t first = history(2, 200, 30);
	OK(failed > 20 && failed < 120, "with faults some fail");
	int failures = failed;
	OK(history(2, 200, 30) == first && failed == failures, "a seed replays");

	struct world *w = world_sim_create(3);
	struct depot *d = depot_sim_create(w, 0);
	struct job *j = a_job();
	prepared = 0;
	d->ops->prepare(d, j, -1, on_prepared, NULL);
	d->ops->destroy(d);
	world_sim_settle(w, 1000);
	OK(prepared == 0, "none comes after destroy");
	spec_destroy(j->spec);
	free(j);
	world_destroy(w);
	return END();
}
