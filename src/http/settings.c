// SPDX-License-Identifier: Apache-2.0
/* What is set, and from where; and changing what may be changed while it runs. */
#include "http/route.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/doc.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "http/handlers.h"
#include "wire/settings_live.h"

#define CHANGES_MAX 32

void handle_settings(struct exchange *ex)
{
	static const struct settings none;
	const struct settings *s = ex->server->config.settings;
	struct buf *out = answer_scratch(ex);
	struct json j;

	json_init(&j, out);
	json_object(&j, NULL);
	settings_live_write(s ? s : &none, &j, "settings");
	json_end(&j);
	answer_json(ex, 200, out);
}

static void changed(void *arg, int64_t job, bool again, const struct err *err)
{
	struct exchange *ex = arg;

	(void)job;
	(void)again;
	if (err)
		answer_error(ex, err);
	else if (ex->conn)
		handle_settings(ex);
	exchange_drop(ex);
}

/* 500.0 is the number 500, too. */
static const char *text_of(const struct doc_node *n, char room[24])
{
	int64_t v;

	if (doc_whole(n, INT64_MIN, INT64_MAX, &v) < 0)
		return n->text;
	snprintf(room, 24, "%" PRId64, v);
	return room;
}

/* {"value":"500"}: what the document holds.  NULL: it is taken back. */
static char *make_body(const struct doc_node *n)
{
	char room[24];
	struct buf out = { 0 };
	struct json j;

	if (n->kind == DOC_NULL)
		return NULL;
	json_init(&j, &out);
	json_object(&j, NULL);
	json_str(&j, "value", text_of(n, room));
	json_end(&j);
	return buf_take(&out);
}

/* The frame has seen that every field is a setting's, a text, a number or null. */
void handle_settings_set(struct exchange *ex)
{
	struct yard_doc docs[CHANGES_MAX];
	char *bodies[CHANGES_MAX];
	AUTO_BUF struct buf names = { 0 };
	struct err err;
	AUTO_DOC struct doc *d = doc_parse_json(buf_str(&ex->body), ex->body.len, &err);
	size_t count = 0;
	int rc = d ? 0 : -1;

	for (const struct doc_node *n = d ? doc_root(d)->first : NULL;
	     n && rc == 0 && count < CHANGES_MAX; n = n->next) {
		char room[24];
		if (n->kind != DOC_NULL)
			rc = settings_live_check(n->key, text_of(n, room), &err);
		bodies[count] = make_body(n);
		docs[count] =
			(struct yard_doc){ SETTINGS_DOC_KIND, n->key, bodies[count] };
		buf_printf(&names, "%s%s", count++ ? " " : "", n->key);
	}
	if (rc < 0) {
		answer_error(ex, &err);
	} else if (count == 0) {
		handle_settings(ex);
	} else {
		exchange_hold(ex);
		yard_change(ex->server->config.yard, ex->who,
			    &(struct yard_change){ docs, count, "setting.set",
						   buf_str(&names) },
			    changed, ex);
	}
	for (size_t i = 0; i < count; i++)
		free(bodies[i]);
}
