// SPDX-License-Identifier: Apache-2.0
/* runs.h - what the tests of the rules "muri" share: runs, figures, the public traces. */
#pragma once

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "sim/muri.h"
#include "tap.h"

#define HEAD "job_id,num_gpu,submit_time,iterations,model_name,iteration_time\n"

static inline bool near(double a, double b)
{
	return fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b));
}

struct ran {
	struct sim_trace trace;
	struct sim_result result;
};

static inline struct ran run(const char *text, const char *policy)
{
	struct ran r = { 0 };
	struct err err = { 0 };
	struct sim_setup setup = { .trace = &r.trace, .policy = policy };
	const struct sim_rules *rules = sim_rules_find("muri", &err);

	OK(rules && sim_trace_read(NULL, text, strlen(text), &r.trace, &err) == 0 &&
		   rules->run(&setup, &r.result, &err) == 0,
	   "%s runs %s", policy, err.text);
	return r;
}

static inline void done(struct ran *r)
{
	sim_result_fini(&r->result);
	sim_trace_fini(&r->trace);
}

static inline double figure(const struct ran *r, const char *key)
{
	double v = NAN;

	sim_figure_get(&r->result, key, &v);
	return v;
}

/* NULL: the public traces are not here. */
static inline char *read_trace(const char *name)
{
	const char *folder = getenv("YARD_TRACES");
	char path[4096];

	if (!folder)
		folder = getenv("YARD_TRACES_DEFAULT"); /* beside the project */
	snprintf(path, sizeof path, "%s/muri/%s.csv",
		 folder ? folder : "../shared/traces", name);
	FILE *f = fopen(path, "re");
	if (!f)
		return NULL;
	char *text = mem_alloc(1, 1 << 20);
	size_t len = fread(text, 1, (1 << 20) - 1, f);
	text[len] = '\0';
	fclose(f);
	return text;
}
