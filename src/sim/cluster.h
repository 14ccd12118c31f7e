// SPDX-License-Identifier: Apache-2.0
/* cluster.h - the nodes of a simulation. */
#pragma once

#include <stddef.h>

#include "base/err.h"
#include "job/node.h"

#define SIM_NODES_MAX 100000

struct sim_cluster {
	struct node *nodes; /* in the order of the file */
	size_t count;
};

/* "80x8", "80x8:a100+40x4:t4". */
int sim_cluster_short(const char *text, struct sim_cluster *out, struct err *err);
/* A table with sn,cpu_milli,memory_mib,gpu,model, or YAML/JSON: a list of batches of nodes
 * {count, name, gpu, cpu, memory, model, rack, switch}, or that list under "nodes". */
int sim_cluster_read(const char *text, size_t len, struct sim_cluster *out,
		     struct err *err);
void sim_cluster_fini(struct sim_cluster *c);
