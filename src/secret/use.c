// SPDX-License-Identifier: Apache-2.0
/* Which secret a job means, and whether it may have it: asked when the job is submitted, so
 * that somebody hears it, and again when it is launched, because time has passed. */
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "secret/internal.h"

/* On whose behalf it is looked for. */
struct asker {
	const char *user, *group;
};

static bool in_group(const struct secrets *s, const char *user, const char *group)
{
	return group && !str_eq(group, GROUP_DEFAULT) && s->config.in_group &&
	       s->config.in_group(s->config.arg, user, group);
}

static const struct secret *not_there(const struct secret_use *u, const char *where,
				      struct err *err)
{
	bool group = u->from && str_starts(u->from, "group/");

	err_set(err, ERR_NOT_FOUND,
		"there is no secret '%s' %s; `yard secret set %s%s%s` makes it", u->name,
		where, u->name, group ? " --group " : "",
		group ? u->from + strlen("group/") : "");
	return NULL;
}

static const struct secret *find_from(const struct secrets *s, const struct secret_use *u,
				      const struct asker *a, struct err *err)
{
	enum secret_scope scope = SECRET_USER;
	const char *owner = NULL;
	const struct secret *one = NULL;

	if (secret_from_read(u->from, &scope, &owner) < 0) {
		err_set(err, ERR_INVALID, "\"%s\" is neither group/NAME nor user/NAME",
			u->from);
		return NULL;
	}
	/* Whether others have it is nobody's business: the same words for both. */
	if (scope == SECRET_USER ? !str_eq(owner, a->user)
				 : !in_group(s, a->user, owner)) {
		err_set(err, ERR_NOT_FOUND, "%s has no secret '%s' that %s may use",
			u->from, u->name, a->user);
		return NULL;
	}
	one = secrets_find(s, scope, owner, u->name);
	if (one)
		return one;
	AUTO_FREE char *where = str_printf("of %s", u->from);
	return not_there(u, where, err);
}

static const struct secret *find(const struct secrets *s, const struct secret_use *u,
				 const struct asker *a, struct err *err)
{
	const struct secret *one;

	if (u->from)
		return find_from(s, u, a, err);
	one = secrets_find(s, SECRET_USER, a->user, u->name);
	if (!one && in_group(s, a->user, a->group))
		one = secrets_find(s, SECRET_GROUP, a->group, u->name);
	if (one)
		return one;
	AUTO_FREE char *where =
		a->group && !str_eq(a->group, GROUP_DEFAULT)
			? str_printf("of yours or of the group %s", a->group)
			: mem_strdup("of yours");
	return not_there(u, where, err);
}

static const struct secret *usable(const struct secrets *s, const struct secret_use *u,
				   const struct asker *a, struct err *err)
{
	const struct secret *one = find(s, u, a, err);

	if (one && u->env && !one->text) {
		err_set(err, ERR_INVALID,
			"the secret '%s' has zero bytes in it: it can be a file, no variable",
			u->name);
		return NULL;
	}
	return one;
}

void secrets_check(const struct secrets *s, const struct principal *who,
		   const struct spec *spec, struct problems *out)
{
	const struct asker a = { who->name, spec->group ? spec->group : who->group };
	struct err err;

	for (size_t i = 0; i < spec->secret_count; i++) {
		AUTO_FREE char *field = str_printf("secrets[%zu].name", i);

		if (!usable(s, &spec->secrets[i], &a, &err))
			problems_add(out, 0, 0, field, "%s", err.text);
	}
}

const struct secret *secrets_for(const struct secrets *s, const char *user,
				 const char *group, const char *const *names,
				 size_t count)
{
	const struct secret *one = NULL;

	for (size_t i = 0; i < count && !one; i++)
		if (*names[i])
			one = secrets_find(s, SECRET_USER, user, names[i]);
	for (size_t i = 0; i < count && !one && in_group(s, user, group); i++)
		if (*names[i])
			one = secrets_find(s, SECRET_GROUP, group, names[i]);
	return one;
}

static int grant(const struct secrets *s, const struct secret_use *u,
		 const struct asker *a, struct secret_grant *out, struct err *err)
{
	const struct secret *one = usable(s, u, a, err);

	if (!one)
		return -1;
	out->value = secrets_open(s, one, err);
	if (!out->value)
		return err_wrap(err, "the secret '%s' cannot be opened", u->name);
	out->env = mem_strdup(u->env);
	out->file = mem_strdup(u->file);
	out->mode = u->mode;
	return 0;
}

int secrets_grant(const struct secrets *s, const struct job *j, struct secret_set **out,
		  struct err *err)
{
	const struct asker a = { j->owner, j->group };
	struct secret_set *set;

	*out = NULL;
	if (j->spec->secret_count == 0)
		return 0;
	if (!s)
		return err_set(err, ERR_UNSUPPORTED, "this yard keeps no secrets");
	set = secret_set_create(j->spec->secret_count);
	for (size_t i = 0; i < set->count; i++) {
		if (grant(s, &j->spec->secrets[i], &a, &set->items[i], err) < 0) {
			secret_set_unref(set);
			return -1;
		}
	}
	*out = set;
	return 0;
}
