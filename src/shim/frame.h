// SPDX-License-Identifier: Apache-2.0
/* frame.h - what is said over the shim's sockets, and on to whoever runs an exec. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "shim/list.h"

#define SHIM_BUNDLE_MAX (8u << 20)  /* bytes of one encoded task */
#define SHIM_FRAME_MAX  (64u << 10) /* bytes of any other frame's payload */

/* A frame: u8 type, 3 zero bytes, u32 length (little endian), payload. */
enum shim_type {
	SHIM_BUNDLE = 1, /* to the shim: shim_task_encode() */
	SHIM_STARTED,    /* from it: payload as the mark */
	SHIM_EXITED,     /* payload as the exit file */
	SHIM_REFUSED,    /* payload: why, in words */
	SHIM_SECRETS, /* to the shim, before the bundle: shim/secrets.h; empty, with a descriptor */
	/* over `sock`: a request, then its answer; as many as wanted on one connection */
	/* SIGTERM to the main process's group, once; before it the payload, if any, becomes
	 * the task's stop file; answer OK */
	SHIM_TERM = 16,
	SHIM_KILL,  /* end everything; answer OK at once, SHIM_EXITED goes to watchers */
	SHIM_USAGE, /* answer USAGE with shim_usage_encode() */
	SHIM_WATCH, /* answer EXITED when it has happened, then the shim closes */
	SHIM_EXEC, /* shim_exec_encode(); answer OK or ERROR, then exec frames until EXEC_EXIT */
	SHIM_OK = 32,
	SHIM_ERROR, /* payload: one sentence */
	/* exec frames */
	SHIM_STDIN = 48, /* to it: bytes */
	SHIM_STDIN_EOF,
	SHIM_WINSIZE,     /* to it: u16 rows, u16 columns, little endian */
	SHIM_SIGNAL_SEND, /* to it: u8 signal, to the exec'ed process group */
	SHIM_STDOUT,      /* from it; with a tty all output comes here */
	SHIM_STDERR,
	SHIM_EXEC_EXIT, /* last: u8 code (128 + signal when it died of one) */
};

struct shim_frame {
	enum shim_type type;
	const char *data; /* inside the input */
	size_t len;
};

#define SHIM_HEADER_BYTES 8
void shim_frame_add(struct buf *out, enum shim_type type, const void *data, size_t len);
/* Bytes the first frame takes, 0: not whole yet, -1: not a frame. */
int64_t shim_frame_get(const char *data, size_t len, struct shim_frame *out);

struct shim_exec {
	struct shim_list argv, env; /* env: added to the task's own */
	bool tty;
	int rows, columns; /* 0: not known yet */
};

void shim_exec_fini(struct shim_exec *e);
void shim_exec_encode(const struct shim_exec *e, struct buf *out);
int shim_exec_decode(const char *data, size_t len, struct shim_exec *out,
		     struct err *err);
