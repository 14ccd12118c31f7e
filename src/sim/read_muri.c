// SPDX-License-Identifier: Apache-2.0
/* read_muri.c - the trace, and what a start costs by model and size. */
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "sim/muri.h"
#include "sim/parts.h"
#include "sim/sniff.h"

#define SLOWDOWN       1.015 /* of a job alone: what that simulator adds to each iteration */
#define TIME_MAX_MS    100000000000000
#define ITERATIONS_MAX 1000000000000
#define OVERHEAD_ANY   10

enum { SIZES = 6 }; /* 1, 2, 4, 8, 16, 32 GPUs */

/* Seconds, measured by the authors; other models cost OVERHEAD_ANY. */
static const struct {
	const char *model;
	int seconds[SIZES];
} overheads[] = {
	// clang-format off
	{ "vgg16",              {  7,  7,  8,  9,  9, 10 } },
	{ "vgg19",              {  7,  7,  8,  9, 10, 10 } },
	{ "resnet18",           {  4,  5,  5,  7,  7,  7 } },
	{ "shufflenet_v2_x1_0", {  4,  4,  5,  5,  7,  8 } },
	{ "bert",               { 10, 10, 10, 10, 10, 10 } },
	{ "gpt2",               { 10, 10, 10, 10, 10, 10 } },
	{ "a2c",                { 38, 39, 39, 46, 46, 46 } },
	{ "dqn",                {  5,  5,  6,  6,  8,  8 } },
	// clang-format on
};

static double overhead(const char *model, int gpus)
{
	for (size_t i = 0; i < COUNT_OF(overheads); i++)
		if (str_eq(overheads[i].model, model))
			return overheads[i].seconds[__builtin_ctz((unsigned)gpus)];
	return OVERHEAD_ANY;
}

struct columns {
	int id, gpus, submit, iterations, model, iteration, phase[MURI_PHASES];
};

static int find_columns(const struct csv *c, struct columns *at, struct err *err)
{
	static const char *const phases[MURI_PHASES] = { "resource_time_0",
							 "resource_time_1",
							 "resource_time_2" };

	if (csv_need(c, "job_id", &at->id, err) < 0 ||
	    csv_need(c, "num_gpu", &at->gpus, err) < 0 ||
	    csv_need(c, "submit_time", &at->submit, err) < 0 ||
	    csv_need(c, "iterations", &at->iterations, err) < 0 ||
	    csv_need(c, "model_name", &at->model, err) < 0 ||
	    csv_need(c, "iteration_time", &at->iteration, err) < 0)
		return -1;
	for (int i = 0; i < MURI_PHASES; i++)
		at->phase[i] = csv_find(c, phases[i]);
	return 0;
}

/* Words of a trace are kept once: the same pointer is the same model. */
static int find_model(struct muri_trace *m, const struct csv *c, const char *word,
		      int *out, struct err *err)
{
	for (int i = 0; i < m->model_count; i++)
		if (m->models[i] == word) {
			*out = i;
			return 0;
		}
	if (m->model_count == MURI_MODELS_MAX)
		return csv_fault(c, -1, err, "more than %d models", MURI_MODELS_MAX);
	m->models[m->model_count] = word;
	*out = m->model_count++;
	return 0;
}

static int read_gpus(const struct csv *c, int column, int *out, struct err *err)
{
	int64_t n;

	if (csv_i64(c, column, 1, 1 << (SIZES - 1), &n, err) < 0)
		return -1;
	if (n & (n - 1))
		return csv_fault(c, column, err, "%d is none of 1, 2, 4, 8, 16, 32",
				 (int)n);
	*out = (int)n;
	return 0;
}

static int read_times(const struct csv *c, const struct columns *at, struct muri_job *j,
		      struct err *err)
{
	double ms;
	int64_t iterations;

	if (csv_i64(c, at->iterations, 1, ITERATIONS_MAX, &iterations, err) < 0 ||
	    csv_double(c, at->iteration, TIME_MAX_MS, &ms, err) < 0)
		return -1;
	if (ms <= 0)
		return csv_fault(c, at->iteration, err, "an iteration takes some time");
	j->iterations = (double)iterations;
	j->iteration_s = ms * SLOWDOWN / 1000;
	for (int i = 0; i < MURI_PHASES; i++) {
		ms = 0;
		if (at->phase[i] >= 0 &&
		    csv_double(c, at->phase[i], TIME_MAX_MS, &ms, err) < 0)
			return -1;
		j->phase_s[i] = ms / 1000;
	}
	return 0;
}

static int read_row(struct sim_trace *t, struct muri_trace *m, const struct csv *c,
		    const struct columns *at, struct err *err)
{
	struct muri_job j = { .row = (int64_t)t->count };
	int64_t submit_ms;

	if (read_gpus(c, at->gpus, &j.gpus, err) < 0 ||
	    csv_i64(c, at->submit, 0, TIME_MAX_MS, &submit_ms, err) < 0 ||
	    read_times(c, at, &j, err) < 0)
		return -1;
	const char *model = sim_word(t, csv_text(c, at->model));
	if (find_model(m, c, model, &j.model, err) < 0)
		return -1;
	j.overhead_s = overhead(model, j.gpus);
	j.submit_s = (double)submit_ms / 1000;
	m->jobs[m->count++] = j;

	struct sim_job *job = sim_trace_add(t);
	job->name = sim_word(t, csv_text(c, at->id));
	job->command = model;
	job->submit_ms = submit_ms;
	job->duration_ms = (int64_t)(muri_length(&j) * 1000 + 0.5);
	job->gpus = j.gpus;
	return 0;
}

static int by_submission(const void *pa, const void *pb)
{
	const struct muri_job *a = pa, *b = pb;

	if (a->submit_s != b->submit_s)
		return a->submit_s < b->submit_s ? -1 : 1;
	return a->row < b->row ? -1 : a->row > b->row;
}

static int read_rows(struct sim_trace *t, struct csv *c, struct err *err)
{
	struct muri_trace *m = t->extra;
	struct columns at;
	size_t cap = 0;
	int more;

	if (find_columns(c, &at, err) < 0)
		return -1;
	while ((more = csv_next(c, err)) > 0) {
		if (t->count == SIM_JOBS_MAX)
			return csv_fault(c, -1, err, "more than %d jobs", SIM_JOBS_MAX);
		mem_grow(&m->jobs, &cap, m->count, sizeof *m->jobs);
		if (read_row(t, m, c, &at, err) < 0)
			return -1;
	}
	if (more == 0 && t->count == 0)
		return err_set(err, ERR_INVALID, "a header, but no jobs");
	return more;
}

static int read_muri(const char *text, size_t len, struct sim_trace *out, struct err *err)
{
	struct muri_trace *m = mem_alloc(1, sizeof *m);
	struct csv c;

	out->extra = m;
	if (csv_init(&c, text, len, err) < 0)
		return -1;
	int rc = read_rows(out, &c, err);
	csv_fini(&c);
	if (rc < 0)
		return -1;
	sim_trace_sort(out);
	qsort(m->jobs, m->count, sizeof *m->jobs, by_submission);
	return 0;
}

static bool sniff(const char *text, size_t len)
{
	static const char *const names[] = { "num_gpu", "iterations", "iteration_time",
					     NULL };

	return sniff_columns(text, len, names);
}

static void drop(void *extra)
{
	struct muri_trace *m = extra;

	free(m->jobs);
	free(m);
}

const struct sim_reader sim_read_muri = {
	.name = "muri",
	.about = "training jobs by iterations, as Muri published them (CSV)",
	.sniff = sniff,
	.read = read_muri,
	.drop = drop,
};

double muri_length(const struct muri_job *j)
{
	return j->iterations * j->iteration_s;
}
