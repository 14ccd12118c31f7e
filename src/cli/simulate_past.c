// SPDX-License-Identifier: Apache-2.0
/* Reads what a yard did, through its API. */
#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "cli/simulate_history.h"
#include "job/gang.h"
#include "plan/learn.h"
#include "wire/facts.h"
#include "wire/settings_live.h"

#define PAGE     900
#define JOBS_MAX 1000000

/* What a job asked for, owned. */
struct past_gang {
	struct gang gang;
	struct gang_role *roles;
};

static char *labels_of(const struct pairs *where)
{
	char text[NODE_LABELS_MAX];

	return where->count && node_labels_write(where, text) == 0 ? mem_strdup(text)
								   : NULL;
}

static void role_of(const struct role *r, struct gang_role *out)
{
	*out = (struct gang_role){ .count = r->count,
				   .least = r->least,
				   .each = r->each,
				   .labels = labels_of(&r->where) };
	for (size_t i = 0; i < r->port_count; i++) {
		if (!r->ports[i].fixed)
			out->any_ports += r->ports[i].count;
		else if (out->fixed_count < PORTS_MAX)
			out->fixed_ports[out->fixed_count++] = r->ports[i].fixed;
	}
}

static const struct gang *add_gang(struct past *p, const struct spec *s)
{
	struct past_gang *g = mem_alloc(1, sizeof *g);

	g->roles = mem_alloc(s->role_count, sizeof *g->roles);
	for (size_t i = 0; i < s->role_count; i++)
		role_of(&s->roles[i], &g->roles[i]);
	g->gang = (struct gang){ .roles = g->roles,
				 .role_count = s->role_count,
				 .within = s->within,
				 .within_must = s->within_must };
	mem_grow(&p->gangs, &p->gang_cap, p->gang_count, sizeof *p->gangs);
	p->gangs[p->gang_count++] = g;
	return &g->gang;
}

static int devices_of(const struct spec *s)
{
	int sum = 0;

	for (size_t i = 0; i < s->role_count; i++)
		for (size_t k = 0; k < DEVICE_KINDS_MAX; k++)
			sum += s->roles[i].count * s->roles[i].each.devices[k].count;
	return sum;
}

/* Its last attempt: from when that was queued to when all was given back; of one that runs
 * still, until now. */
static void add_job(struct past *p, const struct job *j)
{
	AUTO_BUF struct buf command = { 0 };
	AUTO_FREE char *name = str_printf("%" PRId64, j->id);
	int64_t end_ms = j->ended_ms ? j->ended_ms : cli_now_ms();
	struct sim_job *out;

	if (!j->placed_ms || end_ms < j->placed_ms)
		return;
	out = sim_trace_add(&p->trace);
	learn_fingerprint((const char *const *)j->spec->roles[0].argv, &command);
	out->name = sim_word(&p->trace, name);
	out->user = sim_word(&p->trace, j->owner);
	out->group = sim_word(&p->trace, j->group);
	out->command = sim_word(&p->trace, buf_str(&command));
	out->submit_ms = j->queued_ms;
	out->duration_ms = end_ms - j->placed_ms;
	out->limit_ms = j->spec->time_limit_ms;
	out->priority = j->priority;
	out->preemptible = j->spec->preemptible;
	out->gpus = devices_of(j->spec);
	out->gang = add_gang(p, j->spec);
	mem_grow(&p->waited_s, &p->waited_cap, (size_t)out->row, sizeof *p->waited_s);
	p->waited_s[out->row] = (double)(j->placed_ms - j->queued_ms) / 1000;
}

/* A page of jobs, the newest first; *before is where the next goes on, 0: nowhere. */
static int read_page(struct cli *c, int64_t since_ms, int64_t *before, struct past *p,
		     struct err *err)
{
	AUTO_ANSWER struct answer a = { 0 };
	const struct doc_node *list;
	AUTO_BUF struct buf target = { 0 };

	buf_printf(&target, "/jobs?state=all&limit=%d", PAGE);
	if (*before)
		buf_printf(&target, "&before=%" PRId64, *before);
	if (cli_get(c, &a, err, "%s", buf_str(&target)) < 0)
		return -1;
	*before = 0;
	list = doc_get(doc_root(a.doc), "jobs");
	for (const struct doc_node *n = list ? list->first : NULL; n; n = n->next) {
		struct wire_job w = { 0 };
		struct wire_row row;
		wire_row_read(n, &row);
		if (row.submitted_ms < since_ms || p->trace.count == JOBS_MAX) {
			*before = 0;
			return 0;
		}
		*before = list->count == PAGE ? row.id : 0;
		if (row.members || !row.started_ms)
			continue; /* an array is its members; what never began took nothing */
		AUTO_FREE char *id = str_printf("%" PRId64, row.id);
		if (cli_get_job(c, id, &w, err) < 0)
			return -1;
		add_job(p, w.job);
		wire_job_fini(&w);
	}
	return 0;
}

static int read_nodes(struct cli *c, struct past *p, struct err *err)
{
	AUTO_ANSWER struct answer a = { 0 };
	const struct doc_node *list;

	if (cli_get(c, &a, err, "/nodes") < 0)
		return -1;
	list = doc_get(doc_root(a.doc), "nodes");
	p->nodes.nodes = mem_alloc(list ? list->count : 1, sizeof *p->nodes.nodes);
	for (const struct doc_node *n = list ? list->first : NULL; n; n = n->next) {
		struct wire_node node;
		wire_node_read(n, &node);
		p->nodes.nodes[p->nodes.count++] = node.node;
	}
	if (!p->nodes.count)
		return err_set(err, ERR_CONFLICT, "the yard has no nodes now");
	return 0;
}

static char *nothing_set(const char *name)
{
	(void)name;
	return NULL;
}

/* What those may see who are no admins is taken; the rest is as nobody changed it. */
static void read_settings(struct cli *c, struct past *p)
{
	AUTO_ANSWER struct answer a = { 0 };
	struct settings s;
	struct settings_input none = { .get = nothing_set };
	struct err ignored;
	const struct doc_node *list;

	if (settings_parse(&s, &none, &ignored) != OPTS_OK)
		return;
	if (cli_get(c, &a, &ignored, "/settings") == 0) {
		p->policy_known = true;
		list = doc_get(doc_root(a.doc), "settings");
		for (const struct doc_node *n = list ? list->first : NULL; n;
		     n = n->next) {
			const struct doc_node *value = doc_get(n, "value");
			const char *name = doc_str(n, "name", "");
			if (str_starts(name, "plan-") && value && value->text)
				settings_live_set(&s, name, value->text);
		}
	}
	settings_policy(&s, &p->policy->plan);
	settings_fini(&s);
}

static void read_tenants(struct cli *c, struct past *p)
{
	AUTO_ANSWER struct answer a = { 0 };
	struct err ignored;
	const struct doc_node *list;

	if (cli_get(c, &a, &ignored, "/tenants") < 0)
		return;
	list = doc_get(doc_root(a.doc), "tenants");
	for (const struct doc_node *n = list ? list->first : NULL; n; n = n->next) {
		const struct doc_node *rule = doc_get(n, "tenant");
		const char *group = doc_str(n, "group", NULL);
		if (group && rule)
			wire_tenant_read(rule,
					 &simulate_policy_tenant(p->policy, group)->rule,
					 &ignored);
	}
}

static void read_quotas(struct cli *c, struct past *p)
{
	AUTO_ANSWER struct answer a = { 0 };
	struct err ignored;
	const struct doc_node *list;

	if (cli_get(c, &a, &ignored, "/quotas") < 0)
		return;
	list = doc_get(doc_root(a.doc), "quotas");
	p->policy->quotas =
		mem_alloc(list ? list->count + 1 : 1, sizeof *p->policy->quotas);
	for (const struct doc_node *n = list ? list->first : NULL; n; n = n->next) {
		struct sim_quota *q = &p->policy->quotas[p->policy->quota_count];
		const struct doc_node *body = doc_get(n, "quota");
		if (!body || wire_quota_read(body, &q->quota, &ignored) < 0)
			continue;
		q->name = mem_strdup(doc_str(n, "name", ""));
		q->group = str_eq(doc_str(n, "scope", ""), "group");
		p->policy->quota_count++;
	}
}

int past_read(struct cli *c, int64_t since_ms, struct past *out, struct err *err)
{
	int64_t before = 0;

	*out = (struct past){ .policy = mem_alloc(1, sizeof *out->policy) };
	do {
		if (read_page(c, since_ms, &before, out, err) < 0)
			return -1;
	} while (before);
	sim_trace_sort(&out->trace);
	if (read_nodes(c, out, err) < 0)
		return -1;
	read_settings(c, out);
	read_tenants(c, out);
	read_quotas(c, out);
	return 0;
}

void past_fini(struct past *p)
{
	for (size_t i = 0; i < p->gang_count; i++) {
		for (size_t k = 0; k < p->gangs[i]->gang.role_count; k++)
			free((void *)(uintptr_t)p->gangs[i]->roles[k].labels);
		free(p->gangs[i]->roles);
		free(p->gangs[i]);
	}
	free(p->gangs);
	free(p->waited_s);
	sim_trace_fini(&p->trace);
	sim_cluster_fini(&p->nodes);
	simulate_policy_destroy(p->policy);
}
