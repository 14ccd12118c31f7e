// SPDX-License-Identifier: Apache-2.0
/* machine.h - kinds of machine by name, for those who ask for one instead of cores and
 * memory ("ecs.c6.xlarge"). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/doc.h"
#include "base/err.h"
#include "base/json.h"
#include "job/resources.h"

#define MACHINE_NAME_MAX 64

struct machine {
	char name[MACHINE_NAME_MAX];
	struct resources each; /* what a task of that kind gets */
	bool builtin;          /* by the rule of names, not set by an admin */
};

/* The name says it: ecs.FAMILY.SIZE, where c has 2 GiB a core, g 4 and r 8; large is two
 * cores, xlarge four, Nxlarge 4N; gn…-cXgY has X cores, Y GPUs and 4 GiB a core. */
bool machine_by_name(const char *name, struct machine *out);
/* The i-th of those that a list shows; false: no more. */
bool machine_known(int i, struct machine *out);
bool machine_name_ok(const char *name);

int machine_read(const struct doc_node *map, const char *name, struct machine *out,
		 struct err *err);
void machine_write(const struct machine *m, struct json *j, const char *key, bool fits);
