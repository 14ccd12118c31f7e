// SPDX-License-Identifier: Apache-2.0
/* read_openb.c - pods of the openb traces, and the order in which they arrive. */
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/str.h"
#include "job/resources.h"
#include "sim/openb.h"
#include "sim/parts.h"
#include "sim/sniff.h"

#define MIB        1048576
#define MEMORY_MAX (INT64_C(1) << 32) /* of a pod, in MiB */
#define CPU_MAX    INT64_C(1000000000)

static const char *const names[] = { "name",    "cpu_milli", "memory_mib",
				     "num_gpu", "gpu_milli", NULL };
/* Where there are times, other rule sets may use them. */
static const char *const more_names[] = { "gpu_spec", "creation_time", "deletion_time" };
enum { NAME, CPU, MEMORY, GPUS, MILLI, SPEC, CREATED, DELETED, COLUMN_COUNT };

static bool sniff(const char *text, size_t len)
{
	return sniff_columns(text, len, names);
}

static int find_columns(const struct csv *c, int *at, struct err *err)
{
	for (int i = NAME; i < SPEC; i++) {
		if (csv_need(c, names[i], &at[i], err) < 0)
			return -1;
	}
	for (int i = SPEC; i < COLUMN_COUNT; i++)
		at[i] = csv_find(c, more_names[i - SPEC]);
	return 0;
}

static int read_times(const struct csv *c, const int *at, struct sim_job *j,
		      struct err *err)
{
	int64_t created = 0, deleted = 0;

	if (at[CREATED] < 0 || at[DELETED] < 0 || !csv_text(c, at[DELETED])[0])
		return 0;
	if (csv_i64(c, at[CREATED], 0, SIM_TIME_MAX_MS / 1000, &created, err) < 0 ||
	    csv_i64(c, at[DELETED], 0, SIM_TIME_MAX_MS / 1000, &deleted, err) < 0)
		return -1;
	j->submit_ms = created * 1000;
	j->duration_ms = deleted > created ? (deleted - created) * 1000 : 0;
	return 0;
}

static int read_row(const struct csv *c, const int *at, struct sim_trace *t,
		    struct err *err)
{
	struct sim_job *j;
	int64_t memory = 0, gpus = 0, milli = 0;

	if (t->count == SIM_JOBS_MAX)
		return csv_fault(c, -1, err, "more than %d pods", SIM_JOBS_MAX);
	j = sim_trace_add(t);
	if (csv_i64(c, at[CPU], 0, CPU_MAX, &j->cpu_milli, err) < 0 ||
	    csv_i64(c, at[MEMORY], 0, MEMORY_MAX, &memory, err) < 0 ||
	    csv_i64(c, at[GPUS], 0, DEVICES_MAX, &gpus, err) < 0 ||
	    csv_i64(c, at[MILLI], 0, DEVICE_SHARE, &milli, err) < 0)
		return -1;
	if (gpus && (!milli || (gpus > 1 && milli < DEVICE_SHARE)))
		return csv_fault(c, at[MILLI], err,
				 "a share is of one GPU, and more than nothing");
	j->name = sim_word(t, csv_text(c, at[NAME]));
	j->row = (int64_t)t->count - 1;
	j->memory_bytes = memory * MIB;
	j->gpus = (int)gpus;
	j->share_milli = gpus && milli < DEVICE_SHARE ? (int)milli : 0;
	j->models = sim_word(t, csv_text(c, at[SPEC]));
	if (j->models && strlen(j->models) + sizeof "gpu:" > DEVICE_TYPE_MAX)
		return csv_fault(c, at[SPEC], err, "too many models");
	return read_times(c, at, j, err);
}

static int read(const char *text, size_t len, struct sim_trace *out, struct err *err)
{
	struct csv c;
	int at[COLUMN_COUNT], more;

	if (csv_init(&c, text, len, err) < 0)
		return -1;
	out->extra = mem_alloc(1, sizeof(struct openb_trace));
	more = find_columns(&c, at, err) < 0 ? -1 : 1;
	while (more > 0 && (more = csv_next(&c, err)) > 0)
		if (read_row(&c, at, out, err) < 0)
			more = -1;
	csv_fini(&c);
	sim_trace_sort(out);
	return more;
}

/* ".../openb_pod_list_W.csv" has its orders in ".../order_W.csv". */
static char *companion(const char *path)
{
	static const char pods[] = "openb_pod_list_";
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
	AUTO_BUF struct buf out = { 0 };

	if (strncmp(base, pods, sizeof pods - 1) != 0)
		return NULL;
	buf_add(&out, path, (size_t)(base - path));
	buf_printf(&out, "order_%s", base + sizeof pods - 1);
	return buf_take(&out);
}

/* The nodes of the published runs lie beside the lists of pods. */
static char *cluster_beside(const char *path)
{
	const char *slash = strrchr(path, '/');
	AUTO_BUF struct buf out = { 0 };

	if (slash)
		buf_add(&out, path, (size_t)(slash + 1 - path));
	buf_adds(&out, "openb_node_list_gpu_node.csv");
	return buf_take(&out);
}

static int join_header(const struct csv *c, struct openb_trace *t, struct err *err)
{
	for (int i = 0; i < c->columns; i++) {
		int64_t seed;
		if (i == OPENB_ORDERS_MAX)
			return err_set(err, ERR_INVALID, "more than %d orders",
				       OPENB_ORDERS_MAX);
		if (c->name[i][0] != 's' ||
		    str_to_i64(c->name[i] + 1, 0, INT64_MAX, &seed) < 0)
			return err_set(err, ERR_INVALID,
				       "'%s' is not the name of an order, such as s42",
				       c->name[i]);
		t->orders[t->order_count++].seed = (uint64_t)seed;
	}
	return 0;
}

static int join(struct sim_trace *trace, const char *text, size_t len, struct err *err)
{
	struct openb_trace *t = trace->extra;
	struct csv c;
	int more;

	if (csv_init(&c, text, len, err) < 0)
		return -1;
	more = join_header(&c, t, err) < 0 ? -1 : 1;
	while (more > 0 && (more = csv_next(&c, err)) > 0) {
		for (int i = 0; i < c.columns && more > 0; i++) {
			struct openb_order *o = &t->orders[i];
			int64_t row;
			if (!csv_text(&c, i)[0])
				continue; /* orders differ in length */
			if (csv_i64(&c, i, 0, (int64_t)trace->count - 1, &row, err) < 0) {
				more = -1;
				break;
			}
			mem_grow(&o->rows, &o->cap, o->count, sizeof *o->rows);
			o->rows[o->count++] = (int32_t)row;
		}
	}
	csv_fini(&c);
	return more;
}

static void drop(void *extra)
{
	struct openb_trace *t = extra;

	for (size_t i = 0; i < t->order_count; i++)
		free(t->orders[i].rows);
	free(t);
}

const struct sim_reader sim_read_openb = {
	.name = "openb",
	.about =
		"name,cpu_milli,memory_mib,num_gpu,gpu_milli[,gpu_spec,…]; orders beside it",
	.sniff = sniff,
	.read = read,
	.companion = companion,
	.join = join,
	.drop = drop,
	.cluster_beside = cluster_beside,
};
