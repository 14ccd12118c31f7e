// SPDX-License-Identifier: Apache-2.0
/* sieve.h - which lines of a log are shown: --grep, --since, --errors. */
#pragma once

#include <regex.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "cli/blame.h"
#include "cli/follow.h"

struct sieve {
	bool grep, errors;
	regex_t pattern;
	int64_t since_us;     /* 0: from the beginning */
	struct blame *blames; /* by rank */
	size_t count;
};

struct sieve_ask {
	const char *pattern; /* POSIX extended, or NULL */
	bool any_case, errors;
	const char *since; /* "10m" ago, or a time (sieve_time), or NULL */
};

/* tasks: of the job; now_ms: what "ago" counts from. */
int sieve_init(struct sieve *s, const struct sieve_ask *ask, size_t tasks, int64_t now_ms,
	       struct err *err);
void sieve_fini(struct sieve *s);
bool sieve_used(const struct sieve *s); /* any line could be left out */
/* For struct follow's keep. */
bool sieve_keep(void *sieve, const struct follow_line *line);

/* "90s", "10m", "2h30m" before now; "2026-11-15", "2026-11-15T21:53", "...:17", each with an optional
 * Z for UTC (else this machine's zone); "21:53" and "21:53:17" of the day that now is in. */
int sieve_time(const char *text, int64_t now_ms, int64_t *ms);
