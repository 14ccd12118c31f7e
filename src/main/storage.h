// SPDX-License-Identifier: Apache-2.0
/* storage.h - the storage tree, wired to those who know users, groups, jobs and uids. */
#pragma once

#include "base/err.h"

struct daemon;

/* After the world and the depot; d->volume.  What it asks of others it asks later. */
int storage_open(struct daemon *d, struct err *err);
void storage_fini(struct daemon *d); /* also what was opened in part */
