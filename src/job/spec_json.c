// SPDX-License-Identifier: Apache-2.0
/* The canonical JSON of a spec is a native job file with every default written out: what
 * the API shows can be submitted again. */
#include <stdint.h>
#include <string.h>

#include "base/json.h"
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
	if (r->per_device)
		json_bool(j, "per-device", true);
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

static void put_requirements(struct json *j, const struct spec *s)
{
	const struct requirements *r = &s->requirements;

	/* What is left out means as little as the contract gives by itself. */
	if (r->count) {
		json_array(j, "requirements");
		for (size_t i = 0; i < r->count; i++)
			json_str(j, NULL, r->items[i]);
		json_end(j);
	} else if (r->which == REQUIREMENTS_ALL || s->contract != SPEC_NATIVE) {
		json_bool(j, "requirements", r->which == REQUIREMENTS_ALL);
	}
}

static void put_metrics(struct json *j, const struct spec *s)
{
	if (!s->metric_count)
		return;
	json_array(j, "metrics");
	for (size_t i = 0; i < s->metric_count; i++) {
		json_object(j, NULL);
		json_str(j, "name", s->metrics[i].name);
		json_str(j, "pattern", s->metrics[i].pattern);
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
	if (r->time_limit)
		json_bool(j, "time-limit", true);
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
	put_span(&j, "grace-max", s->grace_max_ms);
	if (s->contract != SPEC_NATIVE)
		json_str(&j, "contract", spec_contract_word(s->contract));
	put_requirements(&j, s);
	put_metrics(&j, s);
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
