// SPDX-License-Identifier: Apache-2.0
/* Passwords: who comes in, what is remembered, what is not told. */
#include "rig.h"

#include "who/throttle.h"

struct answer {
	bool came, in;
	int64_t wait_ms;
	struct principal p;
	struct err err;
	char hash[WHO_HASH_BYTES];
};

static void on_login(void *arg, const struct principal *p, int64_t wait_ms,
		     const struct err *err)
{
	struct answer *a = arg;

	a->came = true;
	a->in = p != NULL;
	a->wait_ms = wait_ms;
	if (p)
		a->p = *p;
	if (err)
		a->err = *err;
}

static void on_hash(void *arg, const char *hash, const struct err *err)
{
	struct answer *a = arg;

	a->came = true;
	if (hash)
		snprintf(a->hash, sizeof a->hash, "%s", hash);
	if (err)
		a->err = *err;
}

static struct answer hash(struct rig *g, const char *password)
{
	struct answer a = { 0 };

	who_hash(g->d, password, on_hash, &a);
	if (a.came)
		OK(false, "an answer came from inside the call");
	world_sim_settle(g->w, 10000);
	return a;
}

static struct who_login *ask(struct rig *g, const char *name, const char *password,
			     const char *address, struct answer *a)
{
	return who_login(g->d, &(struct who_attempt){ name, password, address }, on_login,
			 a);
}

static struct answer login(struct rig *g, const char *name, const char *password,
			   const char *address)
{
	struct answer a = { 0 };

	ask(g, name, password, address, &a);
	if (a.came)
		OK(false, "an answer came from inside the call");
	world_sim_settle(g->w, 10000);
	return a;
}

static int hashes(struct rig *g, const char *name, const char *password,
		  const char *address)
{
	struct answer a = { 0 };
	int under_way;

	for (int i = 0; i < WHO_HASHES_MAX;
	     i++) /* fill it: the next needs no hash, or is busy */
		hasher_ask(logins_hasher(g->d->logins), "x", "", NULL, NULL);
	ask(g, name, password, address, &a);
	world_sim_settle(g->w, 100000);
	under_way = a.err.code == ERR_BUSY;
	return under_way;
}

static void test_hash(struct rig *g)
{
	struct answer a = hash(g, "correct horse"), b = hash(g, "correct horse");

	OK(str_starts(a.hash, "$argon2id$") && a.came, "a password is argon2id: %.40s",
	   a.hash);
	OK(!str_eq(a.hash, b.hash), "with salt");
	a = hash(g, "short");
	OK(a.came && a.err.code == ERR_INVALID && str_starts(a.err.text, "password: "),
	   "one that is too short is refused: %s", a.err.text);
	AUTO_FREE char *long_one = mem_alloc(1, WHO_PASSWORD_MAX + 2);
	memset(long_one, 'x', WHO_PASSWORD_MAX + 1);
	a = hash(g, long_one);
	OK(a.err.code == ERR_INVALID, "so is one that is too long");
	add_user(g, "ann", ROLE_MEMBER, "", b.hash);
}

/* One who sets theirs over and over. */
static void test_setters(struct rig *g)
{
	struct answer set[WHO_HASHES_MAX] = { 0 }, in;
	int refused = 0;

	for (int i = 0; i < WHO_HASHES_MAX; i++)
		who_hash(g->d, "correct horse", on_hash, &set[i]);
	in = login(g, "ann", "correct horse", "10.0.9.1");
	for (int i = 0; i < WHO_HASHES_MAX; i++)
		refused += set[i].err.code == ERR_BUSY;
	OK(in.in, "passwords that are set keep nobody from logging in");
	IS_INT(refused, WHO_HASHES_MAX / 2, "half of what can be hashed is for them");
}

static void test_in_and_out(struct rig *g)
{
	struct answer in = login(g, "ann", "correct horse", "10.0.0.1");
	struct answer wrong = login(g, "ann", "wrong horse", "10.0.0.1");
	struct answer nobody = login(g, "nobody-here", "wrong horse", "10.0.0.1");

	OK(in.in && str_eq(in.p.name, "ann") && in.p.uid == -1 &&
		   in.p.scopes == SCOPE_ALL,
	   "the right password opens");
	OK(!wrong.in && wrong.err.code == ERR_UNKNOWN_CALLER && !wrong.wait_ms,
	   "a wrong one does not: %s", wrong.err.text);
	IS(nobody.err.text, wrong.err.text, "whether the name exists is not told");
	OK(!login(g, "ann", "", "10.0.0.1").in, "no password is a wrong one");
	add_user(g, "keyless", ROLE_ADMIN, "", NULL);
	OK(!login(g, "keyless", "", "10.0.0.2").in,
	   "who has no password cannot log in by one");
	OK(hashes(g, "nobody-here", "x", "10.0.0.3"), "an unknown name costs a hash too");
}

static void test_remembered(struct rig *g)
{
	struct who_user_wish w = WHO_USER_WISH_NONE;

	login(g, "ann", "correct horse", "10.0.1.1");
	OK(!hashes(g, "ann", "correct horse", "10.0.1.1"),
	   "a password that was right costs nothing the next time");
	OK(hashes(g, "ann", "correct horse", "10.0.1.2"), "from that address");
	OK(hashes(g, "ann", "wrong horse", "10.0.1.1"), "a wrong one does");
	world_sim_run_until(g->w, world_mono_ms(g->w) + 61000);
	OK(hashes(g, "ann", "correct horse", "10.0.1.1"),
	   "and so does it after a minute");
	OK(login(g, "ann", "correct horse", "10.0.1.1").in, "when it is right still");
	w.hash = hash(g, "another horse").hash;
	AUTO_FREE char *kept = mem_strdup(w.hash);
	w.hash = kept;
	set_user(g, "ann", w);
	OK(!login(g, "ann", "correct horse", "10.0.1.1").in,
	   "a changed password ends it at once");
	OK(login(g, "ann", "another horse", "10.0.1.1").in, "the new one opens");
	w = WHO_USER_WISH_NONE;
	w.disabled = 1;
	set_user(g, "ann", w);
	struct answer barred = login(g, "ann", "another horse", "10.0.1.1");
	OK(!barred.in && barred.err.code == ERR_UNKNOWN_CALLER,
	   "a disabled user is out at once");
	w.disabled = 0;
	set_user(g, "ann", w);
}

static void test_meanwhile(struct rig *g)
{
	struct who_user_wish w = WHO_USER_WISH_NONE;
	struct answer a = { 0 };

	w.disabled = 1;
	ask(g, "ann", "another horse", "10.0.2.1", &a);
	set_user(g, "ann", w);
	world_sim_settle(g->w, 10000);
	OK(a.came && !a.in, "who is disabled while it is hashed does not come in");
	w.disabled = 0;
	set_user(g, "ann", w);
	a = (struct answer){ 0 };
	struct who_login *l = ask(g, "ann", "another horse", "10.0.2.2", &a);
	who_login_cancel(l);
	world_sim_settle(g->w, 10000);
	OK(!a.came, "who went away is not answered");
}

static void test_many(struct rig *g)
{
	struct answer *all = mem_alloc(200, sizeof *all);
	int in = 0, busy = 0;

	for (int i = 0; i < 100; i++)
		ask(g, "ann", "another horse", "10.0.3.1", &all[i]);
	world_sim_settle(g->w, 100000);
	for (int i = 0; i < 100; i++)
		in += all[i].in;
	IS_INT(in, 100, "a hundred of the same at once share one hash");
	memset(all, 0, 200 * sizeof *all);
	for (int i = 0; i < 200; i++) {
		AUTO_FREE char *from = str_printf("10.0.4.%d", i);
		ask(g, "ann", "another horse", from, &all[i]);
	}
	world_sim_settle(g->w, 100000);
	in = 0;
	for (int i = 0; i < 200; i++) {
		in += all[i].in;
		busy += all[i].err.code == ERR_BUSY && all[i].wait_ms > 0;
	}
	OK(in == WHO_HASHES_MAX && busy == 200 - in,
	   "of different ones so many wait; the rest is told to come again");
	memset(all, 0, 200 * sizeof *all);
	for (int i = 0; i < 100; i++) {
		AUTO_FREE char *guess = str_printf("guess number %d", i);
		ask(g, "ann", guess, "10.0.5.1", &all[i]);
	}
	world_sim_settle(g->w, 100000);
	in = 0;
	for (int i = 0; i < 100; i++)
		in += all[i].err.code == ERR_UNKNOWN_CALLER;
	IS_INT(in, THROTTLE_FREE_PAIR, "many guesses at once are no way around the wait");
	struct answer a = login(g, "ann", "another horse", "10.0.5.1");
	OK(!a.in && a.err.code == ERR_BUSY && a.wait_ms > 0,
	   "then even the right one waits: %s", a.err.text);
	OK(login(g, "ann", "another horse", "10.0.6.1").in,
	   "from there; not from elsewhere");
	world_sim_run_until(g->w, world_mono_ms(g->w) + a.wait_ms);
	OK(login(g, "ann", "another horse", "10.0.5.1").in, "and only for that long");
	free(all);
}

static void test_rehash(struct rig *g)
{
	AUTO_FREE char *old = mem_strdup(who_user(g->d, "ann")->hash);

	who_on_change(g->d, on_wanted, g);
	hasher_set_cost(logins_hasher(g->d->logins), &(struct hash_cost){ 2, 16384 });
	OK(login(g, "ann", "another horse", "10.0.7.1").in, "a hash of lower cost opens");
	world_sim_settle(g->w, 1000);
	OK(!str_eq(who_user(g->d, "ann")->hash, old) && g->wanted == 1,
	   "and is made anew");
	IS(g->action, "user.rehash", "which is recorded");
	OK(login(g, "ann", "another horse", "10.0.7.2").in, "of the same password");
	IS_INT(g->wanted, 1, "once");
}

static void test_first(void)
{
	struct rig g;
	struct who_change c = { 0 };
	int64_t wait = 0;
	char code[32], wrong[32];
	int busy = 0;

	up(&g);
	snprintf(code, sizeof code, "%s", who_first_code(g.d));
	snprintf(wrong, sizeof wrong, "%s", code);
	wrong[0] = wrong[0] == 'a' ? 'b' : 'a';
	OK(strlen(code) == 19 && str_eq(who_first_code(g.d), code),
	   "there is a code, the same one");
	for (int i = 0; i < 20; i++)
		busy += who_check_first_code(g.d, wrong, "10.0.0.1", &wait, &g.err) < 0 &&
			g.err.code == ERR_BUSY && wait > 0;
	IS_INT(busy, 20 - THROTTLE_FREE_PAIR, "wrong codes have to wait: %s", g.err.text);
	OK(who_check_first_code(g.d, "", "10.0.0.2", &wait, &g.err) < 0 &&
		   g.err.code == ERR_UNKNOWN_CALLER,
	   "nothing is a wrong one: %s", g.err.text);
	OK(who_check_first_code(g.d, code, "10.0.0.2", &wait, &g.err) == 0,
	   "the right one is right");
	OK(who_first_admin(g.d, wrong, "boss", "$h", &c, &g.err) < 0 && !c.count,
	   "a wrong one makes nobody");
	OK(done(&g, who_first_admin(g.d, code, "boss", "$h", &c, &g.err), &c) == 0 &&
		   who_user(g.d, "boss")->role == ROLE_ADMIN,
	   "the right one makes an admin");
	OK(!who_first_code(g.d) &&
		   who_check_first_code(g.d, code, "10.0.0.3", &wait, &g.err) < 0 &&
		   who_first_admin(g.d, code, "eve", "$h", &c, &g.err) < 0,
	   "and is used up: %s", g.err.text);
	down(&g);
}

int main(void)
{
	struct rig g;

	up(&g);
	test_hash(&g);
	test_setters(&g);
	test_in_and_out(&g);
	test_remembered(&g);
	test_meanwhile(&g);
	test_many(&g);
	test_rehash(&g);
	struct answer left = { 0 };
	ask(&g, "ann", "one more horse", "10.0.8.1", &left);
	who_destroy(g.d);
	world_sim_settle(g.w, 1000);
	OK(!left.came, "a directory that goes answers nobody");
	world_destroy(g.w);
	test_first();
	return END();
}
