// SPDX-License-Identifier: Apache-2.0
/* depot.h - bytes in and out: code snapshots, inputs, outputs, the folders of a job.
 *
 * An interface, because preparing and collecting touch disks: depot_files.c is real,
 * depot_sim.c takes virtual time and fails by seed.  Both calls mean "make it so".
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/vault.h"
#include "job/bundle.h"
#include "job/job.h"
#include "world/world.h"

/* What a job's tasks get from the host; strings are the depot's, valid during the callback. */
struct depot_places {
	const char *code; /* or NULL */
	/* Of code that is a folder of somebody's, root mode; NULL: a copy of the daemon's. */
	const struct bind *code_bind;
	const char *requirements; /* text of the code's requirements.txt, or NULL */
	bool code_wheels;         /* the code has a folder wheels/ beside it */
	const char *const *inputs;
	const char *const
		*input_files; /* base name of an input that is one file, NULL of a
					 * folder; NULL: all are folders */
	const char *const *outputs;
	/* By input and output; NULL: all as usual. */
	const struct bind *input_binds, *output_binds; /* job/bundle.h */
	/* The last complete checkpoint (checkpoint.h): its name in the output of that name
	 * or, when that has none, in the input.  NULL: there is none. */
	const char *resume;
	bool resume_input;
};

/* What there is of a job's checkpoints (checkpoint.h). */
#define DEPOT_CHECKPOINTS "checkpoints" /* the output's name */
struct depot_sight {
	int64_t files, bytes;
	uint64_t print;      /* another one whenever something was written */
	int64_t complete_ms; /* when the last complete one was; 0: there is none */
};

typedef void (*depot_prepared)(void *arg, const struct depot_places *p,
			       const struct err *err);
typedef void (*depot_collected)(void *arg, const struct err *err);
typedef void (*depot_looked)(void *arg, const struct depot_sight *s,
			     const struct err *err);

struct depot;
struct volume;

struct depot_ops {
	/* Neither call keeps j; done() comes later, on the loop, once.
	 * Makes the job's folders, its code and inputs ready, owned by uid_base where >= 0. */
	void (*prepare)(struct depot *d, const struct job *j, int64_t uid_base,
			depot_prepared done, void *arg);
	/* The prepare of this job that is under way, if any, fails soon: it was stopped. */
	void (*cancel)(struct depot *d, int64_t job);
	/* Makes what the outputs hold durable, and brings it where it was asked for. */
	void (*collect)(struct depot *d, const struct job *j, depot_collected done,
			void *arg);
	/* Looks at its checkpoints now, in nobody's way however long it takes. */
	void (*look)(struct depot *d, const struct job *j, depot_looked done, void *arg);
	/* Removes all that a deleted job has here: what is not there is removed already. */
	void (*remove)(struct depot *d, int64_t job, depot_collected done, void *arg);
	/* The attempt's folder (created on demand by the engine); caller frees. */
	char *(*attempt_folder)(struct depot *d, int64_t job, int task, int attempt);
	char *(*output_folder)(struct depot *d, int64_t job,
			       const char *output); /* caller frees */
	/* What is under way is forgotten: no done() comes after. */
	void (*destroy)(struct depot *d);
};

/* On whose behalf an account is looked for, and for what. */
struct depot_asker {
	const char *user, *group;
	const char *scheme; /* "s3", "oss", "hdfs" */
	const char *bucket; /* or NULL */
};
#define DEPOT_SECRET_MAX 64

/* What a depot asks of those above, on the loop; any may be NULL. */
struct depot_outside {
	/* The value of the stored secret, and its name; NULL with err->code ERR_NONE: there
	 * is none. */
	struct vault *(*account)(void *arg, const struct depot_asker *who,
				 char name[DEPOT_SECRET_MAX], struct err *err);
	/* What comes or goes, and how far it is; one line, not too often. */
	void (*progress)(void *arg, int64_t job, int attempt, const char *text);
	bool (*live)(void *arg, int64_t job); /* it has not ended */
	void *arg;
};

struct depot {
	const struct depot_ops *ops;
	struct depot_outside outside;
};

/* Real depot.  unpack_path: the yard-unpack program. */
struct depot *depot_files_create(struct world *w, const char *state_dir,
				 const char *unpack_path, struct err *err);
struct depot_rules {
	const char *socket;     /* the daemon's own: no input may hold it; NULL: none */
	int64_t code_bytes_max; /* of one snapshot; 0: 2 GiB */
	const char *
		fetch_path; /* the yard-fetch program; NULL: nothing comes from elsewhere */
	const struct volume *volume; /* the storage tree; NULL: there is none */
	int64_t cache_bytes;         /* 0: cache.h says */
	const char *s3_endpoint, *s3_region, *webhdfs_gateway; /* NULL: none */
};
/* Of the real depot, before anything is asked of it. */
void depot_files_rules(struct depot *d, const struct depot_rules *r);
/* The setting may change at any time; 0: cache.h says. */
void depot_files_cache(struct depot *d, int64_t bytes);
/* Host folder of a job's output, for `yard show`; caller frees; NULL: no such output. */
char *depot_output_path(struct depot *d, const struct job *j, const char *output);
