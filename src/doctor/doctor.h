// SPDX-License-Identifier: Apache-2.0
/* doctor.h - what this machine can offer to tasks, found by trying, and what to do about
 * each no.
 *
 * Every trial runs in a child of its own and leaves nothing behind.  What is found is true
 * for the user who asks: root for the machine's daemon, a user for their private one.
 */
#pragma once

#include <stddef.h>

#include "base/buf.h"

enum finding_level {
	FINDING_FINE,
	FINDING_NOTE, /* works, but less well, or is not there and need not be */
	FINDING_LACK, /* jobs cannot run, or run without something they count on */
	FINDING_LEVEL_COUNT
};

struct finding {
	const char *about; /* "control groups" */
	enum finding_level level;
	char says[256];
	char advice[384]; /* what to do; "": nothing */
};

struct patient {
	const char *
		state; /* the folder (to be) used; its nearest folder that exists is looked at */
};

#define FINDINGS_MAX 32

/* One finding a check, in the order people read them. */
size_t doctor_examine(const struct patient *p, struct finding *out, size_t max);
const char *finding_level_word(enum finding_level l); /* "ok", "note", "lack" */
