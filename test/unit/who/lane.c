// SPDX-License-Identifier: Apache-2.0
/* Hashing on real threads, and a directory that goes while they are at it: for TSan. */
#include "tap.h"

#include "base/mem.h"
#include "base/str.h"
#include "who/hash.h"
#include "who/internal.h"
#include "who/login.h"

struct answer {
	struct world *w;
	int left, in;
	char hash[WHO_HASH_BYTES];
};

static void on_hash(void *arg, const char *hash, const struct err *err)
{
	struct answer *a = arg;

	(void)err;
	snprintf(a->hash, sizeof a->hash, "%s", hash ? hash : "");
	world_stop(a->w);
}

static void on_login(void *arg, const struct principal *p, int64_t wait_ms,
		     const struct err *err)
{
	struct answer *a = arg;

	(void)wait_ms, (void)err;
	a->in += p != NULL;
	if (--a->left == 0)
		world_stop(a->w);
}

int main(void)
{
	struct err err;
	struct answer a = { .w = world_uv_create(&err), .left = 12 };
	struct who *d = who_create(a.w, &(struct who_rules){ .uid_base = -1 });
	AUTO_WHO_CHANGE struct who_change c = { 0 };
	struct who_user_wish w = WHO_USER_WISH_NONE;

	who_hash(d, "correct horse", on_hash, &a);
	world_run(a.w);
	OK(str_starts(a.hash, "$argon2id$v=19$m=65536,"), "at full cost: %.30s", a.hash);
	w.hash = a.hash;
	OK(who_add_user(d, "ann", &w, &c, &err) == 0, "a user");
	who_apply(d, c.docs[0].kind, c.docs[0].name, c.docs[0].body);
	for (int i = 0; i < a.left; i++) {
		AUTO_FREE char *from = str_printf("10.0.0.%d", i);
		who_login(d,
			  &(struct who_attempt){
				  "ann", i % 2 ? "wrong horse" : "correct horse", from },
			  on_login, &a);
	}
	world_run(a.w);
	OK(a.in == 6 && a.left == 0, "twelve at once, half of them right (%d)", a.in);
	for (int i = 0; i < 6; i++) {
		AUTO_FREE char *from = str_printf("10.0.1.%d", i);
		who_login(d, &(struct who_attempt){ "ann", "correct horse", from },
			  on_login, &a);
	}
	who_destroy(d);
	world_destroy(a.w);
	OK(a.left == 0, "a directory that goes leaves nobody who is called");
	return END();
}
