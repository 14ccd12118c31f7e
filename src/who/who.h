// SPDX-License-Identifier: Apache-2.0
/* who.h - on whose behalf a request comes, and what is theirs.
 *
 * For now by the peer credentials of the unix socket only.  root and the daemon's own
 * user are admin; another user is themselves, by the name of their uid.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "job/job.h"
#include "job/principal.h"
#include "world/world.h"

int who_from_peer(const struct world_peer *peer, int64_t daemon_uid,
		  struct principal *out, struct err *err);
bool who_may_see(const struct principal *p, const char *owner, const char *group);
bool who_may_touch(const struct principal *p, const char *owner);

/* Root mode: slot n owns host uids [base + n * WHO_RANGE, + WHO_RANGE). */
#define WHO_RANGE 65536
/* First uid of slot 0: above every range in /etc/subuid and every uid in use. */
int64_t who_uid_base(const char *subuid_path, struct err *err);
