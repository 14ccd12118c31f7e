// SPDX-License-Identifier: Apache-2.0
/* Code snapshots: is it here, and here it is. */
#include "http/route.h"

#include "base/mem.h"
#include "depot/snapshot.h"
#include "http/handlers.h"
#include "pack/hash.h"

static int check_hash(struct exchange *ex, struct err *err)
{
	if (!pack_hash_valid(ex->param[0]))
		return err_set(err, ERR_INVALID,
			       "'%s' is not a hash of 64 lower-case hex digits",
			       ex->param[0]);
	if (!ex->server->config.depot)
		return err_set(err, ERR_UNSUPPORTED, "this daemon keeps no code");
	return 0;
}

void handle_code_has(struct exchange *ex)
{
	AUTO_FREE char *key = principal_key(ex->who);
	struct err err;

	if (check_hash(ex, &err) < 0)
		answer_error(ex, &err);
	else
		answer_empty(ex,
			     depot_code_has(ex->server->config.depot, ex->param[0], key)
				     ? 200
				     : 404);
}

static void stored(void *arg, const struct err *err)
{
	struct exchange *ex = arg;

	if (err)
		answer_error(ex, err);
	else
		answer_empty(ex, 201);
	exchange_drop(ex);
}

static void put_body(struct exchange *ex, const char *data, size_t len)
{
	struct err err;

	if (!ex->state)
		return; /* it was here already: the bytes are dropped */
	if (depot_code_write(ex->state, data, len, &err) < 0)
		answer_error(ex, &err); /* ends the upload by put_gone */
}

static void put_end(struct exchange *ex)
{
	struct depot_upload *u = ex->state;

	ex->state = NULL;
	if (!u) {
		answer_empty(ex, 200);
		return;
	}
	exchange_hold(ex);
	depot_code_finish(u, stored, ex);
}

static void put_gone(struct exchange *ex)
{
	if (ex->state)
		depot_code_abort(ex->state);
	ex->state = NULL;
}

void handle_code_put(struct exchange *ex)
{
	static const struct exchange_ops ops = { .body = put_body,
						 .body_end = put_end,
						 .gone = put_gone };
	struct depot *d = ex->server->config.depot;
	AUTO_FREE char *key = principal_key(ex->who);
	struct err err;

	if (check_hash(ex, &err) < 0) {
		answer_error(ex, &err);
		return;
	}
	ex->ops = &ops;
	if (depot_code_has(d, ex->param[0], key))
		return;
	ex->state = depot_code_begin(d, ex->param[0], key, &err);
	if (!ex->state)
		answer_error(ex, &err);
}
