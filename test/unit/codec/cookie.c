// SPDX-License-Identifier: Apache-2.0
#include "codec/cookie.h"

#include "base/str.h"
#include "tap.h"

/* What is left of a Cookie header without ours. */
static void hides(const char *header, const char *want)
{
	AUTO_BUF struct buf out = { 0 };

	cookie_hide(header, "yard-", &out);
	IS(buf_str(&out), want, "of '%s' the app sees '%s'", header, want);
}

static void test_hide(void)
{
	hides("a=1; yard-app=x; b=2", "a=1; b=2");
	hides("yard-app=x", "");
	hides("YARD-app=x;Yard-Form=y;c=3", "c=3");
	hides("  yard-app = x ;a=yard-b", "a=yard-b");
	hides("", "");
	hides(";;a;;", "a");
	hides("not-yard-app=1", "not-yard-app=1");
}

static void test_find(void)
{
	AUTO_BUF struct buf v = { 0 };

	OK(cookie_find("a=1; yard-app=one; yard-app= two ", "yard-app", 0, &v) &&
		   str_eq(buf_str(&v), "one"),
	   "the first of a name");
	OK(cookie_find("a=1; yard-app=one; yard-app= two ", "yard-app", 1, &v) &&
		   str_eq(buf_str(&v), "two"),
	   "and the second");
	OK(!cookie_find("a=1; yard-app=one", "yard-app", 1, &v), "and no third");
	OK(!cookie_find("xyard-app=1; yard-appx=2; YARD-APP=3", "yard-app", 0, &v),
	   "by that very name");
	OK(cookie_find("yard-app", "yard-app", 0, &v) && v.len == 0,
	   "one without a value is empty");
}

static void confines(const char *set, const char *want)
{
	AUTO_BUF struct buf out = { 0 };
	bool ok = cookie_confine(set, "/apps/12/", "yard-", &out);

	IS(ok ? buf_str(&out) : "(refused)", want, "'%s' becomes '%s'", set, want);
}

static void test_confine(void)
{
	confines("a=1", "a=1; Path=/apps/12/");
	confines("a=1; Path=/; HttpOnly", "a=1; HttpOnly; Path=/apps/12/");
	confines("a=1; path=/apps/12/x; Secure", "a=1; Secure; Path=/apps/12/x");
	confines("a=1; Path=/apps/13/", "a=1; Path=/apps/12/");
	confines("a=1; Path=/apps/12", "a=1; Path=/apps/12/");
	confines("a=1; Path=/APPS/12/", "a=1; Path=/apps/12/");
	confines("a=1; Path=/apps/12/../13/", "a=1; Path=/apps/12/");
	confines("a=1; Path=/apps/12/%2e%2e/13/", "a=1; Path=/apps/12/");
	confines("a=1; Path=/apps/12/x; Path=/", "a=1; Path=/apps/12/");
	confines("a=1; Domain=example.org; DOMAIN = b; SameSite=None",
		 "a=1; SameSite=None; Path=/apps/12/");
	confines("a=b=c; Max-Age=3", "a=b=c; Max-Age=3; Path=/apps/12/");
	confines("yard-app=1", "(refused)");
	confines(" YARD-App=1; Path=/apps/12/", "(refused)");
	confines("=1", "(refused)");
	confines("", "(refused)");
	confines("justtext", "(refused)");
	confines("a=1\001; Path=/", "(refused)");
	confines("a=1\ryard-app=2", "(refused)");
}

int main(void)
{
	test_hide();
	test_find();
	test_confine();
	return END();
}
