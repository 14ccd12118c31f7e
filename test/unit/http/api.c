// SPDX-License-Identifier: Apache-2.0
#include <arpa/inet.h>
#include <netinet/in.h>

#include "base/doc.h"
#include "fixture.h"
#include "wire/api.h"

static int64_t id_of(const struct answer *a)
{
	struct doc *d = doc_parse_json(buf_str(&a->body), a->body.len, NULL);
	int64_t id = d ? doc_i64(doc_root(d), "id", 0) : 0;

	doc_destroy(d);
	return id;
}

static void submits(struct client *c)
{
	struct answer a = { 0 };
	char target[64];

	ask(c, &a, "POST", "/jobs", JOB);
	int64_t id = id_of(&a);
	OK(a.status == 201 && id == 1 && has(&a, "\"again\":false"),
	   "a submit gives 201 and the first id");
	snprintf(target, sizeof target, "/jobs/%lld/wait?timeout_ms=10000",
		 (long long)id);
	ask(c, &a, "GET", target, NULL);
	OK(a.status == 200 && has(&a, "\"state\":\"ended\"") &&
		   has(&a, "\"outcome\":\"succeeded\""),
	   "wait answers once it has ended, with the whole job");
	ask(c, &a, "GET", target, NULL);
	OK(a.status == 200, "waiting for what has ended answers at once");
	ask(c, &a, "GET", "/jobs/1", NULL);
	OK(a.status == 200 && has(&a, "\"name\":\"t\"") && has(&a, "\"spec\":{"),
	   "show tells everything");
	ask(c, &a, "GET", "/jobs/t", NULL);
	OK(a.status == 200 && id_of(&a) == 1, "a job is found by its name too");
	ask(c, &a, "GET", "/jobs/1/why", NULL);
	OK(a.status == 200 && has(&a, "\"why\":\"") && has(&a, "\"position\":null"),
	   "why answers for an ended job");
	ask(c, &a, "GET", "/jobs/1/events", NULL);
	OK(a.status == 200 && has(&a, "\"kind\":\"submitted\"") &&
		   has(&a, "\"kind\":\"ended\""),
	   "its history has a beginning and an end");
	ask(c, &a, "GET", "/jobs/1/usage", NULL);
	OK(a.status == 409, "usage of what does not run is a conflict");
	ask(c, &a, "POST", "/jobs/1/stop", NULL);
	OK(a.status == 200, "stopping what has ended is fine");

	struct wire_job w;
	struct err err;
	ask(c, &a, "GET", "/jobs/1", NULL);
	struct doc *d = doc_parse_json(buf_str(&a.body), a.body.len, &err);
	OK(wire_job_read(doc_root(d), &w, &err) == 0 && w.job->state == JOB_ENDED &&
		   w.job->task_count == 1 && w.exit_code == 0,
	   "what the server writes the client's reader reads");
	wire_job_fini(&w);
	doc_destroy(d);
	buf_fini(&a.body);
}

static void idempotent(struct client *c)
{
	struct answer a = { 0 };

	ask_with(c, &a, "POST", "/jobs", "Idempotency-Key: k1\r\n", JOB);
	int64_t first = id_of(&a);
	ask_with(c, &a, "POST", "/jobs", "Idempotency-Key: k1\r\n", JOB);
	OK(a.status == 200 && id_of(&a) == first && has(&a, "\"again\":true"),
	   "the same key again is the same job");
	ask_with(c, &a, "POST", "/jobs", "Idempotency-Key: k1\r\n", JOB "priority: 3\n");
	OK(a.status == 409 && has(&a, "k1"),
	   "the same key with another body is 409 and names the key");
	ask_with(c, &a, "POST", "/jobs", "Idempotency-Key: k2\r\n", JOB);
	OK(a.status == 201 && id_of(&a) != first, "another key is another job");
	ask_with(c, &a, "POST", "/jobs", "Idempotency-Key: a b\r\n", JOB);
	OK(a.status == 400 && has(&a, "Idempotency-Key"),
	   "a key with a space is refused by name");
	buf_fini(&a.body);
}

static void lists(struct client *c)
{
	struct answer a = { 0 };
	char target[64] = "/jobs?limit=7";
	int64_t last = INT64_MAX;
	int seen = 0, pages = 0, disorder = 0;

	for (int i = 0; i < 20; i++)
		ask(c, &a, "POST", "/jobs", JOB);
	int64_t newest = id_of(&a);
	for (bool more = true; more && pages < 10; pages++) {
		ask(c, &a, "GET", target, NULL);
		struct doc *d = doc_parse_json(buf_str(&a.body), a.body.len, NULL);
		const struct doc_node *jobs = doc_get(doc_root(d), "jobs");
		for (const struct doc_node *n = jobs->first; n; n = n->next, seen++) {
			struct wire_row row;
			wire_row_read(n, &row);
			disorder += row.id >= last;
			last = row.id;
		}
		int64_t next = doc_i64(doc_root(d), "next", 0);
		more = next > 0;
		snprintf(target, sizeof target, "/jobs?limit=7&before=%lld",
			 (long long)next);
		doc_destroy(d);
	}
	OK(seen == newest && disorder == 0, "pages show every job once, newest first");
	ask(c, &a, "GET", "/jobs?name=nobody", NULL);
	OK(a.status == 200 && has(&a, "\"jobs\":[]") && has(&a, "\"next\":null"),
	   "an empty list is a list");
	ask(c, &a, "GET", "/jobs?state=odd", NULL);
	OK(a.status == 400 && has(&a, "state: 'odd'"),
	   "a wrong filter is told by its name");
	ask(c, &a, "GET", "/jobs?limit=0", NULL);
	OK(a.status == 400 && has(&a, "limit"), "so is a wrong limit");
	buf_fini(&a.body);
}

static void errors(struct client *c)
{
	struct answer a = { 0 };
	struct problems problems = { 0 };
	struct err err;

	ask(c, &a, "POST", "/jobs",
	    "name: t\nroles:\n- name: main\n  comand: [\"true\"]\n  count: many\n");
	wire_error_read(buf_str(&a.body), a.body.len, a.status, &err, &problems);
	OK(a.status == 400 && err.code == ERR_INVALID && problems.count >= 2,
	   "every problem of a file comes at once");
	bool line4 = false;
	for (size_t i = 0; i < problems.count; i++)
		line4 |= problems.items[i].line == 4 &&
			 strstr(problems.items[i].text, "command");
	OK(line4, "an unknown field comes with its line and the meant one");
	problems_fini(&problems);
	ask(c, &a, "POST", "/jobs", "{\"name\": ");
	OK(a.status == 400 && has(&a, "\"code\":\"invalid\""),
	   "text that is no file is 400");
	ask(c, &a, "POST", "/jobs", "");
	OK(a.status == 400, "an empty body is 400");
	ask(c, &a, "GET", "/jobs/999999", NULL);
	OK(a.status == 404 && has(&a, "999999"), "no such job is 404 and names it");
	ask(c, &a, "GET", "/jobs/no-such-name", NULL);
	OK(a.status == 404 && has(&a, "no-such-name"), "no such name likewise");
	ask(c, &a, "GET", "/nothing", NULL);
	OK(a.status == 404, "no such path is 404");
	ask(c, &a, "PUT", "/jobs/1", NULL);
	OK(a.status == 405 && has(&a, "PUT"),
	   "a method that a path does not take is 405");
	ask(c, &a, "GET", "/jobs/1/events?from=x", NULL);
	OK(a.status == 400 && has(&a, "from: 'x'"),
	   "a wrong parameter is told by its name");
	ask(c, &a, "GET", "/jobs/%zz", NULL);
	OK(a.status == 400, "a bad escape is 400");
	ask_with(c, &a, "POST", "/jobs", "Content-Length: 5000000\r\n", NULL);
	OK(a.status == 413 && !a.keep_alive,
	   "a body over the limit is 413 before it is sent, and the end");
	buf_fini(&a.body);
}

static void others(struct client *c)
{
	struct answer a = { 0 };
	int64_t jobs, after;

	ask(c, &a, "POST", "/jobs", JOB);
	jobs = id_of(&a);
	ask(c, &a, "POST", "/jobs?dry_run=1", JOB);
	OK(a.status == 200 && has(&a, "\"dry_run\":true") && has(&a, "\"spec\":{"),
	   "a dry run shows what would be");
	ask(c, &a, "POST", "/jobs?dry_run=1", JOB "resources: {cpu: 1000}\n");
	OK(a.status == 400, "and refuses what could not be");
	ask(c, &a, "POST", "/jobs", JOB);
	after = id_of(&a);
	OK(after == jobs + 1, "a dry run makes nothing");
	ask(c, &a, "GET", "/nodes", NULL);
	OK(a.status == 200 && has(&a, "\"name\":\"n1\"") &&
		   has(&a, "\"cpu_milli\":64000"),
	   "the node is there");
	ask(c, &a, "GET", "/quotas/user/ann", NULL);
	OK(a.status == 200 && has(&a, "\"max_running_jobs\":null"),
	   "no quota is no limit");
	ask(c, &a, "PUT", "/quotas/user/ann",
	    "{\"cpu_milli\": 2000, \"devices\": {\"gpu\": 1}, \"max_running_jobs\": 3}");
	OK(a.status == 200 && has(&a, "\"cpu_milli\":2000"), "a quota is set");
	ask(c, &a, "GET", "/quotas/user/ann", NULL);
	OK(has(&a, "\"max_running_jobs\":3") && has(&a, "\"gpu\":1"), "and is there");
	ask(c, &a, "PUT", "/quotas/user/ann", "{\"cpu_mili\": 2000}");
	OK(a.status == 400 && has(&a, "cpu_milli"),
	   "a wrong field is told with the meant one");
	ask(c, &a, "GET", "/quotas/team/ann", NULL);
	OK(a.status == 400 && has(&a, "team"), "a quota is of a user or a group");
	ask(c, &a, "POST", "/backup", "{\"path\": \"relative\"}");
	OK(a.status == 400 && has(&a, "path"), "a backup needs an absolute path");
	ask(c, &a, "GET", "/schema/job.json", NULL);
	OK(a.status == 200 && has(&a, "\"$schema\""), "the schema is served");
	ask(c, &a, "POST", "/jobs/1/exec?arg=sh", NULL);
	OK(a.status == 426, "exec needs an upgrade");
	ask(c, &a, "HEAD",
	    "/code/0000000000000000000000000000000000000000000000000000000000000000",
	    NULL);
	OK(a.status == 404 && a.body.len == 0,
	   "code that is not here is 404 without a body");
	ask(c, &a, "PUT",
	    "/code/0000000000000000000000000000000000000000000000000000000000000000",
	    "not a tar");
	OK(a.status >= 400, "code that does not match its hash is refused");
	ask(c, &a, "PUT", "/code/..%2f..%2fetc", "x");
	OK(a.status == 400 && has(&a, "hash") && !a.keep_alive,
	   "a hash that is none is refused, its body unread");
	buf_fini(&a.body);
}

static void by_tcp(const struct fixture *f)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
				  .sin_port = htons((uint16_t)f->tcp_port) };
	struct client c = { .fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0),
			    .parser = http_parser_create(HTTP_RESPONSES) };
	struct answer a = { 0 };

	inet_pton(AF_INET, "127.0.0.1", &to.sin_addr);
	OK(connect(c.fd, (struct sockaddr *)&to, sizeof to) == 0, "the TCP port is open");
	ask(&c, &a, "GET", "/version", NULL);
	OK(a.status == 200 && has(&a, "\"version\""), "anybody may ask the version");
	ask(&c, &a, "GET", "/health", NULL);
	OK(a.status == 200 && !strstr(buf_str(&a.body), "live_jobs"),
	   "and the health, but not how busy it is");
	ask(&c, &a, "GET", "/jobs", NULL);
	OK(a.status == 401 && has(&a, "Authorization header"),
	   "all else is 401 and says what to do");
	ask(&c, &a, "POST", "/jobs", JOB);
	OK(a.status == 401, "a submit too");
	buf_fini(&a.body);
	client_close(&c);
}

/* Bytes as no ordinary client sends them. */
static void bytes(const struct fixture *f)
{
	struct client c = client_open(f);
	struct answer a = { 0 };
	char text[256];

	for (int i = 0; i < 3; i++)
		say(c.fd, "GET /yard/v1/version HTTP/1.1\r\nHost: x\r\n\r\n");
	snprintf(
		text, sizeof text,
		"POST /yard/v1/jobs HTTP/1.1\r\nHost: x\r\nContent-Length: %zu\r\n\r\n%s",
		strlen(JOB), JOB);
	say(c.fd, text);
	say(c.fd, text);
	say(c.fd, "GET /yard/v1/health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
	int good = 0, made = 0;
	for (int i = 0; i < 6; i++) {
		buf_clear(&a.body);
		client_read(&c, &a, 0);
		good += a.status == 200;
		made += a.status == 201;
	}
	OK(good == 4 && made == 2, "requests sent without waiting are answered in order");
	buf_clear(&a.body);
	OK(!client_read(&c, &a, 0), "after Connection: close it ends");
	client_close(&c);

	c = client_open(f);
	for (const char *p = "GET /yard/v1/version HTTP/1.1\r\nHost: x\r\n\r\n"; *p; p++)
		if (send(c.fd, p, 1, MSG_NOSIGNAL) != 1)
			break;
	client_read(&c, &a, 0);
	OK(a.status == 200 && a.keep_alive, "a request byte by byte is a request");
	say(c.fd, "GET /yard/v1/version HTTP/1.1\r\nHost : x\r\n\r\n");
	buf_clear(&a.body);
	client_read(&c, &a, 0);
	OK(a.status == 400 && !a.keep_alive && !client_read(&c, &a, 0),
	   "a malformed one is 400 and the end");
	client_close(&c);

	c = client_open(f);
	say(c.fd, "GET /yard/v1/version HTTP/1.0\r\n\r\n");
	buf_clear(&a.body);
	client_read(&c, &a, 0);
	OK(a.status == 200 && !client_read(&c, &a, 0), "HTTP/1.0 is answered and closed");
	client_close(&c);

	c = client_open(f);
	snprintf(
		text, sizeof text,
		"POST /yard/v1/jobs HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: %zu\r\n\r\n",
		strlen(JOB));
	say(c.fd, text);
	client_read(&c, &a, 0);
	OK(a.status == 100, "who expects 100 gets it");
	say(c.fd, JOB);
	buf_clear(&a.body);
	client_read(&c, &a, 0);
	OK(a.status == 201, "and then the answer");
	say(c.fd,
	    "POST /yard/v1/jobs HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
	    "7\r\nname: t\r\n1\r\n\n\r\n1a\r\ncommand: [\"true\", \"false\"]\r\n0\r\n\r\n");
	buf_clear(&a.body);
	client_read(&c, &a, 0);
	OK(a.status == 201, "a body in chunks is a body");
	say(c.fd, "GET /yard/v1/version HTTP/1.1\r\nHost: x\r\n\r\n");
	shutdown(c.fd, SHUT_WR);
	buf_clear(&a.body);
	client_read(&c, &a, 0);
	OK(a.status == 200, "a client that ends its side still gets its answer");
	client_close(&c);
	buf_fini(&a.body);
}

int main(void)
{
	struct fixture f = { .run_ms_max = 20 };
	fixture_start(&f);
	struct client c = client_open(&f);

	submits(&c);
	idempotent(&c);
	lists(&c);
	others(&c);
	client_close(&c);
	c = client_open(&f);
	errors(&c);
	client_close(&c);
	by_tcp(&f);
	bytes(&f);
	fixture_end(&f);
	return END();
}
