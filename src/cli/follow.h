// SPDX-License-Identifier: Apache-2.0
/* follow.h - a job's output on this terminal: stdout to stdout, stderr to stderr.
 *
 * When the connection breaks it goes on exactly where it broke off: no byte twice, none
 * left out.  One task's bytes pass as they are; of several, whole lines, each behind the
 * name of its task.
 */
#pragma once

#include "cli/cli.h"

struct progress;

/* One line of a task's output, without its end. */
struct follow_line {
	int rank, attempt;
	bool is_stderr;
	int64_t time_us; /* when its first byte was written */
	const char *text;
	size_t len;
};

struct follow {
	const char *job;
	const struct job *names; /* for the tasks' names; prefixes when it has several */
	int rank;                /* -1: all tasks */
	const char *attempt;     /* a number, "last" or "all" */
	int64_t tail;            /* lines; -1: all */
	bool follow, timestamps;
	bool prefixes; /* the task's name in front of each line though rank names just one */
	bool plain;    /* on a terminal, nothing that the terminal would act on */
	/* Whether a line is printed; NULL: all are.  With it output is always cut into lines. */
	bool (*keep)(void *arg, const struct follow_line *line);
	void *keep_arg;
	/* Told every line that is printed; may be NULL. */
	void (*heard)(void *arg, const char *line, size_t len);
	void *heard_arg;
	struct progress *progress; /* or NULL: hidden while something is printed */
	/* A descriptor to listen to meanwhile (-1: none), and what to do when it is readable:
	 * true ends the following. */
	int other;
	bool (*on_other)(void *arg);
	void *arg;
};

/* 0: all there is was printed; 1: on_other ended it; -1: err. */
int follow_log(struct cli *c, const struct follow *f, struct err *err);
