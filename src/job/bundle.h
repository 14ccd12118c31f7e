// SPDX-License-Identifier: Apache-2.0
/* bundle.h - everything an engine needs to start one task, and nothing else.
 *
 * contract makes it from spec and placement, depot adds host paths, the engine and
 * the shim carry it out.  Plain data; bundle_destroy frees all of it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "job/placement.h"
#include "job/resources.h"
#include "job/secret_set.h"
#include "job/spec.h"

struct task_ref {
	int64_t job;
	int task; /* rank */
	int attempt;
};

/* Text that many bundles have in common: of a gang's peers there may be 4096 times 60 KB. */
struct shared {
	int refs;
	size_t len;
	char text[]; /* a NUL behind it, for convenience */
};

struct shared *shared_create(const void *text, size_t len); /* with one reference */
struct shared *shared_ref(struct shared *s);
void shared_unref(struct shared *s); /* NULL is fine */

enum mount_kind {
	MOUNT_BIND_RO, /* host path, read-only */
	MOUNT_BIND_RW, /* host path; what is written belongs to its owner outside */
	/* A copy of the daemon's own, seen through an overlay: all of it is the task's inside,
	 * which may write to it; writes vanish. */
	MOUNT_SCRATCH,
	MOUNT_DIR,     /* an empty folder of the task's own; vanishes */
	MOUNT_FILE,    /* a small file with this content, mode 0644 */
	MOUNT_OURS_RO, /* host path of the daemon's own, read-only: as anybody sees it */
	MOUNT_LINK,    /* a symbolic link; source is the path inside that it leads to */
	/* As SCRATCH, of a folder that somebody has: the task reads in it what its owner may
	 * (BIND_RO) or, with a range, what is of that range. */
	MOUNT_SCRATCH_OF,
	MOUNT_KIND_COUNT
};

/* How a place of the host's is bound that is not the owner's own file (root mode). */
struct bind {
	bool ours;     /* reached by the daemon alone, read as anybody may */
	int64_t range; /* as in struct mount; -1: none */
};

struct mount {
	enum mount_kind kind;
	char *target;           /* absolute path inside */
	char *source;           /* host path; NULL for DIR and FILE */
	struct shared *content; /* FILE */
	/* BIND_RW, OURS_RO and SCRATCH_OF, root mode: its files have host uids from here on, as many as the task has,
	 * and are the task's inside.  -1: they are the owner's. */
	int64_t range;
};

/* What is done in the task before its command; one that fails ends it (task_exit.stage). */
struct stage {
	char *name;
	char **argv;
	size_t argc;      /* argv[argc] is NULL */
	struct pairs env; /* on top of the task's */
};

struct bundle {
	struct task_ref ref;
	char *folder; /* the attempt's own folder on the host: mark, exit, log, socket */
	char *hostname; /* "<job name>-<role>-<index>", made to fit */
	char **argv;
	size_t argc;
	struct pairs env;         /* the whole environment, but for */
	struct shared *env_peers; /* one more, "NAME=value"; or NULL */
	struct stage *stages;
	size_t stage_count;
	/* Several processes of the command at once, each with variables of its own; 0: one. */
	struct pairs *processes;
	size_t process_count;
	struct pairs notes; /* for the log, before anything runs; only values count */
	/* Private mode: something is installed.  So the submitter's Python environments can be
	 * written, for this task alone, and their pip.conf is found at this path; or NULL. */
	char *pip_config;
	char *workdir;
	struct mount *mounts;
	size_t mount_count, mount_cap;
	struct resources limits; /* of the role; devices are those of the placement */
	struct placement place;
	int64_t shm_bytes;
	int64_t log_limit_bytes; /* of one attempt; the oldest goes first */
	int pids_max;
	int64_t uid_base; /* root mode: first host uid of the owner's range; -1: private mode */
	int64_t uid_count;
	char *stop_file; /* path inside at which a stop notice appears; NULL: none does */
	struct secret_set *secrets; /* or NULL */
	int64_t owner_uid;          /* who submitted it, on this machine; -1: not known */
};

struct bundle *bundle_create(struct task_ref ref);
void bundle_destroy(struct bundle *b); /* NULL is fine */
/* What these two give is valid until the next. */
struct stage *bundle_stage(struct bundle *b, const char *name, const char *const *argv,
			   size_t argc);
struct pairs *bundle_process(struct bundle *b);
void bundle_note(struct bundle *b, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
struct mount *bundle_mount(struct bundle *b, enum mount_kind kind, const char *target,
			   const char *source);
void bundle_file(struct bundle *b, const char *target,
		 struct shared *content); /* takes it */
