// SPDX-License-Identifier: Apache-2.0
/* storage_impl.h - what the files of the storage share. */
#pragma once

#include "depot/storage.h"
#include "depot/upload.h"

struct storage {
	struct world *world;
	const struct volume *volume;
	struct world_lane *files, *whole; /* whole: trees hold up no transfer */
	struct world_lane *upkeep;        /* nor does counting */
	struct usage *usage;
	struct uploads *uploads;
};
