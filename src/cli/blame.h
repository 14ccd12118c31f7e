// SPDX-License-Identifier: Apache-2.0
/* blame.h - which line of a log says what went wrong.
 *
 * Fed with the lines of one task in their order, it remembers the first that names an error.
 * A line that certainly does (the end of a traceback, "CUDA out of memory", "panic:") stands
 * above one that only looks like it ("error: ..."): programs grumble long before they fail.
 * It knows words of Python, C, C++, Go, Rust, shells, CUDA, NCCL and common loggers, and some
 * that are no errors though they look like them ("error: 0.12" is a measure, not a failure).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum blame_class {
	BLAME_NONE,
	BLAME_PART,   /* belongs to an error: the frames of a traceback */
	BLAME_LOOKS,  /* looks like an error */
	BLAME_CERTAIN /* is one */
};

struct blame {       /* zero-initialised is ready */
	char *first; /* the first error, or NULL */
	enum blame_class found;
	char *last;     /* the last line that is not empty */
	bool traceback; /* inside one */
};

/* Classifies the next line (without its line end) and remembers it. */
enum blame_class blame_line(struct blame *b, const char *line, size_t len);
void blame_fini(struct blame *b);
