// SPDX-License-Identifier: Apache-2.0
/* metric_set.h - the series of one job, by run and name, all of it bounded; seen inside this
 * room alone.
 *
 * Names are a stranger's: too many of them, or too long ones, are told as problems and left
 * out.  The more series there are the fewer points each keeps, so that all together stay
 * within METRIC_POINTS_ALL.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "stream/series.h"

#define METRIC_SERIES_MAX   4096
#define METRIC_OTHERS_MAX   2000
#define METRIC_RUNS_MAX     1000
#define METRIC_NAME_MAX     1024 /* bytes */
#define METRIC_POINTS_ALL   (1u << 20)
#define METRIC_PROBLEMS_MAX 32

enum metric_source { METRIC_TENSORBOARD, METRIC_LOG };

struct metric_series {
	struct series series;
	char *name;
	size_t name_len;
	struct metric_run *run;
	struct metric_series *then; /* which one came after it last time, or NULL */
};

struct metric_other { /* what is listed only: images, histograms, ... */
	char *name, *kind;
	const struct metric_run *run;
	uint64_t count;
	int64_t last_step;
};

struct metric_run {
	struct metric_set *set;
	char *name;
	enum metric_source source;
	struct map *series, *others; /* by name; by kind and name */
	struct map *plugins; /* of tensors: what the first one of that name said it was */
	struct metric_series *before; /* the one that was added to last */
};

struct metric_set {
	struct map *runs;              /* by source and name */
	struct metric_series **series; /* all of them, in the order of their coming */
	size_t series_count, series_cap;
	struct metric_other **others;
	size_t other_count, other_cap;
	size_t bound; /* points that a series may keep */
	char *problems[METRIC_PROBLEMS_MAX];
	size_t problem_count, problems_more;
	size_t plugin_count; /* of all runs */
	int64_t walked;      /* points that were looked at to forget some */
	size_t bytes;        /* of names and the like, about */
};

void metric_set_init(struct metric_set *s);
void metric_set_fini(struct metric_set *s);
size_t metric_set_bytes(const struct metric_set *s);
/* Told once, however often it comes. */
void metric_set_problem(struct metric_set *s, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Found or made.  NULL: there are too many, which is told. */
struct metric_run *metric_set_run(struct metric_set *s, enum metric_source source,
				  const char *name);

void metric_run_number(struct metric_run *r, const char *name, size_t len,
		       const struct series_point *p);
void metric_run_other(struct metric_run *r, const char *kind, const char *name,
		      size_t len, int64_t step);
/* Whether it is the name of the series that most likely is next: a quick way to know. */
bool metric_run_expects(const struct metric_run *r, const char *name, size_t len);
/* What kind of tensor has this name here: plugin is remembered when it is the first (with
 * plugin_len 0 nothing is).  NULL: nobody said. */
const char *metric_run_plugin(struct metric_run *r, const char *name, size_t len,
			      const char *plugin, size_t plugin_len);
void metric_run_forget_from(struct metric_run *r, int64_t step);
