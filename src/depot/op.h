// SPDX-License-Identifier: Apache-2.0
/* op.h - one prepare or collect under way: what prepare.c, place.c and collect.c share.
 *
 *   the loop sorts the places ─> a lane looks at this machine's ─> what lies elsewhere is
 *   brought, all at once ─> a lane looks at the code and what is in it ─> answered
 *
 * An op is the loop's, but while a lane has it (in_lane) it is the lane's.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "depot/bring.h"
#include "depot/fetch.h"
#include "depot/files.h"
#include "depot/volume.h"

enum place_kind {
	PLACE_OWN,    /* an output without an address: with the job */
	PLACE_FILE,   /* a path of this machine, or of a mounted NAS */
	PLACE_VOLUME, /* of the storage tree */
	PLACE_REMOTE, /* elsewhere */
};

struct place {
	char *name, *uri; /* uri NULL: PLACE_OWN */
	enum place_kind kind;
	struct volume_place volume; /* PLACE_VOLUME */
	/* Filled on the way. */
	char *path; /* on this machine */
	char *base; /* what a file is called; NULL: a folder */
	struct bring *bring;
	struct fetch *send;
	struct telling telling;
	struct files_op *op;
};

struct files_op {
	struct depot_files *depot;
	struct files_op *prev, *next;
	depot_prepared prepared; /* one of the two is set */
	depot_collected collected;
	void *arg;
	int64_t job, uid_base, owner_uid;
	int attempt;
	char *owner, *group;
	uint64_t unique; /* names what it makes for a while */
	char *code_hash; /* or */
	struct place code_place;
	char *code;
	bool code_lent; /* it is no copy of the daemon's own, but bound as: */
	struct bind code_bind;
	bool installs;      /* what the code requires; told as: */
	char *requirements; /* or NULL */
	bool code_wheels;
	int64_t cut_ms; /* of the attempt before */
	char *resume;
	bool resume_input;
	struct place *inputs, *outputs;
	size_t input_count, output_count;
	int waiting; /* for so many transfers */
	bool in_lane, cancelled, failed;
	struct err err; /* of failed; the first one */
};

struct files_op *op_create(struct depot_files *d, const struct job *j, void *arg);
void op_answer(void *op); /* on the loop; the last thing done with it */
void op_answer_later(struct files_op *op,
		     const struct err *err); /* err NULL: all is well */

/* place.c.  On the loop: what kind it is, and whether the owner may. */
int place_sort(struct files_op *op, struct place *p, bool output, struct err *err);
/* In a lane: of this machine's, where it is. */
int place_find_input(struct files_op *op, struct place *p, struct err *err);
int place_make_output(struct files_op *op, struct place *p, struct err *err);
/* In a lane: the folder with the code, from whatever code_place led to. */
int place_find_code(struct files_op *op, struct err *err);
/* In a lane: what that folder requires, as its owner may read it. */
int place_read_requirements(struct files_op *op, struct err *err);
void place_fini(struct place *p);
