// SPDX-License-Identifier: Apache-2.0
/* People: who one is, users, groups, tokens, the audit log. */
#include "http/route.h"

#include "http/handlers.h"
#include "http/limits.h"
#include "job/principal.h"

#define SMALL   .takes = ROUTE_BODY, .body_max = BODY_SMALL
#define MISSING ROUTE_ERR(ERR_NOT_FOUND)
#define CLASH   ROUTE_ERR(ERR_CONFLICT)
#define DENIED  ROUTE_ERR(ERR_DENIED)
#define WRONG   ROUTE_ERR(ERR_UNKNOWN_CALLER)

/* clang-format off */
static const struct param token_params[] = {
	{ "user", PARAM_TEXT, 0, NAME_MAX_BYTES - 1, .help = "an admin: of this user; empty: of all" },
	{ 0 }
};
static const struct param audit_params[] = {
	{ "before", PARAM_INT, 1, INT64_MAX, .help = "those with a lower seq: the `next` of the page before" },
	{ "limit", PARAM_INT, 1, LIST_MAX, .help = "how many a page has at most; 50" },
	{ 0 }
};

const struct route routes_people[] = {
	{ "POST", "/login", "login", RULE_PUBLIC, handle_login, "a token for a password",
		SMALL, .body = "login", .answer = "new_token", .status = 201, .errors = WRONG | DENIED | CLASH | ROUTE_ERR(ERR_IO) },
	{ "POST", "/login/first", "login_first", RULE_PUBLIC, handle_login_first,
		"the first admin, with the code that the daemon said at its start",
		SMALL, .body = "first", .answer = "new_token", .status = 201, .errors = WRONG | DENIED | CLASH | MISSING | ROUTE_ERR(ERR_IO) },
	{ "POST", "/logout", "logout", RULE_SELF, handle_logout, "revoke the token that is used",
		.status = 204, .errors = CLASH | MISSING },
	{ "GET", "/me", "me", RULE_SELF, handle_me, "who one is, and by what",
		.answer = "me" },
	{ "GET", "/users", "list_users", RULE_ANY, handle_users, "all users to an admin; to others themself",
		.answer = "users" },
	{ "POST", "/users", "add_user", RULE_ADMIN, handle_user_add, "add one",
		SMALL, .body = "user_new", .answer = "user", .status = 201, .errors = CLASH | MISSING },
	{ "GET", "/users/:user", "show_user", RULE_ANY, handle_user_show, "one user",
		.answer = "user", .errors = MISSING },
	{ "PATCH", "/users/:user", "set_user", RULE_ANY, handle_user_set,
		"change what is given; one's own password with the old one, all else as an admin",
		SMALL, .body = "user_change", .answer = "user", .errors = MISSING | CLASH },
	{ "DELETE", "/users/:user", "remove_user", RULE_ADMIN, handle_user_remove,
		"remove a user who has no live job, and their tokens",
		.status = 204, .errors = MISSING | CLASH },
	{ "GET", "/groups", "list_groups", RULE_ANY, handle_groups, "all groups to an admin; to others their own",
		.answer = "groups" },
	{ "POST", "/groups", "add_group", RULE_ADMIN, handle_group_add, "add one",
		SMALL, .body = "group_new", .answer = "group", .status = 201, .errors = CLASH },
	{ "GET", "/groups/:group", "show_group", RULE_ANY, handle_group_show, "a group and its members",
		.answer = "group", .errors = MISSING },
	{ "PATCH", "/groups/:group", "set_group", RULE_ADMIN, handle_group_set, "change what is given",
		SMALL, .body = "group_change", .answer = "group", .errors = MISSING },
	{ "DELETE", "/groups/:group", "remove_group", RULE_ADMIN, handle_group_remove, "remove a group without members",
		.status = 204, .errors = MISSING | CLASH },
	{ "PUT", "/groups/:group/members/:user", "add_member", RULE_ADMIN, handle_member_put, "let a user be in it",
		.answer = "group", .errors = MISSING | CLASH },
	{ "DELETE", "/groups/:group/members/:user", "remove_member", RULE_ADMIN, handle_member_remove, "let a user be in it no more",
		.answer = "group", .errors = MISSING | CLASH },
	{ "GET", "/tokens", "list_tokens", RULE_ANY, handle_tokens, "one's tokens, never their text",
		.params = token_params, .answer = "tokens", .errors = MISSING },
	{ "POST", "/tokens", "add_token", RULE_ANY, handle_token_add, "a further token of one's own, shown this once",
		SMALL, .body = "token_new", .body_optional = true, .answer = "new_token", .status = 201, .errors = CLASH | MISSING },
	{ "DELETE", "/tokens/:token", "remove_token", RULE_ANY, handle_token_remove, "revoke a token by its id",
		.status = 204, .errors = MISSING },
	{ "GET", "/audit", "audit", RULE_ADMIN, handle_audit, "who changed what of the yard, newest first",
		.params = audit_params, .answer = "audit" },
	{ 0 }
};
/* clang-format on */
