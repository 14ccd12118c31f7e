// SPDX-License-Identifier: Apache-2.0
/* disguise.h - one thread of a daemon that is root acts on files as another user.
 *
 * Between enter and leave every file operation of this thread, and of no other, has that
 * user's rights and none of root's; what it makes is theirs.  It must not be left to
 * another piece of work: enter and leave in the same function.
 */
#pragma once

#include <sys/types.h>

#include "base/err.h"

#define DISGUISE_GROUPS_MAX 1024

struct disguise {
	gid_t groups[DISGUISE_GROUPS_MAX];
	int group_count;
};

/* As an account of this machine, with the groups it has. */
int disguise_enter(struct disguise *d, uid_t uid, struct err *err);
/* As a uid that is no account, such as one of a user's range: the group of the same
 * number, and no other.  Asks no user database. */
int disguise_enter_bare(struct disguise *d, uid_t uid, struct err *err);
void disguise_leave(const struct disguise *d);
