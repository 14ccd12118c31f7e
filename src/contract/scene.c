// SPDX-License-Identifier: Apache-2.0
#include "contract/scene.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"

#define HOST_NAME_MAX_BYTES 63 /* RFC 1035: one label */

void scene_set(struct scene *v, const char *name, const char *fmt, ...)
{
	AUTO_BUF struct buf text = { 0 };
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(&text, fmt, ap);
	va_end(ap);
	pairs_set(&v->b->env, name, buf_str(&text));
}

void scene_set_for(struct scene *v, const char *prefix, const char *name, const char *fmt,
		   ...)
{
	AUTO_FREE char *variable = spec_variable(prefix, name);
	AUTO_BUF struct buf text = { 0 };
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(&text, fmt, ap);
	va_end(ap);
	pairs_set(&v->b->env, variable, buf_str(&text));
}

int scene_port(const struct role *r, const struct placement *p, const char *name)
{
	int at = 0;

	for (size_t i = 0; i < r->port_count; at += r->ports[i++].count)
		if (str_eq(r->ports[i].name, name) && at < p->port_count)
			return p->ports[at];
	return 0;
}

int scene_devices(const struct task *t)
{
	int count = 0;

	for (int i = 0; i < DEVICE_KINDS_MAX && t->place.devices[i].type[0]; i++)
		count += __builtin_popcountll(t->place.devices[i].mask);
	return count;
}

void scene_label(struct buf *out, const char *name, size_t most)
{
	size_t from = out->len;

	for (; *name && out->len - from < most; name++) {
		char c = *name;
		if (c >= 'A' && c <= 'Z')
			c = (char)(c - 'A' + 'a');
		if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')))
			c = '-';
		if (c != '-' || out->len > from)
			buf_addc(out, c);
	}
	while (out->len > from && out->data[out->len - 1] == '-')
		out->data[--out->len] = 0;
}

/* "worker-3": how the tasks of one job know each other. */
static void add_short_name(struct buf *out, const struct job *j, const struct task *t)
{
	scene_label(out, scene_role(j, t)->name, HOST_NAME_MAX_BYTES);
	buf_printf(out, "-%d", t->index);
}

/* "<job>-<role>-<index>": the job's name gives way when it is too long. */
static void add_long_name(struct buf *out, const struct job *j, const struct task *t)
{
	AUTO_BUF struct buf tail = { 0 };

	add_short_name(&tail, j, t);
	scene_label(out, j->spec->name, HOST_NAME_MAX_BYTES - 1 - tail.len);
	buf_printf(out, "-%s", buf_str(&tail));
}

/* "<id>-master-0" is rank 0, "<id>-worker-<i>" are the others. */
static void add_estimator_name(struct buf *out, const struct job *j, int rank,
			       const char *yard)
{
	char id[CONTRACT_TRAINING_ID];

	contract_training_id(yard, j->id, id);
	buf_printf(out, "%s-%s-%d", id, rank ? "worker" : "master", rank ? rank - 1 : 0);
}

void scene_host_name(struct buf *out, const struct job *j, int rank, const char *yard)
{
	if (j->spec->contract == SPEC_ESTIMATOR)
		add_estimator_name(out, j, rank, yard);
	else
		add_long_name(out, j, &j->tasks[rank]);
}

struct contract_peers *contract_peers_create(const struct job *j, const char *yard,
					     const char *requirements)
{
	struct contract_peers *p = mem_alloc(1, sizeof *p);
	AUTO_BUF struct buf hosts = { 0 };
	AUTO_BUF struct buf addresses = { 0 };
	char address[16];

	buf_adds(&addresses, "YARD_HOSTS=");
	buf_adds(&hosts,
		 "127.0.0.1 localhost\n::1 localhost ip6-localhost ip6-loopback\n");
	for (size_t i = 0; i < j->task_count; i++) {
		const struct task *t = &j->tasks[i];
		placement_address(t->place.slot, address);
		buf_adds(&addresses, i ? "," : "");
		buf_adds(&addresses, address);
		buf_adds(&hosts, address);
		buf_addc(&hosts, ' ');
		scene_host_name(&hosts, j, (int)i, yard);
		buf_addc(&hosts, ' ');
		if (j->spec->contract != SPEC_NATIVE) {
			add_long_name(&hosts, j, t);
			buf_addc(&hosts, ' ');
		}
		add_short_name(&hosts, j, t);
		buf_addc(&hosts, '\n');
	}
	p->hosts_file = shared_create(hosts.data, hosts.len);
	p->addresses = shared_create(addresses.data, addresses.len);
	p->tf_cluster = meet_cluster(j);
	packages_list(j, requirements, p);
	return p;
}

void contract_peers_destroy(struct contract_peers *p)
{
	if (!p)
		return;
	shared_unref(p->hosts_file);
	shared_unref(p->addresses);
	shared_unref(p->packages);
	free(p->tf_cluster);
	free(p->gave_way);
	free(p);
}
