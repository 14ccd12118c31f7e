// SPDX-License-Identifier: Apache-2.0
/* message.h - all that others know of the shim: how it is started, what it leaves in
 * the attempt's folder, and what is said over its sockets.
 *
 * START.  The daemon makes the attempt's folder and runs `yard-shim` with descriptor 3
 * one end of a stream socketpair (nothing else is inherited).  It may do so ahead of
 * time: the shim waits for one SHIM_BUNDLE frame (before it SHIM_SECRETS, if it has any).  It answers on the same socket with
 * SHIM_STARTED (the command, or the first stage before it, was exec'ed) and then SHIM_EXITED, or SHIM_EXITED alone
 * (kind UNSTARTED), or SHIM_REFUSED (this attempt was begun before: probe the folder),
 * and ends.  It is a child of the daemon (reap it) in a session of its own; when the
 * daemon dies nothing happens to it.
 *
 * NEST.  With a seqpacket socket on descriptor 3 the program makes shims by forking: for
 * each packet of one byte, with the shim's end of its socketpair attached, it answers
 * with an int32, the pid of a new shim (a child of the daemon) or -errno.  It ends when
 * the daemon closes the socket.
 *
 * FOLDER (its laws; all files are the daemon's, mode 0600):
 *   lock          flock'ed by the live shim, for its whole life
 *   mark          made whole and durable before the command can run: an attempt with a mark is
 *                 never started again.  Which boot of the machine, which process.
 *   exit          appears whole when nothing of the task runs any more, and never changes.
 *                 SHIM_EXITED comes after it.  It is durable before the shim ends, unless the
 *                 daemon that started it heard of the end and lives: what that one records is.
 *   sock          the control socket while the shim lives (0600; uid checked too)
 *   log.<offset>  segments of base/logframe.h, oldest removed beyond the limit
 * After a restart of the daemon shim_probe() tells what became of an attempt.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "shim/frame.h"
#include "shim/list.h"
#include "shim/record.h"
#include "shim/secrets.h"

#define SHIM_FD 3

enum shim_mount_kind {
	SHIM_BIND_RO,
	SHIM_BIND_RW,
	SHIM_SCRATCH,
	SHIM_DIR,
	SHIM_FILE,
	SHIM_OURS_RO,
	SHIM_LINK,
	SHIM_SCRATCH_OF,
	SHIM_MOUNT_COUNT
};

struct shim_mount {
	enum shim_mount_kind kind;
	char *target, *source, *content; /* as job/bundle.h; NULL where not used */
	size_t content_len;
	int64_t range; /* as there; -1: none */
};

/* Done one after the other before the command, each as the task's only process. */
struct shim_stage {
	char *name; /* of less than SHIM_STAGE_MAX bytes */
	struct shim_list argv, env;
};

#define SHIM_STAGES_MAX    16
#define SHIM_PROCESSES_MAX 64

struct shim_task {
	int64_t job, rank, attempt;
	char *folder; /* absolute path of the attempt's folder */
	char *cache; /* folder of the daemon for what its sandboxes share; NULL: share nothing */
	char *hostname;
	char *workdir;
	char *stop_file; /* inside; its folder is among the mounts.  NULL: no notice is put */
	struct shim_list argv, env; /* env: "KEY=value" */
	struct shim_stage *stages;
	size_t stage_count, stage_cap;
	/* Variables of each of several processes of the command; none: it is one. */
	struct shim_list *processes;
	size_t process_count, process_cap;
	struct shim_list notes;   /* lines for the log, before anything runs */
	struct shim_list devices; /* host paths of device nodes to show: "/dev/nvidia0" */
	struct shim_mount *mounts; /* in the order they are made */
	size_t mount_count, mount_cap;
	int64_t cpu_milli, memory_bytes, shm_bytes, pids_max; /* 0: no limit of its own */
	int64_t log_limit_bytes;                              /* 0: 1 GiB */
	int64_t uid_base, uid_count;                          /* base -1: private mode */
	int64_t owner_uid; /* root mode: whose folders it may use as their owner; -1: nobody's */
	struct shim_list groups; /* gids of that owner, its own first */
	/* Only ever lowered; -1: as the daemon's. */
	int64_t nofile, core_bytes, memlock_bytes;
	int64_t secret_count; /* so many come apart: without them it is not begun */
	struct shim_secrets secrets; /* in the shim; never encoded */
};

void shim_task_init(struct shim_task *t);
void shim_task_fini(struct shim_task *t);
struct shim_mount *shim_task_mount(struct shim_task *t, enum shim_mount_kind kind,
				   const char *target, const char *source);
struct shim_stage *shim_task_stage(struct shim_task *t, const char *name);
struct shim_list *shim_task_process(struct shim_task *t);
void shim_task_encode(const struct shim_task *t, struct buf *out);
int shim_task_decode(const char *data, size_t len, struct shim_task *out,
		     struct err *err);
