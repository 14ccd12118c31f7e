// SPDX-License-Identifier: Apache-2.0
/* internal.h - what the room's own files share. */
#pragma once

#include "base/map.h"
#include "secret/secret.h"

struct secrets {
	struct secrets_config config;
	char *key_path;
	struct map *by_name; /* "scope/owner/name" → struct secret */
};
