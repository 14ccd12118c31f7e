// SPDX-License-Identifier: Apache-2.0
/* The generic trace: a table whose columns are found by name, most of them optional.
 *
 * Times are seconds or "1h30m", cpu is cores, mem is "16Gi" (a bare number is bytes);
 * both are of the whole job.  share is the part of one device that a job of one device
 * takes: 0.5. */
#include <string.h>

#include "base/mem.h"
#include "base/units.h"
#include "job/resources.h"
#include "sim/parts.h"
#include "sim/sniff.h"

enum column {
	ID,
	SUBMIT,
	DURATION,
	GPUS,
	CPU,
	MEM,
	SHARE,
	MODELS,
	USER,
	QUEUE,
	PRIORITY,
	LIMIT,
	COMMAND,
	PREEMPTIBLE,
	COLUMN_COUNT
};

static const char *const names[COLUMN_COUNT] = {
	"id",     "submit", "duration", "gpus",     "cpu",   "mem",     "share",
	"models", "user",   "queue",    "priority", "limit", "command", "preemptible",
};

static bool sniff(const char *text, size_t len)
{
	static const char *const needed[] = { "submit", "duration", "gpus", NULL };

	return sniff_columns(text, len, needed);
}

/* The devices, and what goes with them. */
static int read_devices(const struct csv *c, const int *at, struct sim_job *j,
			struct err *err)
{
	struct device_count part = { 0 };
	int64_t gpus = 0;
	const char *share = csv_text(c, at[SHARE]), *models = csv_text(c, at[MODELS]);

	if (csv_i64(c, at[GPUS], 0, SIM_GPUS_MAX, &gpus, err) < 0)
		return -1;
	j->gpus = (int)gpus;
	if (*share && device_amount(share, 1, &part) < 0)
		return csv_fault(c, at[SHARE], err,
				 "'%s' is not a part of a device such as 0.5", share);
	if (part.share_milli && gpus != 1)
		return csv_fault(c, at[SHARE], err,
				 "only a job of one device can share it");
	j->share_milli = part.share_milli;
	/* "gpu:" goes in front. */
	if (strlen(models) > DEVICE_TYPE_MAX - 5)
		return csv_fault(c, at[MODELS], err, "longer than %d bytes",
				 DEVICE_TYPE_MAX - 5);
	return 0;
}

static int read_amounts(const struct csv *c, const int *at, struct sim_job *j,
			struct err *err)
{
	const char *cpu = csv_text(c, at[CPU]), *mem = csv_text(c, at[MEM]);
	int64_t v = 0;

	if (*cpu && units_cpu(cpu, &j->cpu_milli) < 0)
		return csv_fault(c, at[CPU], err,
				 "'%s' is not a number of cores such as 2 or 0.5", cpu);
	if (*mem && units_bytes(mem, &j->memory_bytes) < 0)
		return csv_fault(c, at[MEM], err, "'%s' is not a size such as 16Gi", mem);
	if (*csv_text(c, at[PRIORITY]) &&
	    csv_i64(c, at[PRIORITY], -SIM_PRIORITY_MAX, SIM_PRIORITY_MAX, &v, err) < 0)
		return -1;
	j->priority = (int)v;
	v = 0;
	if (*csv_text(c, at[PREEMPTIBLE]) &&
	    csv_i64(c, at[PREEMPTIBLE], 0, 1, &v, err) < 0)
		return -1;
	j->preemptible = v != 0;
	return 0;
}

static int read_row(const struct csv *c, const int *at, struct sim_trace *t,
		    struct err *err)
{
	struct sim_job *j;

	if (t->count == SIM_JOBS_MAX)
		return csv_fault(c, -1, err, "more than %d jobs", SIM_JOBS_MAX);
	j = sim_trace_add(t);
	if (!*csv_text(c, at[SUBMIT]) || !*csv_text(c, at[DURATION]))
		return csv_fault(c, at[*csv_text(c, at[SUBMIT]) ? DURATION : SUBMIT], err,
				 "is empty");
	if (sniff_time(c, at[SUBMIT], 0, &j->submit_ms, err) < 0 ||
	    sniff_time(c, at[DURATION], 0, &j->duration_ms, err) < 0 ||
	    sniff_time(c, at[LIMIT], 0, &j->limit_ms, err) < 0 ||
	    read_devices(c, at, j, err) < 0 || read_amounts(c, at, j, err) < 0)
		return -1;
	j->name = sim_word(t, csv_text(c, at[ID]));
	j->models = sim_word(t, csv_text(c, at[MODELS]));
	j->user = sim_word(t, csv_text(c, at[USER]));
	j->group = sim_word(t, csv_text(c, at[QUEUE]));
	j->command = sim_word(t, csv_text(c, at[COMMAND]));
	return 0;
}

static int read(const char *text, size_t len, struct sim_trace *out, struct err *err)
{
	struct csv c;
	int at[COLUMN_COUNT], more = 1;

	if (csv_init(&c, text, len, err) < 0)
		return -1;
	for (int i = 0; i < COLUMN_COUNT; i++)
		at[i] = csv_find(&c, names[i]);
	for (int i = SUBMIT; i <= GPUS && more >= 0; i++)
		more = csv_need(&c, names[i], &at[i], err) < 0 ? -1 : 1;
	while (more > 0 && (more = csv_next(&c, err)) > 0)
		if (read_row(&c, at, out, err) < 0)
			more = -1;
	csv_fini(&c);
	sim_trace_sort(out);
	return more;
}

const struct sim_reader sim_read_csv = {
	.name = "csv",
	.about = "id,submit,duration,gpus,cpu,mem,share,models,user,queue,priority,limit",
	.sniff = sniff,
	.read = read,
};
