// SPDX-License-Identifier: Apache-2.0
/* Bytes as a trace, as a cluster, and as a line of a plan's journal: no crash; what is
 * refused is refused in words; what is taken keeps the bounds that the simulator trusts. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "plan/journal.h"
#include "sim/sim.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void as_trace(const char *text, size_t size)
{
	struct sim_trace t = { 0 };
	struct err err = { 0 };

	if (sim_trace_read(NULL, text, size, &t, &err) < 0) {
		if (!*err.text)
			abort();
		return;
	}
	for (size_t i = 0; i < t.count; i++)
		if (t.jobs[i].submit_ms < 0 || t.jobs[i].duration_ms < 0 ||
		    t.jobs[i].gpus < 0 ||
		    (i && t.jobs[i].submit_ms < t.jobs[i - 1].submit_ms))
			abort();
	sim_trace_fini(&t);
}

static void as_cluster(const char *text, size_t size)
{
	struct sim_cluster c = { 0 };
	struct err err = { 0 };

	if (sim_cluster_read(text, size, &c, &err) < 0) {
		if (!*err.text)
			abort();
		return;
	}
	if (!c.count || c.count > SIM_NODES_MAX)
		abort();
	sim_cluster_fini(&c);
}

static void as_journal(const char *text, size_t size)
{
	struct plan *p = plan_create();
	struct journal_reader *r = journal_open(p);
	const char *end = text + size;
	struct err err = { 0 };

	while (text < end) {
		const char *nl = memchr(text, '\n', (size_t)(end - text));
		size_t len = nl ? (size_t)(nl - text) : (size_t)(end - text);
		if (journal_line(r, text, len, &err) < 0)
			break;
		text += len + 1;
	}
	journal_close(r);
	plan_destroy(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	as_trace((const char *)data, size);
	as_cluster((const char *)data, size);
	as_journal((const char *)data, size);
	return 0;
}
