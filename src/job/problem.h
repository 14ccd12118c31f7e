// SPDX-License-Identifier: Apache-2.0
/* problem.h - everything that is wrong with a spec or a file, told at once. */
#pragma once

#include <stdarg.h>
#include <stddef.h>

#include "base/err.h"

#define PROBLEMS_MAX 100 /* more are counted, not kept: a person reads none of them */

/* One problem; line 0 when there is no file behind it. */
struct problem {
	int line, column;
	char *field; /* "roles[0].resources.cpu" */
	char *text;  /* what is wrong and what is allowed */
};

struct problems {
	struct problem *items;
	size_t count, cap;
	size_t dropped; /* beyond PROBLEMS_MAX */
};

void problems_add(struct problems *p, int line, int column, const char *field,
		  const char *fmt, ...) __attribute__((format(printf, 5, 6)));
void problems_fini(struct problems *p);
/* Becomes one ERR_INVALID: the first problem and how many more. 0 when there are none. */
int problems_err(const struct problems *p, struct err *err);

#define AUTO_PROBLEMS __attribute__((cleanup(problems_fini)))
