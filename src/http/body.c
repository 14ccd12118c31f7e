// SPDX-License-Identifier: Apache-2.0
/* What a request's headers and body must be like, by what its route's row says. */
#include "http/route.h"

#include <ctype.h>
#include <string.h>

#include "base/doc.h"
#include "base/str.h"
#include "wire/shape.h"

/* Those that are texts or numbers; what an upgrade needs is its handler's to say. */
static int check_headers(const struct exchange *ex, struct err *err)
{
	for (const struct param *p = ex->route->headers; p && p->name; p++) {
		char name[64] = "";
		if (p->kind != PARAM_TEXT && p->kind != PARAM_INT)
			continue;
		for (size_t i = 0; i < sizeof name - 1 && p->name[i]; i++)
			name[i] = (char)tolower((unsigned char)p->name[i]);
		const char *value = http_head_get(ex->head, name);
		if (value && params_check_word(p, value, err) < 0)
			return -1;
	}
	return 0;
}

/* This copy of a password was only looked at: it does not stay in memory. */
static void forget_secrets(const struct wire_shape *s, const struct doc_node *root)
{
	for (const struct wire_field *f = s->fields; f->name; f++) {
		const struct doc_node *n =
			f->flags & WIRE_SECRET ? doc_get(root, f->name) : NULL;
		if (n && n->kind == DOC_STRING)
			explicit_bzero((char *)(uintptr_t)n->text, n->text_len);
	}
}

/* Job files come in many dialects and media types are just bytes: their handlers look. */
int route_body(const struct exchange *ex, struct err *err)
{
	const struct route *r = ex->route;

	if (check_headers(ex, err) < 0)
		return -1;
	if (r->takes != ROUTE_BODY || !r->body || strchr(r->body, '/') ||
	    str_eq(r->body, WIRE_JOB_FILE))
		return 0;
	if (!ex->body.len)
		return r->body_optional
			       ? 0
			       : err_set(err, ERR_INVALID, "a body of JSON is needed");

	AUTO_DOC struct doc *d = doc_parse_json(ex->body.data, ex->body.len, err);
	if (!d)
		return err_wrap(err, "the body is not JSON");
	const struct wire_shape *shape = wire_shape_find(r->body);
	int rc = wire_shape_check(shape, doc_root(d), err);
	forget_secrets(shape, doc_root(d));
	return rc;
}
