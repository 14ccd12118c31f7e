// SPDX-License-Identifier: Apache-2.0
/* Users, groups and tokens: what may be changed, and who one is then. */
#include "rig.h"

static void test_names(struct rig *g)
{
	static const char *const bad[] = { "",      "Ann",    "9ann",   "-ann", "ann b",
					   "uid-7", "a/b",    "a%b",    "..",   "ä",
					   "root",  "daemon", "nobody", "yardd" };
	static const char *const good[] = { "ann", "_x", "a.b-c_9", "uid-x", "uid" };
	char edge[NAME_MAX_BYTES + 1];

	for (size_t i = 0; i < COUNT_OF(bad); i++)
		OK(add_user(g, bad[i], ROLE_MEMBER, "", NULL) < 0 &&
			   g->err.code == ERR_INVALID &&
			   str_starts(g->err.text, "name: "),
		   "'%s' is no name: %s", bad[i], g->err.text);
	for (size_t i = 0; i < COUNT_OF(good); i++)
		OK(add_user(g, good[i], ROLE_MEMBER, "", NULL) == 0 &&
			   who_user(g->d, good[i]),
		   "'%s' is one", good[i]);
	memset(edge, 'a', sizeof edge);
	edge[NAME_MAX_BYTES] = '\0';
	OK(add_user(g, edge, ROLE_MEMBER, "", NULL) < 0, "%d bytes are too many",
	   NAME_MAX_BYTES);
	edge[NAME_MAX_BYTES - 1] = '\0';
	OK(add_user(g, edge, ROLE_MEMBER, "", NULL) == 0, "one fewer is fine");
	OK(add_user(g, "ann", ROLE_MEMBER, "", NULL) < 0 && g->err.code == ERR_CONFLICT,
	   "a name is given once: %s", g->err.text);

	struct principal root = { .name = "root", .uid = 0, .role = ROLE_ADMIN };
	struct who_user_wish w = WHO_USER_WISH_NONE;
	struct who_change c = { 0 };
	w.by = &root;
	OK(done(g, who_add_user(g->d, "root", &w, &c, &g->err), &c) == 0 &&
		   who_user(g->d, "root")->uid == 0,
	   "root may ask for root's account, which is linked to uid 0");
	OK(done(g, who_add_user(g->d, "daemon", &w, &c, &g->err), &c) < 0,
	   "not for another system account");
}

static void test_groups(struct rig *g)
{
	const char *two[] = { "vision", "audio2" }, *twice[] = { "vision", "vision" };
	struct who_user_wish w = WHO_USER_WISH_NONE;
	struct who_change c = { 0 };
	struct principal p;

	OK(add_group(g, "default") < 0 && add_group(g, "root") < 0 &&
		   g->err.code == ERR_INVALID,
	   "not the group of those in none, not one of this machine: %s", g->err.text);
	OK(add_group(g, "vision") == 0 && add_group(g, "audio2") == 0 &&
		   add_group(g, "vision") < 0 && g->err.code == ERR_CONFLICT,
	   "groups have a name once");
	OK(add_user(g, "bob", ROLE_MEMBER, "nope", NULL) < 0 && !who_user(g->d, "bob"),
	   "one cannot be in a group that is not there: %s", g->err.text);
	w.groups = twice;
	w.group_count = 2;
	OK(set_user(g, "ann", w) < 0, "nor twice in one: %s", g->err.text);
	w.groups = two;
	OK(set_user(g, "ann", w) == 0, "but in two");
	user_principal(who_user(g->d, "ann"), &p);
	OK(str_eq(p.group, "vision") && principal_in(&p, "audio2") &&
		   !principal_in(&p, "default"),
	   "the first is where jobs go; both share");
	OK(who_member_count(g->d, "vision") == 1, "members are counted");
	OK(done(g, who_remove_group(g->d, "vision", &c, &g->err), &c) < 0 &&
		   g->err.code == ERR_CONFLICT,
	   "a group with members stays: %s", g->err.text);
	OK(done(g, who_set_member(g->d, "vision", "ann", true, &c, &g->err), &c) == 0 &&
		   str_eq(who_user(g->d, "ann")->groups[0], "vision"),
	   "joining what one is in changes nothing");
	OK(done(g, who_set_member(g->d, "vision", "ann", false, &c, &g->err), &c) == 0 &&
		   who_user(g->d, "ann")->group_count == 1 &&
		   str_eq(who_user(g->d, "ann")->groups[0], "audio2"),
	   "who leaves is in the others still");
	OK(done(g, who_remove_group(g->d, "vision", &c, &g->err), &c) == 0 &&
		   !who_group(g->d, "vision"),
	   "an empty group goes");
	OK(done(g, who_set_member(g->d, "vision", "ann", true, &c, &g->err), &c) < 0 &&
		   g->err.code == ERR_NOT_FOUND,
	   "what is not there cannot be joined");
}

static void test_last_admin(struct rig *g)
{
	struct who_user_wish demote = WHO_USER_WISH_NONE, bar = WHO_USER_WISH_NONE,
			     strip = WHO_USER_WISH_NONE;

	demote.role = ROLE_MEMBER;
	bar.disabled = 1;
	strip.hash = "";
	OK(add_user(g, "boss", ROLE_ADMIN, "", "$hash") == 0 &&
		   add_user(g, "quiet", ROLE_ADMIN, "", NULL) == 0,
	   "two admins, one of whom has a password");
	OK(set_user(g, "boss", demote) < 0 && g->err.code == ERR_CONFLICT &&
		   set_user(g, "boss", bar) < 0 && set_user(g, "boss", strip) < 0 &&
		   remove_user(g, "boss") < 0 && user_can_log_in(who_user(g->d, "boss")),
	   "the last one who can log in stays: %s", g->err.text);
	OK(remove_user(g, "quiet") == 0, "another may go");
	OK(add_user(g, "boss2", ROLE_ADMIN, "", "$hash2") == 0 &&
		   set_user(g, "boss", demote) == 0,
	   "so may the first once there is a second");
	OK(remove_user(g, "boss2") < 0, "who then is the last");
}

static char *token(struct rig *g, const char *user, unsigned scopes, int64_t life_ms)
{
	struct who_change c = { 0 };
	char *text = NULL;

	done(g,
	     who_add_token(g->d,
			   &(struct who_token_wish){ .user = user,
						     .label = "ci",
						     .scopes = scopes,
						     .life_ms = life_ms },
			   &c, &text, NULL, &g->err),
	     &c);
	return text;
}

static void count_token(void *arg, const struct who_token *t)
{
	(void)t;
	++*(int *)arg;
}

static void test_tokens(struct rig *g)
{
	AUTO_FREE char *text = token(g, "ann", SCOPE_WRITE, 0);
	AUTO_FREE char *other = token(g, "ann", SCOPE_READ, 0);
	AUTO_FREE char *admin = token(g, "ann", SCOPE_ADMIN, 0);
	char id[WHO_TOKEN_ID_BYTES];
	struct principal p;
	int wrong = 0, count = 0;

	OK(text && other && !admin && g->err.code == ERR_INVALID,
	   "who is no admin has no token of that scope: %s", g->err.text);
	OK(who_by_token(g->d, text, &p, id, &g->err) == 0 && str_eq(p.name, "ann") &&
		   p.scopes == (SCOPE_READ | SCOPE_WRITE) && p.role == ROLE_MEMBER,
	   "a token is its user, with its scopes; who writes reads");
	OK(!strstr(who_token(g->d, id)->hash, text) && who_token(g->d, id)->used_ms > 0,
	   "the text is kept nowhere; that it was used is known");
	AUTO_FREE char *before = mem_strdup(text);
	for (size_t i = 0; i < strlen(text); i++) {
		text[i] ^= 1;
		wrong += who_by_token(g->d, text, &p, NULL, &g->err) == 0;
		wrong += who_token_again(g->d, id, text, before);
		text[i] ^= 1;
	}
	OK(who_token_again(g->d, id, text, before) &&
		   !who_token_again(g->d, id, "", before) &&
		   !who_token_again(g->d, "none", text, before),
	   "the same again opens the same");
	OK(!wrong && g->err.code == ERR_UNKNOWN_CALLER,
	   "with any letter changed it opens nothing: %s", g->err.text);
	AUTO_FREE char *mixed = mem_strdup(text);
	memcpy(mixed + strlen(text) - WHO_SECRET_CHARS,
	       other + strlen(other) - WHO_SECRET_CHARS, WHO_SECRET_CHARS);
	OK(who_by_token(g->d, mixed, &p, NULL, &g->err) < 0 &&
		   who_by_token(g->d, "", &p, NULL, &g->err) < 0 &&
		   who_by_token(g->d, "yard_", &p, NULL, &g->err) < 0,
	   "nor does another's secret, nor half of one");
	struct who_user_wish bar = WHO_USER_WISH_NONE;
	bar.disabled = 1;
	OK(set_user(g, "ann", bar) == 0 &&
		   who_by_token(g->d, text, &p, NULL, &g->err) < 0,
	   "a disabled user's opens nothing: %s", g->err.text);
	bar.disabled = 0;
	set_user(g, "ann", bar);
	OK(who_by_token(g->d, text, &p, NULL, &g->err) == 0, "until they are enabled");
	for (int i = 2; i < WHO_TOKENS_MAX; i++)
		free(token(g, "ann", SCOPE_READ, 0));
	OK(!token(g, "ann", SCOPE_READ, 0) && g->err.code == ERR_QUOTA,
	   "there is an end to it: %s", g->err.text);
	who_each_token(g->d, "ann", count_token, &count);
	IS_INT(count, WHO_TOKENS_MAX, "they can be listed");
	OK(remove_user(g, "ann") == 0 && !who_token(g->d, id) &&
		   who_by_token(g->d, text, &p, NULL, &g->err) < 0,
	   "a user's tokens go with them");
	count = 0;
	who_each_token(g->d, NULL, count_token, &count);
	IS_INT(count, 0, "all of them");
}

static void test_expiry(struct rig *g)
{
	AUTO_FREE char *brief = token(g, "uid", SCOPE_READ, 500), *longer = NULL,
		       *more = NULL;
	char id[WHO_TOKEN_ID_BYTES] = "";
	struct principal p;

	who_on_change(g->d, on_wanted, g);
	OK(who_by_token(g->d, brief, &p, id, &g->err) == 0, "a token lives");
	OK(who_token_again(g->d, id, brief, brief), "and again");
	world_sim_run_until(g->w, world_mono_ms(g->w) + 500);
	OK(!who_token_again(g->d, id, brief, brief), "not for ever");
	OK(who_by_token(g->d, brief, &p, NULL, &g->err) < 0 &&
		   g->err.code == ERR_UNKNOWN_CALLER && strstr(g->err.text, "expired"),
	   "for its time: %s", g->err.text);
	OK(who_token(g->d, id) && !g->wanted, "it is not removed from inside the call");
	world_sim_settle(g->w, 1000);
	OK(!who_token(g->d, id) && g->wanted == 1, "but soon");
	IS(g->action, "token.expire", "which is recorded");
	longer = token(g, "uid", SCOPE_READ, 86400000);
	world_sim_run_until(g->w, world_mono_ms(g->w) + 86399000);
	OK(who_by_token(g->d, longer, &p, id, &g->err) == 0, "a longer one lives longer");
	world_sim_run_until(g->w, world_mono_ms(g->w) + 3000);
	OK(!who_token(g->d, id) && g->wanted == 2,
	   "and goes by itself: who follows something by it is to be cut off");
	OK(who_by_token(g->d, longer, &p, NULL, &g->err) < 0 &&
		   strstr(g->err.text, "expired"),
	   "after which it may still be that it expired: %s", g->err.text);
	free(token(g, "uid", SCOPE_READ, 500));
	world_sim_run_until(g->w, world_mono_ms(g->w) + 600);
	who_on_change(g->d, on_wanted, g);
	world_sim_settle(g->w, 1000);
	IS_INT(g->wanted, 3, "at boot those that expired while it was down go too");
	free(token(g, "uid", SCOPE_READ, 500));
	world_sim_run_until(g->w, world_mono_ms(g->w) + 600);
	more = token(g, "uid", SCOPE_READ, 0);
	OK(more && map_count(g->d->tokens) == 1,
	   "a new token takes the user's expired ones away");
	OK(!token(g, "uid", SCOPE_READ, -1) && !token(g, "uid", 0, 0) &&
		   !token(g, "nobody-there", SCOPE_READ, 0),
	   "a life that is none, no scope, no user");
}

static void test_peers(struct rig *g)
{
	struct principal peer = { .name = "carl", .group = "vision", .uid = 1234 };
	struct principal p;
	struct who_user_wish bar = WHO_USER_WISH_NONE;

	peer.role = ROLE_MEMBER;
	peer.scopes = SCOPE_ALL;
	OK(who_with_account(g->d, &peer, &p, &g->err) == 0 && !p.group_count &&
		   str_eq(p.group, "vision") && p.uid == 1234,
	   "one without an account is as the unix socket says");
	add_group(g, "vision");
	OK(who_with_account(g->d, &peer, &p, &g->err) == 0 && str_eq(p.group, "default"),
	   "but not in a group of the yard whose name theirs has");
	add_user(g, "carl", ROLE_VIEWER, "vision", NULL);
	int before = g->wanted;
	OK(who_with_account(g->d, &peer, &p, &g->err) == 0 && p.role == ROLE_VIEWER &&
		   principal_in(&p, "vision") && p.uid == 1234,
	   "with one they are what it says");
	world_sim_settle(g->w, 1000);
	OK(g->wanted == before + 1 && who_user(g->d, "carl")->uid == 1234,
	   "and the account knows their uid from then on");
	who_with_account(g->d, &peer, &p, &g->err);
	world_sim_settle(g->w, 1000);
	OK(g->wanted == before + 1, "which is recorded once");
	bar.disabled = 1;
	set_user(g, "carl", bar);
	OK(who_with_account(g->d, &peer, &p, &g->err) < 0 && g->err.code == ERR_DENIED,
	   "a disabled one is refused there too: %s", g->err.text);
	peer.role = ROLE_ADMIN;
	OK(who_with_account(g->d, &peer, &p, &g->err) == 0 && p.role == ROLE_ADMIN,
	   "except root and the daemon's user, who mend it");
}

/* A body that is damaged is nobody. */
static void test_damage(struct rig *g)
{
	static const char *const bodies[] = {
		"",
		"{",
		"[]",
		"{}",
		"{\"role\":\"king\"}",
		"{\"role\":\"admin\",\"groups\":[1]}",
		("{\"role\":\"admin\",\"groups\":[\"a\",\"a\",\"a\",\"a\",\"a\",\"a\",\"a\",\"a\","
		 "\"a\",\"a\",\"a\",\"a\",\"a\",\"a\",\"a\",\"a\",\"a\"]}"),
	};
	int there = 0;

	for (size_t i = 0; i < COUNT_OF(bodies); i++) {
		who_apply(g->d, "user", "eve", "{\"role\":\"admin\"}");
		who_apply(g->d, "user", "eve", bodies[i]);
		there += who_user(g->d, "eve") != NULL;
		who_apply(g->d, "token", "0123456789ab", bodies[i]);
		there += who_token(g->d, "0123456789ab") != NULL;
	}
	IS_INT(there, 0, "who cannot be read is not there");
}

static void test_rights(void)
{
	struct principal p = { .name = "ann", .group = "lab", .groups = { "lab" } };
	int wrong = 0;

	p.group_count = 1;
	/* Every role, every scopes, own, a mate's, a mate's in default, a stranger's. */
	for (int role = 0; role < ROLE_COUNT; role++)
		for (unsigned scopes = 1; scopes <= SCOPE_ALL; scopes++)
			for (int whose = 0; whose < 3; whose++) {
				const char *owner = whose == 0 ? "ann" : "bob";
				const char *group = whose == 1 ? "lab" : "default";
				bool near = whose < 2;
				bool admin = role == ROLE_ADMIN && scopes & SCOPE_ADMIN;
				p.role = (enum user_role)role;
				p.scopes = scopes;
				wrong += who_may_see(&p, owner, group) !=
					 (near || role == ROLE_ADMIN);
				wrong += who_may_touch(&p, owner, group) !=
					 (admin || (near && role != ROLE_VIEWER &&
						    scopes & SCOPE_WRITE));
			}
	IS_INT(wrong, 0, "who sees and who touches, for every role, scope and owner");
}

int main(void)
{
	struct rig g;

	up(&g);
	test_names(&g);
	test_groups(&g);
	test_last_admin(&g);
	test_tokens(&g);
	test_expiry(&g);
	test_peers(&g);
	test_damage(&g);
	test_rights();
	down(&g);
	return END();
}
