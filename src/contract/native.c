// SPDX-License-Identifier: Apache-2.0
/* The native contract.  Later in order wins: defaults, the role's own variables, then
 * YARD_*, which the check keeps out of roles. */
#include <inttypes.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/units.h"
#include "contract/contract.h"

#define HOST_NAME_MAX_BYTES 63 /* RFC 1035: one label */
#define MASTER_PORT_NAME    "master"
#define MASTER_PORT         29500 /* on rank 0's own address, so nobody else has it */
#define PIDS_MAX            4096
#define DEFAULT_PATH        "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

/* What everything below needs to know of one task. */
struct view {
	const struct job *job;
	const struct task *task;
	const struct role *role;
	int rank;
	struct bundle *b;
};

__attribute__((format(printf, 3, 4))) static void set(struct view *v, const char *name,
						      const char *fmt, ...)
{
	AUTO_BUF struct buf text = { 0 };
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(&text, fmt, ap);
	va_end(ap);
	pairs_set(&v->b->env, name, buf_str(&text));
}

__attribute__((format(printf, 4, 5))) static void
set_for(struct view *v, const char *prefix, const char *name, const char *fmt, ...)
{
	AUTO_FREE char *variable = spec_variable(prefix, name);
	AUTO_BUF struct buf text = { 0 };
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(&text, fmt, ap);
	va_end(ap);
	pairs_set(&v->b->env, variable, buf_str(&text));
}

/* Letters, digits and '-', small, neither first nor last a '-': a label of a host name. */
static void add_label(struct buf *out, const char *name, size_t most)
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

static const struct role *role_of(const struct job *j, const struct task *t)
{
	return &j->spec->roles[t->role];
}

/* "worker-3": how the tasks of one job know each other. */
static void add_short_name(struct buf *out, const struct job *j, const struct task *t)
{
	add_label(out, role_of(j, t)->name, HOST_NAME_MAX_BYTES);
	buf_printf(out, "-%d", t->index);
}

/* "<job>-<role>-<index>": the job's name gives way when it is too long. */
static void add_host_name(struct buf *out, const struct job *j, const struct task *t)
{
	AUTO_BUF struct buf tail = { 0 };

	add_short_name(&tail, j, t);
	add_label(out, j->spec->name, HOST_NAME_MAX_BYTES - 1 - tail.len);
	buf_printf(out, "-%s", buf_str(&tail));
}

struct contract_peers {
	struct shared *hosts_file; /* /etc/hosts */
	struct shared *addresses;  /* YARD_HOSTS: by rank, with commas */
};

struct contract_peers *contract_peers_create(const struct job *j)
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
		add_host_name(&hosts, j, t);
		buf_addc(&hosts, ' ');
		add_short_name(&hosts, j, t);
		buf_addc(&hosts, '\n');
	}
	p->hosts_file = shared_create(hosts.data, hosts.len);
	p->addresses = shared_create(addresses.data, addresses.len);
	return p;
}

void contract_peers_destroy(struct contract_peers *p)
{
	if (!p)
		return;
	shared_unref(p->hosts_file);
	shared_unref(p->addresses);
	free(p);
}

static void add_peers(struct view *v, const struct contract_peers *p)
{
	v->b->env_peers = shared_ref(p->addresses);
	bundle_file(v->b, "/etc/hosts", shared_ref(p->hosts_file));
}

/* The (first) number that placement gave to the port of this name; 0: there is none. */
static int first_port(const struct role *r, const struct placement *p, const char *name)
{
	int at = 0;

	for (size_t i = 0; i < r->port_count; at += r->ports[i++].count)
		if (str_eq(r->ports[i].name, name) && at < p->port_count)
			return p->ports[at];
	return 0;
}

static void set_ports(struct view *v)
{
	const struct role *r = v->role;
	const struct placement *p = &v->task->place;
	int at = 0;

	for (size_t i = 0; i < r->port_count; i++) {
		AUTO_BUF struct buf list = { 0 };
		for (int k = 0; k < r->ports[i].count && at < p->port_count; k++)
			buf_printf(&list, "%s%d", k ? "," : "", p->ports[at++]);
		set_for(v, "YARD_PORT_", r->ports[i].name, "%s", buf_str(&list));
	}
}

static void set_services(struct view *v)
{
	const struct spec *s = v->job->spec;
	char address[16];

	for (size_t i = 0; i < s->service_count; i++) {
		int rank = job_rank(v->job, s->services[i].role, 0);
		const struct task *t = rank < 0 ? NULL : &v->job->tasks[rank];
		if (!t)
			continue;
		placement_address(t->place.slot, address);
		set_for(v, "YARD_SERVICE_", s->services[i].name, "%s:%d", address,
			first_port(role_of(v->job, t), &t->place, s->services[i].port));
	}
}

static void set_devices(struct view *v)
{
	char share[UNITS_TEXT_MAX];

	for (int i = 0; i < DEVICE_KINDS_MAX && v->task->place.devices[i].type[0]; i++) {
		const char *type = v->task->place.devices[i].type;
		uint64_t mask = v->task->place.devices[i].mask;
		AUTO_BUF struct buf list = { 0 };
		for (int k = 0; k < DEVICES_MAX; k++)
			if (mask >> k & 1)
				buf_printf(&list, "%s%d", list.len ? "," : "", k);
		set_for(v, "YARD_DEVICES_", type, "%s", buf_str(&list));
		if (v->task->place.devices[i].share_milli)
			set(v, "YARD_DEVICE_SHARE", "%s",
			    units_show_cpu(v->task->place.devices[i].share_milli, share));
		if (str_eq(type, "gpu") || str_starts(type, "gpu:"))
			set(v, "CUDA_VISIBLE_DEVICES", "%s", buf_str(&list));
	}
}

/* What torch.distributed and its like look for; only where there is somebody to talk to. */
static void set_rendezvous(struct view *v)
{
	const struct task *first = &v->job->tasks[0];
	int port = first_port(role_of(v->job, first), &first->place, MASTER_PORT_NAME);
	char address[16];

	if (v->job->task_count < 2)
		return;
	placement_address(first->place.slot, address);
	set(v, "MASTER_ADDR", "%s", address);
	set(v, "MASTER_PORT", "%d", port ? port : MASTER_PORT);
	set(v, "RANK", "%d", v->rank);
	set(v, "WORLD_SIZE", "%zu", v->job->task_count);
}

static void set_defaults(struct view *v, const char *user_path)
{
	AUTO_BUF struct buf home = { 0 };

	buf_adds(&home, "/home/");
	add_label(&home, v->job->owner, HOST_NAME_MAX_BYTES);
	if (str_eq(buf_str(&home), "/home/"))
		buf_adds(&home, "user");
	set(v, "HOME", "%s", buf_str(&home));
	set(v, "USER", "%s", v->job->owner);
	set(v, "LOGNAME", "%s", v->job->owner);
	set(v, "PATH", "%s", user_path ? user_path : DEFAULT_PATH);
	set(v, "SHELL", "/bin/sh");
	set(v, "LANG", "C.UTF-8");
	set(v, "TMPDIR", "/tmp");
	/* Else nothing of a Python program is seen until its buffer is full. */
	set(v, "PYTHONUNBUFFERED", "1");
	set_rendezvous(v);
}

static void set_yard(struct view *v)
{
	char address[16];

	set(v, "YARD_JOB_ID", "%" PRId64, v->job->id);
	set(v, "YARD_JOB_NAME", "%s", v->job->spec->name);
	if (v->job->array) {
		set(v, "YARD_ARRAY_ID", "%" PRId64, v->job->array);
		set(v, "YARD_ARRAY_INDEX", "%" PRId64, v->job->index);
		set(v, "YARD_ARRAY_COUNT", "%" PRId64, v->job->array_count);
	}
	set(v, "YARD_ROLE", "%s", v->role->name);
	set(v, "YARD_TASK_INDEX", "%d", v->task->index);
	set(v, "YARD_RANK", "%d", v->rank);
	set(v, "YARD_WORLD_SIZE", "%zu", v->job->task_count);
	set(v, "YARD_ATTEMPT", "%d", v->job->attempt);
	placement_address(v->task->place.slot, address);
	set(v, "YARD_ADDRESS", "%s", address);
	set(v, "YARD_HYPERPARAMETERS", CONTRACT_HYPERPARAMETERS);
	set_ports(v);
	set_services(v);
}

/* How a stop is told, how long it waits, and what an earlier attempt left to go on from. */
static void set_stop(struct view *v, const struct contract_places *p)
{
	const struct spec *s = v->job->spec;
	AUTO_BUF struct buf grace = { 0 };
	AUTO_BUF struct buf most = { 0 };

	contract_seconds(s->grace_ms, &grace);
	contract_seconds(s->grace_max_ms, &most);
	set(v, "YARD_STOP_FILE", CONTRACT_STOP_FILE);
	set(v, "YARD_GRACE", "%s", buf_str(&grace));
	set(v, "YARD_GRACE_MAX", "%s", buf_str(&most));
	v->b->stop_file = mem_strdup(CONTRACT_STOP_FILE);
	bundle_mount(v->b, MOUNT_DIR, CONTRACT_STOP_FOLDER, NULL);
	if (p->resume)
		set(v, "YARD_RESUME_FROM", "%s/" CONTRACT_CHECKPOINTS "/%s",
		    p->resume_input ? CONTRACT_INPUT : CONTRACT_OUTPUT, p->resume);
}

/* The storage tree comes first: what the job asks for may lie on top of it. */
static void add_storage(struct view *v, const struct contract_places *p)
{
	for (size_t i = 0; i < p->folder_count; i++) {
		const struct contract_folder *f = &p->folders[i];

		bundle_mount(v->b, f->kind, f->target, f->source)->range = f->range;
	}
}

static void add_folders(struct view *v, const struct contract_places *p)
{
	const struct spec *s = v->job->spec;

	bundle_mount(v->b, p->code ? MOUNT_SCRATCH : MOUNT_DIR, CONTRACT_CODE, p->code);
	for (size_t i = 0; i < s->input_count; i++) {
		AUTO_FREE char *target =
			str_printf(CONTRACT_INPUT "/%s", s->inputs[i].name);
		bundle_mount(v->b, MOUNT_BIND_RO, target, p->inputs[i]);
		set_for(v, "YARD_INPUT_", s->inputs[i].name, "%s", target);
	}
	for (size_t i = 0; i < s->output_count; i++) {
		AUTO_FREE char *target =
			str_printf(CONTRACT_OUTPUT "/%s", s->outputs[i].name);
		bundle_mount(v->b, MOUNT_BIND_RW, target, p->outputs[i]);
		set_for(v, "YARD_OUTPUT_", s->outputs[i].name, "%s", target);
	}
}

static void add_hyperparameters(struct view *v)
{
	const struct pairs *p = &v->job->spec->hyperparameters;
	AUTO_BUF struct buf text = { 0 };
	struct json j;

	json_init(&j, &text);
	json_object(&j, NULL);
	for (size_t i = 0; i < p->count; i++)
		json_raw(&j, p->items[i].key, p->items[i].value);
	json_end(&j);
	buf_addc(&text, '\n');
	bundle_file(v->b, CONTRACT_HYPERPARAMETERS, shared_create(text.data, text.len));
}

static void copy_command(struct view *v)
{
	v->b->argv = mem_alloc(v->role->argc + 1, sizeof *v->b->argv);
	for (size_t i = 0; i < v->role->argc; i++)
		v->b->argv[i] = mem_strdup(v->role->argv[i]);
	v->b->argc = v->role->argc;
}

struct bundle *contract_bundle(const struct job *j, int rank,
			       const struct contract_places *p)
{
	const struct task *t = &j->tasks[rank];
	struct view v = { .job = j, .task = t, .role = role_of(j, t), .rank = rank };
	struct contract_peers *own = p->peers ? NULL : contract_peers_create(j);
	AUTO_BUF struct buf host = { 0 };

	v.b = bundle_create(
		(struct task_ref){ .job = j->id, .task = rank, .attempt = j->attempt });
	v.b->folder = mem_strdup(p->attempt_folder);
	add_host_name(&host, j, t);
	v.b->hostname = buf_take(&host);
	v.b->workdir = mem_strdup(CONTRACT_CODE);
	v.b->limits = v.role->each;
	v.b->place = t->place;
	v.b->shm_bytes = v.role->shm_bytes;
	v.b->pids_max = PIDS_MAX;
	v.b->uid_base = p->uid_base;
	v.b->uid_count = p->uid_count;
	v.b->owner_uid = j->owner_uid;
	copy_command(&v);
	set_defaults(&v, p->user_path);
	set_devices(&v);
	for (size_t i = 0; i < v.role->env.count; i++)
		pairs_set(&v.b->env, v.role->env.items[i].key,
			  v.role->env.items[i].value);
	set_yard(&v);
	set_stop(&v, p);
	add_storage(&v, p);
	add_folders(&v, p);
	add_hyperparameters(&v);
	add_peers(&v, p->peers ? p->peers : own);
	contract_peers_destroy(own);
	return v.b;
}
