// SPDX-License-Identifier: Apache-2.0
/* What would start now: the request is made smaller in one way after the other, and each
 * is tried on the plan.  An amount is halved until it would start, then the largest one
 * that would is looked for above that. */
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/units.h"
#include "plan/reason.h"
#include "plan/words.h"

#define TRIAL_ID     (INT64_MAX - 1) /* behind everybody who came before */
#define GI           ((int64_t)1 << 30)
#define MI           ((int64_t)1 << 20)
#define MINUTE       INT64_C(60000)
#define QUEUE_LOOKED 2048 /* waiting jobs, */
#define KINDS_LOOKED 64   /* and how many different ones */

struct bid {
	struct plan *p;
	const struct plan_job *asked;
	int64_t now_ms;
	size_t role;      /* that is made smaller */
	int64_t limit_ms; /* a time limit that comes with it; 0: none */
	struct gang_role *roles;
	struct plan_job job; /* as it would be, with these roles */
	struct buf text, flags;
};

void plan_try(struct plan *p, const struct plan_job *job,
	      void (*look)(void *arg, struct plan *p, int64_t id), void *arg)
{
	struct plan_job trial = *job;
	struct entry *e;

	trial.id = TRIAL_ID;
	e = entry_create(p, &trial);
	queue_join(p, e);
	look(arg, p, trial.id);
	queue_leave(p, e);
	entry_destroy(p, e);
}

struct verdict {
	int64_t now_ms;
	bool starts;
};

static void judge(void *arg, struct plan *p, int64_t id)
{
	struct verdict *v = arg;

	v->starts = reason_kind(p, map_get(p->jobs, id), v->now_ms) == PLAN_REASON_NEW;
}

static bool fits(const struct bid *b)
{
	struct shape *s = shape_make(b->p, &b->job);
	bool ok = shape_fits(b->p, preempt_open(b->p), s, &b->p->scratch->picks);

	shape_free(s);
	return ok;
}

static bool starts(struct bid *b)
{
	struct verdict v = { .now_ms = b->now_ms };

	b->job.gang.roles = b->roles;
	if (fits(b)) /* most do not, and that is soon found out */
		plan_try(b->p, &b->job, judge, &v);
	return v.starts;
}

static void reset(struct bid *b)
{
	memcpy(b->roles, b->asked->gang.roles,
	       b->asked->gang.role_count * sizeof *b->roles);
	b->job = *b->asked;
	b->job.submit_ms = b->now_ms;
	if (b->limit_ms)
		b->job.limit_ms = b->limit_ms;
	buf_clear(&b->text);
	buf_clear(&b->flags);
}

/* The largest amount below `asked` with which it would start; 0: none. */
static int64_t largest(struct bid *b, int64_t asked, void (*set)(struct bid *, int64_t))
{
	int64_t good = asked, bad = asked;

	set(b, 1);
	if (asked < 2 || !starts(b))
		return 0; /* it does not hang on this */
	for (good = asked / 2; good > 1; good /= 2) {
		set(b, good);
		if (starts(b))
			break;
		bad = good;
	}
	while (bad - good > 1) {
		int64_t middle = good + (bad - good) / 2;
		set(b, middle);
		if (starts(b))
			good = middle;
		else
			bad = middle;
	}
	set(b, good);
	return good;
}

static const struct gang_role *asked_role(const struct bid *b)
{
	return &b->asked->gang.roles[b->role];
}

/* The first kind of devices it asks for. */
static const struct device_count *asked_devices(const struct bid *b)
{
	return &asked_role(b)->each.devices[0];
}

static void add_flag(struct bid *b, const char *name, const char *value)
{
	if (b->asked->gang.role_count == 1)
		buf_printf(&b->flags, "%s--%s%s%s", b->flags.len ? " " : "", name,
			   value ? " " : "", value ? value : "");
}

static void add_number(struct bid *b, const char *name, int64_t n)
{
	AUTO_FREE char *text = str_printf("%lld", (long long)n);

	add_flag(b, name, text);
}

static void add_whose(struct bid *b)
{
	if (b->asked->gang.role_count > 1)
		buf_printf(&b->text, " in role %zu", b->role + 1);
}

static bool is_gpu(const char *type)
{
	return strncmp(type, "gpu", 3) == 0 && (type[3] == '\0' || type[3] == ':');
}

/* "gpu:a100" and "gpu:v100" in one: "gpu:a100|v100"; false: too long. */
static bool add_model(const char *type, const char *model, char out[DEVICE_TYPE_MAX])
{
	AUTO_FREE char *both = str_printf("%s|%s", type, model);

	if (strlen(both) >= DEVICE_TYPE_MAX)
		return false;
	memcpy(out, both, strlen(both) + 1);
	return true;
}

static void flag_models(struct bid *b, const char *models)
{
	AUTO_FREE char *flag = mem_strdup(models);

	for (char *c = flag; *c; c++)
		*c = *c == '|' ? ',' : *c;
	add_flag(b, "gpu-model", flag);
}

/* Of devices it asks for by model: any other model that is there. */
static bool other_model(struct bid *b)
{
	const char *type = asked_devices(b)->type, *colon = strchr(type, ':');
	struct device_count *d = &b->roles[b->role].each.devices[0];
	size_t base = colon ? (size_t)(colon - type) + 1 : 0;

	for (int k = 0; colon && k < (int)fleet_kinds(b->p->fleet); k++) {
		const char *name = fleet_kind_name(b->p->fleet, k);
		if (strncmp(name, type, base) != 0 || device_matches(type, name) ||
		    !add_model(type, name + base, d->type) || !starts(b))
			continue;
		buf_printf(&b->text, "on %s, too", name);
		add_whose(b);
		if (is_gpu(type))
			flag_models(b, d->type + base);
		return true;
	}
	return false;
}

static bool without_labels(struct bid *b)
{
	const char *labels = asked_role(b)->labels;

	if (!labels || !*labels)
		return false;
	b->roles[b->role].labels = NULL;
	if (!starts(b))
		return false;
	buf_printf(&b->text, "without asking for %s", labels);
	add_whose(b);
	return true;
}

static bool farther_apart(struct bid *b)
{
	if (!b->asked->gang.within_must)
		return false;
	b->job.gang.within_must = false;
	if (!starts(b))
		return false;
	buf_printf(&b->text, "without having to be in one %s",
		   words_level(b->asked->gang.within));
	return true;
}

static bool shorter(struct bid *b)
{
	static const int minutes[] = { 10080, 4320, 2880, 1440, 720, 480, 360, 240, 180,
				       120,   60,   30,   20,   15,  10,  5,   2,   1 };
	char text[UNITS_TEXT_MAX], was[UNITS_TEXT_MAX];

	for (size_t i = 0; i < COUNT_OF(minutes); i++) {
		b->job.limit_ms = minutes[i] * MINUTE;
		if ((b->asked->limit_ms > 0 && b->job.limit_ms >= b->asked->limit_ms) ||
		    !starts(b))
			continue;
		buf_printf(&b->text, "with a time limit of %s",
			   units_show_duration(b->job.limit_ms, text));
		if (b->asked->limit_ms > 0)
			buf_printf(&b->text, " instead of %s",
				   units_show_duration(b->asked->limit_ms, was));
		add_flag(b, "time-limit", units_write_duration(b->job.limit_ms, text));
		return true;
	}
	return false;
}

static bool give_way(struct bid *b)
{
	if (b->asked->preemptible)
		return false;
	b->job.preemptible = true;
	if (!starts(b))
		return false;
	buf_adds(&b->text, "if it may be stopped to make way for others");
	add_flag(b, "preemptible", NULL);
	return true;
}

static int64_t cpu_unit(const struct bid *b)
{
	return asked_role(b)->each.cpu_milli >= 2000 ? 1000 : 100;
}

static void set_cpu(struct bid *b, int64_t n)
{
	b->roles[b->role].each.cpu_milli = n * cpu_unit(b);
}

static bool less_cpu(struct bid *b)
{
	char text[UNITS_TEXT_MAX], was[UNITS_TEXT_MAX];
	int64_t unit = cpu_unit(b), n;

	n = largest(b, (asked_role(b)->each.cpu_milli + unit - 1) / unit, set_cpu);
	if (!n)
		return false;
	units_show_cpu(n * unit, text);
	buf_printf(&b->text, "with %s cpu instead of %s", text,
		   units_show_cpu(asked_role(b)->each.cpu_milli, was));
	add_whose(b);
	add_flag(b, "cpu", text);
	return true;
}

static int64_t memory_unit(const struct bid *b)
{
	return asked_role(b)->each.memory_bytes >= 2 * GI ? GI : 64 * MI;
}

static void set_memory(struct bid *b, int64_t n)
{
	b->roles[b->role].each.memory_bytes = n * memory_unit(b);
}

static bool less_memory(struct bid *b)
{
	char text[UNITS_TEXT_MAX], was[UNITS_TEXT_MAX];
	int64_t unit = memory_unit(b), n;

	n = largest(b, (asked_role(b)->each.memory_bytes + unit - 1) / unit, set_memory);
	if (!n)
		return false;
	units_show_bytes(n * unit, text);
	buf_printf(&b->text, "with %s memory instead of %s", text,
		   units_show_bytes(asked_role(b)->each.memory_bytes, was));
	add_whose(b);
	add_flag(b, "mem", units_write_bytes(n * unit, text));
	return true;
}

static void set_devices(struct bid *b, int64_t n)
{
	b->roles[b->role].each.devices[0].count = (int)n;
}

/* With cpu and memory in proportion, too. */
static void set_part(struct bid *b, int64_t n)
{
	const struct resources *all = &asked_role(b)->each;
	struct resources *r = &b->roles[b->role].each;

	set_devices(b, n);
	r->cpu_milli = (all->cpu_milli * n / asked_devices(b)->count + 99) / 100 * 100;
	r->memory_bytes =
		(all->memory_bytes / asked_devices(b)->count * n + MI - 1) / MI * MI;
}

static bool fewer_devices(struct bid *b)
{
	const struct device_count *d = asked_devices(b);
	char text[UNITS_TEXT_MAX];
	bool part = false;
	int64_t n;

	if (d->count < 2)
		return false;
	n = largest(b, d->count, set_devices);
	if (!n) {
		part = true;
		reset(b);
		n = largest(b, d->count, set_part);
	}
	if (!n)
		return false;
	buf_printf(&b->text, "with %lld %s instead of %d", (long long)n, d->type,
		   d->count);
	add_whose(b);
	if (is_gpu(d->type))
		add_number(b, "gpu", n);
	if (part) {
		const struct resources *r = &b->roles[b->role].each;
		buf_printf(&b->text, ", %s cpu", units_show_cpu(r->cpu_milli, text));
		add_flag(b, "cpu", text);
		buf_printf(&b->text, " and %s memory",
			   units_show_bytes(r->memory_bytes, text));
		add_flag(b, "mem", units_write_bytes(r->memory_bytes, text));
	}
	return true;
}

static void set_tasks(struct bid *b, int64_t n)
{
	b->roles[b->role].count = (int)n;
	if (b->roles[b->role].least > (int)n)
		b->roles[b->role].least = (int)n;
}

static bool fewer_tasks(struct bid *b)
{
	int64_t count = asked_role(b)->count, n;

	n = count > 1 ? largest(b, count, set_tasks) : 0;
	if (!n)
		return false;
	buf_printf(&b->text, "with %lld task%s instead of %lld", (long long)n,
		   n == 1 ? "" : "s", (long long)count);
	add_whose(b);
	add_number(b, "count", n);
	return true;
}

static bool share(struct bid *b)
{
	const struct device_count *d = asked_devices(b);
	static const int parts[] = { 750, 500, 250, 100 };
	char text[UNITS_TEXT_MAX];

	for (size_t i = 0; i < COUNT_OF(parts); i++) {
		if (d->count != 1 || (d->share_milli && d->share_milli <= parts[i]))
			continue;
		b->roles[b->role].each.devices[0].share_milli = parts[i];
		if (!starts(b))
			continue;
		units_show_cpu(parts[i], text);
		buf_printf(&b->text, "with %s of a %s that others may use too", text,
			   d->type);
		add_whose(b);
		if (is_gpu(d->type))
			add_flag(b, "gpu", text);
		return true;
	}
	return false;
}

/* What gives up least first; from FIRST_SIZE on it asks for less. */
static bool (*const ways[])(struct bid *b) = {
	other_model, farther_apart, without_labels, shorter,     give_way,
	less_cpu,    less_memory,   fewer_devices,  fewer_tasks, share,
};
#define FIRST_SIZE 5

/* The role that is most in its own way: the first that has no room for itself. */
static size_t narrow_role(const struct bid *b)
{
	struct shape *s = shape_make(b->p, b->asked);
	size_t role = s->ask->order[0];

	for (size_t k = 0; k < s->ask->role_count; k++) {
		const struct ask_role *r = &s->ask->roles[k];
		if (view_room(fleet_now(b->p->fleet), r, -1, r->count) < r->least) {
			role = k;
			break;
		}
	}
	shape_free(s);
	return role;
}

static void keep(struct bid *b, struct plan_offer *out)
{
	*out = (struct plan_offer){ .job = b->job,
				    .roles = mem_dup(b->roles, b->job.gang.role_count *
								       sizeof *b->roles),
				    .text = mem_strdup(buf_str(&b->text)),
				    .flags = mem_strdup(buf_str(&b->flags)) };
	out->job.id = b->asked->id;
	out->job.gang.roles = out->roles;
}

/* Somebody who waits would start now: one of each kind is looked at. */
static bool others_start(const struct plan *p, int64_t now_ms)
{
	const struct bucket *seen[KINDS_LOOKED];
	int64_t ids[QUEUE_LOOKED];
	size_t kinds = 0, count = plan_queue(p, 1, ids, QUEUE_LOOKED);

	if (count < plan_waiting(p))
		return true; /* too many to tell */
	for (size_t i = 0; i < count; i++) {
		const struct entry *e = map_get(p->jobs, ids[i]);
		size_t k = 0;
		while (k < kinds && seen[k] != e->bucket)
			k++;
		if (k < kinds)
			continue;
		if (kinds == KINDS_LOOKED || reason_kind(p, e, now_ms) == PLAN_REASON_NEW)
			return true;
		seen[kinds++] = e->bucket;
	}
	return false;
}

/* Back in, and as it was looked at before: who stands in whose way is known by that. */
static void put_back(struct plan *p, struct entry *e, enum shape_state was)
{
	queue_join(p, e);
	if (was != SHAPE_IDLE && e->shape->state != was)
		queue_move(p, e->shape, was);
}

/* One that waits is taken out while others are tried in its place, unless somebody would
 * go before them then: they are tried beside it in that case.  So this always holds:
 * submit the smaller one, stop the other, and it starts. */
static bool take_out(struct bid *b, struct entry *self)
{
	enum shape_state was = self->shape->state;

	queue_leave(b->p, self);
	if (!others_start(b->p, b->now_ms))
		return true;
	put_back(b->p, self, was);
	return false;
}

/* Where less alone is not let past the heads: less, and not for long. */
static bool short_and_small(struct bid *b)
{
	static const int minutes[] = { 480, 240, 120, 60, 30, 15, 5 };
	char text[UNITS_TEXT_MAX];

	for (size_t i = 0; i < COUNT_OF(minutes); i++) {
		b->limit_ms = minutes[i] * MINUTE;
		if (b->asked->limit_ms > 0 && b->limit_ms >= b->asked->limit_ms)
			continue;
		for (size_t k = FIRST_SIZE; k < COUNT_OF(ways); k++) {
			reset(b);
			if (!ways[k](b))
				continue;
			buf_printf(&b->text, " and a time limit of %s",
				   units_show_duration(b->limit_ms, text));
			add_flag(b, "time-limit",
				 units_write_duration(b->limit_ms, text));
			return true;
		}
	}
	return false;
}

static size_t find_offers(struct bid *b, struct plan_offer out[PLAN_OFFERS_MAX])
{
	size_t count = 0;

	for (size_t i = 0; i < COUNT_OF(ways) && count < PLAN_OFFERS_MAX; i++) {
		reset(b);
		if (ways[i](b))
			keep(b, &out[count++]);
	}
	if (!count && short_and_small(b))
		keep(b, &out[count++]);
	return count;
}

size_t plan_offers(struct plan *p, const struct plan_job *job, int64_t now_ms,
		   struct plan_offer out[PLAN_OFFERS_MAX])
{
	struct bid b = { .p = p, .asked = job, .now_ms = now_ms };
	struct entry *self = map_get(p->jobs, job->id);
	enum shape_state was = self ? self->shape->state : SHAPE_IDLE;
	bool is_out;
	size_t count = 0;

	if (self && (!self->bucket || reason_kind(p, self, now_ms) == PLAN_REASON_NEW))
		return 0;
	is_out = self && take_out(&b, self);
	b.roles = mem_alloc(job->gang.role_count, sizeof *b.roles);
	b.role = narrow_role(&b);
	count = find_offers(&b, out);
	if (is_out)
		put_back(p, self, was);
	free(b.roles);
	buf_fini(&b.text);
	buf_fini(&b.flags);
	return count;
}

void plan_offers_free(struct plan_offer *offers, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		free(offers[i].roles);
		free(offers[i].text);
		free(offers[i].flags);
	}
}
