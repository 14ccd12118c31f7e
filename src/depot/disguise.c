// SPDX-License-Identifier: Apache-2.0
#include "depot/disguise.h"

#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <sys/fsuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NOBODY 65534

/* The kernel's own call, which changes this one thread; libc's setgroups() would change
 * every thread of the daemon. */
static int set_groups(const gid_t *groups, int count)
{
	return (int)syscall(SYS_setgroups, (size_t)count, groups);
}

static void set_ids(uid_t uid, gid_t gid)
{
	setfsgid(gid);
	setfsuid(uid);
}

/* setfs*id() tell nothing of a failure; asked for an impossible id they tell what holds. */
static int check_ids(uid_t uid, gid_t gid, struct err *err)
{
	if ((uid_t)setfsuid((uid_t)-1) == uid && (gid_t)setfsgid((gid_t)-1) == gid)
		return 0;
	return err_set(err, ERR_DENIED, "cannot act as uid %u", uid);
}

void disguise_leave(const struct disguise *d)
{
	set_ids(geteuid(), getegid());
	if (set_groups(d->groups, d->group_count) < 0 && geteuid() == 0)
		abort(); /* never goes on with the rights of two */
}

static int enter(struct disguise *d, uid_t uid, gid_t gid, const gid_t *groups, int count,
		 struct err *err)
{
	d->group_count = getgroups(DISGUISE_GROUPS_MAX, d->groups);
	if (d->group_count < 0)
		return err_sys(err, "read own groups");
	if (set_groups(groups, count) < 0)
		return err_sys(err, "act as uid %u", uid);
	set_ids(uid, gid);
	if (check_ids(uid, gid, err) == 0)
		return 0;
	disguise_leave(d);
	return -1;
}

int disguise_enter(struct disguise *d, uid_t uid, struct err *err)
{
	gid_t wanted[DISGUISE_GROUPS_MAX];
	int count = DISGUISE_GROUPS_MAX;
	char names[4096];
	struct passwd pw, *found = NULL;

	if (getpwuid_r(uid, &pw, names, sizeof names, &found) == 0 && found) {
		if (getgrouplist(pw.pw_name, pw.pw_gid, wanted, &count) < 0)
			count = DISGUISE_GROUPS_MAX;
	} else {
		count = 0;
	}
	return enter(d, uid, found ? found->pw_gid : (gid_t)NOBODY, wanted, count, err);
}

int disguise_enter_bare(struct disguise *d, uid_t uid, struct err *err)
{
	return enter(d, uid, (gid_t)uid, NULL, 0, err);
}
