// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/utf8.h"
#include "who/internal.h"

#define SYSTEM_UIDS 1000 /* below are the system's own accounts; 65534 is nobody */
#define NOBODY      65534

int name_check(const char *name, struct err *err)
{
	size_t n = strlen(name);
	bool good = n > 0 && n < NAME_MAX_BYTES &&
		    strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789._-") == n &&
		    (*name == '_' || (*name >= 'a' && *name <= 'z'));

	if (!good)
		return err_set(err, ERR_INVALID,
			       "name: 1 to %d of a-z, 0-9, '.', '_' and '-', beginning "
			       "with a letter or '_'",
			       NAME_MAX_BYTES - 1);
	return 0;
}

/* -1: no account of this machine has the name. */
static int64_t unix_uid(const char *name)
{
	AUTO_BUF struct buf room = { 0 };
	struct passwd pw, *found = NULL;
	int rc = ERANGE;

	for (size_t size = 4096; rc == ERANGE && size <= 1u << 20; size *= 4) {
		buf_reserve(&room, size);
		rc = getpwnam_r(name, &pw, room.data, size, &found);
	}
	return found ? (int64_t)found->pw_uid : -1;
}

static bool is_unix_group(const char *name)
{
	AUTO_BUF struct buf room = { 0 };
	struct group gr, *found = NULL;
	int rc = ERANGE;

	for (size_t size = 4096; rc == ERANGE && size <= 1u << 20; size *= 4) {
		buf_reserve(&room, size);
		rc = getgrnam_r(name, &gr, room.data, size, &found);
	}
	return found;
}

int name_check_user(const char *name, const struct principal *by, struct err *err)
{
	int64_t uid, number;
	bool own;

	if (name_check(name, err) < 0)
		return -1;
	if (str_eq(name, "yardd"))
		return err_set(err, ERR_INVALID,
			       "name: '%s' is what the audit log calls the daemon", name);
	if (str_starts(name, "uid-") && str_to_i64(name + 4, 0, INT64_MAX, &number) == 0)
		return err_set(err, ERR_INVALID,
			       "name: '%s' is how one is called who has no name", name);
	uid = unix_uid(name);
	if (str_eq(name, "root"))
		uid = 0;
	own = by && by->uid == uid && str_eq(by->name, name);
	if (uid >= 0 && (uid < SYSTEM_UIDS || uid == NOBODY) && !own)
		return err_set(err, ERR_INVALID,
			       "name: '%s' is the system's own account on this machine; "
			       "only that account may ask for it",
			       name);
	return 0;
}

int name_check_group(const char *name, struct err *err)
{
	if (name_check(name, err) < 0)
		return -1;
	if (str_eq(name, GROUP_DEFAULT))
		return err_set(err, ERR_INVALID,
			       "name: '%s' is where those are who are in no group", name);
	if (is_unix_group(name))
		return err_set(err, ERR_INVALID,
			       "name: '%s' is a group of this machine, in which people "
			       "without an account may have jobs; take another name",
			       name);
	return 0;
}

int text_check(const char *field, const char *text, size_t size, struct err *err)
{
	size_t n = strlen(text), at = 0, step = 1;

	while (at < n && step) {
		bool control = (unsigned char)text[at] < 0x20 || text[at] == 0x7f;
		step = control ? 0 : utf8_sequence(text + at, n - at);
		at += step;
	}
	if (n >= size || at < n)
		return err_set(err, ERR_INVALID, "%s: up to %zu bytes of plain text",
			       field, size - 1);
	return 0;
}
