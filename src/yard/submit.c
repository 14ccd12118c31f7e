// SPDX-License-Identifier: Apache-2.0
/* What callers may ask for.  Everything is checked first; then one event says it. */
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "who/who.h"
#include "yard/edit.h"
#include "yard/internal.h"

/* The job this key made before: 1 with its id, 0: none, -1: the key was used otherwise. */
static int known_key(struct yard *y, const char *owner, const char *key,
		     const char *digest, int64_t *job, struct err *err)
{
	AUTO_FREE char *name = str_printf("%s\n%s", owner, key);
	struct live *l = map_gets(y->keys, name);
	struct err why = { 0 };
	char stored[65] = "";

	if (l) {
		*job = l->job->id;
		strncpy(stored, l->job->digest ? l->job->digest : "", sizeof stored - 1);
	} else if (store_find_key(y->config.store, owner, key, job, stored, &why) < 0) {
		if (why.code == ERR_NOT_FOUND)
			return 0;
		return err_set(err, why.code,
			       "idempotency key '%s' cannot be looked up: %s", key,
			       why.text);
	}
	if (!l && yard_is_forgotten(y, *job))
		return err_set(
			err, ERR_BUSY,
			"job %lld, which idempotency key '%s' made, is being deleted; "
			"ask again in a moment",
			(long long)*job, key);
	if (str_eq(stored, digest ? digest : ""))
		return 1;
	return err_set(err, ERR_CONFLICT,
		       "idempotency key '%s' already made job %lld from another request; "
		       "use a new key for a new job",
		       key, (long long)*job);
}

static void see_row(void *arg, const struct store_row *row)
{
	const struct principal **who = arg;

	if (!who_may_see(*who, row->owner, row->group))
		*who = NULL;
}

static int check_dependencies(struct yard *y, const struct principal *who,
			      const struct spec *s, struct err *err)
{
	for (size_t i = 0; i < s->after_count; i++) {
		const struct principal *seen = who;
		struct live *l = yard_find(y, s->after[i].job);

		if (l ? !who_may_see(who, l->job->owner, l->job->group)
		      : yard_is_forgotten(y, s->after[i].job))
			seen = NULL;
		else if (!l && store_row(y->config.store, s->after[i].job, see_row, &seen,
					 NULL) < 0)
			seen = NULL;
		if (!seen)
			return err_set(err, ERR_INVALID, "%s: there is no job %lld",
				       s->after[i].ok ? "after-ok" : "after",
				       (long long)s->after[i].job);
	}
	return 0;
}

const char *yard_group_of(const struct principal *who, const struct spec *s)
{
	return s->group && *s->group ? s->group : who->group;
}

int yard_check_priority(const struct yard *y, const struct principal *who, int priority,
			struct err *err)
{
	if (principal_is_admin(who) || priority <= y->config.max_priority)
		return 0;
	return err_set(err, ERR_DENIED,
		       "priority: %d is for administrators; you may give up to %lld",
		       priority, (long long)y->config.max_priority);
}

/* What one person may ask for, so that the others are still served. */
static int check_limits(const struct yard *y, const struct principal *who,
			const struct spec *s, struct err *err)
{
	int64_t jobs = (intptr_t)map_gets(y->per_owner, who->name);

	if (principal_is_admin(who))
		return 0;
	if (yard_check_priority(y, who, s->priority, err) < 0)
		return -1;
	if (jobs >= y->config.max_jobs_per_user)
		return err_set(
			err, ERR_QUOTA,
			"you have %lld jobs that have not ended, and one user may have "
			"%lld at a time; wait for some, or stop some",
			(long long)jobs, (long long)y->config.max_jobs_per_user);
	return 0;
}

/* Inputs are files of this machine, read with their owner's rights: who came over the
 * network and has no account here has none. */
static int check_inputs(const struct principal *who, const struct spec *s,
			struct err *err)
{
	for (size_t i = 0; i < s->input_count && who->uid < 0; i++)
		if (spec_uri_is_host(s->inputs[i].uri))
			return err_set(
				err, ERR_DENIED,
				"inputs: %s reads files of this machine, and '%s' has no "
				"account on it that has come by the unix socket; send the "
				"files as code",
				s->inputs[i].name, who->name);
	return 0;
}

int yard_check_submit(struct yard *y, const struct principal *who, const struct spec *s,
		      struct err *err)
{
	const char *group = yard_group_of(who, s);

	if (!principal_is_admin(who) && !str_eq(group, who->group) &&
	    !principal_in(who, group))
		return err_set(
			err, ERR_DENIED,
			"group: %s is not in group '%s'; leave it out or write '%s'",
			who->name, group, who->group);
	if (check_inputs(who, s, err) < 0 || check_limits(y, who, s, err) < 0 ||
	    yard_check_range(y, who->name, err) < 0 ||
	    check_dependencies(y, who, s, err) < 0)
		return -1;
	return yard_plan_possible(y, s, who->name, group, err);
}

static void ensure_user(struct yard *y, const struct principal *who)
{
	struct event e = { .kind = EV_USER, .slot = y->user_slots, .uid = who->uid };

	if (y->config.uid_base < 0 || map_gets(y->users, who->name))
		return;
	e.name = mem_strdup(who->name);
	yard_range_note(y, who->name);
	yard_record(y, &e, NULL, NULL);
}

void yard_submit(struct yard *y, const struct principal *who, struct spec *spec,
		 const char *key, const char *digest, yard_done done, void *arg)
{
	AUTO_SPEC struct spec *owned = spec;
	struct err err = { 0 };
	int64_t job = 0;
	int known = key ? known_key(y, who->name, key, digest, &job, &err) : 0;

	if (known > 0) {
		yard_answer(y, job, true, done, arg);
		return;
	}
	if (y->trouble.code != ERR_NONE && known == 0)
		known = err_set(&err, ERR_BUSY,
				"the yard cannot write to its disk now: %s",
				y->trouble.text);
	if (known < 0 || yard_check_submit(y, who, owned, &err) < 0) {
		yard_refuse(y, &err, done, arg);
		return;
	}
	ensure_user(y, who);
	struct event e = { .kind = EV_SUBMITTED, .uid = who->uid };
	e.by = mem_strdup(who->name);
	e.group = mem_strdup(yard_group_of(who, owned));
	e.key = mem_strdup(key);
	e.digest = mem_strdup(digest);
	yard_record_submit(y, &e, TAKE(owned), done, arg);
}

struct touch {
	const struct principal *who;
	bool may;
};

static void may_touch(void *arg, const struct store_row *row)
{
	struct touch *t = arg;

	t->may = who_may_touch(t->who, row->owner, row->group);
}

/* Whether they may stop it; l NULL: it has ended. */
static int check_touch(struct yard *y, const struct principal *who, int64_t job,
		       const struct live *l, struct err *err)
{
	struct touch touch = { .who = who };

	if (l)
		touch.may = who_may_touch(who, l->job->owner, l->job->group);
	else
		store_row(y->config.store, job, may_touch, &touch, NULL);
	return touch.may ? 0
			 : err_set(err, ERR_NOT_FOUND, "there is no job %lld",
				   (long long)job);
}

void yard_stop(struct yard *y, const struct principal *who, int64_t job, const char *text,
	       yard_done done, void *arg)
{
	struct live *l = yard_find(y, job);
	struct event e = { .job = job, .kind = EV_STOP, .stop = STOP_USER };
	struct err err = { 0 };

	if (check_touch(y, who, job, l, &err) < 0) {
		yard_refuse(y, &err, done, arg);
		return;
	}
	e.by = mem_strdup(who->name);
	e.text = text && *text ? mem_strdup(text) : NULL;
	if (!l || l->job->stop == STOP_USER || !job_legal(l->job, &e)) {
		event_fini(&e);
		yard_answer(y, job, true, done, arg);
		return;
	}
	yard_record(y, &e, done, arg);
}

/* The grace of what is being stopped is over, because they say so. */
static void end_grace(struct yard *y, const struct principal *who, int64_t job)
{
	struct event e = { .job = job,
			   .kind = EV_GRACE_OVER,
			   .by = mem_strdup(who->name) };
	const struct live *l = yard_find(y, job);

	if (l && !l->job->killed)
		yard_record(y, &e, NULL, NULL);
	else
		event_fini(&e);
}

void yard_kill(struct yard *y, const struct principal *who, int64_t job, const char *text,
	       yard_done done, void *arg)
{
	struct live *l = yard_find(y, job);
	struct event e = { .job = job, .kind = EV_STOP, .stop = STOP_USER };
	AUTO_FREE int64_t *members = NULL;
	struct err err = { 0 };
	size_t count;

	if (check_touch(y, who, job, l, &err) < 0) {
		yard_refuse(y, &err, done, arg);
		return;
	}
	if (!l) {
		yard_answer(y, job, true, done, arg);
		return;
	}
	e.by = mem_strdup(who->name);
	e.text = text && *text ? mem_strdup(text) : NULL;
	if (l->job->stop == STOP_USER)
		event_fini(&e);
	else
		yard_record(y, &e, NULL, NULL);
	end_grace(y, who, job);
	count = l->member_count;
	members = count ? mem_dup(l->members, count * sizeof *members) : NULL;
	for (size_t i = 0; i < count; i++)
		end_grace(y, who, members[i]);
	yard_answer(y, job, false, done, arg);
}

void yard_set_quota(struct yard *y, const struct principal *who, const char *scope,
		    const char *name, const struct quota *q, yard_done done, void *arg)
{
	struct event e = { .kind = EV_QUOTA, .quota = *q };
	struct err err = { 0 };

	if (!principal_is_admin(who))
		err_set(&err, ERR_DENIED, "only an administrator sets quotas");
	else if (!str_eq(scope, "user") && !str_eq(scope, "group"))
		err_set(&err, ERR_INVALID, "scope: '%s' is neither user nor group",
			scope);
	else if (!*name || strlen(name) >= NAME_MAX_BYTES)
		err_set(&err, ERR_INVALID, "name: 1 to %d bytes", NAME_MAX_BYTES - 1);
	if (err.code != ERR_NONE) {
		yard_refuse(y, &err, done, arg);
		return;
	}
	e.by = mem_strdup(who->name);
	e.scope = mem_strdup(scope);
	e.name = mem_strdup(name);
	yard_note_quota(y, scope, name, q);
	y->step_asked = true;
	yard_record(y, &e, done, arg);
}
