// SPDX-License-Identifier: Apache-2.0
/* What is known of a job's metrics, as the answer tells it. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "stream/metrics.h"
#include "stream/metrics_inside.h"

bool metrics_is_like(const char *name, const char *pattern)
{
	const char *star = NULL, *again = NULL;

	while (*name) {
		if (*pattern == '*') {
			star = pattern++; /* stands for nothing at first */
			again = name;
		} else if (*pattern == *name) {
			pattern++;
			name++;
		} else if (star) {
			pattern = star + 1; /* then for one more */
			name = ++again;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}

static bool is_wanted(const struct metrics_want *w, const char *name)
{
	for (size_t i = 0; i < w->name_count; i++)
		if (metrics_is_like(name, w->names[i]))
			return true;
	return !w->name_count;
}

static const char *source_word(enum metric_source s)
{
	return s == METRIC_LOG ? "log" : "tensorboard";
}

static int compare_series(const void *a, const void *b)
{
	const struct metric_series *const *x = a, *const *y = b;
	int order = (int)(*x)->run->source - (int)(*y)->run->source;

	if (!order)
		order = strcmp((*x)->run->name, (*y)->run->name);
	return order ? order : strcmp((*x)->name, (*y)->name);
}

static int compare_others(const void *a, const void *b)
{
	const struct metric_other *const *x = a, *const *y = b;
	int order = strcmp((*x)->run->name, (*y)->run->name);

	if (!order)
		order = strcmp((*x)->name, (*y)->name);
	return order ? order : strcmp((*x)->kind, (*y)->kind);
}

static void write_points(struct json *j, const struct series *s,
			 struct series_point *room, size_t max)
{
	size_t count = series_sample(s, room, max);

	json_array(j, "points");
	for (size_t i = 0; i < count; i++) {
		json_array(j, NULL);
		json_i64(j, NULL, room[i].step);
		json_i64(j, NULL, room[i].time_ms);
		json_real(j, NULL, room[i].value);
		json_end(j);
	}
	json_end(j);
}

static void write_one(struct json *j, const struct metric_series *m,
		      struct series_point *room, size_t max)
{
	const struct series *s = &m->series;

	json_object(j, NULL);
	json_str(j, "name", m->name);
	json_str(j, "run", m->run->name);
	json_str(j, "source", source_word(m->run->source));
	json_i64(j, "count", (int64_t)s->count);
	json_i64(j, "nan_count", (int64_t)s->nan_count);
	if (s->count > s->nan_count) {
		json_real(j, "min", s->min);
		json_real(j, "max", s->max);
	} else {
		json_null(j, "min");
		json_null(j, "max");
	}
	json_real(j, "last", s->last.value);
	json_i64(j, "last_step", s->last.step);
	json_i64(j, "last_time_ms", s->last.time_ms);
	write_points(j, s, room, max);
	json_end(j);
}

static void write_series(const struct metrics *m, const struct metrics_want *w,
			 struct json *j)
{
	const struct metric_set *set = &m->set;
	struct metric_series **list = mem_alloc(set->series_count + 1, sizeof *list);
	size_t count = 0, points = w->points;

	for (size_t i = 0; i < set->series_count; i++)
		if (set->series[i]->series.count && is_wanted(w, set->series[i]->name))
			list[count++] = set->series[i];
	qsort(list, count, sizeof *list, compare_series);
	if (points * count > METRICS_POINTS_ALL)
		points = METRICS_POINTS_ALL / count;
	struct series_point *room = mem_alloc(points + 1, sizeof *room);
	json_array(j, "series");
	for (size_t i = 0; i < count; i++)
		write_one(j, list[i], room, points);
	json_end(j);
	free(room);
	free(list);
}

static void write_others(const struct metrics *m, const struct metrics_want *w,
			 struct json *j)
{
	const struct metric_set *set = &m->set;
	struct metric_other **list = mem_alloc(set->other_count + 1, sizeof *list);

	if (set->other_count)
		memcpy(list, set->others, set->other_count * sizeof *list);
	qsort(list, set->other_count, sizeof *list, compare_others);
	json_array(j, "other");
	for (size_t i = 0; i < set->other_count; i++) {
		if (!is_wanted(w, list[i]->name))
			continue;
		json_object(j, NULL);
		json_str(j, "name", list[i]->name);
		json_str(j, "run", list[i]->run->name);
		json_str(j, "kind", list[i]->kind);
		json_i64(j, "count", (int64_t)list[i]->count);
		json_i64(j, "last_step", list[i]->last_step);
		json_end(j);
	}
	json_end(j);
	free(list);
}

static void write_problems(const struct metrics *m, const struct metrics_want *w,
			   struct json *j)
{
	const struct metric_set *set = &m->set;
	size_t told = 0, more = set->problems_more, at;
	const char *text;

	json_array(j, "problems");
	if (w->note)
		json_str(j, NULL, w->note);
	if (w->unfinished)
		json_str(
			j, NULL,
			"there is more than could be read by now: ask again for the rest");
	for (size_t i = 0; i < m->board_count; i++)
		for (at = 0; (text = board_problem(m->boards[i], &at));) {
			if (told++ < METRIC_PROBLEMS_MAX)
				json_str(j, NULL, text);
			else
				more++;
		}
	for (size_t i = 0; i < set->problem_count; i++)
		json_str(j, NULL, set->problems[i]);
	if (more) {
		AUTO_FREE char *rest = str_printf("%zu further problems", more);
		json_str(j, NULL, rest);
	}
	json_end(j);
}

void metrics_write(const struct metrics *m, const struct metrics_want *w, struct json *j)
{
	json_object(j, NULL);
	write_series(m, w, j);
	write_others(m, w, j);
	write_problems(m, w, j);
	json_end(j);
}
