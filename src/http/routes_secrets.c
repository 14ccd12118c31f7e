// SPDX-License-Identifier: Apache-2.0
/* Secrets of users and groups. */
#include "http/route.h"

#include "http/handlers.h"

#define BODY_SECRET (512 << 10) /* 64 KiB, each byte written in six */
#define MISSING     ROUTE_ERR(ERR_NOT_FOUND)

/* clang-format off */
const struct route routes_secrets[] = {
	{ "GET", "/secrets", "list_secrets", RULE_ANY, handle_secrets, "the names of one's own and one's groups'; an admin: of all",
		.answer = "secrets" },
	{ "GET", "/secrets/:scope/:owner", "secrets_of", RULE_ANY, handle_secrets_of, "the names of a user's or a group's",
		.answer = "secrets", .errors = MISSING },
	{ "PUT", "/secrets/:scope/:owner/:secret", "set_secret", RULE_MEMBER, handle_secret_put, "set one; its value never comes back",
		.takes = ROUTE_BODY, .body_max = BODY_SECRET, .body = "secret_value", .status = 204,
		.errors = MISSING | ROUTE_ERR(ERR_DENIED) | ROUTE_ERR(ERR_CONFLICT) | ROUTE_ERR(ERR_CORRUPT) | ROUTE_ERR(ERR_IO) | ROUTE_ERR(ERR_BUSY) },
	{ "DELETE", "/secrets/:scope/:owner/:secret", "remove_secret", RULE_MEMBER, handle_secret_remove, "remove one; jobs that need it fail when they start",
		.status = 204, .errors = MISSING | ROUTE_ERR(ERR_DENIED) | ROUTE_ERR(ERR_BUSY) },
	{ 0 }
};
/* clang-format on */
