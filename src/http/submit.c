// SPDX-License-Identifier: Apache-2.0
/* A job file comes in: read, checked, recorded; then, and only then, answered. */
#include "http/route.h"

#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "depot/snapshot.h"
#include "dialect/dialect.h"
#include "http/catalog.h"
#include "http/handlers.h"
#include "http/limits.h"
#include "http/secret.h"
#include "http/submit.h"
#include "http/why.h"
#include "pack/hash.h"
#include "stream/pattern.h"
#include "wire/outcome.h"

static void submitted(void *arg, int64_t job, bool again, const struct err *err)
{
	struct exchange *ex = arg;

	if (err) {
		answer_error(ex, err);
	} else if (ex->conn) {
		struct buf *out = answer_scratch(ex);
		struct json j;
		json_init(&j, out);
		json_object(&j, NULL);
		json_i64(&j, "id", job);
		json_bool(&j, "again", again);
		json_end(&j);
		answer_json(ex, again ? 200 : 201, out);
	}
	exchange_drop(ex);
}

int submit_key(struct exchange *ex, const char **key, struct err *err)
{
	*key = http_head_get(ex->head, "idempotency-key");
	if (!*key)
		return 0;
	size_t n = strlen(*key);
	for (size_t i = 0; i < n; i++)
		if ((*key)[i] < 0x21 || (*key)[i] > 0x7e)
			n = 0;
	if (n == 0 || n > IDEMPOTENCY_KEY_MAX)
		return err_set(
			err, ERR_INVALID,
			"Idempotency-Key: 1 to %d visible ASCII characters without spaces",
			IDEMPOTENCY_KEY_MAX);
	return 1;
}

void submit_refuse(struct exchange *ex, const struct problems *problems)
{
	struct err err = { 0 };

	if (problems_err(problems, &err) == 0)
		err_set(&err, ERR_INTERNAL, "the job file was refused without a reason");
	answer_status(ex, wire_http_status(err.code), &err, problems);
}

int submit_check_code(struct exchange *ex, const struct spec *spec, struct err *err)
{
	struct depot *d = ex->server->config.depot;
	AUTO_FREE char *key = principal_key(ex->who);

	if (!spec->code || !spec_code_is_hash(spec->code) ||
	    (d && depot_code_has(d, spec->code, key) > 0))
		return 0;
	return err_set(
		err, ERR_CONFLICT,
		"code: snapshot %.12s... is not here; upload it by PUT /yard/v1/code/<hash> first",
		spec->code);
}

void submit_spec(struct exchange *ex, struct spec *spec, const char *key,
		 const char *const *asked)
{
	char digest[PACK_HASH_HEX] = "";

	if (key) {
		struct pack_hash *h = pack_hash_create();
		for (; *asked;
		     asked++) /* with its NUL, but the last: two never make one */
			pack_hash_add(h, *asked, strlen(*asked) + (asked[1] != NULL));
		pack_hash_finish(h, digest);
	}
	exchange_hold(ex);
	yard_submit(ex->server->config.yard, ex->who, spec, key, key ? digest : NULL,
		    submitted, ex);
}

static void submit(struct exchange *ex)
{
	const struct dialect *native = dialect_find(DIALECT_NATIVE, NULL);
	struct problems problems = { 0 };
	const char *key;
	struct err err;

	if (submit_key(ex, &key, &err) < 0) {
		answer_error(ex, &err);
		return;
	}
	AUTO_SPEC struct spec *spec =
		native->read(buf_str(&ex->body), ex->body.len, &problems);
	if (spec) {
		secret_check_spec(ex, spec, &problems);
		pattern_check(spec, &problems);
		images_check_spec(ex, spec, &problems);
	}
	bool refused = !spec || problems.count;
	if (refused)
		submit_refuse(ex, &problems);
	problems_fini(&problems);
	if (refused)
		return;
	if (submit_check_code(ex, spec, &err) < 0) {
		answer_error(ex, &err);
		return;
	}
	if (param_bool(ex, "dry_run")) {
		why_dry_run(ex, spec);
		return;
	}
	submit_spec(ex, TAKE(spec), key,
		    (const char *const[]){ buf_str(&ex->body), NULL });
}

void handle_submit(struct exchange *ex)
{
	images_ready(ex, strstr(buf_str(&ex->body), "image"), submit);
}

void handle_schema(struct exchange *ex)
{
	struct buf *out = answer_scratch(ex);
	const struct dialect *native = dialect_find(DIALECT_NATIVE, NULL);

	native->schema(out);
	answer_json(ex, 200, out);
}
