// SPDX-License-Identifier: Apache-2.0
#include "stream/metric_set.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/str.h"

#define KIND_MAX 64 /* bytes of a plugin's name that are told */

void metric_set_init(struct metric_set *s)
{
	*s = (struct metric_set){ .runs = map_create(), .bound = SERIES_POINTS_MAX };
}

static void free_plugins(struct map *m)
{
	char *text;

	for (size_t it = 0; (text = map_next(m, &it));)
		free(text);
	map_destroy(m);
}

void metric_set_fini(struct metric_set *s)
{
	struct metric_run *r;

	for (size_t it = 0; (r = map_next(s->runs, &it));) {
		map_destroy(r->series);
		map_destroy(r->others);
		free_plugins(r->plugins);
		free(r->name);
		free(r);
	}
	map_destroy(s->runs);
	for (size_t i = 0; i < s->series_count; i++) {
		series_fini(&s->series[i]->series);
		free(s->series[i]->name);
		free(s->series[i]);
	}
	for (size_t i = 0; i < s->other_count; i++) {
		free(s->others[i]->name);
		free(s->others[i]->kind);
		free(s->others[i]);
	}
	for (size_t i = 0; i < s->problem_count; i++)
		free(s->problems[i]);
	free(s->series);
	free(s->others);
}

size_t metric_set_bytes(const struct metric_set *s)
{
	size_t bytes = s->bytes;

	for (size_t i = 0; i < s->series_count; i++)
		bytes += s->series[i]->series.cap * sizeof(struct series_kept);
	return bytes;
}

void metric_set_problem(struct metric_set *s, const char *fmt, ...)
{
	AUTO_BUF struct buf text = { 0 };
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(&text, fmt, ap);
	va_end(ap);
	for (size_t i = 0; i < s->problem_count; i++)
		if (str_eq(s->problems[i], buf_str(&text)))
			return;
	if (s->problem_count == METRIC_PROBLEMS_MAX) {
		s->problems_more++;
		return;
	}
	s->bytes += text.len;
	s->problems[s->problem_count++] = buf_take(&text);
}

struct metric_run *metric_set_run(struct metric_set *s, enum metric_source source,
				  const char *name)
{
	AUTO_FREE char *key = str_printf("%d%s", (int)source, name);
	struct metric_run *r = map_gets(s->runs, key);

	if (r)
		return r;
	if (map_count(s->runs) >= METRIC_RUNS_MAX) {
		metric_set_problem(s, "more than %d runs: the others are left out",
				   METRIC_RUNS_MAX);
		return NULL;
	}
	r = mem_alloc(1, sizeof *r);
	*r = (struct metric_run){ .set = s,
				  .name = mem_strdup(name),
				  .source = source,
				  .series = map_create(),
				  .others = map_create(),
				  .plugins = map_create() };
	map_puts(s->runs, key, r);
	s->bytes += sizeof *r + 3 * strlen(name) + 512;
	return r;
}

/* A name that can be kept; else it is told, and left out. */
static bool good_name(struct metric_run *r, const char *name, size_t len)
{
	if (len <= METRIC_NAME_MAX && !memchr(name, '\0', len))
		return true;
	metric_set_problem(
		r->set, "run %s: a name of more than %d bytes or with a NUL is left out",
		r->name, METRIC_NAME_MAX);
	return false;
}

/* Fewer points of each once there are many: from 2048 down to 256. */
static void tighten(struct metric_set *s)
{
	size_t bound = s->bound;

	while (bound > SERIES_POINTS_MIN && bound * s->series_count > METRIC_POINTS_ALL)
		bound /= 2;
	if (bound == s->bound)
		return;
	s->bound = bound;
	for (size_t i = 0; i < s->series_count; i++) {
		struct series *one = &s->series[i]->series;
		series_thin(one, bound - 1);
		one->cap = one->cap > bound ? bound : one->cap;
		if (one->cap)
			one->kept = mem_realloc(one->kept, one->cap, sizeof *one->kept);
	}
}

static struct metric_series *make_series(struct metric_run *r, const char *name,
					 size_t len)
{
	struct metric_set *s = r->set;

	if (!good_name(r, name, len))
		return NULL;
	AUTO_FREE char *key = mem_strndup(name, len);
	struct metric_series *m = map_gets(r->series, key);
	if (m)
		return m;
	if (s->series_count >= METRIC_SERIES_MAX) {
		metric_set_problem(s, "more than %d series: the others are left out",
				   METRIC_SERIES_MAX);
		return NULL;
	}
	m = mem_alloc(1, sizeof *m);
	*m = (struct metric_series){ .name = TAKE(key), .name_len = len, .run = r };
	map_puts(r->series, m->name, m);
	mem_grow(&s->series, &s->series_cap, s->series_count, sizeof *s->series);
	s->series[s->series_count++] = m;
	s->bytes += sizeof *m + 2 * len + 128;
	tighten(s);
	return m;
}

static uint64_t word_at(const char *p)
{
	uint64_t word;

	memcpy(&word, p, sizeof word);
	return word;
}

static bool is_named(const struct metric_series *m, const char *name, size_t len)
{
	if (!m || m->name_len != len)
		return false;
	if (len < 8 || len > 16)
		return memcmp(m->name, name, len) == 0;
	/* As most names are: two words that may overlap, and no call. */
	return word_at(m->name) == word_at(name) &&
	       word_at(m->name + len - 8) == word_at(name + len - 8);
}

/* Programs write their values in the same order in every step: the one that came after the
 * last one before is tried first, without a look into the map. */
static struct metric_series *find_series(struct metric_run *r, const char *name,
					 size_t len)
{
	struct metric_series *before = r->before;
	struct metric_series *m = before ? before->then : NULL;

	if (!is_named(m, name, len))
		m = make_series(r, name, len);
	if (m && before)
		before->then = m;
	if (m)
		r->before = m;
	return m;
}

bool metric_run_expects(const struct metric_run *r, const char *name, size_t len)
{
	return r->before && is_named(r->before->then, name, len);
}

void metric_run_number(struct metric_run *r, const char *name, size_t len,
		       const struct series_point *p)
{
	struct metric_series *m = find_series(r, name, len);

	if (m)
		series_add(&m->series, p, r->set->bound);
}

void metric_run_other(struct metric_run *r, const char *kind, const char *name,
		      size_t len, int64_t step)
{
	struct metric_set *s = r->set;

	if (!good_name(r, name, len))
		return;
	AUTO_FREE char *key = str_printf("%s\n%.*s", kind, (int)len, name);
	struct metric_other *o = map_gets(r->others, key);
	if (!o && s->other_count >= METRIC_OTHERS_MAX) {
		metric_set_problem(
			s,
			"more than %d images, histograms and the like: the others are not listed",
			METRIC_OTHERS_MAX);
		return;
	}
	if (!o) {
		o = mem_alloc(1, sizeof *o);
		*o = (struct metric_other){ .name = mem_strndup(name, len),
					    .kind = mem_strdup(kind),
					    .run = r };
		map_puts(r->others, key, o);
		mem_grow(&s->others, &s->other_cap, s->other_count, sizeof *s->others);
		s->others[s->other_count++] = o;
		s->bytes += sizeof *o + 3 * len + 256;
	}
	o->count++;
	o->last_step = step;
}

const char *metric_run_plugin(struct metric_run *r, const char *name, size_t len,
			      const char *plugin, size_t plugin_len)
{
	if (len > METRIC_NAME_MAX || memchr(name, '\0', len))
		return NULL;
	AUTO_FREE char *key = mem_strndup(name, len);
	const char *known = map_gets(r->plugins, key);
	size_t most = METRIC_SERIES_MAX + METRIC_OTHERS_MAX;
	if (known || !plugin_len || r->set->plugin_count >= most)
		return known;
	r->set->plugin_count++;
	char *text = mem_strndup(plugin, plugin_len < KIND_MAX ? plugin_len : KIND_MAX);
	map_puts(r->plugins, key, text);
	r->set->bytes += len + plugin_len + 128;
	return text;
}

void metric_run_forget_from(struct metric_run *r, int64_t step)
{
	struct metric_series *m;

	for (size_t it = 0; (m = map_next(r->series, &it));) {
		r->set->walked += 1 + (int64_t)m->series.kept_count;
		series_forget_from(&m->series, step);
	}
}
