// SPDX-License-Identifier: Apache-2.0
/* The yard itself: what it is, what it has, what is set; and code for jobs. */
#include "http/route.h"

#include "http/handlers.h"
#include "http/limits.h"

#define CODE_BYTES_MAX (8LL << 30)

/* clang-format off */
static const struct param queue_params[] = {
	{ "from", PARAM_INT, 1, INT32_MAX, .help = "the position to begin with; 1 is the head" },
	{ "limit", PARAM_INT, 1, LIST_MAX, .help = "how many a page has at most; 50" },
	{ 0 }
};

const struct route routes_yard[] = {
	{ "GET", "/version", "version", RULE_PUBLIC, handle_version, "which version runs here",
		.answer = "version" },
	{ "GET", "/health", "health", RULE_PUBLIC, handle_health, "whether requests are answered",
		.answer = "health" },
	{ "GET", "/schema/job.json", "job_schema", RULE_ANY, handle_schema, "the JSON Schema of a job file, for editors",
		.answer = ROUTE_ANY },
	{ "GET", "/openapi.json", "openapi", RULE_PUBLIC, handle_openapi, "this interface as an OpenAPI 3.1 document",
		.answer = ROUTE_ANY },
	{ "GET", "/nodes", "list_nodes", RULE_ANY, handle_nodes, "the machines, what they have and what is taken",
		.answer = "nodes" },
	{ "GET", "/nodes/:node", "show_node", RULE_ANY, handle_node_show, "one machine",
		.answer = "node", .errors = ROUTE_ERR(ERR_NOT_FOUND) },
	{ "PATCH", "/nodes/:node", "change_node", RULE_ADMIN, handle_node_set,
		"say whether it takes new tasks, for whom it is kept, and where it stands",
		.takes = ROUTE_BODY, .body_max = BODY_SMALL, .body = "node_change", .answer = "node",
		.errors = ROUTE_ERR(ERR_NOT_FOUND) },
	{ "GET", "/queue", "queue", RULE_ANY, handle_queue, "who waits, in order; of others' jobs only how much they ask for",
		.params = queue_params, .answer = "queue" },
	{ "GET", "/tenants", "tenants", RULE_ANY, handle_tenants,
		"the tree of groups: what each is guaranteed and holds; to one who is no admin their own and those above",
		.answer = "tenants" },
	{ "GET", "/metrics", "metrics", RULE_ANY, handle_metrics, "numbers for Prometheus",
		.answer = "text/plain" },
	{ "GET", "/metrics", "root_metrics", RULE_ANY, handle_metrics, "the same where Prometheus looks for it",
		.root = true, .answer = "text/plain" },
	{ "HEAD", "/code/:hash", "has_code", RULE_ANY, handle_code_has, "whether a code snapshot is here",
		.errors = ROUTE_ERR(ERR_NOT_FOUND) | ROUTE_ERR(ERR_UNSUPPORTED) },
	{ "PUT", "/code/:hash", "put_code", RULE_MEMBER, handle_code_put, "upload a code snapshot: a tar archive named by its BLAKE2b-256",
		.takes = ROUTE_STREAM, .body_max = CODE_BYTES_MAX, .body = "application/x-tar", .body_types = "application/x-tar",
		.status = 201, .also = 200,
		.errors = ROUTE_ERR(ERR_CONFLICT) | ROUTE_ERR(ERR_UNSUPPORTED) | ROUTE_ERR(ERR_QUOTA) | ROUTE_ERR(ERR_BUSY) },
	{ "GET", "/quotas", "list_quotas", RULE_ANY, handle_quotas, "every quota to an admin; to others theirs and their groups'",
		.answer = "quotas" },
	{ "GET", "/quotas/:scope/:name", "show_quota", RULE_ANY, handle_quota_get, "the quota of a user or group",
		.answer = "quota_of", .errors = ROUTE_ERR(ERR_DENIED) },
	{ "PUT", "/quotas/:scope/:name", "set_quota", RULE_ADMIN, handle_quota_put, "set it; what is absent or null has no limit",
		.takes = ROUTE_BODY, .body_max = BODY_SMALL, .body = "quota", .answer = "quota_of" },
	{ "GET", "/settings", "list_settings", RULE_ADMIN, handle_settings, "every setting, its value and where it comes from",
		.answer = "settings" },
	{ "PATCH", "/settings", "change_settings", RULE_ADMIN, handle_settings_set, "change what may be changed while it runs; null: as at the start",
		.takes = ROUTE_BODY, .body_max = BODY_SMALL, .body = "settings_change", .answer = "settings" },
	{ "POST", "/backup", "backup", RULE_ADMIN, handle_backup, "write a consistent copy of the database while it works",
		.takes = ROUTE_BODY, .body_max = BODY_SMALL, .body = "backup", .answer = "done",
		.errors = ROUTE_ERR(ERR_CONFLICT) | ROUTE_ERR(ERR_UNSUPPORTED) },
	{ 0 }
};
/* clang-format on */
