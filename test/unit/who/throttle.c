// SPDX-License-Identifier: Apache-2.0
/* Wrong passwords cost the one who sends them, and nobody else. */
#include "who/throttle.h"

#include "base/mem.h"
#include "base/str.h"
#include "tap.h"

static struct throttle *t;

/* How many of `tries` wrong ones, one every step_ms, are looked at. */
static int looked_at(const char *name, const char *address, int tries, int64_t from_ms,
		     int64_t step_ms)
{
	int n = 0;

	for (int i = 0; i < tries; i++, from_ms += step_ms) {
		if (throttle_wait(t, name, address, from_ms) > 0)
			continue;
		throttle_try(t, name, address, from_ms);
		n++;
	}
	return n;
}

static void begin(void)
{
	static const unsigned char key[32] = "a key";

	throttle_destroy(t);
	t = throttle_create(key);
}

static void test_one(void)
{
	int64_t last = 0;
	int shrunk = 0;

	begin();
	IS_INT(looked_at("ann", "10.0.0.1", 100, 0, 0), THROTTLE_FREE_PAIR,
	       "a few at once, then one waits");
	for (int64_t now = 0, i = 0; i < 6; i++) {
		int64_t wait = throttle_wait(t, "ann", "10.0.0.1", now);
		shrunk += wait <= last;
		last = wait;
		now += wait;
		throttle_try(t, "ann", "10.0.0.1", now);
	}
	OK(!shrunk && last >= 32000, "longer each time (%lld ms)", (long long)last);
	begin();
	int a_day = looked_at("ann", "10.0.0.1", 86400, 0, 1000);
	OK(a_day < 2000, "who keeps at it gets %d tries a day", a_day);
	OK(throttle_wait(t, "ann", "10.0.0.1", 86400000) <= THROTTLE_WAIT_MOST_MS,
	   "and waits for minutes, not for ever");
	IS_INT(looked_at("ann", "10.0.0.1", 5, INT64_C(2) * 86400000, 0),
	       THROTTLE_FREE_PAIR, "a day later all is forgiven");
}

static void test_right(void)
{
	begin();
	looked_at("ann", "10.0.0.1", THROTTLE_FREE_PAIR - 1, 0, 0);
	throttle_try(t, "ann", "10.0.0.1", 0);
	throttle_right(t, "ann", "10.0.0.1");
	IS_INT(looked_at("ann", "10.0.0.1", 20, 0, 0), THROTTLE_FREE_PAIR,
	       "a right one makes good the wrong ones of that name from there");
	begin();
	for (int i = 0; i < 1000;
	     i++) { /* one's own right one between guesses of others' */
		AUTO_FREE char *name = str_printf("victim-%d", i);
		looked_at(name, "10.0.0.1", 1, 0, 0);
		if (throttle_wait(t, "me", "10.0.0.1", 0) == 0) {
			throttle_try(t, "me", "10.0.0.1", 0);
			throttle_right(t, "me", "10.0.0.1");
		}
	}
	OK(throttle_address_wait(t, "10.0.0.1", 0) > 0,
	   "but not the guesses of other names");
}

static void test_others(void)
{
	begin();
	looked_at("ann", "10.0.0.1", 1000, 0, 0);
	OK(throttle_wait(t, "ann", "10.0.0.2", 0) == 0,
	   "ann herself comes in from elsewhere");
	OK(throttle_wait(t, "bob", "10.0.0.1", 0) == 0, "bob from the same address");
	for (int i = 0; i < 2000; i++) { /* from everywhere at once */
		AUTO_FREE char *from = str_printf("10.1.%d.%d", i / 250, i % 250);
		looked_at("ann", from, 1, 0, 0);
	}
	OK(throttle_wait(t, "ann", "10.9.9.9", 0) == 0,
	   "also while she is attacked from 2000 addresses: a new one has a try");
	IS_INT(looked_at("ann", "10.9.9.8", 100, 0, 0), 1, "just one");
	OK(throttle_wait(t, "bob", "10.9.9.8", 0) == 0, "others are as before");
	begin();
	/* a script with an old password, all day, every minute */
	looked_at("cron", "10.0.0.1", 1440, 0, 60000);
	OK(throttle_wait(t, "ann", "10.0.0.1", 86400000) == 0,
	   "a script that is always wrong does not shut out its neighbours");
}

static void test_networks(void)
{
	int n = 0;

	begin();
	for (int i = 0; i < 100; i++) {
		AUTO_FREE char *from = str_printf("2001:db8:1:2::%x", i);
		n += looked_at("ann", from, 1, 0, 0);
	}
	IS_INT(n, THROTTLE_FREE_PAIR, "all addresses of one IPv6 network are one");
	OK(throttle_wait(t, "ann", "2001:db8:1:3::1", 0) == 0, "the next one is another");
	begin();
	n = looked_at("ann", "10.0.0.1", 3, 0, 0) +
	    looked_at("ann", "::ffff:10.0.0.1", 100, 0, 0);
	IS_INT(n, THROTTLE_FREE_PAIR, "IPv4 is the same however it is written");
	begin();
	for (int i = 0; i < 100; i++) {
		AUTO_FREE char *name = str_printf("n%d", i);
		looked_at(name, "uid 1000", 1, 0, 0);
	}
	OK(throttle_wait(t, "ann", "uid 1000", 0) > 0, "what is no address counts too");
	OK(throttle_wait(t, "ann", "uid 1001", 0) == 0, "and each by itself");
}

static void test_memory(void)
{
	begin();
	looked_at("ann", "10.0.0.1", 100, 0, 0);
	for (int i = 0; i < 20000; i++) {
		AUTO_FREE char *name = str_printf("n%d", i);
		AUTO_FREE char *from =
			str_printf("10.%d.%d.%d", 1 + i / 62500, i / 250 % 250, i % 250);
		looked_at(name, from, 1, i, 0);
	}
	OK(throttle_count(t) <= THROTTLE_ENTRIES_MAX, "it remembers %zu at most",
	   throttle_count(t));
	OK(throttle_wait(t, "ann", "10.0.0.1", 0) > 0,
	   "and who was wrong often is not pushed out by many who were once");
}

int main(void)
{
	test_one();
	test_right();
	test_others();
	test_networks();
	test_memory();
	throttle_destroy(t);
	return END();
}
