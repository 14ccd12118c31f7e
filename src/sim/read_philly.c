// SPDX-License-Identifier: Apache-2.0
/* The months of Microsoft's Philly cluster as they are handed around: whole devices,
 * seconds, and the virtual cluster a job was sent to. */
#include "sim/parts.h"
#include "sim/sniff.h"

static const char *const names[] = { "job_id",   "submit_s", "duration_s",
				     "num_gpus", "vc",       NULL };
enum { ID, SUBMIT, DURATION, GPUS, VC, COLUMN_COUNT };

static bool sniff(const char *text, size_t len)
{
	return sniff_columns(text, len, names);
}

static int read_row(const struct csv *c, const int *at, struct sim_trace *t,
		    struct err *err)
{
	struct sim_job *j;
	int64_t gpus = 0;

	if (t->count == SIM_JOBS_MAX)
		return csv_fault(c, -1, err, "more than %d jobs", SIM_JOBS_MAX);
	j = sim_trace_add(t);
	if (csv_i64(c, at[SUBMIT], 0, SIM_TIME_MAX_MS / 1000, &j->submit_ms, err) < 0 ||
	    csv_i64(c, at[DURATION], 0, SIM_TIME_MAX_MS / 1000, &j->duration_ms, err) <
		    0 ||
	    csv_i64(c, at[GPUS], 1, SIM_GPUS_MAX, &gpus, err) < 0)
		return -1;
	j->submit_ms *= 1000;
	j->duration_ms *= 1000;
	j->gpus = (int)gpus;
	j->name = sim_word(t, csv_text(c, at[ID]));
	j->group = sim_word(t, csv_text(c, at[VC]));
	return 0;
}

static int read(const char *text, size_t len, struct sim_trace *out, struct err *err)
{
	struct csv c;
	int at[COLUMN_COUNT], more = 1;

	if (csv_init(&c, text, len, err) < 0)
		return -1;
	for (int i = 0; i < COLUMN_COUNT && more > 0; i++)
		more = csv_need(&c, names[i], &at[i], err) < 0 ? -1 : 1;
	while (more > 0 && (more = csv_next(&c, err)) > 0)
		if (read_row(&c, at, out, err) < 0)
			more = -1;
	csv_fini(&c);
	sim_trace_sort(out);
	return more;
}

const struct sim_reader sim_read_philly = {
	.name = "philly",
	.about = "job_id,submit_s,duration_s,num_gpus,vc",
	.sniff = sniff,
	.read = read,
};
