// SPDX-License-Identifier: Apache-2.0
/* cluster.h - the nodes of a simulation. */
#pragma once

#include <stddef.h>

#include "base/err.h"
#include "job/node.h"

#define SIM_NODES_MAX 100000

struct sim_cluster {
	struct node *nodes; /* by rank: racks stand together */
	size_t count;
};

/* "80x8", a node list (CSV: sn,cpu_milli,memory_mib,gpu,model), or YAML/JSON. */
int sim_cluster_short(const char *text, struct sim_cluster *out, struct err *err);
int sim_cluster_read(const char *text, size_t len, struct sim_cluster *out,
		     struct err *err);
void sim_cluster_fini(struct sim_cluster *c);
