// SPDX-License-Identifier: Apache-2.0
/* who.h - on whose behalf a request comes, and what is theirs.
 *
 * For now by the peer credentials of the unix socket only.  root and the daemon's own
 * user are admin; another user is themselves, by the name of their uid.
 *
 * A daemon of many users takes calls only of accounts this machine knows.  A uid is cheap:
 * one person has 65,536 by newuidmap, and a task is any of its range; were each somebody,
 * one person could be as many users as they like.
 *
 * Jobs belong to a name, as files in a home folder do: an account that is removed and made
 * again with the same name and another uid has its jobs.  Do not give a name away again.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "job/job.h"
#include "job/principal.h"
#include "world/world.h"

struct who_rules {
	int64_t daemon_uid;
	int64_t uid_base; /* root mode: tasks have the uids from here on; <= 0: private mode */
};

int who_from_peer(const struct world_peer *peer, const struct who_rules *rules,
		  struct principal *out, struct err *err);
bool who_may_see(const struct principal *p, const char *owner, const char *group);
bool who_may_touch(const struct principal *p, const char *owner, const char *group);

/* Root mode: slot n owns host uids [base + n * WHO_RANGE, + WHO_RANGE). */
#define WHO_RANGE 65536
#define WHO_UID_END                                                                      \
	INT64_C(4294967294) /* one above the last uid that can be given away */
/* First uid of slot 0: above every range in /etc/subuid and every uid in use. */
int64_t who_uid_base(const char *subuid_path, struct err *err);
