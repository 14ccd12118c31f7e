// SPDX-License-Identifier: Apache-2.0
/* Ended jobs are kept as they were shown: the laws of what keeps them, and that nobody can
 * tell by asking the door. */
#include "http/shown.h"

#include "fixture.h"

#define GRID                                                                             \
	"name: grid\narray: {count: 3}\nroles:\n- name: main\n  command: [\"true\"]\n"

static void put(struct shown *s, uint64_t epoch, int64_t id, size_t bytes)
{
	struct job j = { .id = id, .owner = "ann", .group = "lab", .state = JOB_ENDED };
	AUTO_BUF struct buf json = { 0 };

	for (size_t i = 0; i < bytes; i++)
		buf_addc(&json, (char)('0' + id));
	shown_put(s, epoch, &j, &json);
}

static void laws(void)
{
	struct shown *s = shown_create(10000);
	const struct shown_job *j;

	OK(!shown_get(s, 0, 1), "at first nothing is there");
	put(s, 0, 1, 1000);
	j = shown_get(s, 0, 1);
	OK(j && j->id == 1 && j->json.len == 1000 && j->json.data[999] == '1' &&
		   str_eq(j->owner, "ann") && str_eq(j->group, "lab"),
	   "what was put is there, with whose it is");
	put(s, 0, 2, 20000);
	OK(!shown_get(s, 0, 2) && shown_get(s, 0, 1),
	   "one that is too large alone is not kept, and drives out nobody");
	for (int64_t id = 2; id <= 6; id++)
		put(s, 0, id, 1000);
	shown_get(s, 0, 1);
	put(s, 0, 7, 1000);
	OK(shown_get(s, 0, 1) && !shown_get(s, 0, 2) && shown_get(s, 0, 7),
	   "beyond the bytes the one goes that was not asked for the longest time");
	for (int64_t id = 8; id < 2000; id++)
		put(s, 0, id, (size_t)(id * 37 % 3000));
	OK(shown_count(s) > 0 && shown_count(s) <= 10000 / 512, "they stay few");
	put(s, 0, 3000, 10);
	OK(shown_get(s, 0, 3000) && !shown_get(s, 1, 3000) && shown_count(s) == 0,
	   "once something was deleted all are forgotten");
	put(s, 2, 3000, 10);
	OK(shown_get(s, 2, 3000), "and new ones are kept");
	shown_destroy(s);
	shown_destroy(NULL);
}

static void list_laws(void)
{
	struct shown *s = shown_create(10000);
	AUTO_BUF struct buf json = { 0 }, large = { 0 };
	size_t kept = 0;

	buf_adds(&json, "[]");
	while (large.len < 10000)
		buf_addc(&large, ' ');
	OK(!shown_list(s, 0, "ann\n?"), "at first there is no list");
	shown_put_list(s, 0, "ann\n?", &json);
	OK(shown_list(s, 0, "ann\n?") && str_eq(shown_list(s, 0, "ann\n?")->data, "[]"),
	   "what was put is there");
	OK(!shown_list(s, 0, "bob\n?") && !shown_list(s, 0, "ann\nlab\n?") &&
		   !shown_list(s, 0, "ann\n?limit=1"),
	   "for nobody else, and for no other question");
	shown_put_list(s, 0, "large", &large);
	OK(!shown_list(s, 0, "large") && shown_list(s, 0, "ann\n?"),
	   "a large one is not kept, and drives out none");
	for (int i = 0; i < 1000; i++) {
		AUTO_FREE char *key = str_printf("%d", i);
		shown_put_list(s, 0, key, &json);
	}
	for (int i = 0; i < 1000; i++) {
		AUTO_FREE char *key = str_printf("%d", i);
		kept += shown_list(s, 0, key) != NULL;
	}
	OK(kept > 0 && kept <= 10000 / 512, "they stay few: %zu", kept);
	OK(shown_list(s, 0, "999") && !shown_list(s, 1, "999") &&
		   !shown_list(s, 0, "999"),
	   "a commit ends them all");
	shown_destroy(s);
}

/* A copy of the text it is shown by, or NULL. */
static char *show(struct client *c, struct answer *a, const char *target,
		  const char *headers)
{
	ask_with(c, a, "GET", target, headers, NULL);
	return a->status == 200 ? mem_strdup(buf_str(&a->body)) : NULL;
}

static void ended(struct client *c, const char *stranger)
{
	struct answer a = { 0 };

	ask(c, &a, "POST", "/jobs", JOB);
	ask(c, &a, "GET", "/jobs/1/wait", NULL);
	OK(a.status == 200, "a job has ended");
	AUTO_FREE char *first = show(c, &a, "/jobs/1", NULL);
	AUTO_FREE char *second = show(c, &a, "/jobs/1", NULL);
	AUTO_FREE char *named = show(c, &a, "/jobs/t", NULL);
	OK(first && second && str_eq(first, second) &&
		   strstr(first, "\"state\":\"ended\""),
	   "it is shown the same again");
	OK(named && str_eq(first, named), "also by its name");
	ask(c, &a, "HEAD", "/jobs/1", NULL);
	OK(a.status == 200 && a.body.len == 0, "HEAD has no body");
	ask_with(c, &a, "GET", "/jobs/1", stranger, NULL);
	OK(a.status == 404, "one who may not see it does not, though it was just shown");
	ask_with(c, &a, "DELETE", "/jobs/1", stranger, NULL);
	OK(a.status == 404, "nor delete it");
	ask(c, &a, "DELETE", "/jobs/1", NULL);
	OK(a.status / 100 == 2, "it is deleted");
	ask(c, &a, "GET", "/jobs/1", NULL);
	OK(a.status == 404, "and is gone as soon as that is said");
	buf_fini(&a.body);
}

static void array(struct client *c)
{
	struct answer a = { 0 };

	ask(c, &a, "POST", "/jobs", GRID);
	ask(c, &a, "GET", "/jobs/grid/wait", NULL);
	for (int i = 0; i < 2; i++) {
		ask(c, &a, "GET", "/jobs/grid.1", NULL);
		OK(a.status == 200 && has(&a, "\"index\":1"), "a member is shown");
	}
	AUTO_FREE char *id = mem_strndup(strstr(a.body.data, "\"id\":") + 5, 1);
	AUTO_FREE char *member = str_printf("/jobs/%s", id);
	ask(c, &a, "GET", member, NULL);
	OK(a.status == 200, "by its number too");
	ask(c, &a, "DELETE", "/jobs/grid", NULL);
	ask(c, &a, "GET", member, NULL);
	OK(a.status == 404, "it goes with its array");
	buf_fini(&a.body);
}

/* Each list is asked for twice: the second answer is one that was kept. */
static bool lists(struct client *c, struct answer *a, const char *headers,
		  const char *text)
{
	bool same = true;

	for (int i = 0; i < 2; i++) {
		ask_with(c, a, "GET", "/jobs?state=all", headers, NULL);
		same = same && a->status == 200 && strstr(buf_str(&a->body), text);
	}
	return same;
}

static void listed(struct client *c, const char *eve)
{
	struct answer a = { 0 };

	OK(lists(c, &a, NULL, "\"jobs\":[]") && lists(c, &a, eve, "\"jobs\":[]"),
	   "an empty yard lists nothing");
	ask_with(c, &a, "POST", "/jobs", eve, JOB);
	OK(a.status == 201, "eve submits a job");
	OK(lists(c, &a, eve, "\"owner\":\"eve\"") &&
		   lists(c, &a, NULL, "\"owner\":\"eve\""),
	   "it is in every list as soon as that is said");
	ask(c, &a, "POST", "/jobs", GRID);
	OK(lists(c, &a, NULL, "\"name\":\"grid\"") && lists(c, &a, eve, "\"jobs\":[{") &&
		   !strstr(a.body.data, "grid"),
	   "another's is in the admin's list, not in eve's");
	ask(c, &a, "GET", "/jobs/grid/wait", NULL);
	ask(c, &a, "DELETE", "/jobs/grid", NULL);
	OK(lists(c, &a, NULL, "\"owner\":\"eve\"") && !strstr(a.body.data, "grid"),
	   "what is deleted is in none");
	ask(c, &a, "GET", "/jobs?state=nonsense", NULL);
	OK(a.status == 400, "a wrong question is refused");
	buf_fini(&a.body);
}

static void live(struct client *c)
{
	struct answer a = { 0 };
	int64_t until = now_ms() + 60000;

	ask(c, &a, "POST", "/jobs", JOB);
	AUTO_FREE char *id = mem_strndup(strstr(a.body.data, "\"id\":") + 5, 1);
	AUTO_FREE char *job = str_printf("/jobs/%s", id);
	AUTO_FREE char *stop = str_printf("/jobs/%s/stop", id);
	ask(c, &a, "PATCH", job, "{\"priority\":7}");
	ask(c, &a, "GET", job, NULL);
	OK(a.status == 200 && has(&a, "\"priority\":7"), "a live job shows what changed");
	ask(c, &a, "POST", stop, NULL);
	do
		ask(c, &a, "GET", job, NULL);
	while (a.status == 200 && !strstr(a.body.data, "\"state\":\"ended\"") &&
	       now_ms() < until);
	OK(a.status == 200 && has(&a, "\"state\":\"ended\"") && has(&a, "\"why\":null"),
	   "up to its end");
	buf_fini(&a.body);
}

int main(void)
{
	struct fixture quick = { .run_ms_max = 20 }, slow = { .run_ms_max = 1000000 };
	struct answer a = { 0 };

	laws();
	list_laws();
	fixture_start(&quick);
	struct client c = client_open(&quick);
	ask(&c, &a, "POST", "/users",
	    "{\"name\":\"eve\",\"password\":\"correct horse\"}");
	OK(a.status == 201, "a user is added");
	ask(&c, &a, "POST", "/login",
	    "{\"user\":\"eve\",\"password\":\"correct horse\"}");
	const char *token = strstr(buf_str(&a.body), "yard_");
	AUTO_FREE char *bearer =
		str_printf("Authorization: Bearer %.*s\r\n",
			   token ? (int)strcspn(token, "\"") : 0, token ? token : "");
	ended(&c, bearer);
	array(&c);
	listed(&c, bearer);
	client_close(&c);
	fixture_end(&quick);
	fixture_start(&slow);
	c = client_open(&slow);
	live(&c);
	client_close(&c);
	fixture_end(&slow);
	buf_fini(&a.body);
	return END();
}
