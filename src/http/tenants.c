// SPDX-License-Identifier: Apache-2.0
/* The tree of groups and what each holds: an admin sees all of it, others their own groups
 * and those above them. */
#include "http/route.h"

#include <string.h>

#include "base/json.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "http/handlers.h"
#include "http/people.h"
#include "wire/api.h"
#include "wire/facts.h"
#include "yard/share.h"

#define DEPTH_MAX 64 /* of what is shown: rules are checked, yet nothing hangs on that */

struct row {
	char group[NAME_MAX_BYTES];
	struct tenant_rule rule;
	struct resources held;
	size_t running, waiting;
	bool shown, written;
};

struct forest {
	struct exchange *ex;
	struct map *rows; /* by group */
	struct resources capacity;
	struct json json;
};

static struct row *row_of(struct forest *f, const char *group)
{
	struct row *r = map_gets(f->rows, group);

	if (r)
		return r;
	r = mem_alloc(1, sizeof *r);
	strncpy(r->group, group, sizeof r->group - 1);
	yard_tenant(f->ex->server->config.yard, group, &r->rule);
	map_puts(f->rows, group, r);
	return r;
}

static struct row *parent_of(struct forest *f, const struct row *r)
{
	return r->rule.parent[0] ? row_of(f, r->rule.parent) : NULL;
}

static void note_group(void *arg, const struct who_group *g)
{
	row_of(arg, g->name);
}

static void note_tenant(void *arg, const char *group, const struct tenant_rule *rule)
{
	(void)rule;
	row_of(arg, group);
}

/* What a group holds, all above it hold. */
static void note_share(void *arg, const struct yard_share *s)
{
	struct forest *f = arg;
	struct row *r = row_of(f, s->group);

	for (int i = 0; r && i < DEPTH_MAX; i++, r = parent_of(f, r)) {
		resources_add(&r->held, &s->held);
		r->running += s->running;
		r->waiting += s->waiting;
	}
}

static void choose(struct forest *f)
{
	const struct principal *who = f->ex->who;
	struct row *r;

	for (size_t it = 0; (r = map_next(f->rows, &it));) {
		struct row *above = r;
		if (who->role != ROLE_ADMIN && !principal_in(who, r->group) &&
		    !str_eq(who->group, r->group))
			continue;
		for (int i = 0; above && i < DEPTH_MAX; i++, above = parent_of(f, above))
			above->shown = true;
	}
}

static int64_t part(int64_t held, int64_t all, int64_t most)
{
	int64_t milli = all > 0 ? (int64_t)((double)held * 1000 / (double)all) : 0;

	return milli > most ? milli : most;
}

static int64_t share_milli(const struct forest *f, const struct row *r)
{
	int64_t most = part(r->held.cpu_milli, f->capacity.cpu_milli, 0);

	most = part(r->held.memory_bytes, f->capacity.memory_bytes, most);
	for (int i = 0; i < DEVICE_KINDS_MAX && r->held.devices[i].type[0]; i++)
		most = part(device_milli(&r->held.devices[i]),
			    resources_milli(&f->capacity, r->held.devices[i].type), most);
	return most;
}

static void write_row(struct forest *f, struct row *r)
{
	r->written = true;
	json_object(&f->json, NULL);
	json_str(&f->json, "group", r->group);
	wire_tenant_write(&f->json, "tenant", &r->rule);
	json_i64(&f->json, "running", (int64_t)r->running);
	json_i64(&f->json, "waiting", (int64_t)r->waiting);
	wire_resources_write(&f->json, "held", &r->held);
	json_i64(&f->json, "share_milli", share_milli(f, r));
	json_i64(&f->json, "turn_milli", yard_turn(f->ex->server->config.yard, r->group));
	json_end(&f->json);
}

/* Level by level: parents are written before their children. */
static void write_rows(struct forest *f)
{
	bool more = true;
	struct row *r;

	for (int i = 0; more && i < DEPTH_MAX; i++) {
		more = false;
		for (size_t it = 0; (r = map_next(f->rows, &it));) {
			const struct row *above = parent_of(f, r);
			if (!r->shown || r->written || (above && !above->written))
				continue;
			write_row(f, r);
			more = true;
		}
	}
}

void handle_tenants(struct exchange *ex)
{
	const struct yard *y = ex->server->config.yard;
	struct buf *out = answer_scratch(ex);
	struct forest f = { .ex = ex, .rows = map_create() };
	struct row *r;

	yard_capacity(y, &f.capacity);
	who_each_group(ex->server->config.who, note_group, &f);
	yard_each_tenant(y, note_tenant, &f);
	yard_each_share(y, note_share, &f);
	choose(&f);
	json_init(&f.json, out);
	json_object(&f.json, NULL);
	json_array(&f.json, "tenants");
	write_rows(&f);
	json_end(&f.json);
	wire_resources_write(&f.json, "capacity", &f.capacity);
	json_end(&f.json);
	for (size_t it = 0; (r = map_next(f.rows, &it));)
		free(r);
	map_destroy(f.rows);
	answer_json(ex, 200, out);
}
