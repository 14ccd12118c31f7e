// SPDX-License-Identifier: Apache-2.0
/* What somebody could gain who means harm and has an account: by asking slowly, by a token
 * that was found, by guessing numbers, by a group mate's job. */
#include <poll.h>

#include "fixture.h"

#include "base/doc.h"

#define PASSWORD "correct horse battery"

static struct fixture f = { .run_ms_max = 1000000000 };
static char deputy[128], ann[128], amy[128], bob[128]; /* tokens */

static void go(struct answer *a, const char *token, const char *method,
	       const char *target, const char *body)
{
	struct client c = token ? client_tcp(&f) : client_open(&f); /* or as root */
	char header[256] = "";

	if (token)
		snprintf(header, sizeof header, "Authorization: Bearer %s\r\n", token);
	ask_with(&c, a, method, target, header, body);
	client_close(&c);
}

static void add(const char *name, const char *role, const char *group, char token[128])
{
	AUTO_BUF struct buf body = { 0 };
	struct client c = client_tcp(&f);
	struct answer a = { 0 };

	buf_printf(&body,
		   "{\"name\":\"%s\",\"password\":\"" PASSWORD
		   "\",\"role\":\"%s\",\"groups\":[\"%s\"]}",
		   name, role, group);
	go(&a, NULL, "POST", "/users", buf_str(&body));
	buf_clear(&body);
	buf_printf(&body, "{\"user\":\"%s\",\"password\":\"" PASSWORD "\"}", name);
	ask(&c, &a, "POST", "/login", buf_str(&body));
	AUTO_DOC struct doc *d = doc_parse_json(buf_str(&a.body), a.body.len, NULL);
	snprintf(token, 128, "%s", d ? doc_str(doc_root(d), "token", "") : "");
	OK(*token, "%s is there", name);
	client_close(&c);
	buf_fini(&a.body);
}

/* A request whose head was allowed and whose body is to come. */
static struct client begin(const char *token, const char *line, size_t length)
{
	AUTO_BUF struct buf head = { 0 };
	static const char go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";
	struct client c = client_tcp(&f);
	char got[sizeof go_on] = "";

	buf_printf(&head,
		   "%s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n"
		   "Expect: 100-continue\r\nContent-Length: %zu\r\n\r\n",
		   line, token, length);
	say(c.fd, buf_str(&head));
	recv(c.fd, got, sizeof got - 1, MSG_WAITALL);
	OK(str_eq(got, go_on), "%s may begin", line);
	return c;
}

static void slowly(void)
{
	static const char back_door[] =
		"{\"name\":\"mole\",\"password\":\"" PASSWORD "\",\"role\":\"admin\"}";
	struct client user = begin(deputy, "POST /yard/v1/users", sizeof back_door - 1);
	struct client job = begin(bob, "POST /yard/v1/jobs", sizeof JOB - 1);
	struct client mate = begin(amy, "POST /yard/v1/jobs", sizeof JOB - 1);
	struct answer a = { 0 };

	go(&a, NULL, "PATCH", "/users/deputy", "{\"role\":\"member\"}");
	OK(a.status == 200, "the deputy is no admin any more");
	go(&a, NULL, "DELETE", "/users/bob", NULL);
	OK(a.status == 204, "and bob is removed");
	say(user.fd, back_door);
	OK(client_read(&user, &a, 0) && a.status == 401,
	   "what an admin began to ask is not done after that (%d)", a.status);
	say(job.fd, JOB);
	OK(client_read(&job, &a, 0) && a.status == 401,
	   "nor what one asked who has gone (%d)", a.status);
	say(mate.fd, JOB);
	OK(client_read(&mate, &a, 0) && a.status == 201, "others are served (%d)",
	   a.status);
	go(&a, NULL, "GET", "/users/mole", NULL);
	OK(a.status == 404, "there is no new admin");
	client_close(&user);
	client_close(&job);
	client_close(&mate);
	buf_fini(&a.body);
}

static void by_token(void)
{
	struct answer a = { 0 };

	go(&a, NULL, "PATCH", "/users/ann", "{\"password\":null}");
	OK(a.status == 200, "an account without a password");
	go(&a, ann, "PATCH", "/users/ann", "{\"password\":\"" PASSWORD "\"}");
	OK(a.status == 403 && has(&a, "password"), "gets none by a token");
	go(&a, NULL, "PATCH", "/users/ann", "{\"password\":\"" PASSWORD "\"}");
	OK(a.status == 200, "but by an admin");
	go(&a, NULL, "PATCH", "/users/deputy", "{\"role\":\"admin\"}");
	go(&a, deputy, "POST", "/backup", "{\"path\":\"/dev/null/no/such\"}");
	OK(a.status == 403,
	   "an admin of the yard writes no file with the daemon's rights");
	go(&a, NULL, "POST", "/backup", "{\"path\":\"/dev/null/no/such\"}");
	OK(a.status == 501, "root may");
	go(&a, NULL, "GET", "/audit?limit=1", NULL);
	OK(has(&a, "\"backup\"") && has(&a, "/dev/null/no/such"),
	   "and it is written down");
	buf_fini(&a.body);
}

/* What is said of 7.0 and 7.5, but for the number. */
static void numbers(void)
{
	static const char none[] =
		": the array has no such member, or it is not made yet\"";
	struct answer a = { 0 };
	char id[32] = "", target[64];

	go(&a, ann, "POST", "/jobs",
	   "name: many\narray: 3\nroles:\n- name: main\n  command: [\"true\"]\n");
	AUTO_DOC struct doc *d = doc_parse_json(buf_str(&a.body), a.body.len, NULL);
	snprintf(id, sizeof id, "%lld", d ? (long long)doc_i64(doc_root(d), "id", 0) : 0);
	OK(a.status == 201, "an array, job %s", id);
	snprintf(target, sizeof target, "/jobs/%s.0", id);
	go(&a, ann, "GET", target, NULL);
	OK(a.status == 200, "its owner sees its members");
	go(&a, bob, "GET", target, NULL);
	OK(a.status == 404 && has(&a, target + 6) && has(&a, none),
	   "who may not is not told that there is one, nor its number");
	snprintf(target, sizeof target, "/jobs/%s.5", id);
	go(&a, bob, "GET", target, NULL);
	OK(a.status == 404 && has(&a, target + 6) && has(&a, none),
	   "the same as where there is none");
	buf_fini(&a.body);
}

static void mates(void)
{
	static const char spec[] = "name: hers\nsecrets: [{name: key, env: KEY}]\n"
				   "roles:\n- name: main\n  command: [\"true\"]\n";
	struct client c = client_tcp(&f);
	AUTO_BUF struct buf head = { 0 };
	struct answer a = { 0 };
	char target[64], id[32];

	go(&a, ann, "PUT", "/secrets/user/ann/key", "{\"value\":\"hush, hush\"}");
	OK(a.status == 204, "ann has a secret");
	go(&a, ann, "POST", "/jobs", spec);
	AUTO_DOC struct doc *d = doc_parse_json(buf_str(&a.body), a.body.len, NULL);
	snprintf(id, sizeof id, "%lld", d ? (long long)doc_i64(doc_root(d), "id", 0) : 0);
	snprintf(target, sizeof target, "/jobs/%s/clone", id);
	go(&a, amy, "POST", target, "{}");
	OK(a.status == 400 && has(&a, "secrets[0].name"),
	   "a group mate's clone is told that the secret is not theirs");
	go(&a, ann, "POST", target, "{}");
	OK(a.status == 201, "her own is taken");
	for (int i = 0; i < 1000; i++) {
		snprintf(target, sizeof target, "/jobs/%s", id);
		go(&a, ann, "GET", target, NULL);
		if (strstr(buf_str(&a.body), "\"state\":\"running\""))
			break;
		usleep(10000);
	}
	buf_printf(&head,
		   "POST /yard/v1/jobs/%s/exec?arg=sh&arg=a+b HTTP/1.1\r\nHost: x\r\n"
		   "Authorization: Bearer %s\r\nConnection: Upgrade\r\n"
		   "Upgrade: yard-exec\r\n\r\n",
		   id, deputy);
	say(c.fd, buf_str(&head));
	ssize_t n = recv(c.fd, target, 12, MSG_WAITALL);
	OK(n == 12 && str_starts(target, "HTTP/1.1 101"),
	   "an admin is in her task: %.12s", target);
	for (int i = 0; i < 1000; i++) { /* with the next commit */
		go(&a, NULL, "GET", "/audit?limit=1", NULL);
		if (strstr(buf_str(&a.body), "\"job.exec\""))
			break;
		usleep(10000);
	}
	OK(has(&a, "\"job.exec\"") && has(&a, "\"deputy\""), "and it is written down");
	close(f.shim);
	client_close(&c);
	buf_fini(&a.body);
}

#define MUCH  1000000
#define CROWD 80

/* Bodies that do not end, on many connections. */
static void crowd(void)
{
	struct client many[CROWD];
	AUTO_FREE char *bulk = mem_alloc(1, MUCH + 1);
	AUTO_BUF struct buf head = { 0 };
	struct answer a = { 0 };
	struct pollfd heard[CROWD];
	int told = 0;

	memset(bulk, '#', MUCH);
	buf_printf(
		&head,
		"POST /yard/v1/jobs HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n"
		"Content-Length: %d\r\n\r\n",
		ann, MUCH + 1);
	for (int i = 0; i < CROWD; i++) {
		many[i] = client_tcp(&f);
		say(many[i].fd, buf_str(&head));
		say(many[i].fd, bulk);
		heard[i] = (struct pollfd){ many[i].fd, POLLIN, 0 };
	}
	/* Which of them is a matter of chance. */
	OK(poll(heard, CROWD, 15000) > 0, "who sends more than is kept for one user");
	while (told < CROWD - 1 && !heard[told].revents)
		told++;
	client_read(&many[told], &a, 0);
	IS_INT(a.status, 503, "is told");
	go(&a, bob, "POST", "/jobs", JOB);
	OK(a.status == 201, "others are served (%d)", a.status);
	for (int i = 0; i < CROWD; i++)
		client_close(&many[i]);
	for (int i = 0; i < 1000; i++) { /* until it is seen that they have gone */
		go(&a, ann, "POST", "/jobs", JOB);
		if (a.status == 201)
			break;
		usleep(10000);
	}
	OK(a.status == 201, "and so are they, once that is over (%d)", a.status);
	buf_fini(&a.body);
}

int main(void)
{
	struct answer a = { 0 };

	fixture_start(&f);
	go(&a, NULL, "POST", "/groups", "{\"name\":\"eyes\"}");
	go(&a, NULL, "POST", "/groups", "{\"name\":\"ears\"}");
	add("chief", "admin", "ears", deputy); /* the last one stays one */
	add("deputy", "admin", "ears", deputy);
	add("ann", "member", "eyes", ann);
	add("amy", "member", "eyes", amy);
	add("bob", "member", "ears", bob);
	slowly();
	add("bob", "member", "ears", bob);
	by_token();
	mates();
	numbers();
	crowd();
	buf_fini(&a.body);
	fixture_end(&f);
	return END();
}
