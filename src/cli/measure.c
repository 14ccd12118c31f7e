// SPDX-License-Identifier: Apache-2.0
#include "cli/measure.h"

#include <inttypes.h>

void measure_job(struct cli *c, int64_t job, int tasks, struct measure *out)
{
	*out = (struct measure){ 0 };
	for (int i = 0; i < tasks && i < MEASURE_TASKS_MAX; i++) {
		AUTO_ANSWER struct answer a = { 0 };
		struct err ignored; /* it may just have ended */

		if (cli_get(c, &a, &ignored, "/jobs/%" PRId64 "/usage?task=%d", job, i) <
		    0)
			continue;
		const struct doc_node *map = doc_root(a.doc);
		out->time_ms = doc_i64(map, "time_ms", 0);
		out->cpu_ms += doc_i64(map, "cpu_ms", 0);
		out->memory_bytes += doc_i64(map, "memory_bytes", 0);
		out->tasks++;
	}
}

static int64_t between(const struct measure *before, const struct measure *now)
{
	int64_t span = now->time_ms - before->time_ms;

	if (!before->time_ms || span <= 0 || now->cpu_ms < before->cpu_ms)
		return -1;
	return (now->cpu_ms - before->cpu_ms) * 1000 / span;
}

int64_t meter_cpu_milli(struct meter *m, const struct measure *now, int64_t started_ms)
{
	struct measure start = { .time_ms = started_ms };
	bool known = m->at.tasks && m->at.tasks == now->tasks;

	if (!now->tasks)
		return -1;
	if (known && m->at.time_ms == now->time_ms)
		return m->cpu_milli;
	m->cpu_milli = between(known ? &m->at : &start, now);
	m->at = *now;
	return m->cpu_milli;
}
