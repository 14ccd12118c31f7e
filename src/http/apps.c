// SPDX-License-Identifier: Apache-2.0
/* The API of apps: start a TensorBoard, list, look, end. */
#include "http/apps.h"

#include <inttypes.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "http/handlers.h"
#include "http/route.h"
#include "store/list.h"
#include "yard/edit.h"

#define PAGE_ROWS 200 /* of ended boards looked at: more never last at a time */

/* ---- finding them ---- */

struct ids {
	int64_t id[PAGE_ROWS];
	size_t count;
};

static void keep_id(void *arg, const struct store_row *row)
{
	struct ids *ids = arg;

	if (ids->count < PAGE_ROWS)
		ids->id[ids->count++] = row->id;
}

static int find_labelled(struct http_server *s, const struct apps_query *q,
			 const char *label, int live, struct ids *out, struct err *err)
{
	struct store_query sq = { .owner = q->owner,
				  .label = label,
				  .see = q->see && q->see->role != ROLE_ADMIN ? q->see
									      : NULL,
				  .live = live,
				  .outcome = live ? -1 : OUTCOME_SUCCEEDED,
				  .limit = PAGE_ROWS };
	int64_t next;

	return store_list(yard_store(s->config.yard), &sq, keep_id, out, &next, err);
}

/* Labels are found by their values: those of kinds that nobody knows are listed when they
 * are asked for by name. */
static int find_ids(struct http_server *s, const struct apps_query *q, int live,
		    struct ids *out, struct err *err)
{
	static const char *const known[] = { APP_BOARD, "jupyter", "code", "terminal",
					     "web" };

	for (size_t i = 0; i < (q->of || q->kind ? 1 : COUNT_OF(known)); i++) {
		AUTO_FREE char *label =
			q->of ? str_printf(APP_LABEL_OF "=%" PRId64, q->of)
			      : str_printf(APP_LABEL "=%s", q->kind ? q->kind : known[i]);
		if (find_labelled(s, q, label, live, out, err) < 0)
			return -1;
	}
	return 0;
}

int apps_each(struct http_server *s, const struct apps_query *q,
	      bool (*each)(void *arg, const struct app *a), void *arg, struct err *err)
{
	AUTO_FREE struct ids *ids = mem_alloc(1, sizeof *ids);
	struct app a;

	if (find_ids(s, q, 1, ids, err) < 0 || find_ids(s, q, 0, ids, err) < 0)
		return -1;
	for (size_t i = 0; i < ids->count; i++) {
		if (app_find(s, ids->id[i], &a, NULL) < 0 || a.state == APP_ENDED ||
		    (q->kind && !str_eq(a.kind, q->kind)) ||
		    (q->see && !app_may_open(s, &a, q->see)))
			continue;
		if (!each(arg, &a))
			break;
	}
	return 0;
}

/* ---- answers ---- */

/* url: with a ticket, for one who asked for this app; NULL in a list. */
static void write_app(struct json *j, const struct app *a, const char *url)
{
	AUTO_FREE char *path = str_printf(APP_PATH "%" PRId64 "/", a->id);

	json_object(j, NULL);
	json_i64(j, "app", a->id);
	json_str(j, "kind", a->kind);
	if (a->of)
		json_i64(j, "of", a->of);
	else
		json_null(j, "of");
	json_str(j, "owner", a->owner);
	json_str(j, "state", app_state_word(a->state));
	bool program = a->port && a->state == APP_RUNNING;
	json_str(j, "served_by", a->viewer && !program ? "yard" : "task");
	json_str(j, "path", path);
	json_str(j, "url", url);
	if (a->ends_ms)
		json_i64(j, "ends_ms", a->ends_ms);
	else
		json_null(j, "ends_ms");
	json_end(j);
}

void answer_app(struct exchange *ex, int status, const struct app *a)
{
	AUTO_BUF struct buf url = { 0 };
	struct buf *out = answer_scratch(ex);
	struct err err;
	struct json j;

	if (app_url(ex, a->id, "/", &url, &err) < 0) {
		answer_error(ex, &err);
		return;
	}
	json_init(&j, out);
	write_app(&j, a, buf_str(&url));
	answer_json(ex, status, out);
}

static bool add_app(void *arg, const struct app *a)
{
	write_app(arg, a, NULL);
	return true;
}

void handle_apps(struct exchange *ex)
{
	struct buf *out = answer_scratch(ex);
	const struct apps_query q = { .see = ex->who, .kind = param_text(ex, "kind") };
	struct err err;
	struct json j;

	json_init(&j, out);
	json_object(&j, NULL);
	json_array(&j, "apps");
	if (apps_each(ex->server, &q, add_app, &j, &err) < 0) {
		answer_error(ex, &err);
		return;
	}
	json_end(&j);
	json_end(&j);
	answer_json(ex, 200, out);
}

/* What :app means, to one who may open it. */
static int named_app(struct exchange *ex, struct app *out, struct err *err)
{
	int64_t id;

	if (str_to_i64(ex->param[0], 1, INT64_MAX, &id) == 0 &&
	    app_find(ex->server, id, out, err) == 0 &&
	    app_may_open(ex->server, out, ex->who))
		return 0;
	return err_set(err, ERR_NOT_FOUND, "there is no app %.40s", ex->param[0]);
}

void handle_app_show(struct exchange *ex)
{
	struct app a = { 0 };
	struct err err;

	if (named_app(ex, &a, &err) < 0)
		answer_error(ex, &err);
	else
		answer_app(ex, 200, &a);
}

/* What runs is stopped.  A board that the yard itself shows is an ended job that goes on
 * being shown until its record goes. */
void handle_app_end(struct exchange *ex)
{
	struct yard *y = ex->server->config.yard;
	struct app a = { 0 };
	struct err err;

	if (named_app(ex, &a, &err) < 0) {
		answer_error(ex, &err);
		return;
	}
	if (!principal_is_admin(ex->who) && !str_eq(ex->who->name, a.owner)) {
		err_set(&err, ERR_DENIED, "app %lld is %s's", (long long)a.id, a.owner);
		answer_error(ex, &err);
		return;
	}
	exchange_hold(ex);
	if (yard_live(y, a.id))
		yard_stop(y, ex->who, a.id, "the app was ended", answer_done, ex);
	else if (a.state != APP_ENDED)
		yard_delete(y, ex->who, a.id, answer_done, ex);
	else
		answer_done(ex, a.id, false, NULL);
}
