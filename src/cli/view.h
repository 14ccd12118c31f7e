// SPDX-License-Identifier: Apache-2.0
/* view.h - what the commands that print tables share. */
#pragma once

#include "cli/cli.h"
#include "cli/table.h"

size_t view_width(void); /* of the terminal; 0: stdout is none */
void view_print(const struct cli *c, const struct table *t);
enum table_colour view_colour(enum job_state s, enum outcome o);
const char *view_state(enum job_state s, enum outcome o); /* "running", "failed" */
int view_json(struct cli *c,
	      const char *target); /* an answer as it is; gives the exit code */
