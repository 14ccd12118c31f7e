// SPDX-License-Identifier: Apache-2.0
/* tail.h - where the last lines of a log begin; seen inside this room alone. */
#pragma once

#include <stdint.h>

#include "base/err.h"

struct log_place {
	uint64_t offset; /* of a record, or the log's end */
	uint32_t cut;    /* bytes of that record's data in front of the place */
};

int tail_find(const char *folder, int64_t lines, struct log_place *out, struct err *err);
