// SPDX-License-Identifier: Apache-2.0
/* Reads the canonical JSON of a spec back.  It is trusted (it passed the check before it was
 * stored) but never so far that odd bytes could do harm. */
#include <stdint.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/units.h"
#include "job/spec.h"

/* A field that is absent keeps its default; one that makes no sense is
 * remembered by name and makes the whole reading fail. */
struct take {
	const char *bad;
};

static char *take_text(struct take *t, const struct doc_node *map, const char *key)
{
	const struct doc_node *n = doc_get(map, key);

	if (!n || n->kind == DOC_NULL)
		return NULL;
	if (n->kind != DOC_STRING)
		t->bad = key;
	return n->kind == DOC_STRING ? mem_strdup(n->text) : NULL;
}

static void take_int(struct take *t, const struct doc_node *map, const char *key,
		     int *out)
{
	const struct doc_node *n = doc_get(map, key);
	int64_t v = 0;

	if (!n)
		return;
	/* "all" and "forever" are the only words a number may be. */
	if (n->kind == DOC_STRING)
		*out = SPEC_ALL;
	else if (n->kind == DOC_NUMBER &&
		 str_to_i64(n->text, INT32_MIN, INT32_MAX, &v) == 0)
		*out = (int)v;
	else
		t->bad = key;
}

static void take_unit(struct take *t, const struct doc_node *map, const char *key,
		      int (*read)(const char *text, int64_t *out), int64_t *out)
{
	const struct doc_node *n = doc_get(map, key);

	if (!n)
		return;
	if ((n->kind != DOC_STRING && n->kind != DOC_NUMBER) || read(n->text, out) < 0)
		t->bad = key;
}

static void take_pairs(struct take *t, const struct doc_node *map, const char *key,
		       struct pairs *out)
{
	const struct doc_node *n = doc_get(map, key);

	for (const struct doc_node *c = n ? n->first : NULL; c; c = c->next) {
		if (!c->key || c->kind != DOC_STRING)
			t->bad = key;
		else
			pairs_set(out, c->key, c->text);
	}
}

static void take_hyperparameters(const struct doc_node *map, struct pairs *out)
{
	const struct doc_node *n = doc_get(map, "hyperparameters");

	for (const struct doc_node *c = n ? n->first : NULL; c; c = c->next) {
		AUTO_BUF struct buf text = { 0 };
		struct json j;
		json_init(&j, &text);
		doc_write_json(c, &j, NULL);
		pairs_set(out, c->key ? c->key : "", buf_str(&text));
	}
}

static void take_command(struct take *t, const struct doc_node *map, struct role *r)
{
	const struct doc_node *n = doc_get(map, "command");
	AUTO_FREE const char **argv = NULL;
	size_t argc = 0;

	if (n && n->kind == DOC_STRING) {
		role_set_shell(r, n->text);
		return;
	}
	if (!n || n->kind != DOC_LIST) {
		t->bad = "command";
		return;
	}
	argv = mem_alloc(n->count, sizeof *argv);
	for (const struct doc_node *c = n->first; c; c = c->next) {
		if (c->kind == DOC_STRING)
			argv[argc++] = c->text;
		else
			t->bad = "command";
	}
	role_set_argv(r, argv, argc);
}

static void take_devices(struct take *t, const struct doc_node *map,
			 struct resources *out)
{
	for (const struct doc_node *c = map ? map->first : NULL; c; c = c->next) {
		struct device_count d = { 0 };
		if (!c->key || c->kind != DOC_NUMBER ||
		    device_amount(c->text, DEVICES_MAX, &d) < 0 ||
		    !resources_set_share(out, c->key, d.count, d.share_milli))
			t->bad = "devices";
	}
}

static void take_role(struct take *t, const struct doc_node *map, struct role *r)
{
	const struct doc_node *res = doc_get(map, "resources");
	const struct doc_node *ports = doc_get(map, "ports"),
			      *done = doc_get(map, "completion");

	r->name = take_text(t, map, "name");
	r->image = take_text(t, map, "image");
	take_int(t, map, "count", &r->count);
	take_int(t, map, "min", &r->least);
	r->per_device = doc_bool(map, "per-device", false);
	take_command(t, map, r);
	take_unit(t, res, "cpu", units_cpu, &r->each.cpu_milli);
	take_unit(t, res, "memory", units_bytes, &r->each.memory_bytes);
	take_unit(t, res, "shm", units_bytes, &r->shm_bytes);
	take_devices(t, doc_get(res, "devices"), &r->each);
	take_pairs(t, map, "where", &r->where);
	take_pairs(t, map, "env", &r->env);
	for (const struct doc_node *c = ports ? ports->first : NULL; c; c = c->next) {
		struct port_ask *p = role_add_port(r, c->key ? c->key : "");
		take_int(t, c, "count", &p->count);
		take_int(t, c, "port", &p->fixed);
	}
	take_int(t, done, "fail-after", &r->fail_after);
	take_int(t, done, "succeed-after", &r->succeed_after);
	if (!r->image)
		r->image = mem_strdup("host");
	if (!r->name)
		t->bad = "roles";
}

static void take_after(struct take *t, const struct doc_node *map, const char *key,
		       struct spec *s)
{
	const struct doc_node *n = doc_get(map, key);
	int64_t id = 0;

	for (const struct doc_node *c = n ? n->first : NULL; c; c = c->next) {
		if (c->kind != DOC_NUMBER || str_to_i64(c->text, 1, INT64_MAX, &id) < 0)
			t->bad = key;
		else
			spec_add_after(s, id, strcmp(key, "after-ok") == 0);
	}
}

static void take_secrets(struct take *t, const struct doc_node *map, struct spec *s)
{
	const struct doc_node *n = doc_get(map, "secrets");

	for (const struct doc_node *c = n ? n->first : NULL; c; c = c->next) {
		struct secret_use *u = spec_add_secret(s, doc_str(c, "name", ""));
		const char *mode = doc_str(c, "mode", NULL);

		u->env = take_text(t, c, "env");
		u->file = take_text(t, c, "file");
		u->from = take_text(t, c, "from");
		if (mode && secret_mode_read(mode, &u->mode) < 0)
			t->bad = "mode";
	}
}

static void take_requirements(struct take *t, const struct doc_node *map, struct spec *s)
{
	const struct doc_node *n = doc_get(map, "requirements");

	s->requirements.which = REQUIREMENTS_NONE;
	if (n && n->kind == DOC_BOOL && n->boolean)
		s->requirements.which = REQUIREMENTS_ALL;
	if (n && n->kind != DOC_BOOL && n->kind != DOC_LIST)
		t->bad = "requirements";
	for (const struct doc_node *c = n ? n->first : NULL; c; c = c->next) {
		if (c->kind == DOC_STRING)
			spec_add_requirement(s, c->text);
		else
			t->bad = "requirements";
	}
}

static void take_contract(struct take *t, const struct doc_node *map, struct spec *s)
{
	const struct doc_node *metrics = doc_get(map, "metrics");

	if (spec_contract_from_word(doc_str(map, "contract", "native"), &s->contract) < 0)
		t->bad = "contract";
	take_requirements(t, map, s);
	for (const struct doc_node *c = metrics ? metrics->first : NULL; c; c = c->next)
		spec_add_metric(s, doc_str(c, "name", ""), doc_str(c, "pattern", ""));
	take_unit(t, map, "grace-max", units_duration, &s->grace_max_ms);
	/* An event of before there was such a field. */
	if (s->grace_max_ms < s->grace_ms)
		s->grace_max_ms = s->grace_ms;
}

static void take_lists(struct take *t, const struct doc_node *map, struct spec *s)
{
	const struct doc_node *n = doc_get(map, "inputs");

	for (const struct doc_node *c = n ? n->first : NULL; c; c = c->next)
		spec_add_input(s, c->key ? c->key : "",
			       c->kind == DOC_STRING ? c->text : NULL);
	n = doc_get(map, "outputs");
	for (const struct doc_node *c = n ? n->first : NULL; c; c = c->next)
		spec_add_output(s, c->key ? c->key : "",
				c->kind == DOC_STRING ? c->text : NULL);
	n = doc_get(map, "services");
	for (const struct doc_node *c = n ? n->first : NULL; c; c = c->next)
		spec_add_service(s, c->key ? c->key : "", doc_str(c, "role", ""),
				 doc_str(c, "port", ""));
	take_secrets(t, map, s);
	take_after(t, map, "after", s);
	take_after(t, map, "after-ok", s);
}

static void take_axis(struct take *t, const struct doc_node *n, struct axis *x)
{
	if (n->kind == DOC_STRING && axis_set_range(x, n->text) == 0)
		return;
	for (const struct doc_node *c = n->first; c; c = c->next) {
		AUTO_BUF struct buf text = { 0 };
		struct json j;
		json_init(&j, &text);
		doc_write_json(c, &j, NULL);
		axis_add_value(x, buf_str(&text));
	}
	if (!x->count)
		t->bad = "sweep";
}

static void take_array(struct take *t, const struct doc_node *map, struct array *a)
{
	const struct doc_node *n = doc_get(map, "array"), *sweep = doc_get(n, "sweep");

	take_int(t, n, "count", &a->count);
	take_int(t, n, "parallel", &a->parallel);
	take_int(t, n, "stop-after-failures", &a->stop_after);
	for (const struct doc_node *c = sweep ? sweep->first : NULL; c; c = c->next) {
		if (a->axis_count == ARRAY_AXES_MAX || !c->key)
			t->bad = "sweep";
		else
			take_axis(t, c, array_add_axis(a, c->key));
	}
	if (a->axis_count)
		a->count = (int)array_grid(a);
	if (a->count < 0 || a->count > ARRAY_MEMBERS_MAX)
		t->bad = "array";
}

struct spec *spec_from_json(const struct doc_node *map, struct err *err)
{
	const struct doc_node *roles = doc_get(map, "roles"),
			      *retry = doc_get(map, "retry");
	AUTO_SPEC struct spec *s = spec_create();
	struct take t = { 0 };

	s->name = take_text(&t, map, "name");
	s->group = take_text(&t, map, "group");
	s->code = take_text(&t, map, "code");
	take_int(&t, map, "priority", &s->priority);
	s->preemptible = doc_bool(map, "preemptible", false);
	s->within_must = doc_bool(map, "within-must", false);
	if (level_from_word(doc_str(map, "within", "any"), &s->within) < 0)
		t.bad = "within";
	take_pairs(&t, map, "labels", &s->labels);
	take_hyperparameters(map, &s->hyperparameters);
	for (const struct doc_node *c = roles ? roles->first : NULL; c; c = c->next)
		take_role(&t, c, spec_add_role(s));
	take_int(&t, retry, "max", &s->retry.max);
	take_unit(&t, retry, "backoff", units_duration, &s->retry.backoff_ms);
	take_unit(&t, retry, "backoff-max", units_duration, &s->retry.backoff_max_ms);
	s->retry.time_limit = doc_bool(retry, "time-limit", false);
	take_unit(&t, map, "time-limit", units_duration, &s->time_limit_ms);
	take_unit(&t, map, "grace", units_duration, &s->grace_ms);
	take_contract(&t, map, s);
	take_lists(&t, map, s);
	take_array(&t, map, &s->array);
	if (!t.bad && (!s->name || !s->role_count))
		t.bad = "name";
	if (t.bad) {
		err_set(err, ERR_CORRUPT, "a stored spec makes no sense at \"%s\"",
			t.bad);
		return NULL;
	}
	return TAKE(s);
}

struct spec *spec_copy(const struct spec *checked, struct err *err)
{
	AUTO_BUF struct buf text = { 0 };
	AUTO_DOC struct doc *doc = NULL;

	spec_to_json(checked, &text);
	doc = doc_parse_json(buf_str(&text), text.len, err);
	return doc ? spec_from_json(doc_root(doc), err) : NULL;
}
