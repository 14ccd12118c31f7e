// SPDX-License-Identifier: Apache-2.0
/* record.h - the small facts a shim leaves in its folder and sends over its sockets:
 * lines of "key value", so that a person with cat can read them too.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

#define SHIM_STAGE_MAX 32

enum shim_exit_kind {
	SHIM_CODE,
	SHIM_SIGNAL,
	SHIM_OOM,
	SHIM_STOPPED,
	SHIM_UNSTARTED,
	SHIM_EXIT_COUNT
};

struct shim_exit { /* STOPPED: TERM or KILL was asked before the end; code and signal still say how */
	enum shim_exit_kind kind;
	int64_t code, signal, peak_bytes, limit_bytes, cpu_ms;
	int64_t ended_ms; /* wall clock */
	char text[256];
	char stage
		[SHIM_STAGE_MAX]; /* in which it ended before its command began, or "" */
};
struct shim_mark {
	char boot[40];
	int64_t pid, start; /* of the shim; start: clock ticks since boot */
	char cgroup[128];   /* name below the roots of the hierarchies, "" when none */
};
struct shim_usage {
	int64_t time_ms, cpu_ms, memory_bytes, memory_peak_bytes, pids;
};

void shim_exit_encode(const struct shim_exit *e, struct buf *out); /* lines of text */
int shim_exit_decode(const char *data, size_t len, struct shim_exit *out,
		     struct err *err);
void shim_mark_encode(const struct shim_mark *m, struct buf *out);
int shim_mark_decode(const char *data, size_t len, struct shim_mark *out,
		     struct err *err);
void shim_usage_encode(const struct shim_usage *u, struct buf *out);
int shim_usage_decode(const char *data, size_t len, struct shim_usage *out,
		      struct err *err);
