// SPDX-License-Identifier: Apache-2.0
/* People: who one is, users, groups, tokens, the audit log. */
#include "http/route.h"

#include "http/handlers.h"

/* clang-format off */
const struct route routes_people[] = {
	{ 0 }
};
/* clang-format on */
