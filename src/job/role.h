// SPDX-License-Identifier: Apache-2.0
/* role.h - what one kind of a job's tasks executes, and what each of them gets. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "job/pairs.h"
#include "job/resources.h"

#define SPEC_ALL (-1) /* completion: all tasks; retry: no bound */

struct port_ask {
	char *name;
	int count; /* at least 1 */
	int fixed; /* 0: any free one; else this very number, on the task's own address */
};

struct role {
	char *name; /* "main" when the file has just one command */
	int count;
	int least; /* it starts with so many too when there is no room for more; 0: count */
	char **argv;      /* what is executed: { "sh", "-c", line } for a shell line */
	size_t argc;      /* argv[argc] is NULL */
	char *shell_line; /* as written, or NULL when argv was given */
	char *image;      /* "host", or a name or uri of the catalogue */
	struct resources each; /* of one task */
	struct pairs where;    /* labels that a node must have */
	int64_t shm_bytes;     /* 0 before the check: half of the memory */
	struct pairs env;
	struct port_ask *ports; /* after the check: those of any number first */
	size_t port_count;
	bool per_device; /* one process of the command for each device of the task */
	int fail_after; /* failed tasks that end the job as failed; SPEC_ALL: only when all did */
	int succeed_after; /* succeeded tasks that end the job as succeeded; SPEC_ALL: when all did */
};

void role_set_shell(struct role *r, const char *line);
void role_set_argv(struct role *r, const char *const *argv, size_t argc);
struct port_ask *role_add_port(struct role *r, const char *name);
