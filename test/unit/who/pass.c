// SPDX-License-Identifier: Apache-2.0
/* A pass opens one app, as one person, for a while, and nothing else. */
#include "who/pass.h"

#include <string.h>

#include "rig.h"

static const unsigned char key[PASS_KEY_BYTES] = "of the tests";

static struct principal of(struct rig *g, const char *name)
{
	struct principal p = { 0 };

	user_principal(who_user(g->d, name), &p);
	return p;
}

static void test_ticket(struct rig *g, struct passes *p)
{
	AUTO_BUF struct buf one = { 0 }, two = { 0 };
	struct principal ann = of(g, "ann"), out;

	pass_ticket(p, &ann, 12, &one);
	pass_ticket(p, &ann, 12, &two);
	OK(!str_eq(buf_str(&one), buf_str(&two)) && one.len == 40,
	   "two tickets are two, of 200 bits");
	OK(pass_redeem(p, buf_str(&one), 13, &out, &g->err) < 0 &&
		   pass_redeem(p, buf_str(&one), 12, &out, &g->err) < 0,
	   "a ticket is of one app, and tried at another it is used up");
	OK(pass_redeem(p, buf_str(&two), 12, &out, &g->err) == 0 &&
		   str_eq(out.name, "ann"),
	   "it opens its app as who asked for it");
	OK(pass_redeem(p, buf_str(&two), 12, &out, &g->err) < 0, "once");
	buf_clear(&one);
	pass_ticket(p, &ann, 12, &one);
	world_sim_run_until(g->w, world_mono_ms(g->w) + PASS_TICKET_MS);
	OK(pass_redeem(p, buf_str(&one), 12, &out, &g->err) < 0, "within a minute");
	OK(pass_redeem(p, "", 12, &out, &g->err) < 0, "nothing is no ticket");
}

static void test_many_tickets(struct rig *g, struct passes *p)
{
	AUTO_BUF struct buf bob = { 0 }, first = { 0 }, last = { 0 };
	struct principal a = of(g, "ann"), b = of(g, "bob"), out;

	pass_ticket(p, &b, 12, &bob);
	pass_ticket(p, &a, 12, &first);
	for (int i = 0; i < 10000; i++) {
		buf_clear(&last);
		pass_ticket(p, &a, 12, &last);
	}
	OK(pass_redeem(p, buf_str(&bob), 12, &out, &g->err) == 0,
	   "who asks for very many displaces nobody else's");
	OK(pass_redeem(p, buf_str(&first), 12, &out, &g->err) < 0 &&
		   pass_redeem(p, buf_str(&last), 12, &out, &g->err) == 0,
	   "only their own oldest");
}

static void test_cookie(struct rig *g, struct passes *p)
{
	AUTO_BUF struct buf c = { 0 };
	struct principal ann = of(g, "ann"), out;
	int64_t end = world_now_ms(g->w) + 1000;
	int opened = 0;

	ann.scopes = SCOPE_READ;
	pass_cookie(p, &ann, 12, end, &c);
	OK(pass_check(p, buf_str(&c), 12, &out, &g->err) == 0 && str_eq(out.name, "ann"),
	   "a cookie is who it was made for");
	OK(out.scopes == SCOPE_READ,
	   "with no more than the credential that it was got by");
	OK(pass_check(p, buf_str(&c), 13, &out, &g->err) < 0, "at its own app only");
	OK(strspn(buf_str(&c), "0123456789abcdef.-") == c.len, "it has no odd byte");
	for (size_t i = 0; i < c.len; i++) {
		char was = c.data[i];
		c.data[i] = was == '1' ? '2' : '1';
		opened += pass_check(p, buf_str(&c), 12, &out, &g->err) == 0;
		c.data[i] = was;
	}
	IS_INT(opened, 0, "changed in any one place it is void");
	for (size_t i = 0; i < c.len; i++) {
		AUTO_FREE char *cut = mem_strndup(c.data, i);
		opened += pass_check(p, cut, 12, &out, &g->err) == 0;
	}
	IS_INT(opened, 0, "cut anywhere it is void");
	world_sim_run_until(g->w, world_mono_ms(g->w) + 1000);
	OK(pass_check(p, buf_str(&c), 12, &out, &g->err) < 0, "it ends when it says");
}

static void test_account(struct rig *g, struct passes *p)
{
	AUTO_BUF struct buf c = { 0 }, d = { 0 };
	struct principal ann = of(g, "ann"), out;
	struct who_user_wish w = WHO_USER_WISH_NONE;
	int64_t end = world_now_ms(g->w) + 1000000;

	pass_cookie(p, &ann, 12, end, &c);
	OK(pass_stands(p, &ann), "an account that did not change stands");
	w.hash = "$argon2id$another";
	set_user(g, "ann", w);
	OK(pass_check(p, buf_str(&c), 12, &out, &g->err) < 0,
	   "a new password makes every cookie void");
	pass_cookie(p, &ann, 12, end, &d);
	w = (struct who_user_wish)WHO_USER_WISH_NONE;
	w.disabled = 1;
	set_user(g, "ann", w);
	OK(pass_check(p, buf_str(&d), 12, &out, &g->err) < 0 && !pass_stands(p, &ann),
	   "and so does disabling the account");

	struct principal me;
	struct world_peer peer = { .pid = 1, .uid = 4711, .gid = 4711 };
	OK(who_by_peer(g->d, &peer, &me, &g->err) == 0, "the daemon's user is known");
	buf_clear(&c);
	pass_cookie(p, &me, 12, end, &c);
	OK(pass_check(p, buf_str(&c), 12, &out, &g->err) == 0 && out.role == ROLE_ADMIN &&
		   str_eq(out.name, me.name),
	   "one who has no account has a pass by their uid");
}

static void test_keys(struct rig *g, struct passes *p)
{
	static const unsigned char other[PASS_KEY_BYTES] = "another";
	struct passes *q = passes_create(g->w, g->d, other);
	struct passes *again = passes_create(g->w, g->d, key);
	AUTO_BUF struct buf c = { 0 }, f = { 0 };
	struct principal bob = of(g, "bob"), out;

	pass_cookie(p, &bob, 12, world_now_ms(g->w) + 1000, &c);
	pass_form(p, 12, &f);
	OK(pass_check(q, buf_str(&c), 12, &out, &g->err) < 0,
	   "another key opens nothing");
	OK(pass_check(again, buf_str(&c), 12, &out, &g->err) == 0,
	   "the same one does, after a restart too");
	OK(pass_check_form(p, buf_str(&f), 12, &g->err) == 0 &&
		   pass_check_form(p, buf_str(&f), 13, &g->err) < 0 &&
		   pass_check_form(q, buf_str(&f), 12, &g->err) < 0,
	   "a form is of one app and one yard");
	OK(pass_check_form(p, buf_str(&c), 12, &g->err) < 0 &&
		   pass_check(p, buf_str(&f), 12, &out, &g->err) < 0,
	   "a cookie is no form, and a form no cookie");
	world_sim_run_until(g->w, world_mono_ms(g->w) + PASS_FORM_MS);
	OK(pass_check_form(p, buf_str(&f), 12, &g->err) < 0, "a form ends too");
	passes_destroy(again);
	passes_destroy(q);
}

int main(void)
{
	struct rig g;

	up(&g);
	add_user(&g, "ann", ROLE_MEMBER, "", "$argon2id$one");
	add_user(&g, "bob", ROLE_VIEWER, "", NULL);
	struct passes *p = passes_create(g.w, g.d, key);
	test_ticket(&g, p);
	test_many_tickets(&g, p);
	test_cookie(&g, p);
	test_keys(&g, p);
	test_account(&g, p);
	passes_destroy(p);
	passes_destroy(NULL);
	down(&g);
	return END();
}
