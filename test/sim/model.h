// SPDX-License-Identifier: Apache-2.0
/* model.h - what clients were told, to hold against what the yard does.
 *
 * One run is one seed: a history of submits, stops, quotas, crashes, power cuts, full
 * disks, jumping clocks and lying engines, on the yard, plan and job objects that are
 * shipped.  A law that breaks is written into the run's err.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "depot/depot_sim.h"
#include "engine/engine.h"
#include "store/store.h"
#include "who/directory.h"
#include "world/world_sim.h"
#include "yard/yard.h"

#define CLAIMS_MAX  64
#define ACCOUNTS    5
#define CHANGES_MAX 1000
#define NODES_MAX   8
#define STOPS_MAX   256

struct run;

/* One submit as its client sees it. */

struct claim {
	struct run *run;
	char key[32];
	int variant;       /* which spec: the same key always sends the same one */
	int64_t after;     /* it depends on this job; 0: on none */
	bool asked, acked; /* acked: the yard said "it is recorded" */
	bool refused;      /* for good: it could never run */
	int64_t job;       /* once acked */
	bool stop_acked;
	bool doomed;  /* its deletion was asked for: it is there whole, or not at all */
	bool deleted; /* and the yard said that it is gone */
};

/* How often it was changed: as asked for, and as acknowledged. */
struct account {
	int asked, acked;
};

/* One change of an account, until its answer. */
struct change {
	struct run *run;
	int account, version;
};

/* A job that was told to stop, as its watcher saw it. */
struct stopping {
	int64_t job, at_ms; /* by the clock that never jumps */
	int crashes; /* so many there had been: what is seen may be late after one */
};

struct run {
	uint64_t seed;
	bool verbose;
	struct err broken; /* the first broken law */

	struct world *world;
	struct store_disk *disk;
	struct engine_sim_machine *machine;
	struct store *store;
	struct depot *depot;
	struct yard *yard;
	struct who *who;
	struct yard_doc_sink sink; /* who's */
	struct account accounts[ACCOUNTS];
	struct change changes[CHANGES_MAX];
	size_t change_count;

	struct claim claims[CLAIMS_MAX];
	size_t claim_count;
	int64_t told_seq; /* highest event a watcher was shown */
	long steps;
	int crashes, cuts, full_disks, preemptions;
	int extensions, resumes,
		longest;   /* of graces; of attempts; who had the longest */
	int64_t jumped_ms; /* when the wall clock last jumped; by the other clock */
	struct stopping stops[STOPS_MAX]; /* the last ones that were seen */
	size_t stop_count;
	bool drained[NODES_MAX]; /* as the log says */
	size_t node_count;
};

/* Runs one seed; false: run->broken says which law and where. */
bool run_seed(struct run *r, uint64_t seed, bool verbose);

/* check.c: laws that must hold at any moment, and at the end. */
bool check_now(struct run *r);
bool check_end(struct run *r);
bool check_boot(struct run *r); /* right after a boot: nothing acknowledged is gone */
void check_exit(struct run *r, const struct event *e); /* at the moment it is told */
/* accounts.c: before and right after a boot; a change of one of them. */
void accounts_begin(struct run *r, struct yard_config *c);
void check_accounts(struct run *r);
void ask_change(struct run *r, int account);
/* graces.c: each event that is shown; of a job's history */
void check_grace(struct run *r, const struct event *e);
void check_resume(struct run *r, const struct job *j);
/* nodes.c: right after a boot; drain or open one; each event that is shown; at the end */
void nodes_begin(struct run *r);
void ask_node(struct run *r, uint64_t dice);
void check_nodes(struct run *r, const struct event *e);
bool open_nodes(struct run *r);
/* arrays.c: what must be true of an array and its members; each: called for each of them. */
void each_member(struct run *r, int64_t array,
		 void (*each)(struct run *r, const struct job *j, void *arg), void *arg);
void check_members_of(struct run *r, int64_t array);
void check_history(struct run *r, int64_t job); /* check.c: of any job that has ended */
void broke(struct run *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
