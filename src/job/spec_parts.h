// SPDX-License-Identifier: Apache-2.0
/* spec_parts.h - the small things a spec is made of. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct channel {
	char *name, *uri; /* an output's uri may be NULL: the job's own storage */
};

struct service {
	/* A named port of a role's first task, told to every task. */
	char *name, *role, *port;
};

/* A number that the job's log tells: of each line that the pattern fits, what its one
 * group holds. */
struct metric {
	char *name, *pattern;
};

/* What a task finds (docs/contract.md): the yard's own, or that of an estimator, whose
 * words are PAI_*. */
enum spec_contract { SPEC_NATIVE, SPEC_ESTIMATOR, SPEC_CONTRACT_COUNT };

/* Python packages that are installed before the command begins. */
struct requirements {
	/* Whether at all: before the check NONE and ALL are what was written, after it
	 * there is no DEFAULT.  ALL: the code's requirements.txt and the list. */
	enum { REQUIREMENTS_DEFAULT, REQUIREMENTS_NONE, REQUIREMENTS_ALL } which;
	char **items; /* of pip; win over those of the code */
	size_t count;
};

struct dependency {
	int64_t job;
	bool ok; /* after-ok: only if it succeeded; else after: once it ended anyhow */
};

struct retry {
	int max; /* further attempts after the first; SPEC_ALL: no bound */
	int64_t backoff_ms, backoff_max_ms; /* doubled every time, up to max */
	bool time_limit; /* also after an attempt that reached its time limit */
};
