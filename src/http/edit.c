// SPDX-License-Identifier: Apache-2.0
/* What is changed of a job that is there: its priority, that it is there; and another one
 * made of it. */
#include "http/view.h"

#include <stdio.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "dialect/dialect.h"
#include "http/catalog.h"
#include "http/handlers.h"
#include "http/route.h"
#include "http/secret.h"
#include "http/submit.h"
#include "yard/edit.h"

/* An object, or NULL with err. */
static struct doc *read_body(struct exchange *ex, struct err *err)
{
	struct doc *d = doc_parse_json(buf_str(&ex->body), ex->body.len, err);

	if (d && doc_root(d)->kind == DOC_MAP)
		return d;
	if (d)
		err_set(err, ERR_INVALID, "the body is not a JSON object");
	doc_destroy(d);
	return NULL;
}

/* {"priority": N} */
void handle_change(struct exchange *ex)
{
	struct err err;
	AUTO_DOC struct doc *d = read_body(ex, &err);
	const struct doc_node *n = d ? doc_get(doc_root(d), "priority") : NULL;
	int64_t priority;

	if (d && (!n || doc_whole(n, INT32_MIN, INT32_MAX, &priority) < 0)) {
		err_set(&err, ERR_INVALID, "priority: give a whole number");
		n = NULL;
	}
	if (!n) {
		answer_error(ex, &err);
		return;
	}
	exchange_hold(ex);
	yard_set_priority(ex->server->config.yard, ex->who, ex->job, (int)priority,
			  answer_changed, ex);
}

void handle_delete(struct exchange *ex)
{
	exchange_hold(ex);
	yard_delete(ex->server->config.yard, ex->who, ex->job, answer_done, ex);
}

/* ---- clone ---- */

/* Values are texts in an environment, any JSON as hyperparameters. */
static int set_pairs(struct pairs *to, const struct doc_node *map, bool json,
		     struct err *err)
{
	for (const struct doc_node *c = map ? map->first : NULL; c; c = c->next) {
		AUTO_BUF struct buf text = { 0 };
		struct json j;

		if (!json && c->kind != DOC_STRING)
			return err_set(err, ERR_INVALID,
				       "env: the value of %s is no text", c->key);
		json_init(&j, &text);
		if (json)
			doc_write_json(c, &j, NULL);
		pairs_set(to, c->key, json ? buf_str(&text) : c->text);
	}
	return 0;
}

static int check_map(const struct doc_node *root, const char *key,
		     const struct doc_node **out, struct err *err)
{
	*out = doc_get(root, key);
	if (*out && (*out)->kind != DOC_MAP)
		return err_set(err, ERR_INVALID, "%s: give an object", key);
	return 0;
}

static int change(struct spec *s, const struct doc_node *root, struct err *err)
{
	static const char *const known[] = { "name", "priority", "env",
					     "hyperparameters" };
	const struct doc_node *env, *hyper;
	const char *name = doc_str(root, "name", NULL);

	for (const struct doc_node *c = root->first; c; c = c->next) {
		size_t i = 0;
		while (i < COUNT_OF(known) && !str_eq(known[i], c->key))
			i++;
		if (i == COUNT_OF(known))
			return err_set(
				err, ERR_INVALID,
				"%s: a clone may have another name, priority, env or "
				"hyperparameters",
				c->key);
	}
	if (check_map(root, "env", &env, err) < 0 ||
	    check_map(root, "hyperparameters", &hyper, err) < 0)
		return -1;
	if (name) {
		free(s->name);
		s->name = mem_strdup(name);
	}
	s->priority = (int)doc_i64(root, "priority", s->priority);
	for (size_t i = 0; i < s->role_count; i++)
		if (set_pairs(&s->roles[i].env, env, false, err) < 0)
			return -1;
	return set_pairs(&s->hyperparameters, hyper, true, err);
}

/* Through the same door as a job file: whatever was changed is checked as if written. */
static int read_again(struct exchange *ex, const struct spec *changed, struct spec **out)
{
	const struct dialect *native = dialect_find(DIALECT_NATIVE, NULL);
	struct problems problems = { 0 };
	AUTO_BUF struct buf text = { 0 };

	spec_to_json(changed, &text);
	*out = native->read(buf_str(&text), text.len, &problems);
	if (*out) { /* those of the old one's owner may not be the caller's */
		secret_check_spec(ex, *out, &problems);
		images_check_spec(ex, *out, &problems);
	}
	bool refused = !*out || problems.count;
	if (refused)
		submit_refuse(ex, &problems);
	problems_fini(&problems);
	return refused ? -1 : 0;
}

/* Whom it waited for was a matter of the old one. */
static struct spec *spec_of(const struct job *j, struct err *err)
{
	struct spec *copy = spec_copy(j->spec, err);

	if (!copy)
		return NULL;
	copy->priority = j->priority;
	copy->after_count = 0;
	return copy;
}

static int check_code(struct exchange *ex, const struct spec *s, struct err *err)
{
	if (submit_check_code(ex, s, err) == 0)
		return 0;
	return err_set(
		err, ERR_CONFLICT,
		"code: the snapshot %.12s... of job %lld is no longer here, or it is not "
		"you who sent it; submit the job file with its code again",
		s->code, (long long)ex->job);
}

static void clone(struct exchange *ex)
{
	struct err err;
	AUTO_JOB struct job *owned = NULL;
	AUTO_DOC struct doc *d = NULL;
	AUTO_SPEC struct spec *changed = NULL, *fresh = NULL;
	const struct job *j = view_find(ex, &owned, &err);
	const char *key;
	char id[24];

	if (!j || submit_key(ex, &key, &err) < 0 || !(changed = spec_of(j, &err)) ||
	    (ex->body.len &&
	     (!(d = read_body(ex, &err)) || change(changed, doc_root(d), &err) < 0)) ||
	    check_code(ex, changed, &err) < 0) {
		answer_error(ex, &err);
		return;
	}
	if (read_again(ex, changed, &fresh) < 0)
		return;
	snprintf(id, sizeof id, "%lld", (long long)ex->job);
	submit_spec(ex, TAKE(fresh), key,
		    (const char *const[]){ "clone", id, buf_str(&ex->body), NULL });
}

void handle_clone(struct exchange *ex)
{
	images_ready(ex, true, clone);
}
