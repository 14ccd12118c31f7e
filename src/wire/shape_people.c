// SPDX-License-Identifier: Apache-2.0
/* The shapes of users, groups, tokens and secrets. */
#include "wire/shape.h"

#include "job/principal.h"
#include "job/resources.h"
#include "job/tenant.h"

#define OPT      WIRE_OPTIONAL
#define NAME     .min = 1, .max = NAME_MAX_BYTES - 1, .pattern = "^[a-z_][a-z0-9._-]*$"
#define PASSWORD .min = 8, .max = 256
#define PLAIN    .pattern = "^[^\001-\037\177]*$" /* what text_check() of who takes */
#define LABEL    .max = 63, PLAIN
#define LIFE     .pattern = "^(never|[1-9][0-9]{0,2}[mhd])$"
#define ROLES    "viewer member admin"
#define SCOPES   "read write admin"

/* clang-format off */
static const struct wire_field login[] = {
	{ "user", WIRE_TEXT, 0, "who", NAME },
	{ "password", WIRE_TEXT, WIRE_SECRET, "their password", PASSWORD },
	{ "label", WIRE_TEXT, OPT, "what the token is for", LABEL },
	{ "life", WIRE_TEXT, OPT, "how long it is good for, such as 12h or 30d, or never; 30d", LIFE },
	{ 0 }
};
static const struct wire_field first[] = {
	{ "code", WIRE_TEXT, WIRE_SECRET, "as the daemon said it at its start", .min = 1, .max = 64 },
	{ "name", WIRE_TEXT, 0, "of the first admin", NAME },
	{ "password", WIRE_TEXT, WIRE_SECRET, "for the next time", PASSWORD },
	{ "label", WIRE_TEXT, OPT, "what the token is for", LABEL },
	{ "life", WIRE_TEXT, OPT, "how long it is good for; 30d", LIFE },
	{ 0 }
};
#define TOKEN_FIELDS \
	{ "id", WIRE_TEXT, 0, "names the token, opens nothing" }, \
	{ "user", WIRE_TEXT, 0, "whose it is" }, \
	{ "label", WIRE_TEXT, 0, "what it is for" }, \
	{ "scopes", WIRE_LIST, 0, "what it is good for: " SCOPES, "text" }, \
	{ "created_ms", WIRE_INT, WIRE_NULL, "when it was made" }, \
	{ "expires_ms", WIRE_INT, WIRE_NULL, "when it ends; null: never" }, \
	{ "used_ms", WIRE_INT, WIRE_NULL, "when it was last used, since the daemon began" }
static const struct wire_field token[] = {
	TOKEN_FIELDS,
	{ 0 }
};
static const struct wire_field new_token[] = {
	{ "token", WIRE_TEXT, 0, "the token itself, shown this once" },
	TOKEN_FIELDS,
	{ 0 }
};
static const struct wire_field tokens[] = {
	{ "tokens", WIRE_LIST, 0, "by age", "token" },
	{ 0 }
};
static const struct wire_field token_new[] = {
	{ "label", WIRE_TEXT, OPT, "what it is for", LABEL },
	{ "scopes", WIRE_LIST, OPT, "what it is to be good for: " SCOPES "; read and write", "text", .words = SCOPES, .min = 1, .max = 3 },
	{ "life", WIRE_TEXT, OPT, "how long it is good for, such as 12h or 30d, or never; 30d", LIFE },
	{ 0 }
};
static const struct wire_field me[] = {
	{ "name", WIRE_TEXT, 0, "who one is" },
	{ "role", WIRE_TEXT, 0, "what one may", .words = ROLES },
	{ "group", WIRE_TEXT, 0, "where one's jobs go that name none" },
	{ "groups", WIRE_LIST, 0, "all of them", "text" },
	{ "scopes", WIRE_LIST, 0, "what the credential is good for: " SCOPES, "text" },
	{ "by", WIRE_TEXT, 0, "how it is known", .words = "peer token password" },
	{ "token", WIRE_TEXT, WIRE_NULL, "the id of the token in use" },
	{ "account", WIRE_BOOL, 0, "whether the yard keeps an account of that name" },
	{ 0 }
};
static const struct wire_field user[] = {
	{ "name", WIRE_TEXT, 0, "what they are called" },
	{ "role", WIRE_TEXT, 0, "what they may", .words = ROLES },
	{ "groups", WIRE_LIST, 0, "the first is the primary one", "text" },
	{ "disabled", WIRE_BOOL, 0, "whether they are kept out" },
	{ "password", WIRE_BOOL, 0, "whether they have one" },
	{ "created_ms", WIRE_INT, WIRE_NULL, "since when" },
	{ 0 }
};
static const struct wire_field users[] = {
	{ "users", WIRE_LIST, 0, "by name", "user" },
	{ 0 }
};
static const struct wire_field user_new[] = {
	{ "name", WIRE_TEXT, 0, "what they are called", NAME },
	{ "password", WIRE_TEXT, OPT | WIRE_SECRET, "none: they come by the unix socket only", PASSWORD },
	{ "role", WIRE_TEXT, OPT, "what they may; member", .words = ROLES },
	{ "groups", WIRE_LIST, OPT, "groups that are there; the first is the primary one", "text", .max = PRINCIPAL_GROUPS_MAX, .pattern = "^[a-z_][a-z0-9._-]{0,62}$" },
	{ 0 }
};
static const struct wire_field user_change[] = {
	{ "password", WIRE_TEXT, OPT | WIRE_NULL | WIRE_SECRET, "a new one; null: none any more", PASSWORD },
	{ "old", WIRE_TEXT, OPT | WIRE_SECRET, "the old one, to change one's own", PASSWORD },
	{ "role", WIRE_TEXT, OPT, "what they may", .words = ROLES },
	{ "groups", WIRE_LIST, OPT, "all of them anew", "text", .max = PRINCIPAL_GROUPS_MAX, .pattern = "^[a-z_][a-z0-9._-]{0,62}$" },
	{ "disabled", WIRE_BOOL, OPT, "whether they are kept out" },
	{ 0 }
};
static const struct wire_field group[] = {
	{ "name", WIRE_TEXT, 0, "what it is called" },
	{ "text", WIRE_TEXT, 0, "what it is for" },
	{ "created_ms", WIRE_INT, WIRE_NULL, "since when" },
	{ "members", WIRE_LIST, 0, "the names of who is in it", "text" },
	{ "tenant", WIRE_OBJECT, 0, "its place among those who share the nodes", "tenant" },
	{ 0 }
};
#define DEVICE_NAME .pattern = "^[A-Za-z0-9][A-Za-z0-9:._|-]{0,62}$"
static const struct wire_field tenant_amount[] = {
	{ "cpu_milli", WIRE_INT, OPT, "thousandths of a core", .max = INT64_MAX / 1024 },
	{ "memory_bytes", WIRE_INT, OPT, "memory", .max = INT64_MAX / 1024 },
	{ "devices", WIRE_MAP, OPT, "device type to count", "count", .max = DEVICE_KINDS_MAX, DEVICE_NAME },
	{ 0 }
};
static const struct wire_field tenant_shape[] = {
	{ "count", WIRE_INT, 0, "so many places,", .min = 1, .max = 100000 },
	{ "device", WIRE_TEXT, OPT, "each of devices of this type", .min = 1, .max = 63, DEVICE_NAME },
	{ "each", WIRE_INT, 0, "so many of one node", .min = 1, .max = DEVICES_MAX },
	{ 0 }
};
#define TENANT(flags) \
	{ "parent", WIRE_TEXT, (flags) | WIRE_NULL, "the group it is below; null: the root", .max = 63, .pattern = "^[a-z_][a-z0-9._-]*$" }, \
	{ "weight", WIRE_INT, flags, "how much of what is left it gets beside its siblings", .min = 1, .max = 1000 }, \
	{ "guarantee", WIRE_OBJECT, flags, "what it gets whenever it asks", "tenant_amount" }, \
	{ "shapes", WIRE_LIST, flags, "places that are guaranteed whole, beside the amounts", "tenant_shape", .max = TENANT_SHAPES_MAX }, \
	{ "borrow", WIRE_OBJECT, flags, "at most so much beyond its guarantee; what is not named: any", "tenant_amount" }, \
	{ "lend", WIRE_OBJECT, flags, "at most so much of its guarantee is lent to others; what is not named: all", "tenant_amount" }, \
	{ "order", WIRE_TEXT, flags, "of its own jobs: as they came, the shortest first, or the least served first", .words = "fifo short served" }, \
	{ "notice_ms", WIRE_INT, flags, "how long before what it borrowed is taken back; 0: the job's grace", .max = 86400000 }, \
	{ 0 }
static const struct wire_field tenant[] = { TENANT(0) };
static const struct wire_field tenant_change[] = { TENANT(OPT) };
static const struct wire_field tenant_row[] = {
	{ "group", WIRE_TEXT, 0, "its name" },
	{ "tenant", WIRE_OBJECT, 0, "what was said of it", "tenant" },
	{ "running", WIRE_INT, 0, "its jobs that run; this and what follows with all groups below it" },
	{ "waiting", WIRE_INT, 0, "its jobs that wait" },
	{ "held", WIRE_OBJECT, 0, "what they hold", "resources" },
	{ "share_milli", WIRE_INT, 0, "of all there is, thousandths of the resource of which it holds most" },
	{ "turn_milli", WIRE_INT, 0, "the same with past use that fades, by weight: among siblings the smallest has its turn first" },
	{ 0 }
};
static const struct wire_field tenants[] = {
	{ "tenants", WIRE_LIST, 0, "parents before their children", "tenant_row" },
	{ "capacity", WIRE_OBJECT, 0, "what all machines that are up have", "resources" },
	{ 0 }
};
static const struct wire_field groups[] = {
	{ "groups", WIRE_LIST, 0, "by name", "group" },
	{ 0 }
};
static const struct wire_field group_new[] = {
	{ "name", WIRE_TEXT, 0, "what it is called", NAME },
	{ "text", WIRE_TEXT, OPT, "what it is for", .max = 255, PLAIN },
	{ 0 }
};
static const struct wire_field group_change[] = {
	{ "text", WIRE_TEXT, OPT, "what it is for", .max = 255, PLAIN },
	{ "tenant", WIRE_OBJECT, OPT | WIRE_NULL, "its place among those who share the nodes: what is given changes; null: nothing is said any more", "tenant_change" },
	{ 0 }
};
static const struct wire_field audit_entry[] = {
	{ "seq", WIRE_INT, 0, "goes up" },
	{ "time_ms", WIRE_INT, 0, "when" },
	{ "by", WIRE_TEXT, WIRE_NULL, "who did it" },
	{ "action", WIRE_TEXT, 0, "what was done, such as user.add" },
	{ "object", WIRE_TEXT, WIRE_NULL, "to what" },
	{ "text", WIRE_TEXT, WIRE_NULL, "more of it" },
	{ 0 }
};
static const struct wire_field audit[] = {
	{ "entries", WIRE_LIST, 0, "newest first", "audit_entry" },
	{ "next", WIRE_INT, WIRE_NULL, "pass it as `before` for the next page" },
	{ 0 }
};

static const struct wire_field secret[] = {
	{ "scope", WIRE_TEXT, 0, "whose it is", .words = "user group" },
	{ "owner", WIRE_TEXT, 0, "the user or the group" },
	{ "name", WIRE_TEXT, 0, "what it is called" },
	{ "set_ms", WIRE_INT, 0, "when it was set" },
	{ "by", WIRE_TEXT, 0, "who set it" },
	{ 0 }
};
static const struct wire_field secrets[] = {
	{ "secrets", WIRE_LIST, 0, "users' and then groups', by owner and name", "secret" },
	{ 0 }
};
static const struct wire_field secret_value[] = {
	{ "value", WIRE_TEXT, OPT | WIRE_SECRET, "a text of up to 64 KiB", .min = 1, .max = 65536 },
	{ "base64", WIRE_TEXT, OPT | WIRE_SECRET, "instead of it: any bytes, in base64", .min = 4, .max = 87384,
		.pattern = "^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=|[A-Za-z0-9+/][AQgw]==)$" },
	{ 0 }
};

const struct wire_shape wire_shapes_people[] = {
	{ "secret", "a secret, but for its value", secret },
	{ "secrets", "secrets", secrets },
	{ "secret_value", "the value of a secret; one of the two", secret_value, "{\"value\":\"hf_abc123\"}", true, true },
	{ "login", "who one is", login, "{\"user\":\"ann\",\"password\":\"correct horse\"}", true },
	{ "first", "the first admin", first, NULL, true },
	{ "token", "a token, but for its text", token },
	{ "new_token", "a token, shown once", new_token },
	{ "tokens", "tokens", tokens },
	{ "token_new", "a token to be made", token_new, "{\"label\":\"ci\",\"scopes\":[\"read\"],\"life\":\"90d\"}", true },
	{ "me", "who one is", me },
	{ "user", "a user", user },
	{ "users", "users", users },
	{ "user_new", "a user to be added", user_new, "{\"name\":\"ann\",\"role\":\"member\"}", true },
	{ "user_change", "what is to be changed of a user", user_change, "{\"role\":\"viewer\"}", true },
	{ "group", "a group", group },
	{ "groups", "groups", groups },
	{ "tenant_amount", "what may be used at a time", tenant_amount },
	{ "tenant_shape", "places that are guaranteed whole", tenant_shape },
	{ "tenant", "a group's place in the tree of those who share the nodes", tenant },
	{ "tenant_change", "what is to be changed of it", tenant_change, NULL, true },
	{ "tenant_row", "a group and what it holds", tenant_row },
	{ "tenants", "the tree of groups", tenants },
	{ "group_new", "a group to be added", group_new, "{\"name\":\"vision\",\"text\":\"people who look\"}", true },
	{ "group_change", "what is to be changed of a group", group_change, "{\"text\":\"people who look\"}", true },
	{ "audit_entry", "one change", audit_entry },
	{ "audit", "a page of the audit log", audit },
	{ 0 }
};
/* clang-format on */
