// SPDX-License-Identifier: Apache-2.0
/* snapshot.h - a folder becomes code on the server, sent only if it is not there yet. */
#pragma once

#include "cli/cli.h"
#include "pack/hash.h"

/* folder NULL: the current one, unless that is a home folder or the root: then, with a
 * word to the user, no code (hash ""). */
int snapshot_send(struct cli *c, const char *folder, char hash[PACK_HASH_HEX],
		  struct err *err);
