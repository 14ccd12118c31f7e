// SPDX-License-Identifier: Apache-2.0
#include "http/route.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "http/app.h"
#include "wire/api.h"

/* clang-format off */
const struct route_table route_tables[] = {
	{ "jobs", "submit, look, stop; history, use and output", routes_jobs },
	{ "apps", "programs in tasks that are opened in a browser", routes_apps },
	{ "files", "homes, shares and what jobs put out", routes_files },
	{ "people", "who one is; users, groups, tokens", routes_people },
	{ "secrets", "kept for jobs; their values never come back", routes_secrets },
	{ "catalogue", "images and kinds of machine that jobs may ask for", routes_catalog },
	{ "yard", "the yard itself: version, machines, quotas, settings, code", routes_yard },
};

static const char *const rule_words[ROUTE_RULE_COUNT] = {
	[RULE_PUBLIC] = "public",
	[RULE_SELF]   = "self",
	[RULE_ANY]    = "any",
	[RULE_MEMBER] = "member",
	[RULE_SEE]    = "see",
	[RULE_TOUCH]  = "touch",
	[RULE_OWN]    = "own",
	[RULE_ADMIN]  = "admin",
};
/* clang-format on */
const size_t route_table_count = COUNT_OF(route_tables);

const struct route *route_at(size_t i)
{
	for (size_t t = 0; t < route_table_count; t++)
		for (const struct route *r = route_tables[t].rows; r->method; r++)
			if (i-- == 0)
				return r;
	return NULL;
}

size_t route_count(void)
{
	size_t n = 0;

	for (size_t t = 0; t < route_table_count; t++)
		for (const struct route *r = route_tables[t].rows; r->method; r++)
			n++;
	return n;
}

const char *route_rule_word(enum route_rule r)
{
	return rule_words[r];
}

void route_path(const struct route *r, struct buf *out)
{
	buf_printf(out, "%s%s", r->root ? "" : WIRE_PREFIX, r->pattern);
}

int route_status(const struct route *r)
{
	return r->status ? r->status : 200;
}

void http_routes_text(struct buf *out)
{
	for (size_t i = 0; i < route_count(); i++) {
		const struct route *r = route_at(i);
		buf_printf(out, "%s ", r->method);
		route_path(r, out);
		buf_printf(out, "\t%s\t%s\n", rule_words[r->rule], r->help);
	}
}

static bool reads(const struct route *r)
{
	return str_eq(r->method, "GET") || str_eq(r->method, "HEAD");
}

static bool names_job(const struct route *r)
{
	return r->rule == RULE_SEE || r->rule == RULE_TOUCH || r->rule == RULE_OWN;
}

unsigned route_errors(const struct route *r)
{
	unsigned e = r->errors | ROUTE_ERR(ERR_INVALID) | ROUTE_ERR(ERR_INTERNAL) |
		     ROUTE_ERR(ERR_BUSY);

	if (r->rule != RULE_PUBLIC)
		e |= ROUTE_ERR(ERR_UNKNOWN_CALLER) | ROUTE_ERR(ERR_DENIED);
	if (names_job(r))
		e |= ROUTE_ERR(ERR_NOT_FOUND);
	if (r->takes != ROUTE_NO_BODY)
		e |= ROUTE_ERR(ERR_TOO_LARGE) | ROUTE_ERR(ERR_TIMEOUT);
	if (!reads(r))
		e |= ROUTE_ERR(ERR_IO);
	return e;
}

/* Segment by segment, so that an encoded slash never makes two of one.  at: where the
 * segments begin that the pattern's ":x" stand for. */
static bool match(const char *pattern, const char *path, const char *at[ROUTE_PARAMS_MAX])
{
	size_t params = 0;

	while (*pattern == '/' && *path == '/') {
		size_t want = strcspn(++pattern, "/"), have = strcspn(++path, "/");
		if (*pattern == ':') {
			if (have == 0 || params == ROUTE_PARAMS_MAX)
				return false;
			at[params++] = path;
		} else if (want != have || memcmp(pattern, path, want) != 0) {
			return false;
		}
		pattern += want;
		path += have;
	}
	return *pattern == '\0' && *path == '\0';
}

static bool fits(const struct route *r, const char *path,
		 const char *at[ROUTE_PARAMS_MAX])
{
	size_t prefix = r->root ? 0 : strlen(WIRE_PREFIX);

	memset((void *)at, 0, ROUTE_PARAMS_MAX * sizeof *at);
	return strncmp(path, WIRE_PREFIX, prefix) == 0 &&
	       match(r->pattern, path + prefix, at);
}

static int keep_params(struct exchange *ex, const char *const at[ROUTE_PARAMS_MAX],
		       struct err *err)
{
	const char *name = ex->route->pattern;

	for (size_t i = 0; i < ROUTE_PARAMS_MAX && at[i]; i++) {
		ex->param[i] = url_decode(at[i], strcspn(at[i], "/"), 0, err);
		name = strchr(name, ':');
		if (!ex->param[i] || !name)
			return -1;
		name++;
		const struct param *p = params_path(name, strcspn(name, "/"));
		if (p && params_check_word(p, ex->param[i], err) < 0)
			return -1;
	}
	return 0;
}

/* A GET whose answer is made at once can be asked by HEAD. */
static bool has_head(const struct route *r)
{
	return str_eq(r->method, "GET") && r->answer && !strchr(r->answer, '/');
}

static bool takes_method(const struct route *r, const char *method)
{
	return str_eq(r->method, method) || (str_eq(method, "HEAD") && has_head(r));
}

static void add_allowed(struct buf *allow, const struct route *r)
{
	buf_printf(allow, "%s%s%s", allow->len ? ", " : "", r->method,
		   has_head(r) ? ", HEAD" : "");
}

int route_find(struct exchange *ex, int *status, struct err *err)
{
	AUTO_BUF struct buf allow = { 0 };
	const char *path = ex->head->path, *at[ROUTE_PARAMS_MAX];

	if (str_starts(path, APP_PATH)) {
		ex->route = &route_app;
		return 0;
	}
	for (size_t t = 0; t < route_table_count; t++)
		for (const struct route *r = route_tables[t].rows; r->method; r++) {
			if (!fits(r, path, at))
				continue;
			if (takes_method(r, ex->head->method)) {
				ex->route = r;
				*status = 400;
				return keep_params(ex, at, err);
			}
			add_allowed(&allow, r);
		}
	*status = 404;
	if (!allow.len)
		return err_set(err, ERR_NOT_FOUND,
			       "there is nothing at %s; the API is below " WIRE_PREFIX,
			       path);
	buf_adds(&allow, ", OPTIONS");
	ex->allow = buf_take(&allow);
	*status = str_eq(ex->head->method, "OPTIONS") ? 204 : 405;
	return err_set(err, ERR_INVALID, "%s does not take %s; it takes %s", path,
		       ex->head->method, ex->allow);
}

static int allows_scope(const struct route *r, const struct principal *p, struct err *err)
{
	unsigned need = reads(r) ? SCOPE_READ : SCOPE_WRITE;

	if (r->rule == RULE_SELF || r->rule == RULE_PUBLIC)
		return 0;
	if (r->rule == RULE_ADMIN && !reads(r))
		need = SCOPE_ADMIN;
	if ((p->scopes & need) == need)
		return 0;
	return err_set(err, ERR_DENIED, "the token you use may not %s",
		       need == SCOPE_READ    ? "read"
		       : need == SCOPE_WRITE ? "change anything"
					     : "do what only an admin may");
}

int route_allows(const struct route *r, const struct principal *p, struct err *err)
{
	if (r->rule == RULE_PUBLIC)
		return 0;
	if (!p)
		return err_set(
			err, ERR_UNKNOWN_CALLER,
			"not known who you are: by TCP an Authorization header says it, with a "
			"token or a password; see POST " WIRE_PREFIX "/login");
	if (r->rule == RULE_ADMIN && p->role != ROLE_ADMIN)
		return err_set(err, ERR_DENIED, "this is for administrators; you are %s",
			       p->name);
	if (p->role == ROLE_VIEWER &&
	    (r->rule == RULE_MEMBER || r->rule == RULE_TOUCH || r->rule == RULE_OWN))
		return err_set(err, ERR_DENIED,
			       "you may look, not change anything: your role is %s",
			       user_role_word(p->role));
	return allows_scope(r, p, err);
}

int route_admit(struct exchange *ex, struct err *err)
{
	/* Of a job, that one may see it is asked first: what is somebody else's is not
	 * there, rather than forbidden. */
	bool job = names_job(ex->route) && ex->who;

	if (!job && route_allows(ex->route, ex->who, err) < 0)
		return -1;
	if (ex->route->opaque)
		return 0;
	if (url_query_parse(&ex->query, ex->head->query, err) < 0 ||
	    params_check(ex->route->params, &ex->query, err) < 0)
		return -1;
	return job ? route_job(ex, err) : 0;
}
