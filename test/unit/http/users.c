// SPDX-License-Identifier: Apache-2.0
/* Two people at one door: what is one's is not the other's. */
#include <fcntl.h>
#include <sys/syscall.h>

#include "fixture.h"

#define NOBODY 65534

/* The credentials of a unix socket are those of the thread that connects. */
static struct client open_as(const struct fixture *f, int uid)
{
	if (syscall(SYS_setresuid, -1, uid, -1) < 0)
		exit(1);
	struct client c = client_open(f);
	if (syscall(SYS_setresuid, -1, 0, -1) < 0)
		exit(1);
	return c;
}

static void strangers(struct client *c)
{
	static const char *const asked[][2] = {
		{ "GET", "/jobs/1" },       { "GET", "/jobs/1/wait?timeout_ms=0" },
		{ "GET", "/jobs/1/why" },   { "GET", "/jobs/1/events" },
		{ "GET", "/jobs/1/usage" }, { "GET", "/jobs/1/logs" },
		{ "POST", "/jobs/1/stop" }, { "POST", "/jobs/1/exec?arg=sh" },
	};
	struct answer a = { 0 }, none = { 0 };

	for (size_t i = 0; i < COUNT_OF(asked); i++) {
		char other[64];
		snprintf(other, sizeof other, "%s", asked[i][1]);
		memcpy(strstr(other, "/1"), "/9", 2);
		ask(c, &a, asked[i][0], asked[i][1], NULL);
		ask(c, &none, asked[i][0], other, NULL);
		OK(a.status == 404 && a.body.len == none.body.len,
		   "%s %s of another's job is 404, just as of one that is not there",
		   asked[i][0], asked[i][1]);
	}
	ask(c, &a, "GET", "/jobs", NULL);
	OK(a.status == 200 && has(&a, "\"jobs\":[]"), "a list shows nothing of others");
	ask(c, &a, "GET", "/jobs?owner=root", NULL);
	OK(a.status == 200 && has(&a, "\"jobs\":[]"), "nor when asked for them");
	ask(c, &a, "PUT", "/quotas/user/nobody", "{}");
	OK(a.status == 403 && !a.keep_alive, "quotas are for admins to set");
	buf_fini(&a.body);
	buf_fini(&none.body);
}

static void own(struct client *c, struct client *root)
{
	struct answer a = { 0 };

	ask(c, &a, "POST", "/backup", NULL);
	OK(a.status == 403, "backups are for admins");
	ask(c, &a, "GET", "/quotas/user/root", NULL);
	OK(a.status == 403, "another's quota is not to be seen");
	ask(c, &a, "GET", "/quotas/user/nobody", NULL);
	OK(a.status == 200, "one's own is");
	ask(c, &a, "POST", "/jobs", JOB);
	OK(a.status == 201 && has(&a, "\"id\":2"), "a job of one's own");
	ask(c, &a, "GET", "/jobs/t", NULL);
	OK(a.status == 200 && has(&a, "\"id\":2") && has(&a, "\"owner\":\"nobody\""),
	   "is found by its name, though another's has the same");
	ask(c, &a, "GET", "/jobs", NULL);
	OK(has(&a, "\"id\":2") && !strstr(a.body.data, "\"id\":1"),
	   "and is all that is listed");
	ask(root, &a, "GET", "/jobs", NULL);
	OK(has(&a, "\"id\":2") && has(&a, "\"id\":1"), "an admin sees both");
	ask(root, &a, "GET", "/jobs?owner=nobody", NULL);
	OK(has(&a, "\"id\":2") && !strstr(a.body.data, "\"id\":1"), "or one person's");
	ask(root, &a, "POST", "/jobs/2/stop", NULL);
	OK(a.status == 200, "and may stop any");
	ask(c, &a, "GET", "/jobs/2/wait", NULL);
	OK(a.status == 200 && has(&a, "\"by\":\"root\""), "which the owner is told");
	buf_fini(&a.body);
}

/* An output is where its job says: the daemon, which may read everything, must not read
 * there what its owner may not. */
static void elsewhere(const struct fixture *f, struct client *c)
{
	AUTO_FREE char *folder = str_printf("%s/private", f->dir);
	AUTO_FREE char *file = str_printf("%s/events.out.tfevents.1", folder);
	AUTO_FREE char *job = str_printf(JOB "outputs:\n  logs: file://%s\n", folder);
	struct answer a = { 0 };

	if (mkdir(folder, 0700) < 0)
		exit(1);
	AUTO_FD int fd = open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	dprintf(fd, "what is none of theirs");
	ask(c, &a, "POST", "/jobs", job);
	OK(a.status == 201 && has(&a, "\"id\":3"),
	   "a job that names another's folder: %s", buf_str(&a.body));
	ask(c, &a, "GET", "/jobs/3/metrics", NULL);
	OK(a.status == 200 && !has(&a, "tfevents"),
	   "is told nothing of what lies in there: %s", buf_str(&a.body));
	unlink(file);
	rmdir(folder);
	buf_fini(&a.body);
}

/* Only accounts are somebody; a uid by itself, or a task's, is not. */
static void uids(const struct fixture *f)
{
	static const int strange[] = { 4242424, 1000000007 };
	struct answer a = { 0 };

	for (size_t i = 0; i < COUNT_OF(strange); i++) {
		struct client c = open_as(f, strange[i]);
		ask(&c, &a, "GET", "/jobs", NULL);
		OK(a.status == 403 && has(&a, "account"),
		   "uid %d is turned away in words", strange[i]);
		ask(&c, &a, "POST", "/jobs", JOB);
		OK(a.status == 403 || a.status == 0, "and submits nothing");
		client_close(&c);
	}
	buf_fini(&a.body);
}

/* When all connections are taken root still gets in. */
static void reserve(const struct fixture *f)
{
	struct client many[4];
	struct answer a = { 0 };

	for (int i = 0; i < 6000 && http_server_connections(f->http) > 0; i++)
		usleep(10000); /* those of before must have gone */
	for (int i = 0; i < 4; i++)
		many[i] = open_as(f, i % 2 ? NOBODY : 1);
	for (int i = 0; i < 6000 && http_server_connections(f->http) < 4; i++)
		usleep(10000);
	struct client late = open_as(f, 2), root = client_open(f);
	client_read(&late, &a, 0);
	OK(a.status == 503, "when the door is full a user waits outside");
	ask(&root, &a, "GET", "/health", NULL);
	OK(a.status == 200, "but root is let in");
	for (int i = 0; i < 4; i++)
		client_close(&many[i]);
	client_close(&late);
	client_close(&root);
	buf_fini(&a.body);
}

/* One who takes all connections is held up; others are not. */
static void greedy(const struct fixture *f)
{
	struct client many[6];
	struct answer a = { 0 };

	for (int i = 0; i < 6000 && http_server_connections(f->http) > 0; i++)
		usleep(10000); /* those of before must have gone */
	for (int i = 0; i < 6; i++)
		many[i] = open_as(f, NOBODY);
	client_read(&many[5], &a, 0);
	OK(a.status == 503 && a.whole && has(&a, "too many connections"),
	   "the sixth of five allowed is told so");
	struct client root = client_open(f);
	ask(&root, &a, "GET", "/health", NULL);
	OK(a.status == 200, "another is served");
	ask(&many[4], &a, "GET", "/health", NULL);
	OK(a.status == 200, "so is the fifth");
	for (int i = 0; i < 6; i++)
		client_close(&many[i]);
	for (int i = 0; i < 6000 && http_server_connections(f->http) > 1; i++)
		usleep(10000);
	many[0] = open_as(f, NOBODY);
	ask(&many[0], &a, "GET", "/health", NULL);
	OK(a.status == 200, "and all is given back");
	client_close(&many[0]);
	client_close(&root);
	buf_fini(&a.body);
}

int main(void)
{
	struct fixture f = { .run_ms_max = 1000000000,
			     .open_to_all = true,
			     .conns_per_user = 5 };
	struct answer a = { 0 };

	if (geteuid() != 0) {
		SKIP("needs root to be two people");
		return END();
	}
	fixture_start(&f);
	struct client root = client_open(&f), nobody = open_as(&f, NOBODY);
	ask(&root, &a, "POST", "/jobs", JOB);
	OK(a.status == 201, "root submits a job");
	strangers(&nobody);
	client_close(&nobody);
	nobody = open_as(&f, NOBODY);
	own(&nobody, &root);
	elsewhere(&f, &nobody);
	client_close(&nobody);
	client_close(&root);
	greedy(&f);
	fixture_end(&f);
	struct fixture door = { .run_ms_max = 1000,
				.open_to_all = true,
				.uid_base = 1000000000,
				.conns_max = 4 };
	fixture_start(&door);
	uids(&door);
	reserve(&door);
	fixture_end(&door);
	buf_fini(&a.body);
	return END();
}
