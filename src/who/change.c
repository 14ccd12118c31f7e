// SPDX-License-Identifier: Apache-2.0
#include "who/change.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "who/internal.h"

void who_change_fini(struct who_change *c)
{
	for (size_t i = 0; i < c->count; i++) {
		free(c->docs[i].kind);
		free(c->docs[i].name);
		free(c->docs[i].body);
	}
	free(c->docs);
	free(c->action);
	free(c->object);
	*c = (struct who_change){ 0 };
}

void who_change_add(struct who_change *c, const char *kind, const char *name,
		    const char *body)
{
	mem_grow(&c->docs, &c->cap, c->count, sizeof *c->docs);
	c->docs[c->count++] = (struct who_doc){ .kind = mem_strdup(kind),
						.name = mem_strdup(name),
						.body = mem_strdup(body) };
}

void change_begin(struct who_change *c, const char *action, const char *object)
{
	free(c->action);
	free(c->object);
	c->action = mem_strdup(action);
	c->object = mem_strdup(object);
}

void change_user(struct who_change *c, const struct who_user *u)
{
	AUTO_BUF struct buf body = { 0 };

	user_encode(u, &body);
	who_change_add(c, "user", u->name, buf_str(&body));
}

/* ---- users ---- */

static int no_user(const char *name, struct err *err)
{
	return err_set(err, ERR_NOT_FOUND, "there is no user '%s'", name);
}

static int no_group(const char *name, struct err *err)
{
	return err_set(err, ERR_NOT_FOUND, "there is no group '%s'", name);
}

static int put_groups(const struct who *d, const struct who_user_wish *w,
		      struct who_user *u, struct err *err)
{
	if (w->group_count < 0)
		return 0;
	if (w->group_count > PRINCIPAL_GROUPS_MAX)
		return err_set(err, ERR_INVALID, "groups: one may be in up to %d",
			       PRINCIPAL_GROUPS_MAX);
	memset(u->groups, 0, sizeof u->groups);
	u->group_count = 0;
	for (int i = 0; i < w->group_count; i++) {
		if (!who_group(d, w->groups[i]))
			return err_set(err, ERR_INVALID,
				       "groups: there is no group '%s'; an administrator "
				       "makes one with: yard group add %s",
				       w->groups[i], w->groups[i]);
		for (size_t k = 0; k < u->group_count; k++)
			if (str_eq(u->groups[k], w->groups[i]))
				return err_set(err, ERR_INVALID,
					       "groups: '%s' is named twice",
					       w->groups[i]);
		snprintf(u->groups[u->group_count++], NAME_MAX_BYTES, "%s", w->groups[i]);
	}
	return 0;
}

static int put_wish(const struct who *d, const struct who_user_wish *w,
		    struct who_user *u, struct err *err)
{
	if (w->role >= ROLE_COUNT)
		return err_set(err, ERR_INVALID, "role: viewer, member or admin");
	if (w->hash && strlen(w->hash) >= sizeof u->hash)
		return err_set(err, ERR_INTERNAL, "password: a hash of %zu bytes",
			       strlen(w->hash));
	if (put_groups(d, w, u, err) < 0)
		return -1;
	if (w->role >= 0)
		u->role = (enum user_role)w->role;
	if (w->disabled >= 0)
		u->disabled = w->disabled > 0;
	if (w->hash)
		snprintf(u->hash, sizeof u->hash, "%s", w->hash);
	return 0;
}

int who_add_user(struct who *d, const char *name, const struct who_user_wish *w,
		 struct who_change *out, struct err *err)
{
	struct who_user u = { .role = ROLE_MEMBER,
			      .uid = -1,
			      .created_ms = world_now_ms(d->world) };

	if (name_check_user(name, w->by, err) < 0)
		return -1;
	if (who_user(d, name))
		return err_set(err, ERR_CONFLICT, "name: there is a user '%s' already",
			       name);
	if (who_user_count(d) >= WHO_USERS_MAX)
		return err_set(err, ERR_QUOTA,
			       "name: there are %d users, the most there "
			       "may be",
			       WHO_USERS_MAX);
	snprintf(u.name, sizeof u.name, "%s", name);
	if (w->by && str_eq(w->by->name, name))
		u.uid = w->by->uid;
	if (put_wish(d, w, &u, err) < 0)
		return -1;
	change_begin(out, "user.add", name);
	change_user(out, &u);
	return 0;
}

static bool is_admin(const struct who_user *u)
{
	return u->role == ROLE_ADMIN && user_can_log_in(u);
}

/* now: what becomes of the user `was`; NULL: they go.  Without an admin who can log in the
 * yard would be open again to whoever reads the code of the first one. */
static int check_last_admin(const struct who *d, const struct who_user *was,
			    const struct who_user *now, struct err *err)
{
	const struct who_user *u;

	if (!is_admin(was) || (now && is_admin(now)))
		return 0;
	for (size_t it = 0; (u = map_next(d->users, &it));)
		if (u != was && is_admin(u))
			return 0;
	return err_set(err, ERR_CONFLICT,
		       "'%s' is the last administrator who can log in: make another one "
		       "first",
		       was->name);
}

static const char *set_action(const struct who_user_wish *w)
{
	bool else_too = w->group_count >= 0 || w->role >= 0 || w->disabled >= 0;

	return w->hash && !else_too ? "user.password" : "user.set";
}

int who_set_user(struct who *d, const char *name, const struct who_user_wish *w,
		 struct who_change *out, struct err *err)
{
	const struct who_user *was = who_user(d, name);
	struct who_user u;

	if (!was)
		return no_user(name, err);
	u = *was;
	if (put_wish(d, w, &u, err) < 0 || check_last_admin(d, was, &u, err) < 0)
		return -1;
	change_begin(out, set_action(w), name);
	change_user(out, &u);
	return 0;
}

int who_remove_user(struct who *d, const char *name, struct who_change *out,
		    struct err *err)
{
	const struct who_user *u = who_user(d, name);
	const struct who_token *t;

	if (!u)
		return no_user(name, err);
	if (check_last_admin(d, u, NULL, err) < 0)
		return -1;
	change_begin(out, "user.remove", name);
	who_change_add(out, "user", name, NULL);
	for (size_t it = 0; (t = map_next(d->tokens, &it));)
		if (str_eq(t->user, name))
			who_change_add(out, "token", t->id, NULL);
	return 0;
}

/* ---- groups ---- */

static void change_group(struct who_change *c, const struct who_group *g)
{
	AUTO_BUF struct buf body = { 0 };

	group_encode(g, &body);
	who_change_add(c, "group", g->name, buf_str(&body));
}

int who_add_group(struct who *d, const char *name, const char *text,
		  struct who_change *out, struct err *err)
{
	struct who_group g = { .created_ms = world_now_ms(d->world) };

	if (name_check_group(name, err) < 0 ||
	    text_check("text", text ? text : "", sizeof g.text, err) < 0)
		return -1;
	if (who_group(d, name))
		return err_set(err, ERR_CONFLICT, "name: there is a group '%s' already",
			       name);
	if (map_count(d->groups) >= WHO_GROUPS_MAX)
		return err_set(err, ERR_QUOTA,
			       "name: there are %d groups, the most there may be",
			       WHO_GROUPS_MAX);
	snprintf(g.name, sizeof g.name, "%s", name);
	snprintf(g.text, sizeof g.text, "%s", text ? text : "");
	change_begin(out, "group.add", name);
	change_group(out, &g);
	return 0;
}

int who_set_group(struct who *d, const char *name, const char *text,
		  struct who_change *out, struct err *err)
{
	const struct who_group *was = who_group(d, name);
	struct who_group g;

	if (!was)
		return no_group(name, err);
	g = *was;
	if (text) {
		if (text_check("text", text, sizeof g.text, err) < 0)
			return -1;
		snprintf(g.text, sizeof g.text, "%s", text);
	}
	change_begin(out, "group.set", name);
	change_group(out, &g);
	return 0;
}

int who_remove_group(struct who *d, const char *name, struct who_change *out,
		     struct err *err)
{
	size_t members = who_member_count(d, name);

	if (!who_group(d, name))
		return no_group(name, err);
	if (members)
		return err_set(err, ERR_CONFLICT,
			       "'%s' has %zu member%s: a group that goes must be empty",
			       name, members, members == 1 ? "" : "s");
	change_begin(out, "group.remove", name);
	who_change_add(out, "group", name, NULL);
	return 0;
}

/* Out of u's groups; the order of the others stays. */
static void leave_group(struct who_user *u, const char *group)
{
	size_t kept = 0;

	for (size_t i = 0; i < u->group_count; i++)
		if (!str_eq(u->groups[i], group))
			memmove(u->groups[kept++], u->groups[i], NAME_MAX_BYTES);
	u->group_count = kept;
}

int who_set_member(struct who *d, const char *group, const char *user, bool in,
		   struct who_change *out, struct err *err)
{
	const struct who_user *was = who_user(d, user);
	struct who_user u;

	if (!who_group(d, group))
		return no_group(group, err);
	if (!was)
		return no_user(user, err);
	u = *was;
	leave_group(&u, group);
	if (in && u.group_count == was->group_count &&
	    u.group_count == PRINCIPAL_GROUPS_MAX)
		return err_set(err, ERR_CONFLICT,
			       "'%s' is in %d groups, the most one may "
			       "be in",
			       user, PRINCIPAL_GROUPS_MAX);
	if (in && u.group_count != was->group_count)
		u = *was; /* already is: as it was, the first one stays the first */
	else if (in)
		snprintf(u.groups[u.group_count++], NAME_MAX_BYTES, "%s", group);
	AUTO_FREE char *both = str_printf("%s/%s", group, user);
	change_begin(out, in ? "group.join" : "group.leave", both);
	change_user(out, &u);
	return 0;
}
