// SPDX-License-Identifier: Apache-2.0
/* What a request's body must be like, by the shape its route names. */
#include "http/route.h"

#include <string.h>

#include "base/doc.h"
#include "base/str.h"
#include "wire/shape.h"

/* Job files come in many dialects and media types are just bytes: their handlers look. */
int route_body(const struct exchange *ex, struct err *err)
{
	const struct route *r = ex->route;

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
	return wire_shape_check(wire_shape_find(r->body), doc_root(d), err);
}
