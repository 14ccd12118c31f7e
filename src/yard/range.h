// SPDX-License-Identifier: Apache-2.0
/* range.h - root mode: which uids belong to a user, or to a group's share.
 *
 * A range is given out once and for ever: files of its owner lie on disks.  So it is known
 * only once it is durable; else a crash could give the same uids to somebody else.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "yard/change.h"

struct yard;

/* The first uid; -1: none yet (or private mode). */
int64_t yard_range(const struct yard *y, bool group, const char *name);
/* Gives one out unless there is one; done() when it is durable. */
void yard_range_make(struct yard *y, bool group, const char *name, yard_done done,
		     void *arg);
