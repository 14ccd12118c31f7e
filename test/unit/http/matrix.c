// SPDX-License-Identifier: Apache-2.0
/* The authorisation matrix: every route × every caller × whose thing it is, on a real
 * server.  The requests come from the table of routes; what must be answered comes from
 * the laws below, which know nothing of how the server decides.  A route whose rule or
 * whose objects no law covers fails the test.
 */
#include "fixture.h"

#include "base/doc.h"
#include "base/json.h"
#include "http/route.h"
#include "wire/api.h"

enum caller { NOBODY, VIEWER, MEMBER, ADMIN, CALLER_COUNT };
enum whose { OWN, GROUPS, OTHERS, WHOSE_COUNT };
enum verdict { PASS, STRANGER = 401, DENIED = 403, MISSING = 404 };

static const char *const caller_names[] = { "nobody", "vic", "mia", "adm" };
static const char *const whose_words[] = { "their own", "their group's", "a stranger's" };
#define MATE   "gus" /* in the group of vic and mia */
#define OTHER  "sam" /* in another one */
#define SECRET "correct horse battery"
#define HOME   "/pfs/local/home/$OWNER"

/* What the path's object is, by its first parameter, for rules that leave it to the
 * handler: who may, and what one who may not is told. */
enum object_law {
	LAW_NONE,  /* there is no object */
	LAW_SELF,  /* the user themself, and an admin; another is not there */
	LAW_GROUP, /* who is in the group, and an admin; another is not there */
	LAW_QUOTA, /* the user themself, and an admin; to others it is forbidden */
	LAW_APP, /* its owner, and an admin; a mate sees it and may not, to others it is not there */
};
static const struct {
	const char *name; /* of the route */
	enum object_law law;
} object_laws[] = {
	{ "show_user", LAW_SELF },     { "set_user", LAW_SELF },
	{ "remove_token", LAW_SELF },  { "show_group", LAW_GROUP },
	{ "show_quota", LAW_QUOTA },   { "has_code", LAW_NONE },
	{ "put_code", LAW_NONE },      { "secrets_of", LAW_SELF },
	{ "set_secret", LAW_SELF },    { "remove_secret", LAW_SELF },
	{ "set_image", LAW_NONE },     { "remove_image", LAW_NONE },
	{ "list_files", LAW_SELF },    { "remove_file", LAW_SELF },
	{ "stat_file", LAW_SELF },     { "get_file", LAW_SELF },
	{ "head_file", LAW_SELF },     { "put_file", LAW_SELF },
	{ "make_folder", LAW_SELF },   { "move_file", LAW_SELF },
	{ "file_usage", LAW_SELF },    { "sync_files", LAW_SELF },
	{ "begin_upload", LAW_SELF },  { "show_upload", LAW_SELF },
	{ "put_part", LAW_SELF },      { "finish_upload", LAW_SELF },
	{ "cancel_upload", LAW_SELF }, { "show_instance_type", LAW_NONE },
	{ "show_app", LAW_GROUP },     { "end_app", LAW_APP },
	{ "list_events", LAW_NONE },   { "show_node", LAW_NONE },
};

/* What a body must be so that nothing but the rule can refuse it; nothing is done that
 * would take the ground from under the next case. */
static const struct {
	const char *name, *body, *query;
} requests[] = {
	{ "submit_job", JOB, "" },
	{ "wait_job", NULL, "?timeout_ms=0" },
	{ "exec_job", NULL, "?arg=sh" },
	{ "set_quota", "{}", "" },
	{ "backup", "{\"path\":\"/dev/null/no/such\"}", "" },
	{ "change_node", "{}", "" },
	{ "add_user", "{\"name\":\"new$N\"}", "" },
	{ "set_user", "{}", "" },
	{ "add_group", "{\"name\":\"newg$N\"}", "" },
	{ "set_group", "{}", "" },
	{ "add_token", "{\"life\":\"1h\"}", "" },
	{ "put_code", "no tar", "" },
	{ "list_files", NULL, "?path=" HOME },
	{ "remove_file", NULL, "?path=" HOME "/gone" },
	{ "stat_file", NULL, "?path=" HOME "/f" },
	{ "get_file", NULL, "?path=" HOME "/f" },
	{ "head_file", NULL, "?path=/mnt/user/$OWNER/f" },
	{ "put_file", "bytes", "?path=" HOME "/p&sync=false" },
	{ "make_folder", "{\"path\":\"" HOME "/d\",\"parents\":true}", "" },
	{ "move_file", "{\"from\":\"" HOME "/gone\",\"to\":\"" HOME "/m\"}", "" },
	{ "file_usage", NULL, "?path=" HOME },
	{ "sync_files", NULL, "?path=" HOME },
	{ "begin_upload", "{\"path\":\"" HOME "/u\",\"size\":5}", "" },
	{ "put_part", "bytes", "" },
	{ "login", "{}", "" },
	{ "login_first", "{}", "" },
	{ "set_secret", "{\"value\":\"v\"}", "" },
	{ "set_image", "{\"scope\":\"own\"}", "" },
	{ "set_instance_type", "{\"cpu_milli\":1,\"memory_bytes\":1048576}", "" },
	{ "edit_job", "{\"priority\":1}", "" },
	{ "set_priority", "{\"priority\":1}", "" },
	{ "change_job", "{\"priority\":1}", "" },
	{ "clone_job", "{}", "" },
	{ "set_settings", "{}", "" },
	{ "change_settings", "{}", "" },
};

static struct fixture f = { .run_ms_max = 1000000000, .conns_per_address = 4000 };
static struct client tcp;
static char root[128], mate[128], other[128]; /* tokens */
static char full[CALLER_COUNT][128], weak[CALLER_COUNT][128];
static int serial; /* of things that are made */

static void go(struct answer *a, const char *token, const char *method,
	       const char *target, const char *body)
{
	char header[256] = "";

	if (token)
		snprintf(header, sizeof header, "Authorization: Bearer %s\r\n", token);
	ask_with(&tcp, a, method, target, header, body);
	if (a->keep_alive && a->whole)
		return;
	client_close(&tcp);
	tcp = client_tcp(&f);
}

/* A field of the last answer, of an object of one level. */
static bool field(const struct answer *a, const char *key, char *out, size_t size)
{
	struct doc *d = doc_parse_json(buf_str(&a->body), a->body.len, NULL);
	const struct doc_node *n = d ? doc_get(doc_root(d), key) : NULL;

	snprintf(out, size, "%s", n && n->text ? n->text : "");
	doc_destroy(d);
	return *out;
}

static void must(bool ok, const struct answer *a, const char *what)
{
	if (ok)
		return;
	printf("Bail out! %s: %d %s\n", what, a->status, buf_str(&a->body));
	exit(1);
}

static void log_in(const char *name, char token[128])
{
	char body[256];
	struct answer a = { 0 };

	snprintf(body, sizeof body, "{\"user\":\"%s\",\"password\":\"" SECRET "\"}",
		 name);
	go(&a, NULL, "POST", "/login", body);
	must(a.status == 201 && field(&a, "token", token, 128), &a, "log in");
	buf_fini(&a.body);
}

static void add(const char *name, const char *role, const char *group)
{
	char body[256];
	struct answer a = { 0 };

	snprintf(body, sizeof body,
		 "{\"name\":\"%s\",\"role\":\"%s\",\"groups\":[\"%s\"],"
		 "\"password\":\"" SECRET "\"}",
		 name, role, group);
	go(&a, root, "POST", "/users", body);
	must(a.status == 201, &a, "add a user");
	buf_fini(&a.body);
}

static int64_t job_of(const char *token)
{
	struct answer a = { 0 };
	char id[32];

	go(&a, token, "POST", "/jobs", JOB);
	must(a.status == 201 && field(&a, "id", id, sizeof id), &a, "submit");
	buf_fini(&a.body);
	return atoll(id);
}

static int64_t vics_job;
static char vics_upload[64];

/* A file in their home, which is there from then on; and an upload under way. */
static void fill_home(const char *token, char upload[64])
{
	char body[64];
	struct answer a = { 0 };

	go(&a, token, "PUT", "/files/content?path=f", "bytes");
	must(a.status / 100 == 2, &a, "put a file");
	snprintf(body, sizeof body, "{\"path\":\"u%d\",\"size\":5}", ++serial);
	go(&a, token, "POST", "/files/uploads", body);
	must(a.status == 201 && field(&a, "upload", upload, 64), &a, "begin an upload");
	buf_fini(&a.body);
}

static void fill_homes(void)
{
	char ignored[64];

	fill_home(mate, ignored);
	fill_home(other, ignored);
	for (int c = VIEWER; c < CALLER_COUNT; c++)
		fill_home(full[c], c == VIEWER ? vics_upload : ignored);
}

static void set_up(void)
{
	char body[256];
	struct answer a = { 0 };

	tcp = client_tcp(&f);
	snprintf(body, sizeof body,
		 "{\"code\":\"%s\",\"name\":\"chief\",\"password\":\"" SECRET "\"}",
		 f.first_code);
	go(&a, NULL, "POST", "/login/first", body);
	must(a.status == 201 && field(&a, "token", root, sizeof root), &a, "first");
	go(&a, root, "POST", "/groups", "{\"name\":\"lab\"}");
	go(&a, root, "POST", "/groups", "{\"name\":\"den\"}");
	must(a.status == 201, &a, "add a group");
	add(caller_names[VIEWER], "member", "lab");
	add(caller_names[MEMBER], "member", "lab");
	add(caller_names[ADMIN], "admin", "den");
	add(MATE, "member", "lab");
	add(OTHER, "member", "den");
	log_in(MATE, mate);
	log_in(OTHER, other);
	for (int c = VIEWER; c < CALLER_COUNT; c++) {
		log_in(caller_names[c], full[c]);
		go(&a, full[c], "POST", "/tokens", "{\"scopes\":[\"read\"]}");
		must(a.status == 201 && field(&a, "token", weak[c], 128), &a, "token");
	}
	vics_job = job_of(full[VIEWER]);
	fill_homes();
	go(&a, root, "PATCH", "/users/vic", "{\"role\":\"viewer\"}");
	must(a.status == 200, &a, "make a viewer");
	buf_fini(&a.body);
}

/* ---- the laws ---- */

static bool reads(const struct route *r)
{
	return str_eq(r->method, "GET") || str_eq(r->method, "HEAD");
}

static enum object_law law_of(const struct route *r)
{
	for (size_t i = 0; i < COUNT_OF(object_laws); i++)
		if (str_eq(object_laws[i].name, r->name))
			return object_laws[i].law;
	if (strchr(r->pattern, ':'))
		OK(false, "%s %s: a law says whose things it is about", r->method,
		   r->pattern);
	return LAW_NONE;
}

/* Somebody else's thing is not there; what one sees and may not touch is forbidden. */
static enum verdict judge_job(const struct route *r, enum caller c, bool may_write,
			      enum whose w)
{
	if (c != ADMIN && w == OTHERS)
		return MISSING;
	if (r->rule == RULE_SEE)
		return reads(r) || may_write ? PASS : DENIED;
	if (c == VIEWER || !may_write)
		return DENIED;
	return r->rule == RULE_OWN && c != ADMIN && w != OWN ? DENIED : PASS;
}

static enum verdict judge_object(const struct route *r, enum caller c, enum whose w)
{
	switch (law_of(r)) {
	case LAW_NONE:
		return PASS;
	case LAW_SELF:
		return c == ADMIN || w == OWN ? PASS : MISSING;
	case LAW_GROUP:
		return c == ADMIN || w != OTHERS ? PASS : MISSING;
	case LAW_QUOTA:
		return c == ADMIN || w == OWN ? PASS : DENIED;
	case LAW_APP:
		return c == ADMIN || w == OWN ? PASS : w == GROUPS ? DENIED : MISSING;
	}
	return PASS;
}

/* What is done with the daemon's rights to files of the machine: no token is enough. */
static bool needs_root(const struct route *r)
{
	return str_eq(r->name, "backup");
}

static enum verdict judge(const struct route *r, enum caller c, bool read_only,
			  enum whose w)
{
	bool may_write = !read_only;

	if (r->rule == RULE_PUBLIC)
		return PASS;
	if (c == NOBODY)
		return STRANGER;
	switch (r->rule) {
	case RULE_SELF:
		return PASS;
	case RULE_SEE:
	case RULE_TOUCH:
	case RULE_OWN:
		return judge_job(r, c, may_write, w);
	case RULE_ADMIN:
		return c == ADMIN && (reads(r) || may_write) && !needs_root(r) ? PASS
									       : DENIED;
	case RULE_MEMBER:
		if (c == VIEWER || !may_write)
			return DENIED;
		return judge_object(r, c, w);
	case RULE_ANY:
		if (!reads(r) && !may_write)
			return DENIED;
		return judge_object(r, c, w);
	case RULE_PUBLIC:
	case ROUTE_RULE_COUNT:
		break;
	}
	OK(false, "%s %s: no law covers its rule", r->method, r->pattern);
	return PASS;
}

/* ---- the requests ---- */

static const char *owner_of(enum caller c, enum whose w)
{
	if (w == OWN && c != NOBODY)
		return caller_names[c];
	return w == GROUPS ? MATE : OTHER;
}

static const char *token_of(enum caller c, enum whose w)
{
	if (w == OWN && c != NOBODY)
		return full[c];
	return w == GROUPS ? mate : other;
}

static void add_token_id(struct buf *out, enum caller c, enum whose w)
{
	struct answer a = { 0 };
	char id[64];

	go(&a, token_of(c, w), "POST", "/tokens", "{\"scopes\":[\"read\"]}");
	must(a.status == 201 && field(&a, "id", id, sizeof id), &a, "make a token");
	buf_adds(out, id);
	go(&a, root, "DELETE", "/tokens/none", NULL);
	buf_fini(&a.body);
}

/* To remove takes something of its own, so that the cast stays. */
static void add_user(struct buf *out, const struct route *r, enum caller c, enum whose w)
{
	struct answer a = { 0 };
	char body[64];

	if (!str_eq(r->name, "remove_user") && !strstr(r->name, "member")) {
		buf_adds(out, owner_of(c, w));
		return;
	}
	snprintf(body, sizeof body, "{\"name\":\"gone%d\"}", ++serial);
	go(&a, root, "POST", "/users", body);
	must(a.status == 201, &a, "add a user to be removed");
	buf_printf(out, "gone%d", serial);
	buf_fini(&a.body);
}

static void add_group(struct buf *out, const struct route *r, enum caller c, enum whose w)
{
	struct answer a = { 0 };
	char body[64];

	if (!str_eq(r->name, "remove_group")) {
		buf_adds(out, w == OTHERS && c != ADMIN   ? "den"
			      : c == ADMIN && w == GROUPS ? "den"
							  : "lab");
		return;
	}
	snprintf(body, sizeof body, "{\"name\":\"void%d\"}", ++serial);
	go(&a, root, "POST", "/groups", body);
	must(a.status == 201, &a, "add a group to be removed");
	buf_printf(out, "void%d", serial);
	buf_fini(&a.body);
}

static void add_secret(const char *user, const char *token)
{
	struct answer a = { 0 };
	char target[128];

	snprintf(target, sizeof target, "/secrets/user/%s/s", user);
	go(&a, token, "PUT", target, "{\"value\":\"v\"}");
	buf_fini(&a.body);
}

/* The board of a job, of one for each owner: one has only so many at a time. */
static void add_app(struct buf *out, enum caller c, enum whose w)
{
	static int64_t jobs[CALLER_COUNT + 2];
	int64_t *job = &jobs[w == OWN && c != NOBODY ? (int)c
			     : w == GROUPS           ? CALLER_COUNT
						     : CALLER_COUNT + 1];
	struct answer a = { 0 };
	char target[64], id[32];

	if (!*job)
		*job = job == &jobs[VIEWER] ? vics_job : job_of(token_of(c, w));
	snprintf(target, sizeof target, "/jobs/%lld/tensorboard", (long long)*job);
	go(&a, root, "POST", target, "{}");
	must(a.status / 100 == 2 && field(&a, "app", id, sizeof id), &a, "make a board");
	buf_adds(out, id);
	buf_fini(&a.body);
}

static void add_upload(struct buf *out, enum caller c, enum whose w)
{
	char id[64];

	fill_home(token_of(c, w), id);
	buf_adds(out, id);
}

static bool add_param(struct buf *out, const struct route *r, const char *name,
		      size_t len, enum caller c, enum whose w)
{
#define IS_PARAM(word) (len == strlen(word) && memcmp(name, word, len) == 0)
	if (IS_PARAM(":job"))
		buf_printf(out, "%lld",
			   (long long)(c == VIEWER && w == OWN ? vics_job
							       : job_of(token_of(c, w))));
	else if (IS_PARAM(":user"))
		add_user(out, r, c, w);
	else if (IS_PARAM(":group"))
		add_group(out, r, c, w);
	else if (IS_PARAM(":app"))
		add_app(out, c, w);
	else if (IS_PARAM(":token"))
		add_token_id(out, c, w);
	else if (IS_PARAM(":hash"))
		buf_adds(
			out,
			"0000000000000000000000000000000000000000000000000000000000000000");
	else if (IS_PARAM(":scope"))
		buf_adds(out, "user");
	else if (IS_PARAM(":name") || IS_PARAM(":owner"))
		buf_adds(out, owner_of(c, w));
	else if (IS_PARAM(":secret"))
		buf_adds(out, "s");
	else if (IS_PARAM(":upload") && c == VIEWER && w == OWN)
		buf_adds(out, vics_upload);
	else if (IS_PARAM(":upload"))
		add_upload(out, c, w);
	else if (IS_PARAM(":part"))
		buf_adds(out, "0");
	else if (IS_PARAM(":image"))
		buf_adds(out, "img");
	else if (IS_PARAM(":type"))
		buf_adds(out, "ecs.c6.large");
	else if (IS_PARAM(":node"))
		buf_adds(out, "n1");
	else
		return false;
	return true;
}

/* With whose it is, and a number of its own, where the text asks for them. */
static void add_text(struct buf *out, const char *text, const char *owner)
{
	for (; *text; text++) {
		if (str_starts(text, "$OWNER")) {
			buf_adds(out, owner);
			text += strlen("$OWNER") - 1;
		} else if (str_starts(text, "$N")) {
			buf_printf(out, "%d", ++serial);
			text++;
		} else {
			buf_addc(out, *text);
		}
	}
}

static bool make_target(struct buf *out, const struct route *r, enum caller c,
			enum whose w)
{
	const char *at = r->pattern;

	while (*at) {
		size_t n = strcspn(at + 1, "/") + 1;
		if (at[1] != ':') {
			buf_add(out, at, n);
		} else {
			buf_addc(out, '/');
			if (!add_param(out, r, at + 1, n - 1, c, w))
				return OK(false, "%s: no object is known for it",
					  r->pattern);
		}
		at += n;
	}
	for (size_t i = 0; i < COUNT_OF(requests); i++)
		if (str_eq(requests[i].name, r->name))
			add_text(out, requests[i].query, owner_of(c, w));
	return true;
}

static char *make_body(const struct route *r, const char *owner)
{
	const char *body = r->takes == ROUTE_NO_BODY ? NULL : "{}";

	for (size_t i = 0; i < COUNT_OF(requests); i++)
		if (str_eq(requests[i].name, r->name))
			body = requests[i].body;
	if (!body)
		return NULL;
	AUTO_BUF struct buf text = { 0 };
	add_text(&text, body, owner);
	return mem_strdup(buf_str(&text));
}

/* What was answered, as a verdict.  What the rule let pass may still fail for what it
 * says, but not for who says it. */
static bool fits(const struct route *r, const struct answer *a, enum verdict want)
{
	bool login = str_eq(r->name, "login") || str_eq(r->name, "login_first");
	bool maybe_missing = str_eq(r->name, "has_code") || strstr(r->name, "secret") ||
			     str_eq(r->name, "remove_file") ||
			     str_eq(r->name, "move_file") ||
			     str_eq(r->name, "remove_image") ||
			     str_eq(r->name, "remove_instance_type");

	if (want != PASS)
		return a->status == (int)want;
	if (login)
		return a->status == 400; /* its body is empty, and that is seen first */
	return a->status != 0 && a->status != STRANGER && a->status != DENIED &&
	       (a->status != MISSING || maybe_missing) && a->status != 500;
}

static int wrong;

static void one(const struct route *r, enum caller c, bool read_only, enum whose w)
{
	AUTO_BUF struct buf target = { 0 };
	enum verdict want = judge(r, c, read_only, w);
	const char *token = c == NOBODY ? NULL : read_only ? weak[c] : full[c];
	struct answer a = { 0 };

	if (strstr(r->name, "secret") && c != NOBODY)
		add_secret(owner_of(c, w), token_of(c, w));
	if (!make_target(&target, r, c, w))
		return;
	AUTO_FREE char *body = make_body(r, owner_of(c, w));
	go(&a, token, r->method, buf_str(&target), body);
	if (!fits(r, &a, want)) {
		wrong++;
		printf("# %s %s by %s%s of %s: %d, not %d: %s\n", r->method,
		       buf_str(&target), caller_names[c],
		       read_only ? " with a read-only token" : "", whose_words[w],
		       a.status, want, buf_str(&a.body));
	}
	if (str_eq(r->name, "logout") && a.status == 204) {
		log_in(caller_names[c], full[c]);
		go(&a, full[c], "POST", "/tokens", "{\"scopes\":[\"read\"]}");
		field(&a, "token", weak[c], 128);
	}
	buf_fini(&a.body);
}

static bool among(const char *name, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (str_eq(name, list[i]))
			return true;
	return false;
}

/* Whether the rule itself is one that such a route may have: the few that let more people
 * in than is usual are named here, so that no other comes to it by mistake. */
static bool proper(const struct route *r)
{
	static const char *const open[] = { "version", "health", "openapi", "login",
					    "login_first" };
	static const char *const scopeless[] = { "me", "logout" };
	static const char *const of_viewers[] = { "set_user", "add_token",
						  "remove_token" };
	bool job = strncmp(r->pattern, "/jobs/:job", 10) == 0;
	bool job_rule =
		r->rule == RULE_SEE || r->rule == RULE_TOUCH || r->rule == RULE_OWN;

	if (job != job_rule || (r->rule == RULE_SEE && !reads(r)))
		return false;
	if (r->rule == RULE_PUBLIC)
		return among(r->name, open, COUNT_OF(open));
	if (r->rule == RULE_SELF)
		return among(r->name, scopeless, COUNT_OF(scopeless));
	if (r->rule == RULE_ANY && !reads(r))
		return among(r->name, of_viewers, COUNT_OF(of_viewers));
	return true;
}

/* A path of the root is another name for one below the prefix, with the same rule. */
static void root_twin(const struct route *r)
{
	bool twin = false;

	for (size_t i = 0; i < route_count(); i++) {
		const struct route *t = route_at(i);
		twin |= !t->root && t->handle == r->handle && t->rule == r->rule &&
			str_eq(t->method, r->method);
	}
	OK(twin, "%s %s has its rule from its twin", r->method, r->pattern);
}

int main(void)
{
	fixture_start(&f);
	set_up();
	for (size_t i = 0; i < route_count(); i++) {
		const struct route *r = route_at(i);
		if (r->root) {
			root_twin(r);
			continue;
		}
		OK(proper(r), "%s %s has a rule that befits it", r->method, r->pattern);
		int before = wrong;
		for (int c = NOBODY; c < CALLER_COUNT; c++)
			for (int weak_too = 0; weak_too < (c == NOBODY ? 1 : 2);
			     weak_too++)
				for (int w = OWN; w < WHOSE_COUNT; w++)
					one(r, (enum caller)c, weak_too == 1,
					    (enum whose)w);
		OK(wrong == before,
		   "%s %s lets in whom its rule names (%s), and no other", r->method,
		   r->pattern, route_rule_word(r->rule));
	}
	client_close(&tcp);
	fixture_end(&f);
	return END();
}
