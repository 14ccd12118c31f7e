// SPDX-License-Identifier: Apache-2.0
#include "sim/result.h"

#include "base/mem.h"
#include "base/str.h"

void sim_figure_set(struct sim_result *r, const char *key, double value)
{
	for (size_t i = 0; i < r->figure_count; i++)
		if (str_eq(r->figures[i].key, key)) {
			r->figures[i].value = value;
			return;
		}
	mem_grow(&r->figures, &r->figure_cap, r->figure_count, sizeof *r->figures);
	r->figures[r->figure_count++] = (struct sim_figure){ key, value };
}

bool sim_figure_get(const struct sim_result *r, const char *key, double *out)
{
	for (size_t i = 0; i < r->figure_count; i++)
		if (str_eq(r->figures[i].key, key)) {
			*out = r->figures[i].value;
			return true;
		}
	return false;
}

void sim_sample_add(struct sim_result *r, const struct sim_sample *s)
{
	mem_grow(&r->samples, &r->sample_cap, r->sample_count, sizeof *r->samples);
	r->samples[r->sample_count++] = *s;
}

void sim_result_fini(struct sim_result *r)
{
	free(r->rows);
	free(r->samples);
	free(r->figures);
	*r = (struct sim_result){ 0 };
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* Sets the five figures of one kind; sorts the values. */
static void spread(struct sim_result *r, const char *const keys[5], double *v, size_t n)
{
	static const double parts[] = { 0, 0.5, 0.9, 0.99, 0.999 };
	double sum = 0;

	if (!n)
		return;
	qsort(v, n, sizeof *v, by_value);
	for (size_t i = 0; i < n; i++)
		sum += v[i];
	sim_figure_set(r, keys[0], sum / (double)n);
	for (size_t k = 1; k < COUNT_OF(parts); k++)
		sim_figure_set(r, keys[k], v[(size_t)(parts[k] * (double)n)]);
}

/* A job shorter than that does not count as slowed down by a wait that nobody minds. */
#define SLOWDOWN_BOUND_S 10.0

static double slowdown(const struct sim_row *row)
{
	double alone = row->alone_s > SLOWDOWN_BOUND_S ? row->alone_s : SLOWDOWN_BOUND_S;
	double x = (row->end_s - row->submit_s) / alone;

	return x > 1 ? x : 1;
}

static const char *const jct_keys[] = { "avg_jct_s", "p50_jct_s", "p90_jct_s",
					"p99_jct_s", "p999_jct_s" };
static const char *const queue_keys[] = { "avg_queue_s", "p50_queue_s", "p90_queue_s",
					  "p99_queue_s", "p999_queue_s" };

void sim_figures(struct sim_result *r)
{
	double *jct = mem_alloc(r->row_count + 1, sizeof *jct);
	double *queue = mem_alloc(r->row_count + 1, sizeof *queue);
	double slow = 0, last = 0, preempted = 0, rejected = 0;
	size_t done = 0;

	for (size_t i = 0; i < r->row_count; i++) {
		const struct sim_row *row = &r->rows[i];
		preempted += row->preemptions;
		rejected += row->rejected;
		if (row->rejected || row->end_s < 0)
			continue;
		jct[done] = row->end_s - row->submit_s;
		queue[done] = jct[done] - row->ran_s;
		slow += slowdown(row);
		last = row->end_s > last ? row->end_s : last;
		done++;
	}
	sim_figure_set(r, "jobs", (double)r->row_count);
	sim_figure_set(r, "done", (double)done);
	sim_figure_set(r, "rejected", rejected);
	if ((double)(r->row_count - done) > rejected)
		sim_figure_set(r, "unfinished", (double)(r->row_count - done) - rejected);
	spread(r, jct_keys, jct, done);
	spread(r, queue_keys, queue, done);
	if (done) {
		sim_figure_set(r, "max_queue_s", queue[done - 1]);
		sim_figure_set(r, "bounded_slowdown", slow / (double)done);
		sim_figure_set(r, "makespan_s", last);
	}
	sim_figure_set(r, "preemptions", preempted);
	free(jct);
	free(queue);
}
