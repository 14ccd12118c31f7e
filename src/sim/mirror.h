// SPDX-License-Identifier: Apache-2.0
/* mirror.h - what the plan gave away, kept a second time by its decisions alone.
 *
 * The plan is not asked about itself: use, fragmentation, and whether the head of the
 * queue was delayed, are read off a fleet of the simulator's own.
 */
#pragma once

#include "job/gang.h"
#include "job/placement.h"
#include "sim/cluster.h"

struct mirror;

struct mirror *mirror_create(const struct sim_cluster *c);
void mirror_destroy(struct mirror *m);
void mirror_wait(struct mirror *m, const struct gang *g); /* somebody asks for that */
void mirror_start(struct mirror *m, int64_t id, const struct gang *g,
		  const struct placement *places, size_t count);
void mirror_end(struct mirror *m, int64_t id);

int64_t mirror_total_milli(const struct mirror *m); /* devices, in 1/1000 */
int64_t mirror_used_milli(const struct mirror *m);
double mirror_fragment(const struct mirror *m); /* 0 to 1 */
int64_t mirror_gang(const struct mirror *m);    /* whole free devices of one kind */

/* When a gang could start if nobody else did: those that run end when end_ms() says.
 * INT64_MAX: never. */
int64_t mirror_earliest(struct mirror *m, const struct gang *g, int64_t now_ms,
			int64_t (*end_ms)(void *arg, int64_t id), void *arg);
