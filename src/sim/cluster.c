// SPDX-License-Identifier: Apache-2.0
#include "sim/cluster.h"

#include <inttypes.h>
#include <string.h>

#include "base/buf.h"
#include "base/doc.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/units.h"
#include "sim/csv.h"
#include "sim/sniff.h"

/* Of a node that says nothing else: traces without cores and memory ask for none. */
#define CPU_EACH_MILLI   16000 /* a device */
#define CPU_PLAIN_MILLI  64000 /* a node without devices */
#define MEMORY_EACH      (INT64_C(64) << 30)
#define MEMORY_PLAIN     (INT64_C(256) << 30)
#define CPU_MAX_MILLI    INT64_C(1000000000)
#define MEMORY_MAX_BYTES (INT64_C(1) << 60)

struct batch {
	int64_t count, gpus;
	int64_t cpu_milli, memory_bytes; /* -1: not said */
	const char *name, *model;        /* "": none */
	const char *rack, *net;
};

static const struct batch batch_default = { .count = 1,
					    .cpu_milli = -1,
					    .memory_bytes = -1,
					    .name = "",
					    .model = "",
					    .rack = "",
					    .net = "" };

void sim_cluster_fini(struct sim_cluster *c)
{
	free(c->nodes);
	*c = (struct sim_cluster){ 0 };
}

static int digits(int64_t n)
{
	int d = 1;

	for (; n >= 10; n /= 10)
		d++;
	return d;
}

/* What is wrong with it goes into err without a place; the caller knows that. */
static int batch_check(const struct batch *b, const struct sim_cluster *c,
		       struct err *err)
{
	if (b->count < 1 || b->count > SIM_NODES_MAX - (int64_t)c->count)
		return err_set(err, ERR_INVALID, "a cluster has 1 to %d nodes",
			       SIM_NODES_MAX);
	if (b->gpus < 0 || b->gpus > DEVICES_MAX)
		return err_set(err, ERR_INVALID, "a node has 0 to %d devices",
			       DEVICES_MAX);
	if (strlen(b->model) > DEVICE_TYPE_MAX - 5 || strpbrk(b->model, ":|, "))
		return err_set(err, ERR_INVALID, "'%s' is not the name of a model",
			       b->model);
	if (strlen(b->name) + 8 > NODE_NAME_MAX)
		return err_set(err, ERR_INVALID, "the name '%s' is too long", b->name);
	if (strlen(b->rack) >= NODE_PLACE_MAX || strlen(b->net) >= NODE_PLACE_MAX)
		return err_set(err, ERR_INVALID,
			       "names of racks and switches have at most %d bytes",
			       NODE_PLACE_MAX - 1);
	return 0;
}

/* The text fits: batch_check() saw to it. */
static void put(char *to, const char *text)
{
	memcpy(to, text, strlen(text) + 1);
}

/* A batch of one with a name keeps it; others are numbered so that names sort as numbers. */
static void name_node(const struct batch *b, int64_t number, int64_t last, struct node *n)
{
	AUTO_BUF struct buf name = { 0 };

	buf_adds(&name, b->name[0] ? b->name : "n");
	for (int d = digits(number); (b->count > 1 || !b->name[0]) && d < digits(last);
	     d++)
		buf_addc(&name, '0');
	if (b->count > 1 || !b->name[0])
		buf_add_i64(&name, number);
	put(n->name, buf_str(&name));
}

static int batch_add(const struct batch *b, struct sim_cluster *c, size_t *cap,
		     struct err *err)
{
	int64_t base = b->name[0] ? 0 : (int64_t)c->count;
	char type[DEVICE_TYPE_MAX];

	if (batch_check(b, c, err) < 0)
		return -1;
	put(type, b->model[0] ? "gpu:" : "gpu");
	put(type + strlen(type), b->model);
	for (int64_t i = 1; i <= b->count; i++) {
		mem_grow(&c->nodes, cap, c->count, sizeof *c->nodes);
		struct node *n = &c->nodes[c->count++];
		*n = (struct node){ .up = true, .simulated_devices = true };
		name_node(b, base + i, base + b->count, n);
		put(n->rack, b->rack);
		put(n->net, b->net);
		n->capacity.cpu_milli = b->cpu_milli >= 0 ? b->cpu_milli
					: b->gpus         ? b->gpus * CPU_EACH_MILLI
							  : CPU_PLAIN_MILLI;
		n->capacity.memory_bytes = b->memory_bytes >= 0 ? b->memory_bytes
					   : b->gpus            ? b->gpus * MEMORY_EACH
								: MEMORY_PLAIN;
		if (b->gpus)
			resources_set_device(&n->capacity, type, (int)b->gpus);
	}
	return 0;
}

/* "80x8" or "80x8:a100": one part of the short form. */
static int short_part(char *part, struct sim_cluster *c, size_t *cap, struct err *err)
{
	struct batch b = batch_default;
	char *model = strchr(part, ':'), *by;

	if (model) {
		*model = '\0';
		b.model = model + 1;
	}
	by = strchr(part, 'x');
	if (by)
		*by = '\0';
	if (!by || str_to_i64(part, 1, SIM_NODES_MAX, &b.count) < 0 ||
	    str_to_i64(by + 1, 0, DEVICES_MAX, &b.gpus) < 0 || (model && !b.model[0]))
		return err_set(
			err, ERR_INVALID,
			"a cluster in short is nodes x devices: 80x8, or 80x8:a100, "
			"or 80x8:a100+40x4:t4");
	return batch_add(&b, c, cap, err);
}

int sim_cluster_short(const char *text, struct sim_cluster *out, struct err *err)
{
	AUTO_FREE char *copy = mem_strdup(text);
	struct sim_cluster c = { 0 };
	size_t cap = 0;

	for (char *at = copy, *next; at; at = next) {
		next = strchr(at, '+');
		if (next)
			*next++ = '\0';
		if (short_part(at, &c, &cap, err) < 0) {
			sim_cluster_fini(&c);
			return -1;
		}
	}
	*out = c;
	return 0;
}

/* ---- a list of nodes as a table ---- */

static const char *const csv_names[] = { "sn",  "cpu_milli", "memory_mib",
					 "gpu", "model",     NULL };
enum { SN, CPU, MEMORY, GPU, MODEL, COLUMN_COUNT };

static int read_table_row(const struct csv *t, const int *at, struct sim_cluster *c,
			  size_t *cap, struct err *err)
{
	struct batch b = batch_default;

	if (csv_i64(t, at[CPU], 0, CPU_MAX_MILLI, &b.cpu_milli, err) < 0 ||
	    csv_i64(t, at[MEMORY], 0, MEMORY_MAX_BYTES >> 20, &b.memory_bytes, err) < 0 ||
	    csv_i64(t, at[GPU], 0, DEVICES_MAX, &b.gpus, err) < 0)
		return -1;
	b.memory_bytes <<= 20;
	b.name = csv_text(t, at[SN]);
	b.model = csv_text(t, at[MODEL]);
	if (!b.name[0])
		return csv_fault(t, at[SN], err, "a node must have a name");
	if (batch_add(&b, c, cap, err) < 0)
		return err_wrap(err, "line %" PRId64, t->line);
	return 0;
}

static int read_table(const char *text, size_t len, struct sim_cluster *c,
		      struct err *err)
{
	struct csv t;
	int at[COLUMN_COUNT], more = 1;
	size_t cap = 0;

	if (csv_init(&t, text, len, err) < 0)
		return -1;
	for (int i = 0; i < COLUMN_COUNT && more > 0; i++)
		more = csv_need(&t, csv_names[i], &at[i], err) < 0 ? -1 : 1;
	while (more > 0 && (more = csv_next(&t, err)) > 0)
		if (read_table_row(&t, at, c, &cap, err) < 0)
			more = -1;
	csv_fini(&t);
	return more;
}

/* ---- YAML or JSON ---- */

static const char *const keys[] = { "count",  "name",  "gpu",  "cpu",
				    "memory", "model", "rack", "switch" };

static int doc_fault(const struct doc_node *n, struct err *err, const char *what)
{
	return err_set(err, ERR_INVALID, "line %d, column %d: %s", n->line, n->column,
		       what);
}

static int read_number(const struct doc_node *n, int64_t *out, struct err *err)
{
	if (doc_whole(n, 0, SIM_NODES_MAX, out) == 0)
		return 0;
	return doc_fault(n, err, "must be a whole number");
}

static int read_field(const struct doc_node *n, struct batch *b, struct err *err)
{
	bool scalar = n->kind == DOC_STRING || n->kind == DOC_NUMBER;
	const char *near;

	if (str_eq(n->key, "count"))
		return read_number(n, &b->count, err);
	if (str_eq(n->key, "gpu"))
		return read_number(n, &b->gpus, err);
	if (str_eq(n->key, "cpu"))
		return scalar && units_cpu(n->text, &b->cpu_milli) == 0
			       ? 0
			       : doc_fault(n, err,
					   "must be a number of cores such as 96");
	if (str_eq(n->key, "memory"))
		return scalar && units_bytes(n->text, &b->memory_bytes) == 0
			       ? 0
			       : doc_fault(n, err, "must be a size such as 512Gi");
	if (!scalar)
		return doc_fault(n, err, "must be a text or a number");
	if (str_eq(n->key, "name"))
		b->name = n->text;
	else if (str_eq(n->key, "model"))
		b->model = n->text;
	else if (str_eq(n->key, "rack"))
		b->rack = n->text;
	else if (str_eq(n->key, "switch"))
		b->net = n->text;
	else {
		near = str_guess(n->key, keys, COUNT_OF(keys));
		return err_set(err, ERR_INVALID,
			       "line %d, column %d: unknown field '%s'%s%s%s",
			       n->key_line, n->key_column, n->key,
			       near ? "; did you mean '" : "", near ? near : "",
			       near ? "'?" : "");
	}
	return 0;
}

static int read_batch(const struct doc_node *n, struct sim_cluster *c, size_t *cap,
		      struct err *err)
{
	struct batch b = batch_default;

	if (n->kind != DOC_MAP)
		return doc_fault(n, err, "a node is a map: {count: 80, gpu: 8}");
	for (const struct doc_node *f = n->first; f; f = f->next)
		if (read_field(f, &b, err) < 0)
			return -1;
	if (batch_add(&b, c, cap, err) < 0)
		return err_wrap(err, "line %d, column %d", n->line, n->column);
	return 0;
}

static int read_doc(const char *text, size_t len, struct sim_cluster *c, struct err *err)
{
	AUTO_DOC struct doc *d = doc_parse(text, len, err);
	const struct doc_node *list;
	size_t cap = 0;

	if (!d)
		return -1;
	list = doc_root(d);
	if (list->kind == DOC_MAP) {
		if (list->count != 1 || !doc_get(list, "nodes"))
			return doc_fault(
				list, err,
				"must be a list of nodes: 'nodes:' and no other field");
		list = doc_get(list, "nodes");
	}
	if (list->kind != DOC_LIST)
		return doc_fault(list, err, "must be a list of nodes");
	for (const struct doc_node *n = list->first; n; n = n->next)
		if (read_batch(n, c, &cap, err) < 0)
			return -1;
	return 0;
}

int sim_cluster_read(const char *text, size_t len, struct sim_cluster *out,
		     struct err *err)
{
	struct sim_cluster c = { 0 };
	bool table = sniff_columns(text, len, csv_names);

	if ((table ? read_table(text, len, &c, err) : read_doc(text, len, &c, err)) < 0) {
		sim_cluster_fini(&c);
		return -1;
	}
	if (!c.count) {
		sim_cluster_fini(&c);
		return err_set(err, ERR_INVALID, "no nodes in it");
	}
	*out = c;
	return 0;
}
