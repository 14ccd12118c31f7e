// SPDX-License-Identifier: Apache-2.0
/* source.h - root mode: the host's side of a mount, opened once.
 *
 * An input was checked when the job was made ready, by a path that its owner may since have
 * led elsewhere.  So it is opened here with the owner's rights and without following links,
 * and what was opened is what is mounted: the path is never looked at again.
 */
#pragma once

#include "base/err.h"
#include "shim/message.h"

/* A private, detached copy of the mount's source.  Outputs and code are the daemon's own
 * folders, opened as the daemon. */
int source_open(const struct shim_task *t, const struct shim_mount *m, struct err *err);
