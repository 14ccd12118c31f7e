// SPDX-License-Identifier: Apache-2.0
/* route.h - what may be asked, by whom, and who answers: one row each.
 *
 * How to add a route:
 *  1. A row in the table of its subject (routes_jobs.c, routes_people.c, routes_secrets.c,
 *     routes_yard.c), complete: method, pattern, name, rule, handler, help; and by name
 *     .params, .body, .answer, .status, .errors as far as they apply.  Rows are found in
 *     order; no path may fit two patterns.
 *  2. The handler's prototype in handlers.h, the handler in the file of its subject.  It
 *     reads the path's words in ex->param[], the query by param_text() and its sisters
 *     (params.h; all was checked against the table before the handler is called), the
 *     whole body in ex->body.
 *  3. The shapes that .body and .answer name, in wire/shape.h.  The OpenAPI document, the
 *     check of real answers and the authorisation matrix are made of the rows.
 *  4. A line in docs/api.md; test/unit/http/docs.c misses it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "http/internal.h"
#include "http/params.h"

/* Who may.  Beside it the credential's scope: to read takes SCOPE_READ, to change anything
 * SCOPE_WRITE, what only an admin may change SCOPE_ADMIN. */
enum route_rule {
	RULE_PUBLIC, /* anybody, by any door */
	RULE_SELF,   /* whoever it is, with a credential of whatever scope */
	RULE_ANY,    /* whoever it is; the handler looks at what is theirs */
	RULE_MEMBER, /* one whose role lets them change things */
	RULE_SEE,    /* the path's :job is theirs, their group's, or they are admin */
	RULE_TOUCH,  /* the same, and the role lets them change it */
	RULE_OWN,    /* the job's owner, or an admin: it acts as the owner */
	RULE_ADMIN,
	ROUTE_RULE_COUNT
};

enum route_takes { ROUTE_NO_BODY, ROUTE_BODY, ROUTE_STREAM };

#define BODY_SMALL (64 << 10) /* what a person may type */
#define BODY_SPEC  (4 << 20)
#define ROUTE_ANY  "any" /* for .answer: whatever JSON object */
#define ROUTE_JSON "application/json"
#define ROUTE_YAML "application/yaml"
#define ROUTE_TEXT "text/plain; charset=utf-8"

#define ROUTE_ERR(code) (1u << (code)) /* of enum err_code, for .errors */

struct route {
	const char *method;
	const char *pattern; /* ":job" is a job's id or name, other ":x" any segment */
	const char *name;    /* "list_jobs": stable, of clients made from the document */
	enum route_rule rule;
	void (*handle)(struct exchange *ex);
	const char *help; /* one sentence */

	bool root;   /* the path is as given, not below WIRE_PREFIX */
	bool opaque; /* path, method and query are somebody else's to read: app.h */
	const struct param *params;  /* of the query; NULL: it takes none */
	const struct param *headers; /* that mean something here, for the document */
	enum route_takes takes;
	int64_t body_max;
	bool body_optional;
	const char *body;       /* the shape of the request's body, or a media type */
	const char *body_types; /* media types by '|'; NULL: ROUTE_JSON */
	/* Shapes and media types (those with a '/') by '|'; NULL: the answer is empty. */
	const char *answer;
	int status;              /* of success; 0: 200 */
	int also;                /* another one of success; 0: none */
	const char *also_answer; /* what comes with it; NULL: as .answer */
	unsigned errors; /* ROUTE_ERR()s of the handler's own, beside the frame's */
};

/* The rows of one subject; a row without a method ends them. */
struct route_table {
	const char *subject, *help;
	const struct route *rows;
};

extern const struct route routes_jobs[], routes_people[], routes_secrets[], routes_yard[];
extern const struct route routes_catalog[], routes_files[];
extern const struct route routes_apps[];
extern const struct route_table route_tables[];
extern const size_t route_table_count;

/* Of /apps/...: in no table, since it is none of the API's. */
extern const struct route route_app, route_app_login;

size_t route_count(void);
const struct route *route_at(size_t i); /* over all tables */
const char *route_rule_word(enum route_rule r);
/* The whole path with WIRE_PREFIX. */
void route_path(const struct route *r, struct buf *out);
int route_status(const struct route *r);
/* Every error class it can answer with, as ROUTE_ERR() bits: the frame's and its own. */
unsigned route_errors(const struct route *r);
/* Whether the rule lets this caller in at all; what it says of the job is seen later. */
int route_allows(const struct route *r, const struct principal *p, struct err *err);

/* Fills route and param.  -1: *status is 404 or 405 (then allow is set) with err, or 204
 * for OPTIONS (allow is set, err is not). */
int route_find(struct exchange *ex, int *status, struct err *err);
/* Then, once it is known who asks: the rule, the query, the job.  -1 with err. */
int route_admit(struct exchange *ex, struct err *err);
/* body.c: the whole request is there; whether headers and body are as the row says. */
int route_body(const struct exchange *ex, struct err *err);
/* find.c: the job that ex->param[0] names, which the caller may see; and its rule. */
int route_job(struct exchange *ex, struct err *err);
