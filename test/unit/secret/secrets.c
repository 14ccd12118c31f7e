// SPDX-License-Identifier: Apache-2.0
/* Who may use, see and set which secret; the key and what happens without it. */
#include "secret/secret.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "tap.h"
#include "world/world_sim.h"

static char folder[] = "/tmp/yard-secret-test.XXXXXX";
static char *key_path;
static struct world *world;

/* ann and bob are in the group vision. */
static bool in_group(void *arg, const char *user, const char *group)
{
	(void)arg;
	return strcmp(group, "vision") == 0 &&
	       (strcmp(user, "ann") == 0 || strcmp(user, "bob") == 0);
}

static struct secrets *fresh(void)
{
	return secrets_create(&(struct secrets_config){
		.world = world, .key_path = key_path, .in_group = in_group });
}

static int set(struct secrets *s, enum secret_scope scope, const char *owner,
	       const char *name, const char *text, struct err *err)
{
	AUTO_VAULT struct vault *v = vault_copy(text, strlen(text));
	AUTO_BUF struct buf doc = { 0 }, body = { 0 };
	const struct secret_wish w = { scope, owner, name, "ann", v };

	if (secrets_seal(s, &w, &doc, &body, err) < 0)
		return -1;
	secrets_apply(s, buf_str(&doc), buf_str(&body));
	return 0;
}

static const char *opened(struct secrets *s, enum secret_scope scope, const char *owner,
			  const char *name)
{
	static char text[ERR_TEXT_MAX];
	const struct secret *one = secrets_find(s, scope, owner, name);
	struct err err;
	struct vault *v = one ? secrets_open(s, one, &err) : NULL;

	snprintf(text, sizeof text, "%s", v ? vault_data(v) : one ? err.text : "none");
	vault_unref(v);
	return text;
}

static void key_file(void)
{
	struct secrets *s = fresh();
	struct stat st;
	struct err err = { 0 };

	OK(access(key_path, F_OK) < 0, "there is no key before there is a secret");
	OK(set(s, SECRET_USER, "ann", "token", "hunter2", &err) == 0, "one is set %s",
	   err.text);
	OK(stat(key_path, &st) == 0 && (st.st_mode & 0777) == 0600,
	   "the key is there, for the daemon alone");
	IS(opened(s, SECRET_USER, "ann", "token"), "hunter2", "and opens it");

	AUTO_FREE char *away = str_printf("%s.away", key_path);
	OK(rename(key_path, away) == 0, "the key is lost:");
	OK(strstr(opened(s, SECRET_USER, "ann", "token"), "is lost"), "which is said");
	OK(set(s, SECRET_USER, "ann", "more", "hunter3", &err) < 0 &&
		   strstr(err.text, "is lost") && access(key_path, F_OK) < 0,
	   "no new one is made while sealed values are there");

	/* A yard without secrets makes itself a key: of another yard's secrets it says so. */
	struct secrets *empty = fresh();
	OK(set(empty, SECRET_USER, "ann", "x", "other-value", &err) == 0,
	   "where nothing is sealed a key is made");
	OK(strstr(opened(s, SECRET_USER, "ann", "token"), "another key"),
	   "a wrong key is told from a damaged value");
	OK(set(s, SECRET_USER, "ann", "more", "hunter3", &err) < 0 &&
		   strstr(err.text, "another key"),
	   "and seals nothing beside what another one sealed");
	secrets_destroy(empty);
	OK(rename(away, key_path) == 0, "the key comes back:");
	IS(opened(s, SECRET_USER, "ann", "token"), "hunter2", "all is well");
	OK(chmod(key_path, 0644) == 0 &&
		   strstr(opened(s, SECRET_USER, "ann", "token"), "chmod 600"),
	   "a key that others can read is refused");
	if (chmod(key_path, 0600) < 0)
		abort();
	secrets_destroy(s);
}

static void moved_documents(void)
{
	struct secrets *s = fresh();
	AUTO_VAULT struct vault *v = vault_copy("hunter2", 7);
	AUTO_BUF struct buf doc = { 0 }, body = { 0 };
	const struct secret_wish w = { SECRET_USER, "ann", "token", "ann", v };
	struct err err;

	if (secrets_seal(s, &w, &doc, &body, &err) < 0)
		abort();
	IS(buf_str(&doc), "user/ann/token", "a document is named by whose and what");
	OK(!strstr(buf_str(&body), "hunter2"), "its value is not in it");
	secrets_apply(s, "user/eve/token", buf_str(&body));
	OK(strstr(opened(s, SECRET_USER, "eve", "token"), "moved"),
	   "put under another name it does not open");
	secrets_apply(s, "user/eve/token", NULL);
	OK(!secrets_find(s, SECRET_USER, "eve", "token"), "it can be removed");
	secrets_apply(s, "nonsense", "{}");
	secrets_apply(s, "user/x", "{}");
	secrets_apply(s, "user/a/b", "not json");
	OK(!secrets_find(s, SECRET_USER, "a", "b"), "nonsense is no secret");
	secrets_destroy(s);
}

/* The value that the job's first secret gives, or why not. */
static const char *granted(struct secrets *s, const char *owner, const char *group,
			   const char *name, const char *from)
{
	static char text[ERR_TEXT_MAX];
	struct spec *spec = spec_create();
	struct job j = { .owner = mem_strdup(owner),
			 .group = mem_strdup(group),
			 .spec = spec };
	struct secret_set *set = NULL;
	struct err err;

	struct secret_use *u = spec_add_secret(spec, name);
	u->env = mem_strdup("TOKEN");
	u->from = mem_strdup(from);
	if (secrets_grant(s, &j, &set, &err) < 0)
		snprintf(text, sizeof text, "%s", err.text);
	else
		snprintf(text, sizeof text, "%s", vault_data(set->items[0].value));
	size_t refused = set ? 0 : 1;
	secret_set_unref(set);

	AUTO_PROBLEMS struct problems problems = { 0 };
	struct principal p = { .role = ROLE_MEMBER, .scopes = SCOPE_ALL };
	snprintf(p.name, sizeof p.name, "%s", owner);
	snprintf(p.group, sizeof p.group, "%s", group);
	secrets_check(s, &p, spec, &problems);
	if (problems.count != refused ||
	    (problems.count && (strcmp(problems.items[0].field, "secrets[0].name") != 0 ||
				strcmp(problems.items[0].text, text) != 0)))
		snprintf(text, sizeof text, "submit and launch do not agree");
	spec_destroy(spec);
	free(j.owner);
	free(j.group);
	return text;
}

static void uses(void)
{
	struct secrets *s = fresh();
	struct err err;

	set(s, SECRET_USER, "ann", "own", "of-ann", &err);
	set(s, SECRET_GROUP, "vision", "shared", "of-vision", &err);
	set(s, SECRET_GROUP, "vision", "own", "of-vision-too", &err);
	IS(granted(s, "ann", "vision", "own", NULL), "of-ann", "one's own comes first");
	IS(granted(s, "bob", "vision", "own", NULL), "of-vision-too", "then the group's");
	IS(granted(s, "ann", "vision", "own", "group/vision"), "of-vision-too",
	   "unless it is asked for");
	IS(granted(s, "bob", "default", "shared", "group/vision"), "of-vision",
	   "also from a job of another group");
	OK(strstr(granted(s, "bob", "default", "shared", NULL), "yard secret set shared"),
	   "what is not there is said, with how to make it");
	OK(strstr(granted(s, "eve", "vision", "shared", NULL), "there is no secret"),
	   "a group's secret is not for one who is no member, whatever the job says");
	OK(strstr(granted(s, "eve", "default", "shared", "group/vision"), "may use"),
	   "nor when it is asked for");
	OK(strstr(granted(s, "eve", "default", "own", "user/ann"), "may use"),
	   "another user's is never");
	IS(granted(s, "ann", "vision", "own", "user/ann"), "of-ann",
	   "one's own by name is");
	secrets_apply(s, "user/ann/own", NULL);
	secrets_apply(s, "group/vision/own", NULL);
	OK(strstr(granted(s, "ann", "vision", "own", NULL), "there is no secret 'own'"),
	   "what was removed meanwhile is not there");
	secrets_destroy(s);
}

static void rules(void)
{
	struct principal p = { .name = "ann", .role = ROLE_MEMBER, .scopes = SCOPE_ALL };

	snprintf(p.groups[0], sizeof p.groups[0], "vision");
	snprintf(p.groups[1], sizeof p.groups[1], GROUP_DEFAULT);
	p.group_count = 2;
	OK(secret_may_change(&p, SECRET_USER, "ann") &&
		   secret_may_change(&p, SECRET_GROUP, "vision"),
	   "a member sets their own and their groups'");
	OK(!secret_may_see(&p, SECRET_USER, "bob") &&
		   !secret_may_see(&p, SECRET_GROUP, "audio") &&
		   !secret_may_see(&p, SECRET_GROUP, GROUP_DEFAULT),
	   "and sees nobody else's, nor those of the group that shares nothing");
	p.scopes = SCOPE_READ;
	OK(secret_may_see(&p, SECRET_USER, "ann") &&
		   !secret_may_change(&p, SECRET_USER, "ann"),
	   "a credential that only reads changes nothing");
	p.scopes = SCOPE_ALL;
	p.role = ROLE_VIEWER;
	OK(secret_may_see(&p, SECRET_GROUP, "vision") &&
		   !secret_may_change(&p, SECRET_GROUP, "vision"),
	   "nor does a viewer");
	p.role = ROLE_ADMIN;
	OK(secret_may_change(&p, SECRET_USER, "bob"), "an admin looks after all");
	p.scopes = SCOPE_READ;
	OK(secret_may_see(&p, SECRET_USER, "bob") &&
		   !secret_may_change(&p, SECRET_USER, "bob"),
	   "with a credential that lets them");
}

static void limits(void)
{
	struct secrets *s = fresh();
	AUTO_VAULT struct vault *large = vault_create(SECRET_VALUE_MAX + 1);
	AUTO_VAULT struct vault *zeros = vault_copy("a\0b", 3);
	AUTO_BUF struct buf doc = { 0 }, body = { 0 };
	struct secret_wish w = { SECRET_USER, "ann", "large", "ann", large };
	struct err err;

	OK(secrets_seal(s, &w, &doc, &body, &err) < 0 && err.code == ERR_TOO_LARGE,
	   "a value has at most 64 KiB");
	vault_cut(large, SECRET_VALUE_MAX);
	OK(secrets_seal(s, &w, &doc, &body, &err) == 0, "and that many it may have");
	secrets_apply(s, buf_str(&doc), buf_str(&body));
	const struct secret *one = secrets_find(s, SECRET_USER, "ann", "large");
	struct vault *v = one ? secrets_open(s, one, &err) : NULL;
	OK(v && vault_len(v) == SECRET_VALUE_MAX, "which come out again");
	vault_unref(v);
	OK(set(s, SECRET_USER, "ann", "empty", "", &err) < 0, "an empty one is none");
	OK(set(s, SECRET_USER, "ann", "a/b", "x", &err) < 0 && err.code == ERR_INVALID,
	   "a name has no slash");
	buf_clear(&doc);
	buf_clear(&body);
	w = (struct secret_wish){ SECRET_USER, "ann", "bytes", "ann", zeros };
	OK(secrets_seal(s, &w, &doc, &body, &err) == 0, "it may be any bytes");
	secrets_apply(s, buf_str(&doc), buf_str(&body));
	OK(strstr(granted(s, "ann", "default", "bytes", NULL), "zero bytes"),
	   "but with zero bytes it is no variable");
	secrets_destroy(s);
}

int main(void)
{
	world = world_sim_create(7);
	if (!mkdtemp(folder))
		abort();
	key_path = str_printf("%s/secret.key", folder);
	key_file();
	moved_documents();
	uses();
	rules();
	limits();
	unlink(key_path);
	rmdir(folder);
	free(key_path);
	world_destroy(world);
	return END();
}
