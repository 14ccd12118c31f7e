// SPDX-License-Identifier: Apache-2.0
/* The daemon itself: version, health, nodes, quotas, backup. */
#include "http/route.h"

#include "base/doc.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "http/auth.h"
#include "http/handlers.h"
#include "wire/api.h"

void handle_version(struct exchange *ex)
{
	struct buf *out = answer_scratch(ex);
	struct json j;

	json_init(&j, out);
	json_object(&j, NULL);
	json_str(&j, "name", "trainyard");
	json_str(&j, "version", YARD_VERSION);
	json_str(&j, "api", "v1");
	json_end(&j);
	answer_json(ex, 200, out);
}

void handle_health(struct exchange *ex)
{
	struct buf *out = answer_scratch(ex);
	struct json j;

	json_init(&j, out);
	json_object(&j, NULL);
	json_str(&j, "status", "ok");
	if (ex->who) /* a stranger by TCP need not know how busy we are */
		json_i64(&j, "live_jobs",
			 (int64_t)yard_live_count(ex->server->config.yard));
	json_end(&j);
	answer_json(ex, 200, out);
}

void handle_nodes(struct exchange *ex)
{
	struct buf *out = answer_scratch(ex);
	struct yard *y = ex->server->config.yard;
	size_t count = yard_nodes(y, NULL, 0);
	AUTO_FREE struct yard_node *nodes = mem_alloc(count + 1, sizeof *nodes);
	struct json j;

	yard_nodes(y, nodes, count);
	json_init(&j, out);
	json_object(&j, NULL);
	json_array(&j, "nodes");
	for (size_t i = 0; i < count; i++)
		wire_node_write(&j, NULL,
				&(struct wire_node){ .node = nodes[i].node,
						     .used = nodes[i].used,
						     .tasks = nodes[i].tasks });
	json_end(&j);
	json_end(&j);
	answer_json(ex, 200, out);
}

static int check_scope(struct exchange *ex, struct err *err)
{
	if (!str_eq(ex->param[0], "user") && !str_eq(ex->param[0], "group"))
		return err_set(err, ERR_INVALID,
			       "a quota is of a user or of a group, not of a '%s'",
			       ex->param[0]);
	return 0;
}

static void answer_quota(struct exchange *ex)
{
	struct quota q = { .limit = { .cpu_milli = -1, .memory_bytes = -1 },
			   .max_running_jobs = -1 };
	struct buf *out = answer_scratch(ex);
	struct json j;

	yard_quota(ex->server->config.yard, ex->param[0], ex->param[1], &q);
	json_init(&j, out);
	json_object(&j, NULL);
	json_str(&j, "scope", ex->param[0]);
	json_str(&j, "name", ex->param[1]);
	wire_quota_write(&j, "quota", &q);
	json_end(&j);
	answer_json(ex, 200, out);
}

static bool may_see_quota(const struct principal *who, const char *scope,
			  const char *name)
{
	if (who->role == ROLE_ADMIN)
		return true;
	if (str_eq(scope, "user"))
		return str_eq(name, who->name);
	return str_eq(name, who->group) || principal_in(who, name);
}

void handle_quota_get(struct exchange *ex)
{
	struct err err;

	if (check_scope(ex, &err) < 0)
		answer_error(ex, &err);
	else if (!may_see_quota(ex->who, ex->param[0], ex->param[1])) {
		err_set(&err, ERR_DENIED, "you may see your own quota and your group's");
		answer_error(ex, &err);
	} else
		answer_quota(ex);
}

struct quotas {
	const struct principal *who;
	struct json json;
};

static void list_quota(void *arg, const char *scope, const char *name,
		       const struct quota *q)
{
	struct quotas *l = arg;

	if (!may_see_quota(l->who, scope, name))
		return;
	json_object(&l->json, NULL);
	json_str(&l->json, "scope", scope);
	json_str(&l->json, "name", name);
	wire_quota_write(&l->json, "quota", q);
	json_end(&l->json);
}

void handle_quotas(struct exchange *ex)
{
	struct buf *out = answer_scratch(ex);
	struct quotas l = { .who = ex->who };

	json_init(&l.json, out);
	json_object(&l.json, NULL);
	json_array(&l.json, "quotas");
	yard_each_quota(ex->server->config.yard, list_quota, &l);
	json_end(&l.json);
	json_end(&l.json);
	answer_json(ex, 200, out);
}

static void quota_set(void *arg, int64_t job, bool again, const struct err *err)
{
	struct exchange *ex = arg;

	(void)job;
	(void)again;
	if (err)
		answer_error(ex, err);
	else if (ex->conn)
		answer_quota(ex);
	exchange_drop(ex);
}

void handle_quota_put(struct exchange *ex)
{
	struct quota q;
	struct err err;
	AUTO_DOC struct doc *d = doc_parse_json(buf_str(&ex->body), ex->body.len, &err);

	if (!d || check_scope(ex, &err) < 0 ||
	    wire_quota_read(doc_root(d), &q, &err) < 0) {
		answer_error(ex, &err);
		return;
	}
	exchange_hold(ex);
	yard_set_quota(ex->server->config.yard, ex->who, ex->param[0], ex->param[1], &q,
		       quota_set, ex);
}

static void backed_up(void *arg, const struct err *err)
{
	struct exchange *ex = arg;

	if (err) {
		answer_error(ex, err);
	} else if (ex->conn) {
		struct buf *out = answer_scratch(ex);
		struct json j;
		json_init(&j, out);
		json_object(&j, NULL);
		json_bool(&j, "done", true);
		json_end(&j);
		answer_json(ex, 200, out);
	}
	exchange_drop(ex);
}

/* The file is written with the daemon's rights, wherever it is to be: that is for whoever
 * has these anyway.  An admin of the yard need not be one of this machine. */
static int check_backup(const struct exchange *ex, const char *path, struct err *err)
{
	int64_t uid = ex->auth->by == AUTH_PEER ? ex->auth->peer.uid : -1;

	if (uid != 0 && uid != ex->server->config.daemon_uid)
		return err_set(
			err, ERR_DENIED,
			"a backup is written with the daemon's own rights: ask for "
			"it by the unix socket, as root or the daemon's user");
	if (*path != '/')
		return err_set(err, ERR_INVALID,
			       "path: give the absolute path of a file to write, as "
			       "{\"path\": \"/...\"}");
	return 0;
}

static char *backup_path(const struct exchange *ex)
{
	AUTO_DOC struct doc *d = doc_parse_json(buf_str(&ex->body), ex->body.len, NULL);

	return mem_strdup(d && doc_root(d)->kind == DOC_MAP
				  ? doc_str(doc_root(d), "path", "")
				  : "");
}

static void backup_noted(void *arg, int64_t job, bool again, const struct err *err)
{
	struct exchange *ex = arg;
	AUTO_FREE char *path = backup_path(ex);

	(void)job;
	(void)again;
	if (err)
		backed_up(ex, err);
	else
		store_backup(yard_store(ex->server->config.yard), path, backed_up, ex);
}

/* Who takes all there is away is written down first. */
void handle_backup(struct exchange *ex)
{
	AUTO_FREE char *path = backup_path(ex);
	struct err err;

	if (check_backup(ex, path, &err) < 0) {
		answer_error(ex, &err);
		return;
	}
	exchange_hold(ex);
	yard_change(ex->server->config.yard, ex->who,
		    &(struct yard_change){ NULL, 0, "backup", path }, backup_noted, ex);
}
