// SPDX-License-Identifier: Apache-2.0
/* rig.h - a directory on a simulated world, whose changes are recorded at once. */
#pragma once

#include <stdlib.h>

#include "base/mem.h"
#include "base/str.h"
#include "tap.h"
#include "who/change.h"
#include "who/directory.h"
#include "who/hash.h"
#include "who/internal.h"
#include "who/login.h"
#include "world/world_sim.h"

struct rig {
	struct world *w;
	struct who *d;
	struct err err;
	int wanted;      /* changes the directory itself asked for */
	char action[64]; /* of the last one */
};

static inline void apply(struct who *d, const struct who_change *c)
{
	for (size_t i = 0; i < c->count; i++)
		who_apply(d, c->docs[i].kind, c->docs[i].name, c->docs[i].body);
}

static inline void on_wanted(void *arg, const struct who_change *c)
{
	struct rig *g = arg;

	g->wanted++;
	snprintf(g->action, sizeof g->action, "%s", c->action);
	apply(g->d, c);
}

static inline void up(struct rig *g)
{
	*g = (struct rig){ .w = world_sim_create(7) };
	g->d = who_create(g->w,
			  &(struct who_rules){ .daemon_uid = 4711, .uid_base = -1 });
	hasher_set_cost(logins_hasher(g->d->logins), &(struct hash_cost){ 1, 8192 });
}

static inline void down(struct rig *g)
{
	who_destroy(g->d);
	world_sim_settle(g->w, 100000);
	world_destroy(g->w);
}

/* 0: recorded. */
static inline int done(struct rig *g, int rc, struct who_change *c)
{
	if (rc == 0)
		apply(g->d, c);
	who_change_fini(c);
	return rc;
}

static inline int add_group(struct rig *g, const char *name)
{
	struct who_change c = { 0 };

	return done(g, who_add_group(g->d, name, "for tests", &c, &g->err), &c);
}

/* groups: "" or one. */
static inline int add_user(struct rig *g, const char *name, enum user_role role,
			   const char *group, const char *hash)
{
	struct who_user_wish w = WHO_USER_WISH_NONE;
	struct who_change c = { 0 };

	w.role = (int)role;
	w.hash = hash;
	w.group_count = *group ? 1 : 0;
	w.groups = &group;
	return done(g, who_add_user(g->d, name, &w, &c, &g->err), &c);
}

static inline int set_user(struct rig *g, const char *name, struct who_user_wish w)
{
	struct who_change c = { 0 };

	return done(g, who_set_user(g->d, name, &w, &c, &g->err), &c);
}

static inline int remove_user(struct rig *g, const char *name)
{
	struct who_change c = { 0 };

	return done(g, who_remove_user(g->d, name, &c, &g->err), &c);
}
