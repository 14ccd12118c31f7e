// SPDX-License-Identifier: Apache-2.0
/* place.h - where a daemon lives: its state folder, held by one daemon at a time, and
 * the programs beside it.
 */
#pragma once

#include <stdint.h>

#include "base/err.h"
#include "wire/settings.h"

struct place {
	char *state, *socket, *database;
	char *shim, *unpack, *fetch; /* programs */
	int lock_fd;
	int64_t uid_base; /* root mode: of the ranges of host uids; -1: private mode */
};

/* Makes the state folder and takes its lock: ERR_CONFLICT in words when another holds it. */
int place_open(struct place *p, const struct settings *s, struct err *err);
/* <state>/socket points at the socket: a client with other XDG folders finds it there. */
int place_tell_socket(const struct place *p, struct err *err);
void place_close(struct place *p);
