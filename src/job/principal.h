// SPDX-License-Identifier: Apache-2.0
/* principal.h - on whose behalf something is asked. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define NAME_MAX_BYTES 64 /* of a user or group, with the NUL */

struct principal {
	char name[NAME_MAX_BYTES];
	char group[NAME_MAX_BYTES]; /* primary group: "default" when none */
	bool admin;
	int64_t uid; /* unix uid of the caller, -1 when not from a unix socket */
};
