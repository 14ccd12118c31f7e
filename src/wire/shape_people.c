// SPDX-License-Identifier: Apache-2.0
/* The shapes of users, groups, tokens and secrets. */
#include "wire/shape.h"

/* clang-format off */
const struct wire_shape wire_shapes_people[] = {
	{ 0 }
};
/* clang-format on */
