// SPDX-License-Identifier: Apache-2.0
/* The canonical JSON of a spec is a native job file with every default written out: what
 * the API shows can be submitted again.  Reading it back trusts it (it passed the check
 * before it was stored) but never so far that odd bytes could do harm. */
#include <stdint.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/units.h"
#include "job/spec.h"

static void put_bytes(struct json *j, const char *key, int64_t bytes)
{
	char text[UNITS_TEXT_MAX];

	json_str(j, key, units_write_bytes(bytes, text));
}

static void put_span(struct json *j, const char *key, int64_t ms)
{
	char text[UNITS_TEXT_MAX];

	json_str(j, key, units_write_duration(ms, text));
}

static void put_or_word(struct json *j, const char *key, int v, const char *word_for_all)
{
	if (v == SPEC_ALL)
		json_str(j, key, word_for_all);
	else
		json_i64(j, key, v);
}

static void put_pairs(struct json *j, const char *key, const struct pairs *p, bool raw)
{
	if (!p->count)
		return;
	json_object(j, key);
	for (size_t i = 0; i < p->count; i++) {
		if (raw)
			json_raw(j, p->items[i].key, p->items[i].value);
		else
			json_str(j, p->items[i].key, p->items[i].value);
	}
	json_end(j);
}

/* 2, or 0.5 of one. */
static void put_device(struct json *j, const struct device_count *d)
{
	char text[UNITS_TEXT_MAX];

	if (d->share_milli)
		json_raw(j, d->type, units_show_cpu(device_milli(d), text));
	else
		json_i64(j, d->type, d->count);
}

static void put_resources(struct json *j, const struct role *r)
{
	char cpu[UNITS_TEXT_MAX];

	json_object(j, "resources");
	json_raw(j, "cpu", units_show_cpu(r->each.cpu_milli, cpu));
	put_bytes(j, "memory", r->each.memory_bytes);
	put_bytes(j, "shm", r->shm_bytes);
	if (r->each.devices[0].type[0]) {
		json_object(j, "devices");
		for (int i = 0; i < DEVICE_KINDS_MAX && r->each.devices[i].type[0]; i++)
			put_device(j, &r->each.devices[i]);
		json_end(j);
	}
	json_end(j);
}

static void put_ports(struct json *j, const struct role *r)
{
	if (!r->port_count)
		return;
	json_object(j, "ports");
	for (size_t i = 0; i < r->port_count; i++) {
		json_object(j, r->ports[i].name);
		json_i64(j, "count", r->ports[i].count);
		if (r->ports[i].fixed)
			json_i64(j, "port", r->ports[i].fixed);
		json_end(j);
	}
	json_end(j);
}

static void put_role(struct json *j, const struct role *r)
{
	json_object(j, NULL);
	json_str(j, "name", r->name);
	json_i64(j, "count", r->count);
	if (r->least)
		json_i64(j, "min", r->least);
	if (r->shell_line) {
		json_str(j, "command", r->shell_line);
	} else {
		json_array(j, "command");
		for (size_t i = 0; i < r->argc; i++)
			json_str(j, NULL, r->argv[i]);
		json_end(j);
	}
	json_str(j, "image", r->image);
	put_resources(j, r);
	put_pairs(j, "where", &r->where, false);
	put_pairs(j, "env", &r->env, false);
	put_ports(j, r);
	json_object(j, "completion");
	put_or_word(j, "fail-after", r->fail_after, "all");
	put_or_word(j, "succeed-after", r->succeed_after, "all");
	json_end(j);
	json_end(j);
}

static void put_channels(struct json *j, const char *key, const struct channel *list,
			 size_t count)
{
	if (!count)
		return;
	json_object(j, key);
	for (size_t i = 0; i < count; i++)
		json_str(j, list[i].name, list[i].uri);
	json_end(j);
}

static void put_services(struct json *j, const struct spec *s)
{
	if (!s->service_count)
		return;
	json_object(j, "services");
	for (size_t i = 0; i < s->service_count; i++) {
		json_object(j, s->services[i].name);
		json_str(j, "role", s->services[i].role);
		json_str(j, "port", s->services[i].port);
		json_end(j);
	}
	json_end(j);
}

static void put_after(struct json *j, const char *key, const struct spec *s, bool ok)
{
	size_t n = 0;

	for (size_t i = 0; i < s->after_count; i++)
		n += s->after[i].ok == ok;
	if (!n)
		return;
	json_array(j, key);
	for (size_t i = 0; i < s->after_count; i++)
		if (s->after[i].ok == ok)
			json_i64(j, NULL, s->after[i].job);
	json_end(j);
}

static void put_secrets(struct json *j, const struct spec *s)
{
	char mode[SECRET_MODE_TEXT];

	if (!s->secret_count)
		return;
	json_array(j, "secrets");
	for (size_t i = 0; i < s->secret_count; i++) {
		const struct secret_use *u = &s->secrets[i];

		json_object(j, NULL);
		json_str(j, "name", u->name);
		if (u->env)
			json_str(j, "env", u->env);
		if (u->file) {
			json_str(j, "file", u->file);
			json_str(j, "mode", secret_mode_write(u->mode, mode));
		}
		if (u->from)
			json_str(j, "from", u->from);
		json_end(j);
	}
	json_end(j);
}

static void put_retry(struct json *j, const struct retry *r)
{
	json_object(j, "retry");
	put_or_word(j, "max", r->max, "forever");
	put_span(j, "backoff", r->backoff_ms);
	put_span(j, "backoff-max", r->backoff_max_ms);
	json_end(j);
}

static void put_axis(struct json *j, const struct axis *x)
{
	AUTO_BUF struct buf range = { 0 };

	if (!x->values) {
		axis_write_range(x, &range);
		json_str(j, x->name, buf_str(&range));
		return;
	}
	json_array(j, x->name);
	for (int64_t i = 0; i < x->count; i++)
		json_raw(j, NULL, x->values[i]);
	json_end(j);
}

static void put_array(struct json *j, const struct array *a)
{
	if (!a->count)
		return;
	json_object(j, "array");
	if (!a->axis_count)
		json_i64(j, "count", a->count);
	else
		json_object(j, "sweep");
	for (size_t i = 0; i < a->axis_count; i++)
		put_axis(j, &a->axes[i]);
	if (a->axis_count)
		json_end(j);
	json_i64(j, "parallel", a->parallel);
	if (a->stop_after)
		json_i64(j, "stop-after-failures", a->stop_after);
	json_end(j);
}

void spec_to_json(const struct spec *s, struct buf *out)
{
	struct json j;

	json_init(&j, out);
	json_object(&j, NULL);
	json_str(&j, "name", s->name);
	if (s->group)
		json_str(&j, "group", s->group);
	json_i64(&j, "priority", s->priority);
	json_bool(&j, "preemptible", s->preemptible);
	if (s->within != LEVEL_ANY)
		json_str(&j, "within", level_word(s->within));
	if (s->within_must)
		json_bool(&j, "within-must", true);
	put_pairs(&j, "labels", &s->labels, false);
	json_array(&j, "roles");
	for (size_t i = 0; i < s->role_count; i++)
		put_role(&j, &s->roles[i]);
	json_end(&j);
	put_retry(&j, &s->retry);
	if (s->time_limit_ms)
		put_span(&j, "time-limit", s->time_limit_ms);
	put_span(&j, "grace", s->grace_ms);
	put_channels(&j, "inputs", s->inputs, s->input_count);
	put_channels(&j, "outputs", s->outputs, s->output_count);
	put_pairs(&j, "hyperparameters", &s->hyperparameters, true);
	put_services(&j, s);
	put_secrets(&j, s);
	put_after(&j, "after", s, false);
	put_after(&j, "after-ok", s, true);
	if (s->code)
		json_str(&j, "code", s->code);
	put_array(&j, &s->array);
	json_end(&j);
}

/* Reading back.  A field that is absent keeps its default; one that makes no sense is
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
	take_unit(&t, map, "time-limit", units_duration, &s->time_limit_ms);
	take_unit(&t, map, "grace", units_duration, &s->grace_ms);
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
