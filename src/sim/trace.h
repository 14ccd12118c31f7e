// SPDX-License-Identifier: Apache-2.0
/* trace.h - the jobs of a simulation, and the readers of files that hold them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define SIM_JOBS_MAX 2000000

struct gang;

struct sim_job {
	const char *name; /* as the trace calls it; words are the trace's: sim_word() */
	int64_t row;      /* its place in the file, from 0 */
	int64_t submit_ms, duration_ms;
	int gpus;             /* in all; more than a node has: a gang over several */
	int share_milli;      /* of one device, when gpus is 1; 0: whole ones */
	int64_t cpu_milli;    /* in all; 0: not said */
	int64_t memory_bytes; /* in all; 0: not said */
	const char *models;   /* "a100|v100", NULL: any */
	const char *user, *group, *command; /* NULL: not known */
	int priority;
	int64_t limit_ms; /* what the user said it may take at most; 0: nothing */
	bool preemptible;
	const struct gang
		*gang; /* what it asks for, exactly: instead of the numbers above */
};

struct sim_trace {
	const struct sim_reader *reader;
	struct sim_job *jobs; /* by (submit_ms, place in the file) */
	size_t count, cap;
	size_t skipped;          /* lines that hold no job that ever ran */
	struct sim_words *words; /* every name once: see sim_word() */
	void *extra;             /* what only this reader's own rule set understands */
};

/* Text from outside: complaints name line and column.  read() is given an empty trace; on
 * failure the caller clears what it put there. */
struct sim_reader {
	const char *name, *about;
	bool (*sniff)(const char *text, size_t len); /* by the first line */
	int (*read)(const char *text, size_t len, struct sim_trace *out, struct err *err);
	/* A second file that belongs to the trace, by the trace's path (the caller frees;
	 * NULL: there is none), and what reads it.  Both NULL when there never is one. */
	char *(*companion)(const char *path);
	int (*join)(struct sim_trace *t, const char *text, size_t len, struct err *err);
	void (*drop)(void *extra); /* NULL: there is no extra */
	/* The file of nodes that belongs to the trace, by its path; NULL: none is known. */
	char *(*cluster_beside)(const char *path);
};

extern const struct sim_reader *const sim_readers[]; /* end with NULL */

/* By name, or (NULL) by the first that knows the first line. */
int sim_trace_read(const char *reader, const char *text, size_t len,
		   struct sim_trace *out, struct err *err);
void sim_trace_fini(struct sim_trace *t);
/* A copy of the word that lives as long as the trace; "" and NULL give NULL. */
const char *sim_word(struct sim_trace *t, const char *word);
/* One more job, zeroed, owned by the trace; sim_trace_sort() puts them in order. */
struct sim_job *sim_trace_add(struct sim_trace *t);
void sim_trace_sort(struct sim_trace *t);
