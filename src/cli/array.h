// SPDX-License-Identifier: Apache-2.0
/* array.h - arrays at the command line: the flags that make one, and how it is shown. */
#pragma once

#include "base/err.h"
#include "base/json.h"
#include "base/opts.h"
#include "wire/api.h"

struct array_flags {
	struct opts_list sweeps;
	int64_t count, parallel;
};

/* clang-format off */
#define OPT_ARRAY(type, field)                                                                  \
	{ "sweep", 0, OPT_LIST, OPT_INTO(type, field.sweeps), "NAME=VALUES",                    \
	  "a member for each of A,B,C or 1..5; {NAME} in the command" },                        \
	{ "array", 0, OPT_INT, OPT_INTO(type, field.count), "N",                                \
	  "so many members; {index} in the command", 1, ARRAY_MEMBERS_MAX },                    \
	{ "parallel", 0, OPT_INT, OPT_INTO(type, field.parallel), "N",                          \
	  "members at a time (as there is room)", 1, ARRAY_MEMBERS_MAX }
/* clang-format on */

bool array_flags_given(const struct array_flags *f);
/* The field "array" of a job file; key NULL: just its value. */
int array_flags_write(struct json *j, const char *key, const struct array_flags *f,
		      struct err *err);

/* "42/100000, 1 failed" */
void array_progress(int64_t ended, int64_t count, int64_t failed, struct buf *out);
/* Lines for `yard show`: the members counted, the axes of the sweep. */
void array_summary(const struct job *j,
		   void (*line)(struct buf *out, const char *name, const char *text),
		   struct buf *out);
