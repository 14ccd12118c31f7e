// SPDX-License-Identifier: Apache-2.0
/* hold.h - one running task as its shim sees it; shared by the shim's own files. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"
#include "shim/cgroup.h"
#include "shim/log.h"
#include "shim/mask.h"
#include "shim/message.h"
#include "shim/sandbox.h"
#include "shim/watch.h"

#define HOLD_CLIENTS_MAX 16
#define HOLD_EXECS_MAX   16

/* The namespaces of a task, in the order an exec enters them. */
enum {
	HOLD_USER, /* private mode: in which the sandbox was built */
	HOLD_PID,
	HOLD_IPC,
	HOLD_UTS,
	HOLD_BUILD, /* mounts, as they were built */
	HOLD_MNT,   /* private mode: the locked copy the task has */
	HOLD_INNER, /* private mode: the user namespace the task has */
	HOLD_SPACES
};

struct client {
	int fd; /* -1: free */
	bool watching;
	struct buf in;
};

struct hold {
	struct shim_task task;
	int daemon;    /* who started us; it may be gone */
	int dir, lock; /* the attempt's folder */
	struct sandbox_maps maps;
	pid_t init;      /* the task's first process */
	int pidfd, wire; /* of init */
	int proc;        /* the task's /proc */
	int spaces
		[HOLD_SPACES]; /* its namespaces, for exec; and taking down its mounts, which takes
				  * a ms, waits until we close them, after the end is told */
	int out, err;          /* its output; -1: ended */
	int listener;
	struct client clients[HOLD_CLIENTS_MAX];
	pid_t execs[HOLD_EXECS_MAX]; /* who serve one each; 0: free */
	struct cgroup cgroup;
	struct log log;
	struct mask
		*mask; /* NULL: the task has no secrets, its output goes as it comes */
	struct mask_stream *masked[2]; /* stdout, stderr */
	struct watch watch;
	struct shim_mark mark;
	bool started;    /* the command was exec'ed */
	bool stop_asked; /* TERM or KILL */
	bool term_sent;  /* a daemon that comes back asks again; the task hears it once */
	bool over_memory; /* killed by our own watch */
	int stage;        /* of the task's that runs, -1: none does */
	bool has_status;  /* init told how the command ended */
	int status;
	char how[64];       /* and whose end that was */
	struct err failure; /* why it could not be started */
};

/* start.c: from the bundle to a running command, or h->failure. */
int hold_start(struct hold *h);
/* end.c: after init is gone: how it ended, on disk and to whoever listens. */
void hold_end(struct hold *h);
void hold_usage(struct hold *h, struct shim_usage *out);
void hold_kill(struct hold *h); /* everything in it */

/* control.c: the socket in the folder. */
int control_listen(struct hold *h, struct err *err);
void control_accept(struct hold *h);
void control_read(struct hold *h, struct client *c);
void control_tell_exit(struct hold *h, const struct buf *frame);
void control_close(struct hold *h);

/* output.c: what the task writes, without its secrets, into its log. */
void output_init(struct hold *h);
void output_write(struct hold *h, enum log_stream stream, const char *data, size_t len);
void output_end(struct hold *h); /* nothing more comes */
void output_fini(struct hold *h);

/* exec.c: serves one exec in a process of its own, which never returns. */
_Noreturn void exec_serve(struct hold *h, int conn, const struct shim_exec *e,
			  struct buf *in);

int64_t hold_mono_ms(void);
int64_t hold_wall_ms(void);
