// SPDX-License-Identifier: Apache-2.0
/* storage.h - the storage at work: the tree, the threads that touch its disk, what each
 * home holds, uploads under way.
 */
#pragma once

#include <stdint.h>

#include "base/err.h"
#include "depot/usage.h"
#include "depot/volume.h"
#include "world/world.h"

struct storage;
struct uploads;

/* Borrows the volume.  state: where uploads under way are written down. */
struct storage *storage_create(struct world *w, const struct volume *v, const char *state,
			       struct err *err);
/* Before the world is destroyed: nothing is asked any more; works go on to their end. */
void storage_close(struct storage *s);
void storage_destroy(struct storage *s); /* after the world; NULL is fine */
const struct volume *storage_volume(const struct storage *s);
struct usage *storage_usage(struct storage *s);
struct uploads *storage_uploads(struct storage *s);
/* Everything that touches the tree's disk: it may hang, in nobody else's way. */
void storage_work(struct storage *s, world_cb work, world_cb done, void *arg);
/* The same, of what goes through whole trees or large files on behalf of one: however long
 * that takes, everybody's files come and go. */
void storage_work_whole(struct storage *s, world_cb work, world_cb done, void *arg);
/* Now and then, on the loop: uploads that nobody goes on with, and what a crash left behind,
 * are removed. */
void storage_sweep(struct storage *s);
/* Something was written there: its home is counted again, if it is time. */
void storage_touched(struct storage *s, const struct volume_place *p);
