// SPDX-License-Identifier: Apache-2.0
/* engine.h - starts tasks on machines and reports what becomes of them.
 *
 * An engine gets a finished bundle and knows neither spec nor contract.  Every call
 * means "make it so" and may be repeated; reports come by the sink, which only
 * enqueues.  Laws: an attempt of a task is started at most once, whatever crashes;
 * after start() exactly one exited() comes in the end, also across a restart of the
 * daemon (start() again, or adopt(), finds what runs); nothing of a task runs after
 * its exited().
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "job/bundle.h"
#include "job/exit.h"
#include "job/node.h"
#include "world/world.h"

struct engine_sink {
	void *arg;
	void (*started)(void *arg, const struct task_ref *ref);
	void (*exited)(void *arg, const struct task_ref *ref,
		       const struct task_exit *exit);
	void (*node)(void *arg, const struct node *node); /* added or changed */
};

struct engine_usage {
	int64_t time_ms, cpu_ms, memory_bytes, memory_peak_bytes;
	int pids;
};

struct engine;

struct engine_ops {
	const char *name;
	/* Reports its nodes through the sink, now and when they change. */
	void (*begin)(struct engine *e);
	/* Takes the bundle.  If this attempt was already marked as begun it is adopted instead. */
	void (*start)(struct engine *e, struct bundle *b);
	/* After a restart, for an attempt that must not be begun (again): what runs is found and
	 * its exit reported now or later; a mark without a shim or exit is LOST; an attempt that
	 * never began is fenced (a shim still on its way must give up) and reported UNSTARTED. */
	void (*adopt)(struct engine *e, const struct task_ref *ref, const char *folder);
	/* notice: ask it to end (SIGTERM to its main process, once), and let it find this text
	 * at the bundle's stop_file then.  NULL: end everything in it. */
	void (*stop)(struct engine *e, const struct task_ref *ref, const char *notice);
	/* exited() was recorded: drop run-time files; log and exit file stay. */
	void (*forget)(struct engine *e, const struct task_ref *ref, const char *folder);
	/* A further command inside a running task.  On success the stream carries shim
	 * exec frames (shim/message.h): input, output, window size, exit.  The first frame
	 * that comes is SHIM_OK or SHIM_ERROR (with a sentence). */
	int (*exec)(struct engine *e, const struct task_ref *ref, const char *const *argv,
		    bool tty, struct world_stream **out, struct err *err);
	/* What is known now, without waiting.  ERR_BUSY: ask again in some ms. */
	int (*usage)(struct engine *e, const struct task_ref *ref,
		     struct engine_usage *out, struct err *err);
	void (*destroy)(struct engine *e); /* tasks go on */
};

struct engine {
	const struct engine_ops *ops;
};

struct engine_process_config {
	const char *shim_path;
	const char *state_dir;
	const char *node_name;
	int64_t cpu_milli, memory_bytes; /* 0: what the machine has */
	int max_tasks;                   /* at a time; 0: 64 a core, at least 512 */
	struct device_count simulated[DEVICE_KINDS_MAX];
};

struct engine *engine_process_create(struct world *w,
				     const struct engine_process_config *c,
				     const struct engine_sink *sink, struct err *err);

/* The simulated machine: what runs on it outlives the engine, as shims outlive the daemon. */
struct engine_sim_machine;
struct engine_sim_faults {
	int lie_percent; /* reports that come twice, late, or for an attempt long gone */
	int start_fail_percent;
	int lost_percent;   /* tasks that vanish at a crash */
	int64_t run_ms_max; /* a task runs 0..this long unless stopped */
	int ignore_term_percent;
	int fail_percent; /* tasks that exit non-zero */
};
struct engine_sim_machine *engine_sim_machine_create(struct world *w,
						     const struct node *nodes,
						     size_t node_count,
						     const struct engine_sim_faults *f);
void engine_sim_machine_destroy(struct engine_sim_machine *m);
struct engine *engine_sim_create(struct engine_sim_machine *m,
				 const struct engine_sink *sink);
/* For the checks: how often this attempt was really started; tasks that run now. */
int engine_sim_starts(const struct engine_sim_machine *m, const struct task_ref *ref);
int engine_sim_running(const struct engine_sim_machine *m);
/* What it was told to go on from, or NULL; borrowed. */
const char *engine_sim_resume(const struct engine_sim_machine *m,
			      const struct task_ref *ref);
/* How the attempt really ended; false: it has not. */
bool engine_sim_truth(const struct engine_sim_machine *m, const struct task_ref *ref,
		      struct task_exit *out);
/* The first thing the yard asked that it must never ask (a device given twice, a node
 * filled beyond its room, two attempts of a task at once), in words; NULL: none. */
const char *engine_sim_violation(const struct engine_sim_machine *m);
/* The daemon died (power: the machine too, every task is gone); a new engine may be created.
 * Goes with the world's own crash, in either order; the dead engine may still be destroyed. */
void engine_sim_machine_crash(struct engine_sim_machine *m, bool power);
