// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "wire/facts.h"

#define NONE                                                                             \
	{                                                                                \
		.cpu_milli = -1, .memory_bytes = -1                                      \
	}
#define NOTICE_MS_MAX INT64_C(86400000)

const struct tenant_rule wire_tenant_default = {
	.weight = 1, .guarantee = NONE, .borrow = NONE, .lend = NONE
};

static const char *const orders[] = {
	[TENANT_FIFO] = "fifo", [TENANT_SHORT] = "short", [TENANT_SERVED] = "served"
};

static void write_amount(struct json *j, const char *key, const struct resources *r)
{
	json_object(j, key);
	if (r->cpu_milli >= 0)
		json_i64(j, "cpu_milli", r->cpu_milli);
	if (r->memory_bytes >= 0)
		json_i64(j, "memory_bytes", r->memory_bytes);
	json_object(j, "devices");
	for (size_t i = 0; i < DEVICE_KINDS_MAX && r->devices[i].type[0]; i++)
		json_i64(j, r->devices[i].type, r->devices[i].count);
	json_end(j);
	json_end(j);
}

void wire_tenant_write(struct json *j, const char *key, const struct tenant_rule *t)
{
	json_object(j, key);
	json_str(j, "parent", t->parent[0] ? t->parent : NULL);
	json_i64(j, "weight", t->weight > 0 ? t->weight : 1);
	write_amount(j, "guarantee", &t->guarantee);
	json_array(j, "shapes");
	for (size_t i = 0; i < t->shape_count; i++) {
		json_object(j, NULL);
		json_i64(j, "count", t->shapes[i].count);
		json_str(j, "device", t->shapes[i].devices.type);
		json_i64(j, "each", t->shapes[i].devices.count);
		json_end(j);
	}
	json_end(j);
	write_amount(j, "borrow", &t->borrow);
	write_amount(j, "lend", &t->lend);
	json_str(j, "order", orders[t->order]);
	json_i64(j, "notice_ms", t->notice_ms);
	json_end(j);
}

static int bad(struct err *err, const char *field, const char *allowed)
{
	return err_set(err, ERR_INVALID, "%s: %s", field, allowed);
}

static int take_count(const struct doc_node *n, const char *field, int64_t max,
		      int64_t *out, struct err *err)
{
	if (!n || n->kind == DOC_NULL || doc_whole(n, 0, max, out) == 0)
		return 0;
	return err_set(err, ERR_INVALID, "%s: %.64s: a whole number from 0 is wanted",
		       field, n->key ? n->key : "");
}

/* Devices beyond the ones there is room for, or a name that is too long. */
static int take_devices(const struct doc_node *map, const char *field,
			struct resources *out, struct err *err)
{
	size_t i = 0;

	for (const struct doc_node *n = map ? map->first : NULL; n; n = n->next, i++) {
		int64_t count = 0;

		if (i == DEVICE_KINDS_MAX || !n->key || !n->key[0] ||
		    strlen(n->key) >= DEVICE_TYPE_MAX)
			return bad(err, field, "at most 4 kinds of devices, by name");
		if (take_count(n, field, INT32_MAX, &count, err) < 0)
			return -1;
		memcpy(out->devices[i].type, n->key, strlen(n->key) + 1);
		out->devices[i].count = (int)count;
	}
	return 0;
}

static int take_amount(const struct doc_node *map, const char *key, struct resources *out,
		       struct err *err)
{
	const struct doc_node *n = doc_get(map, key);
	struct resources now = NONE;

	if (!n)
		return 0;
	if (n->kind != DOC_NULL &&
	    (take_count(doc_get(n, "cpu_milli"), key, INT64_MAX / 1024, &now.cpu_milli,
			err) < 0 ||
	     take_count(doc_get(n, "memory_bytes"), key, INT64_MAX / 1024,
			&now.memory_bytes, err) < 0 ||
	     take_devices(doc_get(n, "devices"), key, &now, err) < 0))
		return -1;
	*out = now;
	return 0;
}

static int take_shapes(const struct doc_node *list, struct tenant_rule *t,
		       struct err *err)
{
	if (!list)
		return 0;
	memset(t->shapes, 0, sizeof t->shapes);
	t->shape_count = 0;
	for (const struct doc_node *n = list->first; n; n = n->next) {
		const char *device = doc_str(n, "device", "gpu");
		int64_t count = doc_i64(n, "count", 0), each = doc_i64(n, "each", 0);

		if (t->shape_count == TENANT_SHAPES_MAX)
			return bad(err, "shapes", "at most 4 of them");
		if (count < 1 || count > 100000 || each < 1 || each > DEVICES_MAX ||
		    !*device || strlen(device) >= DEVICE_TYPE_MAX)
			return bad(
				err, "shapes",
				"count (from 1) places, each of so many (1 to 64) devices "
				"of one node");
		struct tenant_shape *s = &t->shapes[t->shape_count++];
		s->count = (int)count;
		s->devices.count = (int)each;
		memcpy(s->devices.type, device, strlen(device) + 1);
	}
	return 0;
}

static int take_order(const struct doc_node *map, struct tenant_rule *t, struct err *err)
{
	const char *word = doc_str(map, "order", NULL);

	for (size_t i = 0; word && i < COUNT_OF(orders); i++)
		if (str_eq(orders[i], word)) {
			t->order = (enum tenant_order)i;
			return 0;
		}
	return word ? bad(err, "order", "fifo, short or served") : 0;
}

int wire_tenant_read(const struct doc_node *map, struct tenant_rule *t, struct err *err)
{
	struct tenant_rule now = *t;
	const struct doc_node *parent = doc_get(map, "parent");
	const char *name = doc_str(map, "parent", "");
	int64_t weight;

	if (strlen(name) >= sizeof now.parent)
		return bad(err, "parent", "no group has so long a name");
	if (parent) {
		memset(now.parent, 0, sizeof now.parent);
		memcpy(now.parent, name, strlen(name));
	}
	weight = doc_i64(map, "weight", now.weight);
	if (weight < 1 || weight > 1000)
		return bad(err, "weight", "a whole number from 1 to 1000");
	now.weight = (int)weight;
	now.notice_ms = doc_i64(map, "notice_ms", now.notice_ms);
	if (now.notice_ms < 0 || now.notice_ms > NOTICE_MS_MAX)
		return bad(err, "notice_ms", "from 0 to a day");
	if (take_amount(map, "guarantee", &now.guarantee, err) < 0 ||
	    take_amount(map, "borrow", &now.borrow, err) < 0 ||
	    take_amount(map, "lend", &now.lend, err) < 0 ||
	    take_shapes(doc_get(map, "shapes"), &now, err) < 0 ||
	    take_order(map, &now, err) < 0)
		return -1;
	*t = now;
	return 0;
}
