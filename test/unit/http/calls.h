// SPDX-License-Identifier: Apache-2.0
/* calls.h - for every route a request that succeeds, in this order, on the yard of
 * openapi.c: job 1 has ended, job 2 runs for a long time.  A route without a line fails
 * the test; so does one whose answer has not the shape its row names.
 */
#pragma once

#include "fixture.h"

#define NO_HASH "0000000000000000000000000000000000000000000000000000000000000000"

struct call {
	const char *name;   /* of the route */
	const char *target; /* behind WIRE_PREFIX, unless the route is of the root */
	const char *body;   /* NULL: none */
	const char *
		headers; /* $TOKEN and $ID, here and in the target: of the last token made */
	int status;      /* 0: as the row says */
};

/* clang-format off */
static const struct call calls[] = {
	{ "version", "/version" },
	{ "health", "/health" },
	{ "job_schema", "/schema/job.json" },
	{ "openapi", "/openapi.json" },
	{ "list_nodes", "/nodes" },
	{ "show_node", "/nodes/n1" },
	{ "change_node", "/nodes/n1", "{\"state\":\"drain\",\"reason\":\"new disk\",\"rack\":\"r1\",\"labels\":{\"zone\":\"a\"},\"island\":4}" },
	{ "change_node", "/nodes/n1", "{\"windows\":[{\"from_ms\":1,\"to_ms\":2,\"group\":\"\"}]}" },
	{ "change_node", "/nodes/n1", "{\"windows\":[{\"from_ms\":1,\"to_ms\":2,\"group\":\"nobody\"}]}", .status = 400 },
	{ "change_node", "/nodes/n1", "{\"state\":\"quarantine\"}", .status = 400 },
	{ "change_node", "/nodes/none", "{\"state\":\"open\"}", .status = 404 },
	{ "change_node", "/nodes/n1", "{\"state\":\"open\",\"windows\":[]}" },
	{ "submit_job", "/jobs", JOB },
	{ "submit_job", "/jobs?dry_run=1", JOB, .status = 200 },
	{ "submit_job", "/jobs", JOB, "Idempotency-Key: k\r\n" },
	{ "submit_job", "/jobs", JOB, "Idempotency-Key: k\r\n", 200 },
	{ "list_jobs", "/jobs" },
	{ "list_jobs", "/jobs?limit=1&state=ended&owner=" },
	{ "show_job", "/jobs/1" },
	{ "show_job", "/jobs/2" },
	{ "wait_job", "/jobs/1/wait" },
	{ "wait_job", "/jobs/2/wait?timeout_ms=0", .status = 202 },
	{ "why_job", "/jobs/1/why" },
	{ "why_job", "/jobs/2/why" },
	{ "job_events", "/jobs/1/events" },
	{ "job_events", "/jobs/2/events?from=1&limit=2" },
	{ "job_usage", "/jobs/2/usage?task=0" },
	{ "job_logs", "/jobs/1/logs?task=0&attempt=last&tail=3&from=0:1:0" },
	{ "job_logs", "/jobs/1/logs?format=frames" },
	{ "exec_job", "/jobs/2/exec?arg=sh&arg=a%20b", NULL, "Connection: Upgrade\r\nUpgrade: yard-exec\r\n" },
	{ "has_code", "/code/" NO_HASH, .status = 404 },
	{ "put_code", "/code/" NO_HASH, "no tar", .status = 400 },
	{ "show_quota", "/quotas/user/ann" },
	{ "set_quota", "/quotas/user/ann", "{\"cpu_milli\":4000,\"devices\":{\"gpu\":2}}" },
	{ "set_quota", "/quotas/group/lab", "{\"cpu_milli\":null,\"max_running_jobs\":3}" },
	{ "backup", "/backup", "{\"path\":\"/dev/null/no/such\"}", .status = 501 },
	{ "list_quotas", "/quotas" },
	{ "add_group", "/groups", "{\"name\":\"vision\",\"text\":\"people who look\"}" },
	{ "add_user", "/users", "{\"name\":\"eve\",\"password\":\"correct horse\",\"groups\":[\"vision\"]}" },
	{ "list_users", "/users" },
	{ "show_user", "/users/eve" },
	{ "set_user", "/users/eve", "{\"role\":\"viewer\"}" },
	{ "list_groups", "/groups" },
	{ "show_group", "/groups/vision" },
	{ "set_group", "/groups/vision", "{\"text\":\"and see\"}" },
	{ "add_group", "/groups", "{\"name\":\"site\"}" },
	{ "change_node", "/nodes/n1", "{\"windows\":[{\"from_ms\":1,\"to_ms\":2,\"group\":\"site\"}]}" },
	{ "change_node", "/nodes/n1", "{\"windows\":[]}" },
	{ "set_group", "/groups/site", "{\"tenant\":{\"guarantee\":{\"devices\":{\"gpu\":8}},\"lend\":{\"devices\":{\"gpu\":4}}}}" },
	{ "set_group", "/groups/vision", "{\"tenant\":{\"parent\":\"site\",\"weight\":2,\"order\":\"short\",\"guarantee\":{\"cpu_milli\":4000,\"devices\":{\"gpu\":4}},\"shapes\":[{\"count\":2,\"each\":2,\"device\":\"gpu\"}],\"borrow\":{\"devices\":{\"gpu\":2}},\"notice_ms\":60000}}" },
	{ "set_group", "/groups/vision", "{\"tenant\":{\"guarantee\":{\"devices\":{\"gpu\":9}}}}", .status = 400 },
	{ "set_group", "/groups/vision", "{\"tenant\":{\"parent\":\"nobody\"}}", .status = 400 },
	{ "set_group", "/groups/site", "{\"tenant\":{\"parent\":\"vision\"}}", .status = 400 },
	{ "remove_group", "/groups/site", .status = 409 },
	{ "tenants", "/tenants" },
	{ "set_group", "/groups/vision", "{\"tenant\":null}" },
	{ "remove_group", "/groups/site" },
	{ "remove_member", "/groups/vision/members/eve" },
	{ "add_member", "/groups/vision/members/eve" },
	{ "login", "/login", "{\"user\":\"eve\",\"password\":\"correct horse\",\"label\":\"l\",\"life\":\"1h\"}" },
	{ "me", "/me" },
	{ "me", "/me", NULL, "Authorization: Bearer $TOKEN\r\n" },
	{ "add_token", "/tokens", "{\"scopes\":[\"read\"]}", "Authorization: Bearer $TOKEN\r\n" },
	{ "list_tokens", "/tokens?user=eve" },
	{ "remove_token", "/tokens/$ID" },
	{ "login", "/login", "{\"user\":\"eve\",\"password\":\"correct horse\"}" },
	{ "logout", "/logout", NULL, "Authorization: Bearer $TOKEN\r\n" },
	{ "login_first", "/login/first", "{\"code\":\"x\",\"name\":\"root2\",\"password\":\"correct horse\"}", .status = 409 },
	{ "audit", "/audit" },
	{ "audit", "/audit?limit=1" },
	{ "remove_user", "/users/eve" },
	{ "remove_group", "/groups/vision" },
	{ "list_secrets", "/secrets" },
	{ "secrets_of", "/secrets/user/ann" },
	{ "set_secret", "/secrets/user/ann/key", "{\"value\":\"x\"}" },
	{ "remove_secret", "/secrets/user/ann/key" },
	{ "change_job", "/jobs/2", "{\"priority\":7}" },
	{ "clone_job", "/jobs/1/clone" },
	{ "clone_job", "/jobs/1/clone", "{\"name\":\"u\"}" },
	{ "events", "/events" },
	{ "events", "/events?from=1&limit=3" },
	{ "job_usage_series", "/jobs/2/usage/series?task=0" },
	{ "queue", "/queue" },
	{ "metrics", "/metrics" },
	{ "root_metrics", "/metrics" },
	{ "delete_job", "/jobs/1" },
	{ "list_settings", "/settings" },
	{ "change_settings", "/settings", "{\"max-jobs\":500,\"code-keep\":null}" },
	{ "change_settings", "/settings", "{\"plan-fair\":\"off\",\"plan-rule\":\"fgd\",\"plan-age-bound\":\"2h\",\"plan-weight-slack\":7}" },
	{ "change_settings", "/settings", "{\"plan-rule\":\"worst\"}", .status = 400 },
	{ "change_settings", "/settings", "{\"plan-half-life\":\"0\",\"plan-age-bound\":\"0s\"}" },
	{ "change_settings", "/settings", "{\"plan-half-life\":null,\"plan-age-bound\":null,\"plan-fair\":null,\"plan-rule\":null,\"plan-weight-slack\":null}" },
	{ "stop_job", "/jobs/2/stop", "{\"reason\":\"enough\"}" },
};
/* clang-format on */
