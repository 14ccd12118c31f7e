// SPDX-License-Identifier: Apache-2.0
/* The page of a job: who gets in, what can be asked there, and that nothing can be done. */
#include "app_rig.h"

#define SECRET "correct horse battery"

static struct fixture f = { .run_ms_max = 1000000000 };
static struct client api; /* as the daemon's user, by the unix socket */
static struct answer r;
static char token[3][128]; /* of ann, bob and eve: eve is in no group of theirs */
static char cookie[512];   /* ann's, of job 1 */

enum { ANN, BOB, EVE };
static const char *const names[] = { "ann", "bob", "eve" };

static void get(struct client *c, const char *target, const char *headers)
{
	AUTO_FREE char *bytes = str_printf("GET %s HTTP/1.1\r\nHost: h\r\nAccept: "
					   "text/html\r\n%s\r\n",
					   target, headers);

	rig_ask(c, &r, bytes);
}

static char *field_of(const char *key)
{
	AUTO_DOC struct doc *d = doc_parse_json(buf_str(&r.body), r.body.len, NULL);

	return mem_strdup(d ? doc_str(doc_root(d), key, "") : "");
}

static char *bearer(int who)
{
	return str_printf("Authorization: Bearer %s\r\n", token[who]);
}

static void set_up(void)
{
	ask(&api, &r, "POST", "/groups", "{\"name\":\"lab\"}");
	for (int i = 0; i <= EVE; i++) {
		AUTO_FREE char *user =
			str_printf("{\"name\":\"%s\",\"password\":\"" SECRET "\"%s}",
				   names[i], i == EVE ? "" : ",\"groups\":[\"lab\"]");
		AUTO_FREE char *login = str_printf(
			"{\"user\":\"%s\",\"password\":\"" SECRET "\"}", names[i]);
		ask(&api, &r, "POST", "/users", user);
		ask(&api, &r, "POST", "/login", login);
		AUTO_FREE char *text = field_of("token");
		snprintf(token[i], sizeof token[i], "%s", text);
	}
	AUTO_FREE char *ann = bearer(ANN);
	for (int i = 0; i < 2; i++)
		ask_with(
			&api, &r, "POST", "/jobs", ann,
			"name: train\ngroup: lab\nlabels: {x: \"</script><b>\"}\nroles:\n"
			"- name: main\n  command: [\"true\"]\n");
	OK(r.status == 201 && has(&r, "\"id\":2"), "ann has two jobs, neither an app");
}

/* Behind the host: "/apps/1/.yard/job?ticket=..." or "". */
static char *page_for(int who)
{
	AUTO_FREE char *header = bearer(who);

	ask_with(&api, &r, "GET", "/jobs/1/page", header, NULL);
	AUTO_FREE char *url = field_of("url");
	const char *at = strstr(url, "/apps/");
	return mem_strdup(at ? at : "");
}

static void test_ticket(void)
{
	struct client c = client_tcp(&f);
	AUTO_FREE char *target = page_for(ANN);

	OK(str_starts(target, "/apps/1/.yard/job?ticket="), "a job has an address (%s)",
	   buf_str(&r.body));
	get(&c, target, "");
	OK(r.status == 303 && str_eq(rig_header(&c, "location"), "/apps/1/.yard/job") &&
		   strstr(rig_header(&c, "set-cookie"), "; Path=/apps/1/;") &&
		   strstr(rig_header(&c, "set-cookie"), "; HttpOnly"),
	   "the ticket becomes a cookie of this job alone");
	snprintf(cookie, sizeof cookie, "Cookie: %.*s\r\n",
		 (int)strcspn(rig_header(&c, "set-cookie"), ";"),
		 rig_header(&c, "set-cookie"));
	get(&c, target, "");
	OK(r.status == 401, "used twice it opens nothing");
	get(&c, "/apps/1/.yard/job", cookie);
	const char *csp = rig_header(&c, "content-security-policy");
	OK(r.status == 200 && has(&r, "<div id=\"job\" data-job=\"1\">") &&
		   has(&r, "lang=\"en\"") && !has(&r, "train"),
	   "the cookie opens the page, which is the same for every job");
	OK(strstr(csp, "default-src 'none'") && strstr(csp, "script-src 'self'") &&
		   !strstr(csp, "unsafe") && strstr(csp, "frame-ancestors 'none'"),
	   "with a strict policy (%s)", csp);
	AUTO_FREE char *chinese = str_printf("%sAccept-Language: zh-CN\r\n", cookie);
	get(&c, "/apps/1/.yard/job", chinese);
	OK(has(&r, "lang=\"zh-CN\"") && has(&r, "作业"), "in Chinese too");
	client_close(&c);
}

/* What the page asks for is what the API says. */
static void test_parts(void)
{
	static const char *const parts[][2] = {
		{ "job", "/jobs/1" },
		{ "events", "/jobs/1/events" },
		{ "logs?tail=5", "/jobs/1/logs?tail=5" },
		{ "metrics", "/jobs/1/metrics" },
		{ "usage?task=0", "/jobs/1/usage/series?task=0" },
	};
	struct client c = client_tcp(&f);
	int same = 0;

	ask(&api, &r, "POST", "/jobs/1/stop", NULL);
	ask(&api, &r, "GET", "/jobs/1/wait", NULL);
	OK(has(&r, "\"state\":\"ended\""), "the job has ended");
	for (size_t i = 0; i < COUNT_OF(parts); i++) {
		AUTO_FREE char *target = str_printf("/apps/1/.yard/job/%s", parts[i][0]);
		get(&c, target, cookie);
		AUTO_FREE char *got = mem_strdup(buf_str(&r.body));
		int status = r.status;
		ask(&api, &r, "GET", parts[i][1], NULL);
		same += status == 200 && str_eq(got, buf_str(&r.body));
		if (!str_eq(got, buf_str(&r.body)))
			printf("# %s: %d %.200s\n", parts[i][0], status, got);
	}
	IS_INT(same, (int)COUNT_OF(parts), "each part is the API's own answer");
	get(&c, "/apps/1/.yard/job/logs?tail=x", cookie);
	OK(r.status == 400 && has(&r, "tail"), "and asked with the same care");
	client_close(&c);
}

static void test_nothing_else(void)
{
	static const char *const wrong[] = {
		"/apps/1/.yard/jobs",     "/apps/1/.yard/job/",
		"/apps/1/.yard/job/stop", "/apps/1/.yard/job/exec",
		"/apps/1/.yard/job/jobs", "/apps/1/",
	};
	static const char *const acts[] = { "POST", "PUT", "DELETE", "PATCH" };
	struct client c = client_tcp(&f);
	int refused = 0;

	for (size_t i = 0; i < COUNT_OF(wrong); i++) {
		get(&c, wrong[i], cookie);
		refused += r.status == 404;
	}
	for (size_t i = 0; i < COUNT_OF(acts); i++) {
		AUTO_FREE char *bytes =
			str_printf("%s /apps/1/.yard/job/job HTTP/1.1\r\nHost: h\r\n%s"
				   "Origin: http://h\r\nContent-Length: 0\r\n\r\n",
				   acts[i], cookie);
		rig_ask(&c, &r, bytes);
		refused += r.status == 404;
		client_close(&c);
		c = client_tcp(&f);
	}
	IS_INT(refused, (int)(COUNT_OF(wrong) + COUNT_OF(acts)),
	       "nothing else is there, and nothing can be done");
	get(&c, "/apps/2/.yard/job", cookie);
	OK(r.status == 401 && has(&r, "name=\"password\""),
	   "at another job of ann's it is nothing");
	get(&c, "/yard/v1/jobs/1", cookie);
	OK(r.status == 401, "nor at the API");
	client_close(&c);
}

static void test_others(void)
{
	struct client c = client_tcp(&f);
	AUTO_FREE char *bob = bearer(BOB), *eve = bearer(EVE);

	AUTO_FREE char *mate = page_for(BOB);
	OK(*mate, "a mate who may see the job gets an address");
	AUTO_FREE char *none = page_for(EVE);
	OK(!*none && r.status == 404, "who may not finds no job");
	get(&c, "/apps/1/.yard/job", bob);
	OK(r.status == 200, "by the door a mate gets in");
	get(&c, "/apps/1/.yard/job", eve);
	OK(r.status == 404 && has(&r, "No such job"), "others do not");
	get(&c, "/apps/1/.yard/job/job", eve);
	OK(r.status == 404 && !has(&r, "train"), "nor to a part of it");
	get(&c, "/apps/99/.yard/job", eve);
	OK(r.status == 404, "as if there was none");
	get(&c, "/apps/1/.yard/job", "");
	OK(r.status == 401 && has(&r, ".yard/login?to=job\"") && has(&r, "yard open 1"),
	   "nobody in particular is asked who they are, and told how to get an address");
	get(&c, "/apps/1/.yard/job/job", "");
	OK(r.status == 401 && !has(&r, "train"), "and shown nothing");
	client_close(&c);
}

/* Who logs in on the way to the page comes to the page. */
static void test_login(void)
{
	struct client c = client_tcp(&f);
	static const char mark[] = "name=\"form\" value=\"";

	get(&c, "/apps/1/.yard/job", "");
	const char *at = strstr(buf_str(&r.body), mark);
	at = at ? at + strlen(mark) : "";
	AUTO_FREE char *form = mem_strndup(at, strcspn(at, "\""));
	AUTO_FREE char *body =
		str_printf("form=%s&name=ann&password=correct%%20horse%%20battery", form);
	AUTO_FREE char *bytes = str_printf(
		"POST /apps/1/.yard/login?to=job HTTP/1.1\r\nHost: h\r\nCookie: %.*s\r\n"
		"Content-Type: application/x-www-form-urlencoded\r\n"
		"Content-Length: %zu\r\n\r\n%s",
		(int)strcspn(rig_header(&c, "set-cookie"), ";"),
		rig_header(&c, "set-cookie"), strlen(body), body);
	rig_ask(&c, &r, bytes);
	OK(r.status == 303 && str_eq(rig_header(&c, "location"), "/apps/1/.yard/job"),
	   "a login on the way to the page leads there (%d %s)", r.status,
	   rig_header(&c, "location"));
	client_close(&c);
}

int main(void)
{
	fixture_start(&f);
	api = client_open(&f);
	set_up();
	test_ticket();
	test_parts();
	test_nothing_else();
	test_others();
	test_login();
	buf_fini(&r.body);
	client_close(&api);
	fixture_end(&f);
	return END();
}
