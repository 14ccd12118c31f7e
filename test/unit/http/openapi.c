// SPDX-License-Identifier: Apache-2.0
/* The OpenAPI document tells of every route and of no other, and the server keeps what it
 * promises: every route is called, and each answer, good or not, is held against the shape
 * and the statuses its row names. */
#include "http/openapi.h"
#include "base/doc.h"
#include "calls.h"
#include "dialect/dialect.h"
#include "fixture.h"
#include "http/route.h"
#include "wire/api.h"
#include "wire/outcome.h"
#include "wire/shape.h"

#define LONG_MS 1000000000000 /* a task runs up to that long: none ends by itself */

static void template_of(const struct route *r, struct buf *out)
{
	struct buf path = { 0 };

	route_path(r, &path);
	for (const char *at = buf_str(&path); *at; at++) {
		bool word = *at == ':';
		size_t len = word ? strcspn(at, "/") : 1;
		if (word)
			buf_printf(out, "{%.*s}", (int)len - 1, at + 1);
		else
			buf_addc(out, *at);
		at += len - 1;
	}
	buf_fini(&path);
}

static const struct doc_node *operation(const struct doc_node *paths,
					const struct route *r)
{
	struct buf path = { 0 };
	char method[16] = "";

	for (size_t i = 0; r->method[i]; i++)
		method[i] = (char)(r->method[i] | 0x20);
	template_of(r, &path);
	const struct doc_node *n = doc_get(doc_get(paths, buf_str(&path)), method);
	buf_fini(&path);
	return n;
}

static bool named_before(size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (str_eq(route_at(k)->name, route_at(i)->name))
			return true;
	return false;
}

static bool shapes_are(const char *names)
{
	char *copy = mem_strdup(names ? names : ""), *rest = copy;
	bool ok = true;

	for (char *one; (one = strsep(&rest, "|")) && *one;)
		ok &= strchr(one, '/') || str_eq(one, ROUTE_ANY) ||
		      str_eq(one, WIRE_JOB_FILE) || wire_shape_find(one);
	free(copy);
	return ok;
}

static bool words_are(const char *pattern)
{
	size_t params = 0;

	for (const char *at = pattern; (at = strchr(at, ':'));) {
		size_t len = strcspn(++at, "/");
		params++;
		if (!params_path(at, len))
			return false;
	}
	return params <= ROUTE_PARAMS_MAX;
}

static size_t told(const struct doc_node *paths)
{
	size_t n = 0;

	for (const struct doc_node *p = paths->first; p; p = p->next)
		n += p->count;
	return n;
}

static void document(void)
{
	struct buf text = { 0 };
	struct err err = { 0 };

	openapi_write(&text);
	struct doc *d = doc_parse_json(buf_str(&text), text.len, &err);
	if (!OK(d != NULL, "the document is JSON (%zu bytes)", text.len))
		printf("# %s\n", err.text);
	const struct doc_node *paths = d ? doc_get(doc_root(d), "paths") : NULL;
	for (size_t i = 0; paths && i < route_count(); i++) {
		const struct route *r = route_at(i);
		const struct doc_node *op = operation(paths, r);
		OK(op && str_eq(doc_str(op, "operationId", ""), r->name) &&
			   doc_get(op, "responses") && !named_before(i),
		   "%s %s is told as %s, a name of its own", r->method, r->pattern,
		   r->name);
		OK(shapes_are(r->answer) && shapes_are(r->also_answer) &&
			   shapes_are(r->body) && words_are(r->pattern),
		   "%s: its shapes and the words of its path are known", r->name);
		OK((r->takes != ROUTE_NO_BODY) == (r->body != NULL) &&
			   (r->takes != ROUTE_NO_BODY) == (r->body_max > 0),
		   "%s: it says what body it takes, and how much", r->name);
	}
	OK(paths && told(paths) == route_count(), "and of nothing that is not there");
	doc_destroy(d);
	buf_fini(&text);
}

/* A spec inside an answer is a job file: it can be submitted again. */
static int check_spec(const struct doc_node *answer, struct err *err)
{
	const struct doc_node *spec = doc_get(answer, "spec");
	struct problems problems = { 0 };
	struct buf text = { 0 };
	struct json j;

	if (!spec)
		return 0;
	json_init(&j, &text);
	doc_write_json(spec, &j, NULL);
	struct spec *s = dialect_find(DIALECT_NATIVE, NULL)
				 ->read(buf_str(&text), text.len, &problems);
	int rc = s ? 0 : problems_err(&problems, err);
	spec_destroy(s);
	problems_fini(&problems);
	buf_fini(&text);
	return rc;
}

/* One of the shapes of "a|b". */
static bool has_shape(const struct answer *a, const char *names)
{
	char *copy = mem_strdup(names), *rest = copy;
	struct err err = { 0 };
	struct doc *d = doc_parse_json(buf_str(&a->body), a->body.len, &err);
	bool ok = false;

	for (char *one; d && !ok && (one = strsep(&rest, "|"));)
		ok = str_eq(one, ROUTE_ANY) ||
		     (wire_shape_find(one) &&
		      wire_shape_check(wire_shape_find(one), doc_root(d), &err) == 0 &&
		      check_spec(doc_root(d), &err) == 0);
	if (!ok)
		printf("# %s: %s\n# %s\n", names, err.text, buf_str(&a->body));
	doc_destroy(d);
	free(copy);
	return ok;
}

static const struct route *find(const char *name)
{
	for (size_t i = 0; i < route_count(); i++)
		if (str_eq(route_at(i)->name, name))
			return route_at(i);
	return NULL;
}

static bool may_answer(const struct route *r, int status)
{
	for (int c = ERR_NONE + 1; c < ERR_CODE_END; c++)
		if (route_errors(r) & ROUTE_ERR(c) &&
		    wire_http_status((enum err_code)c) == status)
			return true;
	return status == route_status(r) || status == r->also;
}

/* The last token that was made: what later calls name by $TOKEN and $ID. */
static char token_text[128], token_id[32];
static char upload_id[64]; /* the same of uploads: $UPLOAD */

static void keep_token(const struct answer *a)
{
	struct doc *d = doc_parse_json(buf_str(&a->body), a->body.len, NULL);

	if (d) {
		snprintf(token_text, sizeof token_text, "%s",
			 doc_str(doc_root(d), "token", ""));
		snprintf(token_id, sizeof token_id, "%s", doc_str(doc_root(d), "id", ""));
	}
	doc_destroy(d);
}

static void keep_upload(const struct answer *a)
{
	struct doc *d = doc_parse_json(buf_str(&a->body), a->body.len, NULL);

	snprintf(upload_id, sizeof upload_id, "%s",
		 d ? doc_str(doc_root(d), "upload", "") : "");
	doc_destroy(d);
}

static char *filled(const char *text)
{
	struct buf out = { 0 };

	for (const char *at = text; at && *at;) {
		bool is_token = str_starts(at, "$TOKEN"), is_id = str_starts(at, "$ID"),
		     is_upload = str_starts(at, "$UPLOAD");
		if (is_token || is_id || is_upload)
			buf_adds(&out, is_token ? token_text
				       : is_id  ? token_id
						: upload_id);
		else
			buf_addc(&out, *at);
		at += is_upload ? 7 : is_token ? 6 : is_id ? 3 : 1;
	}
	return text ? buf_take(&out) : NULL;
}

/* A path that is not below WIRE_PREFIX. */
static void ask_root(struct client *c, struct answer *a, const char *method,
		     const char *target)
{
	char *request =
		str_printf("%s %s HTTP/1.1\r\nHost: yard\r\n\r\n", method, target);

	say(c->fd, request);
	free(request);
	client_read(c, a, 0);
}

static void one_call(struct fixture *f, const struct call *c)
{
	const struct route *r = find(c->name);
	struct client client = client_open(f);
	struct answer a = { 0 };

	if (!OK(r != NULL, "%s is a route", c->name))
		return;
	int want = c->status ? c->status : route_status(r);
	const char *shape = want == r->also && r->also_answer ? r->also_answer
			    : want >= 400                     ? "error"
							      : r->answer;
	bool json = shape && !strchr(shape, '/') && !str_eq(r->method, "HEAD");
	char *target = filled(c->target), *headers = filled(c->headers);
	if (r->root)
		ask_root(&client, &a, r->method, target);
	else
		ask_with(&client, &a, r->method, target, headers, c->body);
	free(target);
	free(headers);
	if (str_eq(r->answer, "new_token") && a.status == 201)
		keep_token(&a);
	if (str_eq(r->answer, "upload") && a.status == 201)
		keep_upload(&a);
	if (want == 101) {
		OK(a.status == 101, "%s switches", c->name);
		close(f->shim);
	} else {
		bool ok = OK(a.status == want && may_answer(r, want) &&
				     (!json || has_shape(&a, shape)),
			     "%s %s gives %d with %s", r->method, c->target, want,
			     shape ? shape : "nothing");
		if (!ok)
			printf("# %d %s\n", a.status, buf_str(&a.body));
	}
	buf_fini(&a.body);
	client_close(&client);
}

static void every_route(struct fixture *f)
{
	for (size_t i = 0; i < COUNT_OF(calls); i++)
		one_call(f, &calls[i]);
	for (size_t i = 0; i < route_count(); i++) {
		bool called = false;
		for (size_t k = 0; k < COUNT_OF(calls); k++)
			called |= str_eq(calls[k].name, route_at(i)->name);
		OK(called, "%s is called by this test", route_at(i)->name);
	}
}

/* The pattern with something in place of its words. */
static void some_target(const struct route *r, struct buf *out)
{
	for (const char *at = r->pattern; *at;) {
		size_t len = *at == ':' ? strcspn(at, "/") : 1;
		if (*at == ':')
			buf_adds(out, str_starts(at, ":job")      ? "2"
				      : str_starts(at, ":hash")   ? NO_HASH
				      : str_starts(at, ":scope")  ? "user"
				      : str_starts(at, ":part")   ? "0"
				      : str_starts(at, ":upload") ? NO_UPLOAD
								  : "nobody");
		else
			buf_addc(out, *at);
		at += len;
	}
}

static const char *field_of(const struct answer *a, struct doc **d)
{
	*d = doc_parse_json(buf_str(&a->body), a->body.len, NULL);
	return *d ? doc_str(doc_get(doc_root(*d), "error"), "field", "") : "";
}

/* Every route refuses alike what every route refuses. */
static void refusals(struct fixture *f)
{
	for (size_t i = 0; i < route_count(); i++) {
		const struct route *r = route_at(i);
		struct buf target = { 0 };
		struct answer a = { 0 };
		struct doc *d = NULL;
		bool head = str_eq(r->method, "HEAD");
		struct client c = client_open(f);

		if (r->root) {
			client_close(&c);
			continue;
		}
		some_target(r, &target);
		buf_adds(&target, "?no_such_thing=1");
		ask(&c, &a, r->method, buf_str(&target), NULL);
		OK(a.status == 400 &&
			   (head || (has_shape(&a, "error") &&
				     str_eq(field_of(&a, &d), "no_such_thing"))),
		   "%s: an unknown parameter is refused by its name", r->name);
		doc_destroy(TAKE(d));
		buf_cut(&target, target.len - strlen("?no_such_thing=1"));
		client_close(&c);
		c = client_open(f);
		ask(&c, &a, "TRACE", buf_str(&target), NULL);
		OK(a.status == 405 && has_shape(&a, "error"), "%s: TRACE is 405",
		   r->name);
		client_close(&c);
		if (r->takes == ROUTE_BODY && !str_eq(r->body, WIRE_JOB_FILE)) {
			c = client_open(f);
			ask(&c, &a, r->method, buf_str(&target), "{\"nonsense\":1}");
			OK(a.status == 400 && has_shape(&a, "error") &&
				   str_eq(field_of(&a, &d), "nonsense"),
			   "%s: an unknown field is refused by its name", r->name);
			doc_destroy(TAKE(d));
			ask(&c, &a, r->method, buf_str(&target), "[]");
			OK(a.status == 400 && has_shape(&a, "error"),
			   "%s: a body of another kind is refused", r->name);
			client_close(&c);
		}
		buf_fini(&target);
		buf_fini(&a.body);
	}
}

static void strangers(const struct fixture *f)
{
	for (size_t i = 0; i < route_count(); i++) {
		const struct route *r = route_at(i);
		struct buf target = { 0 };
		struct answer a = { 0 };
		struct client c = { .fd = dial_tcp(f),
				    .parser = http_parser_create(HTTP_RESPONSES) };

		if (r->rule != RULE_PUBLIC && !r->root) {
			some_target(r, &target);
			ask(&c, &a, r->method, buf_str(&target), NULL);
			OK(a.status == 401 &&
				   (str_eq(r->method, "HEAD") || has_shape(&a, "error")),
			   "%s: nobody is 401", r->name);
		}
		client_close(&c);
		buf_fini(&target);
		buf_fini(&a.body);
	}
}

static void methods(struct fixture *f)
{
	struct client c = client_open(f);
	struct answer a = { 0 };

	ask(&c, &a, "OPTIONS", "/jobs", NULL);
	OK(a.status == 204, "OPTIONS is answered");
	ask(&c, &a, "HEAD", "/jobs/2", NULL);
	OK(a.status == 200 && a.body.len == 0, "HEAD is GET without a body");
	ask(&c, &a, "HEAD", "/jobs/999999", NULL);
	OK(a.status == 404, "and has its status");
	ask(&c, &a, "GET", "/jobs?limit=1&limit=2", NULL);
	OK(a.status == 400 && has(&a, "\"field\":\"limit\""),
	   "a parameter given twice is refused");
	ask(&c, &a, "GET", "/jobs?limt=1", NULL);
	OK(a.status == 400 && has(&a, "did you mean limit?"),
	   "one that is not there comes with the meant one");
	ask(&c, &a, "GET", "/jobs?limit=1000000", NULL);
	OK(a.status == 400 &&
		   has(&a, "limit: '1000000' is not a whole number from 1 to "),
	   "a range is told");
	ask(&c, &a, "GET", "/jobs/2/logs?task=some", NULL);
	OK(a.status == 400 && has(&a, "from 0 to 4096, all"), "and the words beside it");
	ask(&c, &a, "GET", "/nothing/here", NULL);
	OK(a.status == 404 && has_shape(&a, "error"), "no such path is 404");
	buf_fini(&a.body);
	client_close(&c);
}

int main(void)
{
	struct fixture f = { .run_ms_max = LONG_MS };
	struct answer a = { 0 };

	document();
	fixture_start(&f);
	struct client c = client_open(&f);
	ask(&c, &a, "POST", "/jobs", JOB);
	ask(&c, &a, "POST", "/jobs/1/stop", NULL);
	ask(&c, &a, "GET", "/jobs/1/wait?timeout_ms=60000", NULL);
	OK(a.status == 200, "a job has ended");
	ask(&c, &a, "POST", "/jobs", JOB);
	for (int i = 0; i < 3000 && !strstr(buf_str(&a.body), "\"running\""); i++) {
		usleep(20000);
		ask(&c, &a, "GET", "/jobs/2", NULL);
	}
	OK(has(&a, "\"state\":\"running\""), "and another one runs");
	client_close(&c);
	buf_fini(&a.body);
	every_route(&f);
	refusals(&f);
	strangers(&f);
	methods(&f);
	fixture_end(&f);
	return END();
}
