// SPDX-License-Identifier: Apache-2.0
/* A policy in a file:
 *
 *	order: short            # of groups that are not named below: fifo, short or served
 *	fair: true
 *	age_bound: 24h
 *	backfill: true
 *	tenants:
 *	  nlp: { weight: 2, guarantee: { devices: { gpu: 16 } } }
 *
 * What is not said is as the daemon has it when nobody changed it.  A tenant is written as
 * the API writes a group's rule.
 */
#include <inttypes.h>
#include <string.h>

#include "base/doc.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/units.h"
#include "cli/simulate.h"
#include "wire/facts.h"

enum field_kind { FLAG, TIME, NUMBER, ORDER, RULE, WEIGHTS, TENANTS };

#define AT(field) offsetof(struct sim_policy, field)

/* clang-format off */
static const struct field {
	const char *name;
	enum field_kind kind;
	size_t at;
} fields[] = {
	{ "order",           ORDER,   AT(order) },
	{ "fair",            FLAG,    AT(plan.fair) },
	{ "age_bound",       TIME,    AT(plan.age_bound_ms) },
	{ "half_life",       TIME,    AT(plan.half_life_ms) },
	{ "backfill",        FLAG,    AT(plan.backfill) },
	{ "believe_guesses", FLAG,    AT(plan.believe_guesses) },
	{ "preempt",         FLAG,    AT(plan.preempt) },
	{ "min_run",         TIME,    AT(plan.min_run_ms) },
	{ "all_preemptible", FLAG,    AT(all_preemptible) },
	{ "one_queue",       FLAG,    AT(one_queue) },
	{ "rule",            RULE,    AT(plan.rule) },
	{ "weights",         WEIGHTS, AT(plan.weights) },
	{ "tenants",         TENANTS, 0 },
}, weights[] = {
	{ "fragment", NUMBER, AT(plan.weights.fragment) },
	{ "balance",  NUMBER, AT(plan.weights.balance) },
	{ "gap",      NUMBER, AT(plan.weights.gap) },
	{ "slack",    NUMBER, AT(plan.weights.slack) },
	{ "scarcity", NUMBER, AT(plan.weights.scarcity) },
};
/* clang-format on */

#define WEIGHT_MAX 1000000

static int fault(const struct doc_node *n, struct err *err, const char *must)
{
	return err_set(err, ERR_INVALID, "line %d, column %d: %s must be %s", n->line,
		       n->column, n->key ? n->key : "it", must);
}

static const struct field *field_of(const struct field *list, size_t count,
				    const struct doc_node *n, struct err *err)
{
	const char *names[COUNT_OF(fields)], *near;

	for (size_t i = 0; i < count; i++) {
		names[i] = list[i].name;
		if (str_eq(n->key, list[i].name))
			return &list[i];
	}
	near = str_guess(n->key, names, count);
	err_set(err, ERR_INVALID, "line %d, column %d: there is no field '%s'%s%s%s",
		n->key_line, n->key_column, n->key, near ? "; did you mean '" : "",
		near ? near : "", near ? "'?" : "");
	return NULL;
}

/* Which of the words it is; -1: none. */
static int word_of(const struct doc_node *n, const char *const *words, int count)
{
	for (int i = 0; n->kind == DOC_STRING && i < count; i++)
		if (str_eq(n->text, words[i]))
			return i;
	return -1;
}

struct sim_tenant *simulate_policy_tenant(struct sim_policy *p, const char *group)
{
	for (size_t i = 0; i < p->tenant_count; i++)
		if (str_eq(p->tenants[i].name, group))
			return &p->tenants[i];
	p->tenants = mem_realloc(p->tenants, p->tenant_count + 1, sizeof *p->tenants);
	p->tenants[p->tenant_count] = (struct sim_tenant){ .name = mem_strdup(group),
							   .rule = wire_tenant_default };
	p->tenants[p->tenant_count].rule.order = p->order;
	return &p->tenants[p->tenant_count++];
}

static int read_tenants(const struct doc_node *map, struct sim_policy *p, struct err *err)
{
	if (map->kind != DOC_MAP)
		return fault(map, err, "a map of groups");
	for (const struct doc_node *n = map->first; n; n = n->next) {
		if (n->kind != DOC_MAP)
			return fault(n, err, "a map such as {weight: 2}");
		if (wire_tenant_read(n, &simulate_policy_tenant(p, n->key)->rule, err) <
		    0)
			return err_wrap(err, "line %d: %s", n->key_line, n->key);
	}
	return 0;
}

static int read_fields(const struct doc_node *map, const struct field *list, size_t count,
		       struct sim_policy *p, struct err *err);

static int read_field(const struct doc_node *n, const struct field *f,
		      struct sim_policy *p, struct err *err)
{
	static const char *const orders[] = { "fifo", "short", "served" };
	char *into = (char *)p + f->at;
	int64_t v = 0;
	int word;

	switch (f->kind) {
	case FLAG:
		if (n->kind != DOC_BOOL)
			return fault(n, err, "true or false");
		*(bool *)(void *)into = n->boolean;
		return 0;
	case TIME:
		if ((n->kind != DOC_STRING && n->kind != DOC_NUMBER) ||
		    units_duration(n->text, &v) < 0)
			return fault(n, err, "a time such as 24h or 90 (seconds)");
		*(int64_t *)(void *)into = v;
		return 0;
	case NUMBER:
		if (doc_whole(n, 0, WEIGHT_MAX, &v) < 0)
			return fault(n, err, "a whole number from 0 to 1000000");
		*(int64_t *)(void *)into = v;
		return 0;
	case ORDER:
		word = word_of(n, orders, COUNT_OF(orders));
		if (word < 0)
			return fault(n, err, "fifo, short or served");
		p->order = (enum tenant_order)word;
		return 0;
	case RULE:
		word = word_of(n, placement_rule_names, PLACE_RULE_COUNT);
		if (word < 0)
			return fault(n, err,
				     "a rule of placement: yard, fgd, bestfit, dotprod, "
				     "clustering, packing or random");
		p->plan.rule = (enum placement_rule)word;
		return 0;
	case WEIGHTS:
		return read_fields(n, weights, COUNT_OF(weights), p, err);
	case TENANTS:
		return read_tenants(n, p, err);
	}
	return 0;
}

static int read_fields(const struct doc_node *map, const struct field *list, size_t count,
		       struct sim_policy *p, struct err *err)
{
	if (map->kind != DOC_MAP)
		return fault(map, err, "a map of fields");
	for (const struct doc_node *n = map->first; n; n = n->next) {
		const struct field *f = field_of(list, count, n, err);
		if (!f || read_field(n, f, p, err) < 0)
			return -1;
	}
	return 0;
}

static struct sim_policy *copy(const struct sim_policy *base)
{
	struct sim_policy *p = mem_alloc(1, sizeof *p);

	p->plan = plan_policy_default;
	if (!base)
		return p;
	*p = *base;
	p->tenants = mem_dup(base->tenants, base->tenant_count * sizeof *p->tenants);
	p->quotas = mem_dup(base->quotas, base->quota_count * sizeof *p->quotas);
	for (size_t i = 0; i < p->tenant_count; i++)
		p->tenants[i].name = mem_strdup(base->tenants[i].name);
	for (size_t i = 0; i < p->quota_count; i++)
		p->quotas[i].name = mem_strdup(base->quotas[i].name);
	return p;
}

struct sim_policy *simulate_policy_read(const char *text, size_t len,
					const struct sim_policy *base, struct err *err)
{
	AUTO_DOC struct doc *d = doc_parse(text, len, err);
	const struct doc_node *order;
	struct sim_policy *p;

	if (!d)
		return NULL;
	p = copy(base);
	/* The order comes first: it is that of tenants that say nothing of theirs. */
	order = doc_get(doc_root(d), "order");
	if ((!order || read_field(order, &fields[0], p, err) == 0) &&
	    read_fields(doc_root(d), fields, COUNT_OF(fields), p, err) == 0)
		return p;
	simulate_policy_destroy(p);
	return NULL;
}

void simulate_policy_destroy(struct sim_policy *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->tenant_count; i++)
		free(p->tenants[i].name);
	for (size_t i = 0; i < p->quota_count; i++)
		free(p->quotas[i].name);
	free(p->tenants);
	free(p->quotas);
	free(p);
}
