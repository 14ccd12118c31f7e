// SPDX-License-Identifier: Apache-2.0
#include "who/who.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"

#define ENTRY_MAX (1u << 20) /* bytes of one passwd or group entry, members and all */
#define UID_FIRST 1000000000 /* where ranges begin when nothing stands in the way */
#define UID_LAST  4000000000

/* Calls get() with a buffer that grows until the entry fits.  0: found. */
static int find_user(uid_t uid, struct passwd *pw, struct buf *room)
{
	for (size_t size = 4096; size <= ENTRY_MAX; size *= 4) {
		struct passwd *found = NULL;
		buf_reserve(room, size);
		int rc = getpwuid_r(uid, pw, room->data, size, &found);
		if (rc != ERANGE)
			return found ? 0 : -1;
	}
	return -1;
}

static int find_group(gid_t gid, struct group *gr, struct buf *room)
{
	for (size_t size = 4096; size <= ENTRY_MAX; size *= 4) {
		struct group *found = NULL;
		buf_reserve(room, size);
		int rc = getgrgid_r(gid, gr, room->data, size, &found);
		if (rc != ERANGE)
			return found ? 0 : -1;
	}
	return -1;
}

static bool copy_name(char out[NAME_MAX_BYTES], const char *name)
{
	size_t n = strlen(name);

	if (n == 0 || n >= NAME_MAX_BYTES)
		return false;
	memcpy(out, name, n + 1);
	return true;
}

static int refuse_peer(int64_t uid, const struct who_rules *rules, struct err *err)
{
	if (uid >= rules->uid_base)
		return err_set(
			err, ERR_DENIED,
			"uid %lld belongs to a task: tasks may not call the daemon, only "
			"accounts of this machine may",
			(long long)uid);
	return err_set(
		err, ERR_DENIED,
		"uid %lld has no account on this machine: only accounts that are in "
		"its user database may call the daemon",
		(long long)uid);
}

int who_from_peer(const struct world_peer *peer, const struct who_rules *rules,
		  struct principal *out, struct err *err)
{
	AUTO_BUF struct buf user_room = { 0 }, group_room = { 0 };
	struct principal p = { .uid = peer->uid,
			       .role = ROLE_MEMBER,
			       .scopes = SCOPE_ALL };
	struct passwd pw;
	struct group gr;

	if (peer->uid < 0)
		return err_set(
			err, ERR_UNKNOWN_CALLER,
			"not known who you are: connect by the unix socket of the daemon");
	bool admin = peer->uid == 0 || peer->uid == rules->daemon_uid;
	bool many = rules->uid_base > 0;

	p.role = admin ? ROLE_ADMIN : ROLE_MEMBER;
	bool known = find_user((uid_t)peer->uid, &pw, &user_room) == 0 &&
		     copy_name(p.name, pw.pw_name);
	if (many && !admin && (!known || peer->uid >= rules->uid_base))
		return refuse_peer(peer->uid, rules, err);
	if (!known) /* of a private daemon: the one uid there is, in a container say */
		snprintf(p.name, sizeof p.name, "uid-%lld", (long long)peer->uid);
	gid_t gid = known ? pw.pw_gid : (gid_t)peer->gid;
	if (find_group(gid, &gr, &group_room) < 0 || !copy_name(p.group, gr.gr_name))
		snprintf(p.group, sizeof p.group, "default");
	*out = p;
	return 0;
}

bool who_may_see(const struct principal *p, const char *owner, const char *group)
{
	/* The role alone: an admin's token that only reads reads everything. */
	return p->role == ROLE_ADMIN || str_eq(p->name, owner) || principal_in(p, group);
}

bool who_may_touch(const struct principal *p, const char *owner, const char *group)
{
	return principal_is_admin(p) ||
	       (p->role >= ROLE_MEMBER && p->scopes & SCOPE_WRITE &&
		(str_eq(p->name, owner) || principal_in(p, group)));
}

/* Raises *base above the range "name:first:count" of one line of the file. */
static void above_range(const char *line, int64_t *base)
{
	AUTO_FREE char *copy = mem_strdup(line);
	char *first = strchr(copy, ':'), *count = first ? strchr(first + 1, ':') : NULL;
	int64_t from, n;

	if (!count)
		return;
	*count++ = '\0';
	count[strcspn(count, " \t\r\n")] = '\0';
	if (str_to_i64(first + 1, 0, UINT32_MAX, &from) < 0 ||
	    str_to_i64(count, 0, UINT32_MAX, &n) < 0)
		return;
	if (from + n > *base && from < UID_LAST)
		*base = from + n;
}

static int above_subuids(const char *path, int64_t *base, struct err *err)
{
	FILE *f = fopen(path, "re");
	char *line = NULL;
	size_t cap = 0;

	if (!f)
		return errno == ENOENT ? 0 : err_sys(err, "open %s", path);
	while (getline(&line, &cap, f) >= 0)
		above_range(line, base);
	free(line);
	fclose(f);
	return 0;
}

static void above_users(int64_t *base)
{
	struct passwd *pw;

	setpwent();
	while ((pw = getpwent()))
		if (pw->pw_uid >= *base && pw->pw_uid < UID_LAST)
			*base = (int64_t)pw->pw_uid + 1;
	endpwent();
}

int64_t who_uid_base(const char *subuid_path, struct err *err)
{
	int64_t base = UID_FIRST;

	if (above_subuids(subuid_path, &base, err) < 0)
		return -1;
	above_users(&base);
	base = (base + WHO_RANGE - 1) / WHO_RANGE * WHO_RANGE;
	if (base >= UID_LAST)
		return err_set(err, ERR_CONFLICT, "no uids are left above those of %s",
			       subuid_path);
	return base;
}
