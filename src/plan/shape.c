// SPDX-License-Identifier: Apache-2.0
#include <assert.h>

#include "base/mem.h"
#include "plan/model.h"

struct shape *shape_make(const struct plan *p, const struct plan_job *job)
{
	struct shape *s = mem_alloc(1, sizeof *s);

	s->ask = ask_create(p->fleet, &job->gang);
	return s;
}

void shape_free(struct shape *s)
{
	if (!s)
		return;
	free(s->key);
	ask_destroy(s->ask);
	free(s);
}

struct shape *shape_get(struct plan *p, const struct plan_job *job)
{
	AUTO_BUF struct buf key = { 0 };
	struct shape *s;

	ask_key(&job->gang, &key);
	s = map_gets(p->shape_by_key, buf_str(&key));
	if (!s) {
		s = shape_make(p, job);
		s->key = buf_take(&key);
		map_puts(p->shape_by_key, s->key, s);
		p->fickle_shapes += s->ask->role_count > 1;
	}
	s->refs++;
	return s;
}

void shape_put(struct plan *p, struct shape *s)
{
	assert(s->refs > 0);
	if (--s->refs)
		return;
	map_dels(p->shape_by_key, s->key);
	p->fickle_shapes -= s->ask->role_count > 1;
	shape_free(s);
}

void shapes_refresh(struct plan *p)
{
	struct shape *s;

	if (p->kinds_known == fleet_kinds(p->fleet))
		return;
	p->kinds_known = fleet_kinds(p->fleet);
	for (size_t it = 0; (s = map_next(p->shape_by_key, &it));)
		ask_refresh(p->fleet, s->ask);
}

bool shape_fits(const struct plan *p, const struct view *v, const struct shape *s,
		struct picks *out)
{
	(void)p;
	return view_fit(v, s->ask, NULL, out);
}

bool shape_ever(const struct plan *p, struct shape *s)
{
	if (s->ever_version != fleet_version(p->fleet)) {
		view_empty(p->fleet, &p->scratch->future);
		s->ever = shape_fits(p, p->scratch->future, s, &p->scratch->head_picks);
		s->ever_version = fleet_version(p->fleet);
	}
	return s->ever;
}
