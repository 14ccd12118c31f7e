// SPDX-License-Identifier: Apache-2.0
/* Which job a path means, and whether the caller may. */
#include "http/route.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "http/shown.h"
#include "who/who.h"
#include "yard/edit.h"

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

/* The same words whether it is there or not, and of a member no other number than was
 * asked by. */
static int no_job(const char *text, struct err *err)
{
	return err_set(err, ERR_NOT_FOUND, "there is no job %s%s", text,
		       strchr(text, '.') ? ": the array has no such member, or it is not "
					   "made yet"
					 : "");
}

/* "12.3" and "name.3": a member of an array, when there is no job of just that name. */
static int find_member(struct exchange *ex, const char *text, int64_t *id,
		       struct err *err)
{
	struct store *s = yard_store(ex->server->config.yard);
	const char *dot = strrchr(text, '.');
	AUTO_FREE char *array = NULL;
	int64_t of, index;

	if (!dot || str_to_i64(dot + 1, 0, ARRAY_MEMBERS_MAX, &index) < 0)
		return err_set(err, ERR_NOT_FOUND, "you have no job named '%s'", text);
	array = mem_strndup(text, (size_t)(dot - text));
	if (str_to_i64(array, 1, INT64_MAX, &of) < 0 &&
	    store_find_name(s, ex->who->name, array, &of, err) < 0)
		return err->code == ERR_NOT_FOUND
			       ? err_set(err, ERR_NOT_FOUND, "you have no job named '%s'",
					 text)
			       : -1;
	if (store_find_member(s, of, index, id, err) == 0)
		return 0;
	return err->code == ERR_NOT_FOUND ? no_job(text, err) : -1;
}

static int find_id(struct exchange *ex, const char *text, int64_t *id, struct err *err)
{
	struct store *s = yard_store(ex->server->config.yard);

	if (str_to_i64(text, 1, INT64_MAX, id) == 0 ||
	    store_find_name(s, ex->who->name, text, id, err) == 0)
		return 0;
	return err->code == ERR_NOT_FOUND ? find_member(ex, text, id, err) : -1;
}

/* Somebody else's job is not found: its existence is nobody's business. */
int route_job(struct exchange *ex, struct err *err)
{
	struct yard *y = ex->server->config.yard;
	const char *text = ex->param[0];
	struct owner owner = { 0 };
	int64_t id;

	if (find_id(ex, text, &id, err) < 0)
		return -1;
	const struct job *live = yard_live(y, id);
	const struct shown_job *shown =
		shown_get(ex->server->shown, yard_deletions(y), id);
	if (live)
		copy_owner(&owner, live->owner, live->group);
	else if (shown)
		copy_owner(&owner, shown->owner, shown->group);
	else if (store_row(yard_store(y), id, row_owner, &owner, err) < 0)
		return err->code == ERR_NOT_FOUND ? no_job(text, err) : -1;
	if (!who_may_see(ex->who, owner.name, owner.group))
		return no_job(text, err);
	if (route_allows(ex->route, ex->who, err) < 0)
		return -1;
	if (!may(ex, &owner))
		return err_set(err, ERR_DENIED, "job %lld is %s's", (long long)id,
			       owner.name);
	ex->job = id;
	return 0;
}
