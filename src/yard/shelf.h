// SPDX-License-Identifier: Apache-2.0
/* shelf.h - the storage tree as tasks see it.
 *
 *   /pfs/<dc>/home/<owner>   the owner's home          also /mnt/user/<owner>
 *   /pfs/<dc>/group/<group>  of each group they are in also /mnt/share/<group>
 *   /pfs/<dc>/public         read-only                 also /pfs/public
 *   /<root>/user/<owner>, /<root>/share/<group>        of each further root
 *
 * Folders are made on first use, off the loop; for SHELF_FRESH_MS after that they are known
 * to be there, and a launch waits for nobody.  One that cannot be made ready is left out and
 * said so in the task's log: what does not use it need not care.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "contract/contract.h"
#include "world/world.h"

#define SHELF_FRESH_MS 10000

struct volume;
struct yard;

/* A further root: its folders are at /<name>/user and /<name>/share. */
struct shelf_root {
	const char *name;
	struct volume *volume;
};

struct shelf_config {
	struct volume *volume; /* NULL: tasks see no storage */
	const struct shelf_root *roots;
	size_t root_count;
	/* Calls each() for the groups of a user that share. */
	void (*groups)(void *arg, const char *user,
		       void (*each)(void *each_arg, const char *group), void *each_arg);
	void *arg;
};

struct shelf;
struct shelf *shelf_create(struct yard *y); /* as its configuration says */
void shelf_destroy(struct shelf *s);        /* NULL is fine; forgets what is under way */
/* True: all of this owner's is there.  False: it is made ready, and done() comes on the loop;
 * then it is there, or will not be. */
bool shelf_ready(struct shelf *s, const char *owner, int64_t owner_uid, world_cb done,
		 void *arg);

/* What is there now for a task of this owner. */
struct shelf_list {
	struct contract_folder *items;
	size_t count, cap;
	char **missing; /* sentences for its log */
	size_t missing_count, missing_cap;
};
void shelf_list(struct shelf *s, const char *owner, int64_t owner_uid,
		struct shelf_list *out);
void shelf_list_fini(struct shelf_list *l);
#define AUTO_SHELF __attribute__((cleanup(shelf_list_fini)))
