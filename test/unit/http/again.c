// SPDX-License-Identifier: Apache-2.0
/* A connection remembers by which token it was asked last.  Nobody may be able to tell. */
#include "fixture.h"

#define LOGIN "{\"user\":\"eve\",\"password\":\"correct horse\"}"

static int status(struct client *c, const char *headers, const char *method,
		  const char *target, const char *body)
{
	struct answer a = { 0 };

	ask_with(c, &a, method, target, headers, body);
	buf_fini(&a.body);
	return a.status;
}

/* Behind "what": up to the end of the string. */
static char *word(const struct answer *a, const char *what)
{
	const char *at = strstr(buf_str(&a->body), what);

	return at ? mem_strndup(at + strlen(what), strcspn(at + strlen(what), "\""))
		  : mem_strdup("");
}

static char *bearer(const struct answer *a)
{
	AUTO_FREE char *token = word(a, "\"token\":\"");

	return str_printf("Authorization: Bearer %s\r\n", token);
}

static void changes(struct client *c, struct client *root)
{
	struct answer a = { 0 };

	ask(c, &a, "POST", "/login", LOGIN);
	AUTO_FREE char *all = bearer(&a), *id = word(&a, "\"id\":\"");
	AUTO_FREE char *path = str_printf("/tokens/%s", id);
	ask_with(c, &a, "POST", "/tokens", all, "{\"scopes\":[\"read\"]}");
	AUTO_FREE char *some = bearer(&a), *wrong = mem_strdup(all);
	wrong[strlen(wrong) - 3] ^= 1;

	OK(status(c, all, "GET", "/me", NULL) == 200 &&
		   status(c, all, "GET", "/me", NULL) == 200,
	   "a token opens, and again");
	OK(status(c, wrong, "GET", "/me", NULL) == 401 &&
		   status(c, wrong, "GET", "/me", NULL) == 401,
	   "one that differs by a letter does not, on the same connection");
	OK(status(c, NULL, "GET", "/me", NULL) == 401, "nor does none");
	/* Without bodies: one that is refused unread ends the connection. */
	OK(status(c, all, "POST", "/jobs", JOB) == 201, "a job is submitted");
	for (int i = 0; i < 2; i++) {
		OK(status(c, some, "POST", "/jobs/1/clone", NULL) == 403,
		   "one that reads, reads");
		OK(status(c, all, "POST", "/jobs/1/clone", NULL) == 201,
		   "the other may write");
	}
	status(root, NULL, "PATCH", "/users/eve", "{\"role\":\"viewer\"}");
	OK(status(c, all, "POST", "/jobs/1/clone", NULL) == 403,
	   "a role that is taken is gone");
	status(root, NULL, "PATCH", "/users/eve", "{\"role\":\"member\"}");
	OK(status(c, all, "POST", "/jobs/1/clone", NULL) == 201, "and comes back");
	status(root, NULL, "PATCH", "/users/eve", "{\"disabled\":true}");
	OK(status(c, all, "GET", "/me", NULL) == 401, "who is disabled is nobody");
	status(root, NULL, "PATCH", "/users/eve", "{\"disabled\":false}");
	OK(status(c, all, "GET", "/me", NULL) == 200, "until they are enabled");
	OK(status(root, NULL, "DELETE", path, NULL) / 100 == 2, "a token is removed");
	OK(status(c, all, "GET", "/me", NULL) == 401, "it opens nothing any more");
	OK(status(c, some, "GET", "/me", NULL) == 200, "the other one still does");
	buf_fini(&a.body);
}

int main(void)
{
	struct fixture f = { .run_ms_max = 20 };

	fixture_start(&f);
	struct client root = client_open(&f), c = client_tcp(&f);
	OK(status(&root, NULL, "POST", "/users",
		  "{\"name\":\"eve\",\"password\":\"correct horse\"}") == 201,
	   "a user is added");
	changes(&c, &root);
	client_close(&c);
	client_close(&root);
	fixture_end(&f);
	return END();
}
