// SPDX-License-Identifier: Apache-2.0
#include "cli/tenant.h"

#include <inttypes.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/units.h"
#include "wire/api.h"
#include "wire/facts.h"

bool tenant_flags_given(const struct tenant_flags *f)
{
	return f->parent || f->weight || f->guarantee || f->borrow || f->lend ||
	       f->order || f->notice || f->shapes.count || f->clear;
}

static int bad(struct err *err, const char *option, const char *text, const char *allowed)
{
	return err_set(err, ERR_INVALID, "--%s '%s': allowed is %s", option, text,
		       allowed);
}

static bool is_none(const char *text)
{
	return !*text || str_eq(text, "none");
}

/* One of "gpu=16", "cpu=64", "mem=512Gi". */
struct part {
	char *name;
	const char *value;
	int64_t number;
};

static int read_part(const char *text, size_t len, struct part *out)
{
	const char *eq = memchr(text, '=', len);
	AUTO_FREE char *value = NULL;

	if (!eq || eq == text)
		return -1;
	out->name = mem_strndup(text, (size_t)(eq - text));
	value = mem_strndup(eq + 1, len - (size_t)(eq + 1 - text));
	if (str_eq(out->name, "cpu"))
		return units_cpu(value, &out->number);
	if (str_eq(out->name, "mem") || str_eq(out->name, "memory"))
		return units_bytes(value, &out->number);
	return str_to_i64(value, 0, INT32_MAX, &out->number);
}

/* Two passes over the text: devices are an object of their own. */
static int put_parts(struct json *j, const char *text, bool devices)
{
	int rc = 0;

	while (*text && rc == 0) {
		size_t n = strcspn(text, ",");
		struct part p = { 0 };
		rc = read_part(text, n, &p);
		const char *name = p.name ? p.name : "";
		bool cpu = str_eq(name, "cpu");
		bool memory = str_eq(name, "mem") || str_eq(name, "memory");
		if (rc == 0 && !devices && (cpu || memory))
			json_i64(j, cpu ? "cpu_milli" : "memory_bytes", p.number);
		if (rc == 0 && devices && !cpu && !memory)
			json_i64(j, name, p.number);
		free(p.name);
		text += n + (text[n] == ',');
	}
	return rc;
}

static int put_amount(struct json *j, const char *option, const char *text,
		      struct err *err)
{
	int rc;

	if (!text)
		return 0;
	json_object(j, option);
	if (is_none(text)) {
		json_end(j);
		return 0;
	}
	rc = put_parts(j, text, false);
	json_object(j, "devices");
	rc = rc < 0 ? rc : put_parts(j, text, true);
	json_end(j);
	json_end(j);
	return rc < 0 ? bad(err, option, text, "such as gpu=16,cpu=64,mem=512Gi, or none")
		      : 0;
}

/* "2x8gpu" */
static int put_shape(struct json *j, const char *text, struct err *err)
{
	int64_t count = 0, each = 0;
	size_t n = str_leading_i64(text, &count), m;

	m = n && text[n] == 'x' ? str_leading_i64(text + n + 1, &each) : 0;
	const char *device = m ? text + n + 1 + m : "";
	device += *device == ' ' || *device == ':';
	if (!*device || count < 1 || each < 1 || each > DEVICES_MAX)
		return bad(err, "guarantee-shape", text,
			   "such as 2x8gpu: two places of 8 gpus of one node");
	json_object(j, NULL);
	json_i64(j, "count", count);
	json_i64(j, "each", each);
	json_str(j, "device", device);
	json_end(j);
	return 0;
}

static int put_shapes(struct json *j, const struct opts_list *list, struct err *err)
{
	if (!list->count)
		return 0;
	json_array(j, "shapes");
	for (size_t i = 0; i < list->count; i++)
		if (!is_none(list->items[i]) && put_shape(j, list->items[i], err) < 0)
			return -1;
	json_end(j);
	return 0;
}

static int put_numbers(struct json *j, const struct tenant_flags *f, struct err *err)
{
	int64_t v;

	if (f->weight) {
		if (str_to_i64(f->weight, 1, 1000, &v) < 0)
			return bad(err, "weight", f->weight,
				   "a whole number from 1 to 1000");
		json_i64(j, "weight", v);
	}
	if (f->notice) {
		if (units_duration(f->notice, &v) < 0)
			return bad(err, "notice", f->notice, "a time such as 10m");
		json_i64(j, "notice_ms", v);
	}
	return 0;
}

int tenant_flags_write(struct json *j, const struct tenant_flags *f, struct err *err)
{
	if (f->clear) {
		json_null(j, "tenant");
		return 0;
	}
	json_object(j, "tenant");
	if (f->parent)
		json_str(j, "parent", is_none(f->parent) ? NULL : f->parent);
	if (f->order)
		json_str(j, "order", f->order);
	if (put_numbers(j, f, err) < 0 ||
	    put_amount(j, "guarantee", f->guarantee, err) < 0 ||
	    put_shapes(j, &f->shapes, err) < 0 ||
	    put_amount(j, "borrow", f->borrow, err) < 0 ||
	    put_amount(j, "lend", f->lend, err) < 0)
		return -1;
	json_end(j);
	return 0;
}

void tenant_guarantee(const struct doc_node *tenant, struct resources *out)
{
	struct tenant_rule rule = wire_tenant_default;

	wire_tenant_read(tenant, &rule, NULL);
	*out = rule.guarantee;
	for (size_t i = 0; i < rule.shape_count; i++) {
		struct resources one = { .devices[0] = rule.shapes[i].devices };
		resources_scale(&one, rule.shapes[i].count);
		resources_add(out, &one);
	}
}

void tenant_warn(struct cli *c)
{
	AUTO_ANSWER struct answer answer = { 0 };
	struct resources sum = { 0 }, all;
	const char *what = NULL;

	if (cli_get(c, &answer, NULL, "/tenants") < 0)
		return;
	const struct doc_node *root = doc_root(answer.doc),
			      *list = doc_get(root, "tenants");
	for (const struct doc_node *n = list ? list->first : NULL; n; n = n->next) {
		struct resources one;
		if (*doc_str(doc_get(n, "tenant"), "parent", ""))
			continue; /* part of its parent's */
		tenant_guarantee(doc_get(n, "tenant"), &one);
		one.cpu_milli = one.cpu_milli < 0 ? 0 : one.cpu_milli;
		one.memory_bytes = one.memory_bytes < 0 ? 0 : one.memory_bytes;
		resources_add(&sum, &one);
	}
	wire_resources_read(doc_get(root, "capacity"), &all);
	if (sum.cpu_milli > all.cpu_milli)
		what = "cpu";
	if (sum.memory_bytes > all.memory_bytes)
		what = "memory";
	for (int i = 0; i < DEVICE_KINDS_MAX && sum.devices[i].type[0]; i++)
		if (!strchr(sum.devices[i].type, ':') &&
		    device_milli(&sum.devices[i]) >
			    resources_milli(&all, sum.devices[i].type))
			what = sum.devices[i].type;
	if (what)
		cli_hint(c,
			 "more %s is guaranteed to all groups together than the machines "
			 "that are up have; yard group tree shows it",
			 what);
}

void tenant_amount_words(const struct doc_node *amount, struct buf *out)
{
	const struct doc_node *devices = doc_get(amount, "devices");
	int64_t cpu = doc_i64(amount, "cpu_milli", -1),
		memory = doc_i64(amount, "memory_bytes", -1);
	char text[UNITS_TEXT_MAX];
	size_t from = out->len;

	for (const struct doc_node *d = devices ? devices->first : NULL; d; d = d->next)
		buf_printf(out, "%s%s %s", out->len > from ? ", " : "", d->text, d->key);
	if (cpu >= 0)
		buf_printf(out, "%s%s cpu", out->len > from ? ", " : "",
			   units_show_cpu(cpu, text));
	if (memory >= 0)
		buf_printf(out, "%s%s", out->len > from ? ", " : "",
			   units_show_bytes(memory, text));
}

static void add_amount(const char *name, const struct doc_node *amount, struct buf *out)
{
	AUTO_BUF struct buf words = { 0 };

	tenant_amount_words(amount, &words);
	if (words.len)
		buf_printf(out, "%-9s %s\n", name, buf_str(&words));
}

static void add_shapes(const struct doc_node *list, struct buf *out)
{
	for (const struct doc_node *n = list ? list->first : NULL; n; n = n->next)
		buf_printf(out, "%-9s %" PRId64 " places of %" PRId64 " %s of one node\n",
			   "whole:", doc_i64(n, "count", 0), doc_i64(n, "each", 0),
			   doc_str(n, "device", ""));
}

void tenant_words(const struct doc_node *t, struct buf *out)
{
	char text[UNITS_TEXT_MAX];
	int64_t notice = doc_i64(t, "notice_ms", 0);

	if (*doc_str(t, "parent", ""))
		buf_printf(out, "%-9s %s\n", "below:", doc_str(t, "parent", ""));
	if (doc_i64(t, "weight", 1) != 1)
		buf_printf(out, "%-9s %" PRId64 "\n", "weight:", doc_i64(t, "weight", 1));
	add_amount("is sure:", doc_get(t, "guarantee"), out);
	add_shapes(doc_get(t, "shapes"), out);
	add_amount("borrows:", doc_get(t, "borrow"), out);
	add_amount("lends:", doc_get(t, "lend"), out);
	if (!str_eq(doc_str(t, "order", "fifo"), "fifo"))
		buf_printf(out, "%-9s %s\n", "order:", doc_str(t, "order", ""));
	if (notice)
		buf_printf(out, "%-9s %s\n",
			   "notice:", units_show_duration(notice, text));
}
