// SPDX-License-Identifier: Apache-2.0
/* The first admin over TCP, where nobody is known by peer credentials: who can read what
 * the daemon prints may be it. */
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "who/internal.h"
#include "who/login.h"
#include "who/throttle.h"

#define CODE_NAME "\n" /* what wrong codes are counted by: no user's name */

struct first {
	char code[20]; /* four of four letters and digits: 80 bits; "": not made yet */
};

struct first *first_create(void)
{
	return mem_alloc(1, sizeof(struct first));
}

void first_destroy(struct first *f)
{
	if (f)
		sodium_memzero(f, sizeof *f);
	free(f);
}

static bool nobody_can_log_in(const struct who *d)
{
	const struct who_user *u;

	for (size_t it = 0; (u = map_next(d->users, &it));)
		if (*u->hash)
			return false;
	return true;
}

const char *who_first_code(struct who *d)
{
	char part[5];

	if (!nobody_can_log_in(d)) {
		sodium_memzero(d->first->code, sizeof d->first->code);
		return NULL;
	}
	for (size_t at = strlen(d->first->code); at < sizeof d->first->code - 1;) {
		random_text(d->world, part, sizeof part);
		at += (size_t)snprintf(d->first->code + at, sizeof d->first->code - at,
				       "%s%s", at ? "-" : "", part);
	}
	return d->first->code;
}

static int check_code(struct who *d, const char *code, struct err *err)
{
	const char *right = who_first_code(d);
	char given[sizeof d->first->code] = "";

	if (!right)
		return err_set(err, ERR_CONFLICT,
			       "there is an administrator already: log in by user name "
			       "and password");
	snprintf(given, sizeof given, "%s", code);
	if (strlen(code) != strlen(right) || sodium_memcmp(given, right, sizeof given))
		return err_set(err, ERR_UNKNOWN_CALLER,
			       "code: it is another one; the daemon printed it when it "
			       "started");
	return 0;
}

int who_check_first_code(struct who *d, const char *code, const char *address,
			 int64_t *wait_ms, struct err *err)
{
	struct throttle *t = logins_throttle(d->logins);
	int64_t now_ms = world_mono_ms(d->world);

	*wait_ms = throttle_wait(t, CODE_NAME, address, now_ms);
	if (*wait_ms > 0)
		return err_set(err, ERR_BUSY, "too many wrong codes: try again in %lld s",
			       (long long)((*wait_ms + 999) / 1000));
	throttle_try(t, CODE_NAME, address, now_ms);
	if (check_code(d, code, err) < 0)
		return -1;
	throttle_right(t, CODE_NAME, address);
	return 0;
}

int who_first_admin(struct who *d, const char *code, const char *name, const char *hash,
		    struct who_change *out, struct err *err)
{
	struct who_user_wish w = WHO_USER_WISH_NONE;

	if (check_code(d, code, err) < 0)
		return -1;
	w.role = ROLE_ADMIN;
	w.hash = hash;
	w.disabled = 0;
	if (who_user(d, name) ? who_set_user(d, name, &w, out, err)
			      : who_add_user(d, name, &w, out, err))
		return -1;
	change_begin(out, "user.first", name);
	return 0;
}
