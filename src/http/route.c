// SPDX-License-Identifier: Apache-2.0
#include "http/route.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "who/who.h"
#include "wire/api.h"

#define CODE_BYTES_MAX (8LL << 30)
#define SPEC_BODY_MAX  (4 << 20)
#define SMALL_BODY_MAX (64 << 10)

/* clang-format off */
const struct route routes[] = {
	{ "GET",  "/version", RULE_PUBLIC, ROUTE_NO_BODY, 0, handle_version,
		"which version runs here" },
	{ "GET",  "/health", RULE_PUBLIC, ROUTE_NO_BODY, 0, handle_health,
		"whether requests are answered" },
	{ "GET",  "/schema/job.json", RULE_ANY, ROUTE_NO_BODY, 0, handle_schema,
		"the JSON Schema of a job file, for editors" },
	{ "POST", "/jobs", RULE_ANY, ROUTE_BODY, SPEC_BODY_MAX, handle_submit,
		"submit a job file (?dry_run=1: only check it)" },
	{ "GET",  "/jobs", RULE_ANY, ROUTE_NO_BODY, 0, handle_list,
		"list jobs: ?state=live|ended|all&owner=&name=&before=&limit=" },
	{ "GET",  "/jobs/:job", RULE_SEE, ROUTE_NO_BODY, 0, handle_show,
		"everything about one job" },
	{ "POST", "/jobs/:job/stop", RULE_TOUCH, ROUTE_BODY, SMALL_BODY_MAX, handle_stop,
		"stop it: {\"reason\"}" },
	{ "GET",  "/jobs/:job/wait", RULE_SEE, ROUTE_NO_BODY, 0, handle_wait,
		"answer when it has ended: 200, or 202 after ?timeout_ms=" },
	{ "GET",  "/jobs/:job/why", RULE_SEE, ROUTE_NO_BODY, 0, handle_why,
		"what it waits for, in words" },
	{ "GET",  "/jobs/:job/events", RULE_SEE, ROUTE_NO_BODY, 0, handle_events,
		"its history: ?from=SEQ&limit=" },
	{ "GET",  "/jobs/:job/usage", RULE_SEE, ROUTE_NO_BODY, 0, handle_usage,
		"what a running task uses: ?task=RANK" },
	{ "GET",  "/jobs/:job/logs", RULE_SEE, ROUTE_NO_BODY, 0, handle_logs,
		"its output: ?task=RANK|all&attempt=N|last|all&follow=0|1&tail=LINES&from=RANK:ATTEMPT:OFFSET,...&format=text|frames" },
	{ "POST", "/jobs/:job/exec", RULE_TOUCH, ROUTE_NO_BODY, 0, handle_exec,
		"run a further command in a running task: ?task=RANK&tty=0|1&arg=...; Upgrade: yard-exec" },
	{ "GET",  "/nodes", RULE_ANY, ROUTE_NO_BODY, 0, handle_nodes,
		"the machines, what they have and what is taken" },
	{ "HEAD", "/code/:hash", RULE_ANY, ROUTE_NO_BODY, 0, handle_code_has,
		"whether a code snapshot is here" },
	{ "PUT",  "/code/:hash", RULE_ANY, ROUTE_STREAM, CODE_BYTES_MAX, handle_code_put,
		"upload a code snapshot: a tar archive named by its BLAKE2b-256" },
	{ "GET",  "/quotas/:scope/:name", RULE_ANY, ROUTE_NO_BODY, 0, handle_quota_get,
		"the quota of a user or group" },
	{ "PUT",  "/quotas/:scope/:name", RULE_ADMIN, ROUTE_BODY, SMALL_BODY_MAX, handle_quota_put,
		"set it: {\"cpu_milli\",\"memory_bytes\",\"devices\",\"max_running_jobs\"}" },
	{ "POST", "/backup", RULE_ADMIN, ROUTE_BODY, SMALL_BODY_MAX, handle_backup,
		"write a consistent copy of the database: {\"path\"}" },
};
/* clang-format on */
const size_t route_count = COUNT_OF(routes);

static const char *const rule_words[ROUTE_RULE_COUNT] = {
	[RULE_PUBLIC] = "public", [RULE_ANY] = "any",     [RULE_SEE] = "owner",
	[RULE_TOUCH] = "owner",   [RULE_ADMIN] = "admin",
};

void http_routes_text(struct buf *out)
{
	for (size_t i = 0; i < route_count; i++)
		buf_printf(out, "%s %s%s\t%s\t%s\n", routes[i].method, WIRE_PREFIX,
			   routes[i].pattern, rule_words[routes[i].rule], routes[i].help);
}

static void forget_params(struct exchange *ex)
{
	for (size_t i = 0; i < ROUTE_PARAMS_MAX; i++)
		free(TAKE(ex->param[i]));
}

/* Segment by segment, so that an encoded slash never makes two of one. */
static int match(struct exchange *ex, const char *pattern, const char *path,
		 struct err *err)
{
	size_t params = 0;

	while (*pattern == '/' && *path == '/') {
		size_t want = strcspn(++pattern, "/"), have = strcspn(++path, "/");
		bool param = *pattern == ':';
		if (param && have > 0) {
			ex->param[params] = url_decode(path, have, 0, err);
			if (!ex->param[params++])
				return -1;
		} else if (param || want != have || memcmp(pattern, path, want) != 0) {
			return 0;
		}
		pattern += want;
		path += have;
	}
	return *pattern == '\0' && *path == '\0';
}

static int find_route(struct exchange *ex, int *status, struct err *err)
{
	AUTO_BUF struct buf allow = { 0 };
	const char *path = ex->head->path;
	size_t prefix = strlen(WIRE_PREFIX);

	for (size_t i = 0;
	     strncmp(path, WIRE_PREFIX "/", prefix + 1) == 0 && i < route_count; i++) {
		int found = match(ex, routes[i].pattern, path + prefix, err);
		if (found < 0)
			return -1;
		if (found && str_eq(routes[i].method, ex->head->method)) {
			ex->route = &routes[i];
			return 0;
		}
		if (found)
			buf_printf(&allow, "%s%s", allow.len ? ", " : "",
				   routes[i].method);
		forget_params(ex);
	}
	if (!allow.len)
		return err_set(err, ERR_NOT_FOUND,
			       "there is nothing at %s; the API is below " WIRE_PREFIX,
			       path);
	*status = 405;
	ex->allow = buf_take(&allow);
	return err_set(err, ERR_INVALID, "%s does not take %s", path, ex->head->method);
}

struct owner {
	char name[NAME_MAX_BYTES], group[NAME_MAX_BYTES];
};

static void copy_owner(struct owner *o, const char *name, const char *group)
{
	memcpy(o->name, name, strnlen(name, NAME_MAX_BYTES - 1));
	memcpy(o->group, group, strnlen(group, NAME_MAX_BYTES - 1));
}

static void row_owner(void *arg, const struct store_row *row)
{
	copy_owner(arg, row->owner, row->group);
}

/* Somebody else's job is not found: its existence is nobody's business. */
static int find_job(struct exchange *ex, struct err *err)
{
	struct yard *y = ex->server->config.yard;
	const char *text = ex->param[0];
	struct owner owner = { 0 };
	int64_t id;

	if (str_to_i64(text, 1, INT64_MAX, &id) < 0 &&
	    store_find_name(yard_store(y), ex->who->name, text, &id, err) < 0)
		return err->code == ERR_NOT_FOUND
			       ? err_set(err, ERR_NOT_FOUND, "you have no job named '%s'",
					 text)
			       : -1;
	const struct job *live = yard_live(y, id);
	if (live)
		copy_owner(&owner, live->owner, live->group);
	else if (store_row(yard_store(y), id, row_owner, &owner, err) < 0)
		return err->code == ERR_NOT_FOUND
			       ? err_set(err, ERR_NOT_FOUND, "there is no job %lld",
					 (long long)id)
			       : -1;
	if (!who_may_see(ex->who, owner.name, owner.group))
		return err_set(err, ERR_NOT_FOUND, "there is no job %lld", (long long)id);
	if (ex->route->rule == RULE_TOUCH &&
	    !who_may_touch(ex->who, owner.name, owner.group))
		return err_set(err, ERR_DENIED, "job %lld is %s's", (long long)id,
			       owner.name);
	ex->job = id;
	return 0;
}

int route_find(struct exchange *ex, int *status, struct err *err)
{
	if (find_route(ex, status, err) < 0)
		return -1;
	if (ex->route->rule != RULE_PUBLIC && !ex->who)
		return err_set(
			err, ERR_UNKNOWN_CALLER,
			"not known who you are: by TCP only /version and /health are answered; "
			"use the daemon's unix socket");
	if (ex->route->rule == RULE_ADMIN && !principal_is_admin(ex->who))
		return err_set(err, ERR_DENIED, "this is for administrators; you are %s",
			       ex->who->name);
	if (url_query_parse(&ex->query, ex->head->query, err) < 0)
		return -1;
	return ex->route->rule == RULE_SEE || ex->route->rule == RULE_TOUCH
		       ? find_job(ex, err)
		       : 0;
}

int query_i64(const struct exchange *ex, const char *name, int64_t min, int64_t max,
	      int64_t *value, struct err *err)
{
	const char *text = url_query_get(&ex->query, name);

	if (!text || str_to_i64(text, min, max, value) == 0)
		return 0;
	return err_set(err, ERR_INVALID,
		       "%s: '%s' is not a whole number from %lld to %lld", name, text,
		       (long long)min, (long long)max);
}

int query_bool(const struct exchange *ex, const char *name, bool *value, struct err *err)
{
	const char *text = url_query_get(&ex->query, name);

	if (!text)
		return 0;
	*value = str_eq(text, "1") || str_eq(text, "true") || str_eq(text, "");
	if (!*value && !str_eq(text, "0") && !str_eq(text, "false"))
		return err_set(err, ERR_INVALID, "%s: '%s' is neither 0 nor 1", name,
			       text);
	return 0;
}
