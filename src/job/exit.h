// SPDX-License-Identifier: Apache-2.0
/* exit.h - how a task ended, and the one sentence that says it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

enum exit_kind {
	EXIT_CODE,      /* exited by itself; code */
	EXIT_SIGNAL,    /* ended by a signal nobody here sent; signal */
	EXIT_OOM,       /* over its memory limit; peak and limit */
	EXIT_STOPPED,   /* we stopped it (signal or kill); the job's stop says why */
	EXIT_UNSTARTED, /* could not be started, or was stopped before; text says why */
	EXIT_LOST,      /* nobody knows: machine rebooted or shim vanished */
	EXIT_KIND_COUNT
};

#define EXIT_STAGE_MAX 32

struct task_exit {
	enum exit_kind kind;
	int code, signal;
	int64_t peak_bytes, limit_bytes; /* memory; 0: not known */
	int64_t cpu_ms;                  /* user and system */
	int64_t ended_ms; /* when it really ended, as its holder saw it; 0: not known */
	char text[256];   /* detail for UNSTARTED and LOST, or of which process */
	char stage
		[EXIT_STAGE_MAX]; /* in which it ended before its command began, or "" */
};

bool exit_ok(const struct task_exit *e); /* EXIT_CODE 0, of its command */
/* What `yard run` returns: code, 128+signal, ... */
int exit_shell_code(const struct task_exit *e);
/* "exit code 7", "out of memory: it used ..." */
void exit_words(const struct task_exit *e, struct buf *out);
/* Stable, in the API: "code", "signal", "oom", ... */
const char *exit_kind_word(enum exit_kind kind);
int exit_kind_from_word(const char *word, enum exit_kind *out);
