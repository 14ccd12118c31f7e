// SPDX-License-Identifier: Apache-2.0
/* POST /jobs/:job/tensorboard: the board of a job, which has one at a time. */
#include <inttypes.h>
#include <string.h>

#include "base/doc.h"
#include "base/mem.h"
#include "base/str.h"
#include "http/apps.h"
#include "http/boards.h"
#include "http/handlers.h"
#include "http/route.h"
#include "http/view.h"
#include "wire/api.h"
#include "wire/outcome.h"
#include "wire/settings.h"

struct found {
	struct app app;
	bool there;
};

static bool take_first(void *arg, const struct app *a)
{
	struct found *f = arg;

	f->app = *a;
	f->there = true;
	return false;
}

struct tally {
	struct buf names;
	int64_t count;
};

static bool tally_board(void *arg, const struct app *a)
{
	struct tally *t = arg;

	buf_printf(&t->names, "%s%lld (of job %lld)", t->count ? ", " : "",
		   (long long)a->id, (long long)a->of);
	t->count++;
	return true;
}

static int64_t boards_max(const struct http_server *s)
{
	return s->config.settings ? s->config.settings->max_boards : BOARDS_MAX_DEFAULT;
}

static void too_many(struct exchange *ex, const char *owner, struct tally *t)
{
	struct err err;

	err_set(&err, ERR_CONFLICT,
		"%s has %lld TensorBoards running, the most one may have: %.700s; end one "
		"first, by `yard app stop ID` or DELETE " WIRE_PREFIX "/apps/ID",
		owner, (long long)t->count, buf_str(&t->names));
	answer_reason(ex, wire_http_status(err.code), &err, BOARD_LIMIT_REASON);
}

/* 1: there is room; 0: it was answered; -1 with err. */
static int has_room(struct exchange *ex, const char *owner, struct err *err)
{
	struct tally t = { 0 };
	struct apps_query q = { .owner = owner, .kind = APP_BOARD };
	int rc = apps_each(ex->server, &q, tally_board, &t, err);

	t.count += boards_pending(ex->server->boards, owner);
	if (rc == 0 && t.count >= boards_max(ex->server))
		too_many(ex, owner, &t);
	else if (rc == 0)
		rc = 1;
	buf_fini(&t.names);
	return rc;
}

static void board_made(void *arg, int64_t job, bool again, const struct err *failed)
{
	struct exchange *ex = arg;
	struct err err = { 0 };
	struct app a;

	(void)again;
	boards_done(ex->server->boards, ex->job);
	if (failed || (ex->conn && app_find(ex->server, job, &a, &err) < 0))
		answer_error(ex, failed ? failed : &err);
	else if (ex->conn)
		answer_app(ex, 201, &a);
	exchange_drop(ex);
}

/* On behalf of the job's owner, whoever of their admins asked: it reads their files. */
static int board_owner(struct exchange *ex, const struct job *of, struct principal *out,
		       struct err *err)
{
	struct who *d = ex->server->config.who;
	const struct who_user *u = who_user(d, of->owner);

	if (str_eq(ex->who->name, of->owner)) {
		*out = *ex->who;
		return 0;
	}
	return who_by_name(d, of->owner, u ? -1 : of->owner_uid, out, err);
}

/* What has not begun has no folder yet that could be bound. */
static int has_begun(const struct job *of, const struct spec *board, struct err *err)
{
	if (job_is_array(of))
		return err_set(err, ERR_CONFLICT,
			       "job %lld is an array: show one of its members",
			       (long long)of->id);
	if (of->attempt == 0 && board->input_count)
		return err_set(err, ERR_CONFLICT,
			       "job %lld has not started yet: there is nothing to show",
			       (long long)of->id);
	return 0;
}

static void start(struct exchange *ex, const struct job *of, const char *output)
{
	struct http_server *s = ex->server;
	int64_t limit_ms =
		s->config.settings ? s->config.settings->board_limit_ms : BOARD_LIMIT_MS;
	struct principal owner;
	struct err err;
	AUTO_SPEC struct spec *spec = board_spec(of, output, limit_ms, &err);

	if (!spec || has_begun(of, spec, &err) < 0 ||
	    board_owner(ex, of, &owner, &err) < 0) {
		answer_error(ex, &err);
		return;
	}
	int room = has_room(ex, of->owner, &err);
	if (room <= 0) {
		if (room < 0)
			answer_error(ex, &err);
		return;
	}
	if (!boards_begin(s->boards, of->owner, ex->job)) {
		err_set(&err, ERR_CONFLICT,
			"a TensorBoard of job %lld is being made just now: ask again",
			(long long)ex->job);
		answer_error(ex, &err);
		return;
	}
	exchange_hold(ex);
	yard_submit(s->config.yard, &owner, TAKE(spec), NULL, NULL, board_made, ex);
}

void handle_board_start(struct exchange *ex)
{
	struct apps_query q = { .of = ex->job, .kind = APP_BOARD, .see = ex->who };
	AUTO_DOC struct doc *d = NULL;
	AUTO_JOB struct job *owned = NULL;
	struct found found = { 0 };
	struct err err;

	if (ex->body.len)
		d = doc_parse_json(ex->body.data, ex->body.len, &err);
	const struct job *of = view_find(ex, &owned, &err);
	if ((ex->body.len && !d) || !of ||
	    apps_each(ex->server, &q, take_first, &found, &err) < 0) {
		answer_error(ex, &err);
		return;
	}
	if (found.there)
		answer_app(ex, 200, &found.app);
	else
		start(ex, of, d ? doc_str(doc_root(d), "output", NULL) : NULL);
}
