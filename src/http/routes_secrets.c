// SPDX-License-Identifier: Apache-2.0
/* Secrets of users and groups. */
#include "http/route.h"

#include "http/handlers.h"

/* clang-format off */
const struct route routes_secrets[] = {
	{ 0 }
};
/* clang-format on */
