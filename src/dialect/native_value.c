// SPDX-License-Identifier: Apache-2.0
/* Reads the values of a native job file, one function a kind of field. */
#include <inttypes.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/units.h"
#include "dialect/native.h"
#include "job/placement.h"
#include "job/spec_default.h"

static bool is_scalar(const struct doc_node *n)
{
	return n->kind == DOC_STRING || n->kind == DOC_NUMBER || n->kind == DOC_BOOL;
}

static void not_allowed(struct native_reader *r, const struct doc_node *n,
			const char *allowed)
{
	if (n->kind == DOC_NULL)
		native_bad(r, n, "is empty; allowed is %s", allowed);
	else if (is_scalar(n))
		native_bad(r, n, "\"%.60s\" is not allowed; allowed is %s", n->text,
			   allowed);
	else
		native_bad(r, n, "is %s; allowed is %s", doc_kind_word(n->kind), allowed);
}

/* A text that C can hold; numbers and truth values count as they are written. */
static const char *text_of(struct native_reader *r, const struct doc_node *n,
			   const char *allowed)
{
	if (!is_scalar(n)) {
		not_allowed(r, n, allowed);
		return NULL;
	}
	if (n->kind == DOC_STRING && strlen(n->text) != n->text_len) {
		native_bad(r, n, "contains a NUL character");
		return NULL;
	}
	return n->text;
}

static void replace_text(char **field, const char *text)
{
	free(*field);
	*field = mem_strdup(text);
}

static void read_text(struct native_reader *r, const struct field *f,
		      const struct doc_node *n, void *at)
{
	const char *text = text_of(r, n, field_types[f->kind].allowed);

	if (text)
		replace_text(at, text);
}

static void read_bool(struct native_reader *r, const struct field *f,
		      const struct doc_node *n, void *at)
{
	if (n->kind == DOC_BOOL)
		*(bool *)at = n->boolean;
	else
		not_allowed(r, n, field_types[f->kind].allowed);
}

static void read_int(struct native_reader *r, const struct field *f,
		     const struct doc_node *n, void *at)
{
	AUTO_FREE char *allowed = NULL;
	int64_t v = 0;

	if (f->word && n->kind == DOC_STRING && strcmp(n->text, f->word) == 0) {
		*(int *)at = SPEC_ALL;
		return;
	}
	if (doc_whole(n, f->min, f->max, &v) == 0) {
		*(int *)at = (int)v;
		return;
	}
	allowed = str_printf("a whole number from %" PRId64 " to %" PRId64 "%s%s", f->min,
			     f->max, f->word ? ", or " : "", f->word ? f->word : "");
	not_allowed(r, n, allowed);
}

static void read_unit(struct native_reader *r, const struct field *f,
		      const struct doc_node *n, void *at)
{
	int (*read)(const char *text, int64_t *out) = units_duration;

	if (f->kind == FIELD_BYTES)
		read = units_bytes;
	if (f->kind == FIELD_CPU)
		read = units_cpu;
	if ((n->kind != DOC_STRING && n->kind != DOC_NUMBER) || read(n->text, at) < 0)
		not_allowed(r, n, field_types[f->kind].allowed);
	else if (f->kind != FIELD_DURATION && *(int64_t *)at == 0)
		native_bad(r, n, "must be more than 0");
}

static void read_command(struct native_reader *r, const struct field *f,
			 const struct doc_node *n, void *object)
{
	const char *allowed = field_types[f->kind].allowed, *text;
	AUTO_FREE const char **argv = NULL;
	size_t argc = 0;

	if (n->kind == DOC_STRING) {
		text = text_of(r, n, allowed);
		if (text)
			role_set_shell(object, text);
		return;
	}
	if (n->kind != DOC_LIST || n->count == 0) {
		not_allowed(r, n, allowed);
		return;
	}
	argv = mem_alloc(n->count, sizeof *argv);
	for (const struct doc_node *c = n->first; c; c = c->next) {
		size_t before = native_enter_item(r, argc);
		text = text_of(r, c, "a text");
		argv[argc++] = text ? text : "";
		native_leave(r, before);
	}
	role_set_argv(object, argv, argc);
}

static bool is_map(struct native_reader *r, const struct field *f,
		   const struct doc_node *n)
{
	if (n->kind != DOC_MAP)
		not_allowed(r, n, field_types[f->kind].allowed);
	return n->kind == DOC_MAP;
}

static void read_texts(struct native_reader *r, const struct field *f,
		       const struct doc_node *n, void *at)
{
	if (!is_map(r, f, n) || !native_bounded(r, n, SPEC_PAIRS_MAX))
		return;
	for (const struct doc_node *c = n->first; c; c = c->next) {
		size_t before = native_enter(r, c);
		const char *text = c->kind == DOC_NULL ? "" : text_of(r, c, "a text");
		if (text)
			pairs_set(at, c->key, text);
		native_leave(r, before);
	}
}

static void read_values(struct native_reader *r, const struct field *f,
			const struct doc_node *n, void *at)
{
	if (!is_map(r, f, n) || !native_bounded(r, n, SPEC_PAIRS_MAX))
		return;
	for (const struct doc_node *c = n->first; c; c = c->next) {
		size_t before = native_enter(r, c);
		AUTO_BUF struct buf text = { 0 };
		struct json j;
		json_init(&j, &text);
		if (doc_depth(c) > SPEC_NESTING_MAX) {
			native_bad(r, c, "nested deeper than %d levels",
				   SPEC_NESTING_MAX);
		} else {
			doc_write_json(c, &j, NULL);
			pairs_set(at, c->key, buf_str(&text));
		}
		native_leave(r, before);
	}
}

static bool is_amount(const struct doc_node *n, struct device_count *out)
{
	int64_t count;

	if (doc_whole(n, 0, DEVICES_MAX, &count) == 0) {
		out->count = (int)count;
		return true;
	}
	return n->kind == DOC_NUMBER && device_amount(n->text, 0, out) == 0;
}

static void read_devices(struct native_reader *r, const struct field *f,
			 const struct doc_node *n, void *at)
{
	if (!is_map(r, f, n))
		return;
	for (const struct doc_node *c = n->first; c; c = c->next) {
		size_t before = native_enter(r, c);
		struct device_count d = { 0 };
		if (!is_amount(c, &d))
			not_allowed(
				r, c,
				"a whole number from 0 to 64, or a share of one device such as 0.5 (in thousandths)");
		else if (strlen(c->key) == 0 || strlen(c->key) >= DEVICE_TYPE_MAX)
			native_bad(r, c,
				   "a kind of device has a name of 1 to %d characters",
				   DEVICE_TYPE_MAX - 1);
		else if (!resources_set_share(at, c->key, d.count, d.share_milli))
			native_bad(r, c, "more than %d kinds of devices",
				   DEVICE_KINDS_MAX);
		native_leave(r, before);
	}
}

static void read_within(struct native_reader *r, const struct field *f,
			const struct doc_node *n, void *at)
{
	if (n->kind != DOC_STRING || level_from_word(n->text, at) < 0)
		not_allowed(r, n, field_types[f->kind].allowed);
}

static void read_contract(struct native_reader *r, const struct field *f,
			  const struct doc_node *n, void *at)
{
	if (n->kind != DOC_STRING || spec_contract_from_word(n->text, at) < 0)
		not_allowed(r, n, field_types[f->kind].allowed);
}

static void read_requirements(struct native_reader *r, const struct field *f,
			      const struct doc_node *n, void *object)
{
	struct spec *s = object;
	size_t i = 0;

	if (n->kind == DOC_BOOL) {
		s->requirements.which = n->boolean ? REQUIREMENTS_ALL : REQUIREMENTS_NONE;
		return;
	}
	if (n->kind != DOC_LIST) {
		not_allowed(r, n, field_types[f->kind].allowed);
		return;
	}
	if (!native_bounded(r, n, SPEC_LIST_MAX))
		return;
	s->requirements.which = REQUIREMENTS_ALL;
	for (const struct doc_node *c = n->first; c; c = c->next) {
		size_t before = native_enter_item(r, i++);
		const char *text = text_of(r, c, "a requirement such as numpy>=1.26");
		if (text)
			spec_add_requirement(s, text);
		native_leave(r, before);
	}
}

static void read_metric(struct native_reader *r, const struct doc_node *n, struct spec *s)
{
	static const struct field fields[] = {
		{ "name", FIELD_TEXT, offsetof(struct metric, name), NULL, NULL, 0, 0,
		  NULL, NULL },
		{ "pattern", FIELD_TEXT, offsetof(struct metric, pattern), NULL, NULL, 0,
		  0, NULL, NULL },
	};
	static const struct field_set set = { "metric", fields, COUNT_OF(fields) };
	const struct field_set *const sets[] = { &set, NULL };
	const char *pattern;

	if (n->key) { /* NAME: PATTERN */
		pattern = text_of(r, n, "a regular expression with one group");
		if (pattern)
			spec_add_metric(s, n->key, pattern);
		return;
	}
	if (n->kind != DOC_MAP) {
		not_allowed(r, n, "{name: NAME, pattern: REGEX}");
		return;
	}
	native_fields(r, &set, n, spec_add_metric(s, NULL, NULL));
	native_unknown(r, sets, n);
}

static void read_metrics(struct native_reader *r, const struct field *f,
			 const struct doc_node *n, void *object)
{
	size_t i = 0;

	if (n->kind != DOC_LIST && !is_map(r, f, n))
		return;
	if (!native_bounded(r, n, SPEC_LIST_MAX))
		return;
	for (const struct doc_node *c = n->first; c; c = c->next) {
		size_t before = c->key ? native_enter(r, c) : native_enter_item(r, i++);
		read_metric(r, c, object);
		native_leave(r, before);
	}
}

static void read_port_fields(struct native_reader *r, const struct doc_node *n,
			     struct port_ask *p)
{
	static const struct field fields[] = {
		{ "count", FIELD_INT, offsetof(struct port_ask, count), NULL, NULL, 1,
		  PORTS_MAX, NULL, NULL },
		{ "port", FIELD_INT, offsetof(struct port_ask, fixed), NULL, NULL,
		  SPEC_PORT_MIN, SPEC_PORT_MAX, NULL, NULL },
	};
	static const struct field_set set = { "port", fields, COUNT_OF(fields) };
	const struct field_set *const sets[] = { &set, NULL };

	native_fields(r, &set, n, p);
	native_unknown(r, sets, n);
}

static void read_port(struct native_reader *r, const struct doc_node *n,
		      struct role *role)
{
	struct port_ask *p = role_add_port(role, n->key);
	int64_t number = 0;

	if (n->kind == DOC_NULL || (n->kind == DOC_STRING && strcmp(n->text, "any") == 0))
		return;
	if (n->kind == DOC_MAP)
		read_port_fields(r, n, p);
	else if (doc_whole(n, SPEC_PORT_MIN, SPEC_PORT_MAX, &number) == 0)
		p->fixed = (int)number;
	else
		not_allowed(
			r, n,
			"any, a port number from 1024 to 65535, {count: N} or {port: N}");
}

static void read_ports(struct native_reader *r, const struct field *f,
		       const struct doc_node *n, void *object)
{
	size_t i = 0;

	if (n->kind != DOC_LIST && !is_map(r, f, n))
		return;
	if (!native_bounded(r, n, PORTS_MAX))
		return;
	for (const struct doc_node *c = n->first; c; c = c->next, i++) {
		size_t before =
			n->kind == DOC_MAP ? native_enter(r, c) : native_enter_item(r, i);
		const char *name = n->kind == DOC_MAP ? NULL : text_of(r, c, "a name");
		if (n->kind == DOC_MAP)
			read_port(r, c, object);
		else if (name)
			role_add_port(object, name);
		native_leave(r, before);
	}
}

static void read_channels(struct native_reader *r, const struct field *f,
			  const struct doc_node *n, void *object)
{
	bool output = f->kind == FIELD_OUTPUTS;
	size_t i = 0;

	if (!(output && n->kind == DOC_LIST) && !is_map(r, f, n))
		return;
	if (!native_bounded(r, n, SPEC_LIST_MAX))
		return;
	for (const struct doc_node *c = n->first; c; c = c->next, i++) {
		size_t before = c->key ? native_enter(r, c) : native_enter_item(r, i);
		const char *text = output && c->kind == DOC_NULL
					   ? NULL
					   : text_of(r, c, c->key ? "a path" : "a name");
		if (!c->key && text)
			spec_add_output(object, text, NULL);
		else if (c->key && output && (text || c->kind == DOC_NULL))
			spec_add_output(object, c->key, text);
		else if (c->key && text)
			spec_add_input(object, c->key, text);
		native_leave(r, before);
	}
}

static void read_service(struct native_reader *r, const struct doc_node *n,
			 struct spec *s)
{
	static const struct field fields[] = {
		{ "role", FIELD_TEXT, offsetof(struct service, role), NULL, NULL, 0, 0,
		  NULL, NULL },
		{ "port", FIELD_TEXT, offsetof(struct service, port), NULL, NULL, 0, 0,
		  NULL, NULL },
	};
	static const struct field_set set = { "service", fields, COUNT_OF(fields) };
	const struct field_set *const sets[] = { &set, NULL };
	struct service *v;

	if (n->kind != DOC_MAP) {
		not_allowed(r, n, "{role: ROLE, port: NAME}");
		return;
	}
	v = spec_add_service(s, n->key, NULL, NULL);
	native_fields(r, &set, n, v);
	native_unknown(r, sets, n);
	if (!doc_get(n, "port"))
		native_bad(r, n, "\"port\" is missing: the name of a port of the role");
}

static void read_services(struct native_reader *r, const struct field *f,
			  const struct doc_node *n, void *object)
{
	if (!is_map(r, f, n) || !native_bounded(r, n, SPEC_LIST_MAX))
		return;
	for (const struct doc_node *c = n->first; c; c = c->next) {
		size_t before = native_enter(r, c);
		read_service(r, c, object);
		native_leave(r, before);
	}
}

static void read_job_number(struct native_reader *r, const struct field *f,
			    const struct doc_node *n, void *object)
{
	int64_t id = 0;

	if (doc_whole(n, 1, INT64_MAX, &id) < 0)
		not_allowed(r, n, field_types[f->kind].allowed);
	else
		spec_add_after(object, id, f->kind == FIELD_AFTER_OK);
}

static void read_jobs(struct native_reader *r, const struct field *f,
		      const struct doc_node *n, void *object)
{
	size_t i = 0;

	if (n->kind != DOC_LIST) {
		read_job_number(r, f, n, object);
		return;
	}
	if (!native_bounded(r, n, SPEC_LIST_MAX))
		return;
	for (const struct doc_node *c = n->first; c; c = c->next) {
		size_t before = native_enter_item(r, i++);
		read_job_number(r, f, c, object);
		native_leave(r, before);
	}
}

static void read_mode(struct native_reader *r, const struct field *f,
		      const struct doc_node *n, void *at)
{
	if ((n->kind != DOC_NUMBER && n->kind != DOC_STRING) ||
	    secret_mode_read(n->text, at) < 0)
		not_allowed(r, n, field_types[f->kind].allowed);
}

static void read_secret(struct native_reader *r, const struct doc_node *n, struct spec *s)
{
#define IN_USE(member) offsetof(struct secret_use, member)
	static const struct field fields[] = {
		{ "name", FIELD_TEXT, IN_USE(name), NULL, NULL, 0, 0, NULL, NULL },
		{ "env", FIELD_TEXT, IN_USE(env), NULL, NULL, 0, 0, NULL, NULL },
		{ "file", FIELD_TEXT, IN_USE(file), NULL, NULL, 0, 0, NULL, NULL },
		{ "mode", FIELD_MODE, IN_USE(mode), NULL, NULL, 0, 0, NULL, NULL },
		{ "from", FIELD_TEXT, IN_USE(from), NULL, NULL, 0, 0, NULL, NULL },
	};
	static const struct field_set set = { "secret", fields, COUNT_OF(fields) };
	const struct field_set *const sets[] = { &set, NULL };

	if (n->kind != DOC_MAP) {
		not_allowed(r, n,
			    "{name: NAME, env: VARIABLE} or {name: NAME, file: PATH}");
		return;
	}
	native_fields(r, &set, n, spec_add_secret(s, NULL));
	native_unknown(r, sets, n);
	if (doc_get(n, "mode") && !doc_get(n, "file"))
		native_bad(r, n, "\"mode\" is for a file");
}

static void read_secrets(struct native_reader *r, const struct field *f,
			 const struct doc_node *n, void *object)
{
	size_t i = 0;

	if (n->kind != DOC_LIST) {
		not_allowed(r, n, field_types[f->kind].allowed);
		return;
	}
	if (!native_bounded(r, n, SECRET_USES_MAX))
		return;
	for (const struct doc_node *c = n->first; c; c = c->next) {
		size_t before = native_enter_item(r, i++);
		read_secret(r, c, object);
		native_leave(r, before);
	}
}

static void read_axis(struct native_reader *r, const struct doc_node *n, struct array *a)
{
	struct axis *x = array_add_axis(a, n->key);
	size_t i = 0;

	if (n->kind == DOC_STRING && axis_set_range(x, n->text) == 0)
		return;
	if (n->kind != DOC_LIST || !n->count) {
		not_allowed(r, n,
			    "a list of values, or a range such as 1..5 or 0..100..10");
		return;
	}
	for (const struct doc_node *c = n->first; c; c = c->next) {
		size_t before = native_enter_item(r, i++);
		AUTO_BUF struct buf text = { 0 };
		struct json j;
		json_init(&j, &text);
		if (doc_depth(c) > SPEC_NESTING_MAX) {
			native_bad(r, c, "nested deeper than %d levels",
				   SPEC_NESTING_MAX);
		} else {
			doc_write_json(c, &j, NULL);
			axis_add_value(x, buf_str(&text));
		}
		native_leave(r, before);
	}
}

static void read_sweep(struct native_reader *r, const struct field *f,
		       const struct doc_node *n, void *object)
{
	struct spec *s = object;

	if (!is_map(r, f, n) || !native_bounded(r, n, ARRAY_AXES_MAX))
		return;
	if (!n->count)
		not_allowed(r, n, field_types[f->kind].allowed);
	for (const struct doc_node *c = n->first; c; c = c->next) {
		size_t before = native_enter(r, c);
		read_axis(r, c, &s->array);
		native_leave(r, before);
	}
}

/* A long pause alone must not collide with a default that nobody wrote. */
static void fit_backoff(const struct doc_node *n, struct retry *retry)
{
	if (!doc_get(n, "backoff-max") && retry->backoff_max_ms < retry->backoff_ms)
		retry->backoff_max_ms = retry->backoff_ms;
	if (!doc_get(n, "backoff") && retry->backoff_ms > retry->backoff_max_ms)
		retry->backoff_ms = retry->backoff_max_ms;
}

static void read_group(struct native_reader *r, const struct field *f,
		       const struct doc_node *n, void *object)
{
	const struct field_set *const sets[] = { f->inside, NULL };

	if (f->kind != FIELD_GROUP && n->kind != DOC_MAP && n->kind != DOC_LIST) {
		const struct field *first = &f->inside->fields[0];
		read_int(r, first, n, (char *)object + first->offset);
		return;
	}
	if (!is_map(r, f, n))
		return;
	native_fields(r, f->inside, n, object);
	native_unknown(r, sets, n);
	if (f->kind == FIELD_ARRAY && !doc_get(n, "count") && !doc_get(n, "sweep"))
		native_bad(r, n, "says neither \"count\" nor \"sweep\"");
	if (f->kind == FIELD_RETRY)
		fit_backoff(n, &((struct spec *)object)->retry);
}

typedef void (*value_reader)(struct native_reader *r, const struct field *f,
			     const struct doc_node *n, void *at);

/* Kinds that get the field's own place; the others get the whole object (offset 0). */
static const value_reader readers[FIELD_KIND_COUNT] = {
	[FIELD_TEXT] = read_text,
	[FIELD_BOOL] = read_bool,
	[FIELD_INT] = read_int,
	[FIELD_INT_OR] = read_int,
	[FIELD_BYTES] = read_unit,
	[FIELD_CPU] = read_unit,
	[FIELD_DURATION] = read_unit,
	[FIELD_COMMAND] = read_command,
	[FIELD_TEXTS] = read_texts,
	[FIELD_VALUES] = read_values,
	[FIELD_DEVICES] = read_devices,
	[FIELD_PORTS] = read_ports,
	[FIELD_WITHIN] = read_within,
	[FIELD_INPUTS] = read_channels,
	[FIELD_OUTPUTS] = read_channels,
	[FIELD_SERVICES] = read_services,
	[FIELD_AFTER] = read_jobs,
	[FIELD_AFTER_OK] = read_jobs,
	[FIELD_GROUP] = read_group,
	[FIELD_RETRY] = read_group,
	[FIELD_MODE] = read_mode,
	[FIELD_SECRETS] = read_secrets,
	[FIELD_ARRAY] = read_group,
	[FIELD_SWEEP] = read_sweep,
	[FIELD_CONTRACT] = read_contract,
	[FIELD_METRICS] = read_metrics,
	[FIELD_REQUIREMENTS] = read_requirements,
};

void native_value(struct native_reader *r, const struct field *f,
		  const struct doc_node *n, void *object)
{
	if (readers[f->kind]) /* roles are the reader's own */
		readers[f->kind](r, f, n, (char *)object + f->offset);
}
