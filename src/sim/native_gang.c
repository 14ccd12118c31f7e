// SPDX-License-Identifier: Apache-2.0
/* What a job of a trace asks of the nodes. */
#include <inttypes.h>
#include <string.h>

#include "base/buf.h"
#include "base/map.h"
#include "base/mem.h"
#include "sim/native.h"

struct made {
	struct gang gang;
	struct gang_role roles[2]; /* full nodes, and what is left over */
};

static void type_of(const struct sim_job *j, char out[DEVICE_TYPE_MAX])
{
	size_t len = j->models ? strlen(j->models) : 0;

	memcpy(out, "gpu", 4);
	if (!len || len > DEVICE_TYPE_MAX - 5)
		return;
	out[3] = ':';
	memcpy(out + 4, j->models, len + 1);
}

/* The most devices of that type that one node has; at least 1. */
static int widest(const struct sim_cluster *c, const char *type)
{
	int most = 1;

	for (size_t i = 0; i < c->count; i++)
		for (size_t k = 0; k < DEVICE_KINDS_MAX; k++) {
			const struct device_count *d = &c->nodes[i].capacity.devices[k];
			if (d->count > most && device_matches(type, d->type))
				most = d->count;
		}
	return most;
}

static int64_t part(int64_t whole, int devices, int of)
{
	return of ? whole / of * devices + whole % of * devices / of : whole;
}

static void add_role(struct made *m, const struct sim_job *j, const char *type, int count,
		     int devices)
{
	struct gang_role *r = &m->roles[m->gang.role_count++];

	r->count = count;
	r->each.cpu_milli = part(j->cpu_milli, devices, j->gpus);
	r->each.memory_bytes = part(j->memory_bytes, devices, j->gpus);
	if (devices)
		resources_set_device(&r->each, type, devices);
	r->each.devices[0].share_milli = devices ? j->share_milli : 0;
}

static struct made *make(const struct sim_cluster *c, const struct sim_job *j)
{
	struct made *m = mem_alloc(1, sizeof *m);
	char type[DEVICE_TYPE_MAX];
	int wide;

	type_of(j, type);
	wide = widest(c, type);
	m->gang.roles = m->roles;
	if (j->gpus >= wide)
		add_role(m, j, type, j->gpus / wide, wide);
	if (j->gpus % wide || !j->gpus)
		add_role(m, j, type, 1, j->gpus % wide);
	return m;
}

const struct gang *native_gang(struct native *x, const struct sim_job *j)
{
	AUTO_BUF struct buf key = { 0 };
	struct made *m;

	if (j->gang)
		return j->gang;
	buf_printf(&key, "%d %d %" PRId64 " %" PRId64 " %s", j->gpus, j->share_milli,
		   j->cpu_milli, j->memory_bytes, j->models ? j->models : "");
	m = map_gets(x->gangs, buf_str(&key));
	if (!m) {
		m = make(x->setup->cluster, j);
		map_puts(x->gangs, buf_str(&key), m);
	}
	return &m->gang;
}

void native_gangs_free(struct native *x)
{
	struct made *m;

	for (size_t it = 0; (m = map_next(x->gangs, &it));)
		free(m);
	map_destroy(x->gangs);
}
