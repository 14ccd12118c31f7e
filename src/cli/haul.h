// SPDX-License-Identifier: Apache-2.0
/* haul.h - moves files between this machine and the yard, several at a time.
 *
 * Files are handed over one by one; each of several threads has a connection of its own and
 * takes the next.  A large file goes in parts, which the threads share.  What fails by the
 * network is tried again, later and later; what fails otherwise is told with its name, and
 * the others go on.  Nothing is written down about it: what is whole is in its place, and
 * of what is not the server (uploads) or the partial file (downloads) knows how far it was.
 * So whoever is killed is started again by the same command.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "cli/cli.h"

enum haul_way {
	HAUL_PUT,
	HAUL_GET,
	HAUL_RELAY
}; /* relay: inside the yard, through here */

struct haul_file {
	enum haul_way way;
	char *from, *to;
	int64_t size, modified_ms;
	bool executable;
	bool compare; /* something of that size is there: copied when its content differs */
	int begun;    /* the haul's own: how often it changed under way */
};

struct haul_sum {
	int64_t files, bytes; /* moved */
	int64_t there;        /* were so already */
	int64_t skipped, failed;
	int64_t ms;
};

enum haul_show { HAUL_AUTO, HAUL_QUIET, HAUL_ALWAYS };

struct haul_options {
	int parallel;
	enum haul_show show; /* auto: a bar on a terminal */
	const char *again;   /* what to say when a signal ends it: how to go on */
};

struct haul;

/* From here on signals that end the process are the haul's. */
struct haul *haul_create(struct cli *c, const struct haul_options *o);
/* Takes what f holds; waits while many are waiting. */
void haul_add(struct haul *h, const struct haul_file *f);
/* Of the walk that finds the files: what need not be moved, and what cannot. */
void haul_there(struct haul *h, int64_t files);
void haul_skip(struct haul *h, const char *path, const char *why);
void haul_fail(struct haul *h, const char *path, const struct err *why);
/* Not to be gone on with: the server is gone, or does not know us. */
bool haul_dead(struct haul *h);
/* Nothing more comes: waits for the rest, destroys h.  -1: it was given up; out is told
 * all the same. */
int haul_finish(struct haul *h, struct haul_sum *out, struct err *err);
