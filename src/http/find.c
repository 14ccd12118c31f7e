// SPDX-License-Identifier: Apache-2.0
/* Which job a path means, and whether the caller may. */
#include "http/route.h"

#include <string.h>

#include "base/str.h"
#include "who/who.h"

struct owner {
	char name[NAME_MAX_BYTES], group[NAME_MAX_BYTES];
};

static void copy_owner(struct owner *o, const char *name, const char *group)
{
	memcpy(o->name, name, strnlen(name, NAME_MAX_BYTES - 1));
	memcpy(o->group, group, strnlen(group, NAME_MAX_BYTES - 1));
}

static void row_owner(void *arg, const struct store_row *row)
{
	copy_owner(arg, row->owner, row->group);
}

static bool may(const struct exchange *ex, const struct owner *o)
{
	switch (ex->route->rule) {
	case RULE_TOUCH:
		return who_may_touch(ex->who, o->name, o->group);
	case RULE_OWN:
		return principal_is_admin(ex->who) || str_eq(ex->who->name, o->name);
	case RULE_PUBLIC:
	case RULE_SELF:
	case RULE_ANY:
	case RULE_MEMBER:
	case RULE_SEE:
	case RULE_ADMIN:
	case ROUTE_RULE_COUNT:
		break;
	}
	return true;
}

/* Somebody else's job is not found: its existence is nobody's business. */
int route_job(struct exchange *ex, struct err *err)
{
	struct yard *y = ex->server->config.yard;
	const char *text = ex->param[0];
	struct owner owner = { 0 };
	int64_t id;

	if (str_to_i64(text, 1, INT64_MAX, &id) < 0 &&
	    store_find_name(yard_store(y), ex->who->name, text, &id, err) < 0)
		return err->code == ERR_NOT_FOUND
			       ? err_set(err, ERR_NOT_FOUND, "you have no job named '%s'",
					 text)
			       : -1;
	const struct job *live = yard_live(y, id);
	if (live)
		copy_owner(&owner, live->owner, live->group);
	else if (store_row(yard_store(y), id, row_owner, &owner, err) < 0)
		return err->code == ERR_NOT_FOUND
			       ? err_set(err, ERR_NOT_FOUND, "there is no job %lld",
					 (long long)id)
			       : -1;
	if (!who_may_see(ex->who, owner.name, owner.group))
		return err_set(err, ERR_NOT_FOUND, "there is no job %lld", (long long)id);
	if (route_allows(ex->route, ex->who, err) < 0)
		return -1;
	if (!may(ex, &owner))
		return err_set(err, ERR_DENIED, "job %lld is %s's", (long long)id,
			       owner.name);
	ex->job = id;
	return 0;
}
