// SPDX-License-Identifier: Apache-2.0
/* contract.h - what a task finds: variables, files, folders.  Pure: spec and placement
 * in, bundle out.  The native contract is in docs/contract.md; dialects add theirs.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "job/bundle.h"
#include "job/job.h"

/* What all tasks of one attempt have in common: names and addresses of each other, and what
 * is installed.  Made once for a large gang, because making it takes time in its size.
 * requirements: as in struct contract_places. */
struct contract_peers;
struct contract_peers *contract_peers_create(const struct job *j, const char *yard,
					     const char *requirements);
void contract_peers_destroy(struct contract_peers *p); /* NULL is fine */

/* What pip is told by the yard, beside its own configuration. */
struct contract_pip {
	const char *wheels; /* host folder of packages, or NULL */
	bool no_index;      /* only those of wheel folders are looked for */
	/* Of the submitter, in private mode: pip's variables, "PIP_X=y", NULL behind the
	 * last; or NULL. */
	const char *const *variables;
};

/* A folder of the storage tree, or another name of one. */
struct contract_folder {
	enum mount_kind kind;
	const char *target, *source;
	int64_t range; /* as in struct mount */
};

/* Host folders the depot made ready for this job; all strings borrowed. */
struct contract_places {
	const char *attempt_folder;
	const char *yard; /* what tells this yard from others; NULL: "" */
	const char *code; /* unpacked snapshot, or NULL */
	const struct bind
		*code_bind;        /* of a folder that is no copy of the daemon's own */
	const char *requirements;  /* text of the code's requirements.txt, or NULL */
	bool code_wheels;          /* the code has a folder wheels/ beside it */
	const char *const *inputs; /* by spec->inputs, host paths */
	const char *const
		*input_files;       /* by spec->inputs: the base name of what is one file,
					 * NULL of a folder; NULL: all are folders */
	const char *const *outputs; /* by spec->outputs, host paths */
	const struct bind *input_binds, *output_binds; /* NULL: all as usual */
	struct contract_pip pip;
	const char *user_path; /* PATH of the submitter in private mode, or NULL */
	int64_t uid_base, uid_count;
	const struct contract_peers *peers;    /* NULL: made for this one task */
	const struct contract_folder *folders; /* in the order they are made */
	size_t folder_count;
	/* The last complete checkpoint: its name in the output CONTRACT_CHECKPOINTS, or in
	 * the input of that name.  NULL: there is none. */
	const char *resume;
	bool resume_input;
};

/* Where a task finds things; docs/contract.md tells the same. */
#define CONTRACT_CODE            "/ml/usercode"
#define CONTRACT_INPUT           "/ml/input/data"
#define CONTRACT_OUTPUT          "/ml/output"
#define CONTRACT_CONFIG          "/ml/input/config"
#define CONTRACT_HYPERPARAMETERS CONTRACT_CONFIG "/hyperparameters.json"
#define CONTRACT_STOP_FOLDER     "/run/yard"
#define CONTRACT_STOP_FILE       CONTRACT_STOP_FOLDER "/stop.json"
#define CONTRACT_CHECKPOINTS     "checkpoints"

/* One bundle for the task of this rank. Never fails: everything was checked before. */
struct bundle *contract_bundle(const struct job *j, int rank,
			       const struct contract_places *p);

/* An id of the kind estimators know, "train" and 11 letters and digits: the same for the
 * same job of the same yard, another for any other. */
#define CONTRACT_TRAINING_ID 17 /* with the NUL */
void contract_training_id(const char *yard, int64_t job, char out[CONTRACT_TRAINING_ID]);

/* What appears at the stop file: why the job's tasks are to end, and by when. */
void contract_notice(const struct job *j, int64_t deadline_ms, struct buf *out);
/* Seconds as variables and notices tell them: "30", "0.5". */
void contract_seconds(int64_t ms, struct buf *out);
