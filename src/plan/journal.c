// SPDX-License-Identifier: Apache-2.0
#include "plan/journal.h"

#include <inttypes.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "plan/record.h"

#define ITEMS_MAX 100000 /* roles or places of one job */
#define TASKS_MAX 100000

/* clang-format off */
static const char *const words[] = {
	[PLAN_NODE] = "node", [PLAN_WAIT] = "wait", [PLAN_LEAVE] = "leave",
	[PLAN_HELD] = "held", [PLAN_RELEASE] = "release", [PLAN_CHECKPOINT] = "checkpoint",
	[PLAN_QUOTA_USER] = "quota-user", [PLAN_QUOTA_GROUP] = "quota-group",
	[PLAN_TENANT] = "tenant", [PLAN_POLICY] = "policy", [PLAN_USED] = "used",
	[PLAN_ASKED] = "asked",
};
/* clang-format on */

static void write_part(struct json *j, const char *key, const struct table *t,
		       const void *from)
{
	if (!from)
		return;
	json_object(j, key);
	record_write(j, t, from);
	json_end(j);
}

static void write_list(struct json *j, const char *key, const struct table *t,
		       const void *from, size_t count)
{
	if (!count)
		return;
	json_array(j, key);
	for (size_t i = 0; i < count; i++)
		write_part(j, NULL, t, (const char *)from + i * t->size);
	json_end(j);
}

void journal_delta(const struct plan_delta *d, struct buf *out)
{
	struct json j;

	json_init(&j, out);
	json_object(&j, NULL);
	json_str(&j, "do", words[d->kind]);
	if (d->id)
		json_i64(&j, "id", d->id);
	if (d->since_ms)
		json_i64(&j, "since", d->since_ms);
	if (d->name)
		json_str(&j, "name", d->name);
	write_part(&j, "node", &record_node, d->node);
	write_part(&j, "job", &record_job, d->job);
	if (d->job)
		write_list(&j, "roles", &record_role, d->job->gang.roles,
			   d->job->gang.role_count);
	write_list(&j, "places", &record_place, d->places, d->place_count);
	write_part(&j, "quota", &record_quota, d->quota);
	write_part(&j, "tenant", &record_tenant, d->tenant);
	write_part(&j, "policy", &record_policy, d->policy);
	write_part(&j, "use", &record_use, d->used);
	json_end(&j);
	buf_addc(out, '\n');
}

void journal_step(int64_t now_ms, struct buf *out)
{
	buf_printf(out, "{\"do\":\"step\",\"now\":%" PRId64 "}\n", now_ms);
}

void journal_hash(const struct plan_hash *h, struct buf *out)
{
	char text[2 * PLAN_HASH_BYTES + 1];

	plan_hash_show(h, text);
	buf_printf(out, "{\"do\":\"hash\",\"hash\":\"%s\"}\n", text);
}

/* ---- reading ---- */

struct journal_reader {
	struct plan *plan;
	struct plan_hash *hash;
	int64_t now_ms; /* of the step at hand */
};

/* What a line's delta points to. */
struct said {
	struct node node;
	struct plan_job job;
	struct gang_role *roles;
	struct placement *places;
	struct quota quota;
	struct tenant_rule tenant;
	struct plan_policy policy;
	struct use used;
};

struct journal_reader *journal_open(struct plan *p)
{
	struct journal_reader *r = mem_alloc(1, sizeof *r);

	r->plan = p;
	r->hash = plan_hash_create();
	return r;
}

void journal_close(struct journal_reader *r)
{
	if (r)
		plan_hash_destroy(r->hash);
	free(r);
}

const struct plan_hash *journal_replayed(const struct journal_reader *r)
{
	return r->hash;
}

/* Points *part to `into` when the line has it. */
static int read_part(const struct doc_node *line, const char *key, const struct table *t,
		     void *into, bool *there, struct err *err)
{
	const struct doc_node *n = doc_get(line, key);

	*there = n != NULL;
	return n ? record_read(n, t, into, err) : 0;
}

static int read_list(const struct doc_node *line, const char *key, const struct table *t,
		     void *out, size_t *count, struct err *err)
{
	const struct doc_node *list = doc_get(line, key);
	char *items;

	*count = 0;
	if (!list)
		return 0;
	if (list->kind != DOC_LIST || list->count > ITEMS_MAX)
		return err_set(err, ERR_CORRUPT, "column %d: a bad list '%s'",
			       list->column, key);
	items = mem_alloc(list->count + 1, t->size);
	memcpy(out, &items, sizeof items);
	for (const struct doc_node *n = list->first; n; n = n->next)
		if (record_read(n, t, items + (*count)++ * t->size, err) < 0)
			return -1;
	return 0;
}

static int read_job(const struct doc_node *line, struct said *s, struct plan_delta *d,
		    struct err *err)
{
	bool there;

	if (read_part(line, "job", &record_job, &s->job, &there, err) < 0 ||
	    read_list(line, "roles", &record_role, &s->roles, &s->job.gang.role_count,
		      err) < 0 ||
	    read_list(line, "places", &record_place, &s->places, &d->place_count, err) <
		    0)
		return -1;
	s->job.gang.roles = s->roles;
	if (there && (!s->job.user || !s->job.group))
		return err_set(err, ERR_CORRUPT, "a job without a user or a group");
	d->job = there ? &s->job : NULL;
	d->places = s->places;
	return 0;
}

static int read_delta(const struct doc_node *line, struct said *s, struct plan_delta *d,
		      struct err *err)
{
	bool node, quota, tenant, policy, used;

	d->id = doc_i64(line, "id", 0);
	d->since_ms = doc_i64(line, "since", 0);
	d->name = doc_str(line, "name", NULL);
	if (read_part(line, "node", &record_node, &s->node, &node, err) < 0 ||
	    read_part(line, "quota", &record_quota, &s->quota, &quota, err) < 0 ||
	    read_part(line, "tenant", &record_tenant, &s->tenant, &tenant, err) < 0 ||
	    read_part(line, "policy", &record_policy, &s->policy, &policy, err) < 0 ||
	    read_part(line, "use", &record_use, &s->used, &used, err) < 0 ||
	    read_job(line, s, d, err) < 0)
		return -1;
	d->node = node ? &s->node : NULL;
	d->quota = quota ? &s->quota : NULL;
	d->tenant = tenant ? &s->tenant : NULL;
	d->policy = policy ? &s->policy : NULL;
	d->used = used ? &s->used : NULL;
	return 0;
}

/* No more devices of a kind than a node can have. */
static bool few_devices(const struct resources *r)
{
	for (size_t i = 0; i < DEVICE_KINDS_MAX; i++)
		if (r->devices[i].count > DEVICES_MAX)
			return false;
	return r->cpu_milli >= 0 && r->memory_bytes >= 0;
}

/* As the check of a spec sees to it for jobs that come the usual way. */
static bool job_ok(const struct plan_delta *d)
{
	int64_t tasks = 0;

	if (!d->job || d->job->id <= 0)
		return false;
	for (size_t i = 0; i < d->job->gang.role_count; i++) {
		const struct gang_role *r = &d->job->gang.roles[i];
		tasks += r->count;
		if (!few_devices(&r->each) || r->count < 1 || r->least > r->count ||
		    r->any_ports + r->fixed_count > PORTS_MAX)
			return false;
	}
	return tasks > 0 && tasks <= TASKS_MAX && (int64_t)d->place_count <= tasks;
}

/* A delta that lacks what its kind is about would be our end. */
static int check_delta(const struct plan_delta *d, struct err *err)
{
	bool ok = true;

	switch (d->kind) {
	case PLAN_NODE:
		ok = d->node && d->node->name[0] && few_devices(&d->node->capacity);
		break;
	case PLAN_WAIT:
	case PLAN_HELD:
	case PLAN_ASKED:
		ok = job_ok(d);
		break;
	case PLAN_LEAVE:
	case PLAN_RELEASE:
	case PLAN_CHECKPOINT:
		ok = d->id > 0;
		break;
	case PLAN_QUOTA_USER:
	case PLAN_QUOTA_GROUP:
	case PLAN_TENANT:
		ok = d->name != NULL;
		break;
	case PLAN_POLICY:
		ok = d->policy != NULL;
		break;
	case PLAN_USED:
		ok = d->name && d->used;
		break;
	}
	return ok ? 0 : err_set(err, ERR_CORRUPT, "'%s' makes no sense", words[d->kind]);
}

static int apply(struct journal_reader *r, const struct doc_node *line,
		 enum plan_delta_kind kind, struct err *err)
{
	struct plan_delta d = { .kind = kind };
	struct said s = { 0 };
	int result = read_delta(line, &s, &d, err);

	if (result == 0)
		result = check_delta(&d, err);
	if (result == 0)
		plan_apply(r->plan, &d);
	free(s.roles);
	free(s.places);
	return result;
}

static void decided(void *arg, const struct plan_decision *d)
{
	struct journal_reader *r = arg;

	plan_hash_add(r->hash, r->now_ms, d);
}

int journal_line(struct journal_reader *r, const char *line, size_t len, struct err *err)
{
	AUTO_DOC struct doc *doc = doc_parse_json(line, len, err);
	char hash[2 * PLAN_HASH_BYTES + 1];
	const char *what;

	if (!doc)
		return -1;
	what = doc_str(doc_root(doc), "do", "");
	if (str_eq(what, "step")) {
		r->now_ms = doc_i64(doc_root(doc), "now", 0);
		plan_step(r->plan, r->now_ms, 0, decided, r);
		return 0;
	}
	if (str_eq(what, "hash")) {
		plan_hash_show(r->hash, hash);
		return !str_eq(hash, doc_str(doc_root(doc), "hash", ""));
	}
	for (size_t i = 0; i < COUNT_OF(words); i++)
		if (str_eq(words[i], what))
			return apply(r, doc_root(doc), (enum plan_delta_kind)i, err);
	return err_set(err, ERR_CORRUPT, "a line of an unknown kind '%s'", what);
}
