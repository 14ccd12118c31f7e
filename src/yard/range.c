// SPDX-License-Identifier: Apache-2.0
#include "yard/range.h"

#include "base/mem.h"
#include "base/str.h"
#include "who/who.h"
#include "yard/internal.h"

/* No user's name begins so. */
static char *key_of(bool group, const char *name)
{
	return str_printf("%s%s", group ? "@" : "", name);
}

int64_t yard_range(const struct yard *y, bool group, const char *name)
{
	AUTO_FREE char *key = key_of(group, name);
	const struct user *u = map_gets(y->users, key);

	if (y->config.uid_base < 0 || !u || u->seq > y->committed_seq)
		return -1;
	return y->config.uid_base + (int64_t)u->slot * WHO_RANGE;
}

/* A range that wrapped around would be other people's uids. */
int yard_check_range(const struct yard *y, const char *key, struct err *err)
{
	int64_t slots = y->user_slots;

	if (y->config.uid_base < 0 || map_gets(y->users, key) ||
	    y->config.uid_base + (slots + 1) * WHO_RANGE <= WHO_UID_END)
		return 0;
	return err_set(err, ERR_CONFLICT,
		       "no uids are left for a further user: %lld have their %d each",
		       (long long)slots, WHO_RANGE);
}

void yard_range_note(struct yard *y, const char *key)
{
	yard_note_user(y, key, y->user_slots);
	((struct user *)map_gets(y->users, key))->seq = y->next_seq;
}

void yard_range_make(struct yard *y, bool group, const char *name, yard_done done,
		     void *arg)
{
	AUTO_FREE char *key = key_of(group, name);
	struct event e = { .kind = EV_USER, .uid = -1 };
	struct err err = { 0 };

	if (y->trouble.code != ERR_NONE)
		err_set(&err, ERR_BUSY, "the yard cannot write to its disk now: %s",
			y->trouble.text);
	if (err.code != ERR_NONE || yard_check_range(y, key, &err) < 0) {
		yard_refuse(y, &err, done, arg);
		return;
	}
	if (y->config.uid_base < 0 || yard_range(y, group, name) >= 0) {
		yard_answer(y, 0, true, done, arg);
		return;
	}
	/* One that is on its way to the disk is recorded twice: its commit is what counts. */
	if (!map_gets(y->users, key))
		yard_range_note(y, key);
	e.slot = ((const struct user *)map_gets(y->users, key))->slot;
	e.name = TAKE(key);
	yard_record(y, &e, done, arg);
}
