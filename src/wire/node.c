// SPDX-License-Identifier: Apache-2.0
#include "wire/api.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/units.h"
#include "wire/facts.h"
#include "wire/parts.h"

void wire_devices_write(struct json *j, const char *key, const struct resources *r)
{
	char text[UNITS_TEXT_MAX];

	json_object(j, key);
	for (size_t i = 0; i < DEVICE_KINDS_MAX && r->devices[i].count > 0; i++)
		json_raw(j, r->devices[i].type,
			 units_show_cpu(device_milli(&r->devices[i]), text));
	json_end(j);
}

void wire_resources_write(struct json *j, const char *key, const struct resources *r)
{
	json_object(j, key);
	json_i64(j, "cpu_milli", r->cpu_milli);
	json_i64(j, "memory_bytes", r->memory_bytes);
	wire_devices_write(j, "devices", r);
	json_end(j);
}

void wire_resources_read(const struct doc_node *map, struct resources *out)
{
	const struct doc_node *devices = map ? doc_get(map, "devices") : NULL;

	*out = (struct resources){ 0 };
	if (!map)
		return;
	out->cpu_milli = doc_i64(map, "cpu_milli", 0);
	out->memory_bytes = doc_i64(map, "memory_bytes", 0);
	for (const struct doc_node *d = devices ? devices->first : NULL; d; d = d->next) {
		struct device_count n = { 0 };
		int64_t milli;
		if (!d->key || d->kind != DOC_NUMBER || units_cpu(d->text, &milli) < 0)
			continue;
		device_set_milli(&n, milli);
		resources_set_share(out, d->key, n.count, n.share_milli);
	}
}

static void facts_of(const struct node *n, struct node_facts *out)
{
	*out = (struct node_facts){ .state = n->state,
				    .window_count = n->window_count,
				    .island = n->island,
				    .rings = n->rings };
	memcpy(out->reason, n->reason, sizeof out->reason);
	memcpy(out->windows, n->windows, sizeof out->windows);
	memcpy(out->rack, n->rack, sizeof out->rack);
	memcpy(out->net, n->net, sizeof out->net);
	memcpy(out->labels, n->labels, sizeof out->labels);
}

void wire_node_write(struct json *j, const char *key, const struct wire_node *n)
{
	struct node_facts facts;

	json_object(j, key);
	json_str(j, "name", n->node.name);
	json_bool(j, "up", n->node.up);
	json_bool(j, "simulated_devices", n->node.simulated_devices);
	wire_resources_write(j, "capacity", &n->node.capacity);
	wire_resources_write(j, "used", &n->used);
	json_i64(j, "tasks", n->tasks);
	if (n->node.max_tasks > 0)
		json_i64(j, "max_tasks", n->node.max_tasks);
	json_i64(j, "port_first", n->node.port_first);
	json_i64(j, "port_last", n->node.port_last);
	facts_of(&n->node, &facts);
	wire_facts_write(j, &facts);
	json_end(j);
}

void wire_node_read(const struct doc_node *map, struct wire_node *out)
{
	const char *name = doc_str(map, "name", "");
	struct node_facts facts = { 0 };

	*out = (struct wire_node){ 0 };
	memcpy(out->node.name, name, strnlen(name, NODE_NAME_MAX - 1));
	out->node.up = doc_bool(map, "up", false);
	out->node.simulated_devices = doc_bool(map, "simulated_devices", false);
	wire_resources_read(doc_get(map, "capacity"), &out->node.capacity);
	wire_resources_read(doc_get(map, "used"), &out->used);
	out->tasks = wire_int(map, "tasks");
	out->node.max_tasks = wire_int(map, "max_tasks");
	out->node.port_first = wire_int(map, "port_first");
	out->node.port_last = wire_int(map, "port_last");
	if (wire_facts_read(map, &facts, NULL) == 0)
		node_merge(&out->node, &facts);
}

static void write_limit(struct json *j, const char *key, int64_t v)
{
	if (v < 0)
		json_null(j, key);
	else
		json_i64(j, key, v);
}

void wire_quota_write(struct json *j, const char *key, const struct quota *q)
{
	json_object(j, key);
	write_limit(j, "cpu_milli", q->limit.cpu_milli);
	write_limit(j, "memory_bytes", q->limit.memory_bytes);
	json_object(j, "devices");
	for (size_t i = 0; i < DEVICE_KINDS_MAX && q->limit.devices[i].type[0]; i++)
		json_i64(j, q->limit.devices[i].type, q->limit.devices[i].count);
	json_end(j);
	write_limit(j, "max_running_jobs", q->max_running_jobs);
	json_end(j);
}

static int read_limit(const struct doc_node *n, int64_t max, int64_t *out,
		      struct err *err)
{
	if (n->kind == DOC_NULL) {
		*out = -1;
		return 0;
	}
	if (doc_whole(n, 0, max, out) < 0)
		return err_set(err, ERR_INVALID,
			       "%s: a whole number from 0 to %lld, or null for no limit",
			       n->key, (long long)max);
	return 0;
}

static int read_devices(const struct doc_node *map, struct resources *out,
			struct err *err)
{
	if (map->kind != DOC_MAP)
		return err_set(err, ERR_INVALID,
			       "devices: a map from device type to count");
	if (map->count > DEVICE_KINDS_MAX)
		return err_set(err, ERR_INVALID, "devices: at most %d types",
			       DEVICE_KINDS_MAX);

	size_t i = 0;
	for (const struct doc_node *d = map->first; d; d = d->next, i++) {
		int64_t count;
		size_t n = strlen(d->key);
		if (n == 0 || n >= DEVICE_TYPE_MAX)
			return err_set(err, ERR_INVALID,
				       "devices: a type has 1 to %d letters",
				       DEVICE_TYPE_MAX - 1);
		if (doc_whole(d, 0, INT32_MAX, &count) < 0)
			return err_set(err, ERR_INVALID,
				       "devices.%s: a whole number from 0", d->key);
		memcpy(out->devices[i].type, d->key, n + 1);
		out->devices[i].count = (int)count;
	}
	return 0;
}

int wire_quota_read(const struct doc_node *map, struct quota *out, struct err *err)
{
	static const char *const fields[] = { "cpu_milli", "memory_bytes", "devices",
					      "max_running_jobs" };
	struct quota q = { .limit = { .cpu_milli = -1, .memory_bytes = -1 },
			   .max_running_jobs = -1 };
	int64_t running = -1;

	if (map->kind != DOC_MAP)
		return err_set(err, ERR_INVALID,
			       "a quota is a map of cpu_milli, memory_bytes, devices, "
			       "max_running_jobs");
	for (const struct doc_node *n = map->first; n; n = n->next) {
		int rc = 0;
		if (str_eq(n->key, "cpu_milli"))
			rc = read_limit(n, INT64_MAX / 1024, &q.limit.cpu_milli, err);
		else if (str_eq(n->key, "memory_bytes"))
			rc = read_limit(n, INT64_MAX / 1024, &q.limit.memory_bytes, err);
		else if (str_eq(n->key, "max_running_jobs"))
			rc = read_limit(n, INT32_MAX, &running, err);
		else if (str_eq(n->key, "devices"))
			rc = read_devices(n, &q.limit, err);
		else {
			const char *guess = str_guess(n->key, fields, COUNT_OF(fields));
			return err_set(err, ERR_INVALID, "%s: no such field%s%s%s",
				       n->key, guess ? "; did you mean " : "",
				       guess ? guess : "", guess ? "?" : "");
		}
		if (rc < 0)
			return -1;
	}
	q.max_running_jobs = (int)running;
	*out = q;
	return 0;
}
