// SPDX-License-Identifier: Apache-2.0
/* Which server a command talks to, and the file of contexts: who may read it, what it
 * survives. */
#include "cli/contexts.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "cli/server.h"
#include "tap.h"

#define PRINT                                                                            \
	"SHA256:00:11:22:33:44:55:66:77:88:99:AA:BB:CC:DD:EE:FF:00:11:22:33:44:55:66:77" \
	":88:99:AA:BB:CC:DD:EE:FF"

static char base[64];

static char *file(void)
{
	return str_printf("%s/yard/contexts.yaml", base);
}

static void write_file(const char *text, mode_t mode)
{
	AUTO_FREE char *path = file();
	FILE *f = fopen(path, "w");

	if (!f || fputs(text, f) < 0 || fclose(f) != 0)
		printf("Bail out! %s\n", path);
	chmod(path, mode);
}

static void test_urls(void)
{
	static const struct {
		const char *text, *url;
	} good[] = {
		{ "unix:///run/x.sock", "unix:///run/x.sock" },
		{ "http://127.0.0.1:8470", "http://127.0.0.1:8470" },
		{ "http://h", "http://h:80" },
		{ "https://h", "https://h:443" },
		{ "https://h/", "https://h:443" },
		{ "https://[::1]:8470", "https://[::1]:8470" },
		{ "yard.example.org", "https://yard.example.org:8470" },
		{ "yard.example.org:9", "https://yard.example.org:9" },
		{ "[fe80::1%eth0]:9", "https://[fe80::1%eth0]:9" },
	};
	static const char *const bad[] = { "",
					   "unix://relative",
					   "ftp://h:1",
					   "https://",
					   "https://h:0",
					   "https://h:65536",
					   "https://h:x",
					   "https://user@h:1",
					   "https://h/path",
					   "https://::1:8470",
					   "https://[::1",
					   "https://[::1]8470" };
	struct server s;
	struct err err;

	for (size_t i = 0; i < COUNT_OF(good); i++) {
		OK(server_parse(&s, good[i].text, &err) == 0, "%s is a server",
		   good[i].text);
		AUTO_FREE char *url = server_url(&s);
		IS(url, good[i].url, "namely %s", good[i].url);
		server_fini(&s);
	}
	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		OK(server_parse(&s, bad[i], &err) < 0, "'%s' is none", bad[i]);
		server_fini(&s);
	}
}

static int add(struct contexts *c, void *arg, struct err *err)
{
	struct context *of = arg;

	(void)err;
	contexts_put(c, of);
	free(c->current);
	c->current = mem_strdup(of->name);
	return 0;
}

static int fail(struct contexts *c, void *arg, struct err *err)
{
	(void)arg;
	contexts_remove(c, "work");
	return err_set(err, ERR_INVALID, "changed its mind");
}

static void put(const char *name, const char *server, const char *token, const char *pin)
{
	struct context x = { mem_strdup(name), mem_strdup(server), mem_strdup("ada"),
			     mem_strdup(token), mem_strdup(pin) };
	struct err err = { 0 };

	OK(contexts_change(add, &x, &err) == 0, "context %s is kept %s", name, err.text);
	free(x.name);
	free(x.server);
	free(x.user);
	free(x.token);
	free(x.fingerprint);
}

static void test_file(void)
{
	AUTO_FREE char *path = file();
	struct contexts c;
	struct stat st;
	struct err err;

	OK(contexts_load(&c, &err) == 0 && c.count == 0, "no file: no contexts");
	put("work", "https://a:1", "yard_\"odd\\: token\n", PRINT);
	OK(stat(path, &st) == 0 && (st.st_mode & 07777) == 0600, "for its owner alone");
	OK(contexts_load(&c, &err) == 0 && c.count == 1, "it is read again");
	IS(c.items[0].token, "yard_\"odd\\: token\n", "whatever is in it");
	IS(c.current, "work", "with the current one");
	contexts_fini(&c);
	put("work", "https://a:1", NULL, NULL);
	put("home", "https://b:2", "t2", NULL);
	OK(contexts_change(fail, NULL, &err) < 0, "a change that fails");
	OK(contexts_load(&c, &err) == 0 && c.count == 2 && contexts_find(&c, "work"),
	   "changes nothing");
	OK(!contexts_find(&c, "work")->token, "a token can be forgotten");
	OK(!contexts_get(&c, "wrok", &err) && strstr(err.text, "'work'"),
	   "a name nearly right is guessed");
	contexts_fini(&c);
}

/* Two at once: neither loses what the other adds. */
static void test_together(void)
{
	struct contexts c;
	struct err err;
	int status, bad = 0;

	fflush(stdout);
	for (int i = 0; i < 8; i++) {
		if (fork() != 0)
			continue;
		AUTO_FREE char *name = str_printf("n%d", i);
		AUTO_FREE char *url = str_printf("https://many:%d", i + 1);
		struct context x = { name, url, NULL, NULL, NULL };
		_exit(contexts_change(add, &x, &err) == 0 ? 0 : 1);
	}
	while (wait(&status) > 0)
		bad += status != 0;
	OK(bad == 0 && contexts_load(&c, &err) == 0, "eight change the file at once");
	IS_INT((long long)c.count, 2 + 8, "and all they added is there");
	contexts_fini(&c);
}

static void test_refused(void)
{
	static const char *const bad[] = {
		"contexts: [", "contexts:\n  - name: x\n",
		"contexts:\n  - {name: local, server: 'https://a'}\n",
		"contexts:\n  - {name: 'a b', server: 'https://a'}\n"
	};
	AUTO_FREE char *path = file();
	struct contexts c;
	struct err err;

	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		write_file(bad[i], 0600);
		OK(contexts_load(&c, &err) < 0 && strstr(err.text, "contexts.yaml"),
		   "a broken file is named: %s", err.text);
	}
	write_file("contexts: []\n", 0644);
	OK(contexts_load(&c, &err) < 0 && err.code == ERR_DENIED,
	   "one that others can read is not read: %s", err.text);
	unlink(path);
	if (mkdir(path, 0700) == 0) {
		OK(contexts_load(&c, &err) < 0, "nor is a folder: %s", err.text);
		rmdir(path);
	}
	OK(context_name_check("local", &err) < 0 && context_name_check("-x", &err) < 0 &&
		   context_name_check("", &err) < 0 &&
		   context_name_check("a/b", &err) < 0,
	   "names that would confuse are refused");
}

/* The order of docs/remote.md. */
static void test_order(void)
{
	struct server s;
	struct err err;

	put("work", "https://a:1", "t1", PRINT);
	put("home", "https://b:2", "t2", NULL);
	OK(server_find(&s, NULL, &err) == 0 && str_eq(s.host, "b") &&
		   str_eq(s.token, "t2") && s.tls && !s.state,
	   "the current context");
	server_fini(&s);
	setenv("YARD_TOKEN", "t9", 1);
	OK(server_find(&s, NULL, &err) == 0 && str_eq(s.host, "b") &&
		   str_eq(s.token, "t9"),
	   "YARD_TOKEN stands above its token");
	server_fini(&s);
	OK(server_find(&s, "work", &err) == 0 && str_eq(s.host, "a") &&
		   str_eq(s.token, "t1") && str_eq(s.pin, PRINT),
	   "a context named outright stands above all");
	server_fini(&s);
	unsetenv("YARD_TOKEN");
	setenv("YARD_SERVER", "https://a:1", 1);
	OK(server_find(&s, NULL, &err) == 0 && str_eq(s.token, "t1") &&
		   str_eq(s.pin, PRINT),
	   "YARD_SERVER of a known server has its token and certificate");
	server_fini(&s);
	setenv("YARD_SERVER", "https://a:3", 1);
	OK(server_find(&s, NULL, &err) == 0 && !s.token && !s.pin,
	   "but no other server gets them");
	server_fini(&s);
	setenv("YARD_SERVER", "http://a:1", 1);
	OK(server_find(&s, NULL, &err) == 0 && !s.token, "nor the same one in the clear");
	server_fini(&s);
	setenv("YARD_TOKEN", "t9", 1);
	OK(server_find(&s, NULL, &err) < 0 && err.code == ERR_DENIED,
	   "nor does one that is given: %s", err.text);
	setenv("YARD_SERVER", "http://127.0.0.1:1", 1);
	OK(server_find(&s, NULL, &err) == 0 && str_eq(s.token, "t9"),
	   "on this machine it may");
	server_fini(&s);
	put("plain", "http://c:4", NULL, NULL);
	setenv("YARD_SERVER", "http://c:4", 1);
	OK(server_find(&s, NULL, &err) == 0 && str_eq(s.token, "t9"),
	   "and where one has logged in so");
	server_fini(&s);
	unsetenv("YARD_TOKEN");
	setenv("YARD_SERVER", "http://a:1", 1);
	setenv("YARD_FINGERPRINT", "00", 1);
	OK(server_find(&s, NULL, &err) < 0 && strstr(err.text, "YARD_FINGERPRINT"),
	   "a wrong fingerprint is an error: %s", err.text);
	unsetenv("YARD_FINGERPRINT");
	unsetenv("YARD_SERVER");
	setenv("YARD_STATE", base, 1);
	OK(server_find(&s, NULL, &err) == 0 && s.socket && str_eq(s.state, base),
	   "YARD_STATE stands above the current context");
	server_fini(&s);
	OK(server_find(&s, "local", &err) == 0 && s.socket, "local is this machine");
	server_fini(&s);
	unsetenv("YARD_STATE");
	OK(server_find(&s, "nobody", &err) < 0 && err.code == ERR_NOT_FOUND,
	   "a context that is not there is an error");
}

int main(void)
{
	snprintf(base, sizeof base, "/tmp/yard-contexts-XXXXXX");
	if (!mkdtemp(base))
		return 1;
	setenv("XDG_CONFIG_HOME", base, 1);
	unsetenv("YARD_SERVER");
	unsetenv("YARD_TOKEN");
	unsetenv("YARD_STATE");
	unsetenv("YARD_SOCKET");
	unsetenv("YARD_FINGERPRINT");
	test_urls();
	test_file();
	test_together();
	test_refused();
	test_order();
	static const char *const left[] = { "yard/contexts.yaml", "yard/contexts.lock",
					    "yard", "" };
	for (size_t i = 0; i < COUNT_OF(left); i++) {
		AUTO_FREE char *p = str_printf("%s/%s", base, left[i]);
		remove(p);
	}
	return END();
}
