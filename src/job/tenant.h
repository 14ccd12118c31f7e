// SPDX-License-Identifier: Apache-2.0
/* tenant.h - a group's place in the tree of those who share the nodes. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "job/resources.h"

enum tenant_order {
	TENANT_FIFO,
	TENANT_SHORT,  /* the least work left first: limit or guess × devices */
	TENANT_SERVED, /* the least served first: for run times that nobody knows */
};

/* "Two whole 8-device nodes": so many places, each of so many devices of one node. */
struct tenant_shape {
	int count;
	struct device_count devices;
};

#define TENANT_SHAPES_MAX 4
#define TENANT_NAME_MAX   64

/* Amounts: cpu_milli or memory_bytes -1, and device kinds that are not named: none set. */
struct tenant_rule {
	char parent[TENANT_NAME_MAX]; /* "": the root */
	int weight;                   /* 1 to 1000; 0: 1 */
	struct resources
		guarantee; /* what it gets whenever it asks; lent to others till then */
	struct tenant_shape shapes[TENANT_SHAPES_MAX]; /* guaranteed as whole places */
	size_t shape_count;
	struct resources borrow; /* at most so much beyond its guarantee */
	struct resources lend;   /* at most so much of its guarantee is lent out */
	enum tenant_order order;
	int64_t notice_ms; /* before what it borrowed is taken back; 0: the job's grace */
};

/* What was used in an hour (or what is held): amount × milliseconds. */
struct use {
	int64_t cpu_milli, memory_mib, device_milli;
};
