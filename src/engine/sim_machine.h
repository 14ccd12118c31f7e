// SPDX-License-Identifier: Apache-2.0
/* sim_machine.h - a virtual machine that tasks run on; seen by sim.c alone.
 *
 * The machine is not the daemon: it keeps its own list of what will happen, by
 * virtual time, and a crash of the daemon drops only the reports on their way to it.
 * What falls due while no daemon is attached happens all the same, in order; the
 * next one learns of it by start() and adopt().
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/engine.h"

struct sim_sink {
	void *arg;
	void (*started)(void *arg, const struct task_ref *ref);
	void (*exited)(void *arg, const struct task_ref *ref,
		       const struct task_exit *exit);
};

struct world *sim_machine_world(struct engine_sim_machine *m);
size_t sim_machine_nodes(const struct engine_sim_machine *m, const struct node **nodes);

/* Catches up on what happened meanwhile, then sends reports to `up`. */
void sim_machine_attach(struct engine_sim_machine *m, const struct sim_sink *up);
/* Reports under way are lost.  Gives the arg of the sink that was attached, or NULL. */
void *sim_machine_detach(struct engine_sim_machine *m);
void sim_machine_bury(struct engine_sim_machine *m, void *freed_with_the_machine);
void sim_machine_crash(struct engine_sim_machine *m, bool power);

bool sim_machine_next(const struct engine_sim_machine *m,
		      int64_t *at_ms);              /* false: nothing will */
void sim_machine_run(struct engine_sim_machine *m); /* everything due by now */

void sim_machine_start(struct engine_sim_machine *m, const struct bundle *b);
void sim_machine_adopt(struct engine_sim_machine *m, const struct task_ref *ref);
void sim_machine_stop(struct engine_sim_machine *m, const struct task_ref *ref,
		      bool kill);
bool sim_machine_usage(struct engine_sim_machine *m, const struct task_ref *ref,
		       struct engine_usage *out);
