// SPDX-License-Identifier: Apache-2.0
/* The native contract, and what all contracts have in common.  Later in order wins:
 * defaults, those of an estimator's job, the role's own variables, then YARD_*, which the
 * check keeps out of roles. */
#include <inttypes.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/units.h"
#include "contract/scene.h"

#define PIDS_MAX      4096
#define HOME_NAME_MAX 63
#define DEFAULT_PATH  "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

static void add_peers(struct scene *v)
{
	v->b->env_peers = shared_ref(v->peers->addresses);
	bundle_file(v->b, "/etc/hosts", shared_ref(v->peers->hosts_file));
}

static void set_ports(struct scene *v)
{
	const struct role *r = v->role;
	const struct placement *p = &v->task->place;
	int at = 0;

	for (size_t i = 0; i < r->port_count; i++) {
		AUTO_BUF struct buf list = { 0 };
		for (int k = 0; k < r->ports[i].count && at < p->port_count; k++)
			buf_printf(&list, "%s%d", k ? "," : "", p->ports[at++]);
		scene_set_for(v, "YARD_PORT_", r->ports[i].name, "%s", buf_str(&list));
	}
}

static void set_services(struct scene *v)
{
	const struct spec *s = v->job->spec;
	char address[16];

	for (size_t i = 0; i < s->service_count; i++) {
		int rank = job_rank(v->job, s->services[i].role, 0);
		const struct task *t = rank < 0 ? NULL : &v->job->tasks[rank];
		if (!t)
			continue;
		placement_address(t->place.slot, address);
		scene_set_for(v, "YARD_SERVICE_", s->services[i].name, "%s:%d", address,
			      scene_port(scene_role(v->job, t), &t->place,
					 s->services[i].port));
	}
}

static void set_devices(struct scene *v)
{
	char share[UNITS_TEXT_MAX];

	for (int i = 0; i < DEVICE_KINDS_MAX && v->task->place.devices[i].type[0]; i++) {
		const char *type = v->task->place.devices[i].type;
		uint64_t mask = v->task->place.devices[i].mask;
		AUTO_BUF struct buf list = { 0 };
		for (int k = 0; k < DEVICES_MAX; k++)
			if (mask >> k & 1)
				buf_printf(&list, "%s%d", list.len ? "," : "", k);
		scene_set_for(v, "YARD_DEVICES_", type, "%s", buf_str(&list));
		if (v->task->place.devices[i].share_milli)
			scene_set(v, "YARD_DEVICE_SHARE", "%s",
				  units_show_cpu(v->task->place.devices[i].share_milli,
						 share));
		if (str_eq(type, "gpu") || str_starts(type, "gpu:"))
			scene_set(v, "CUDA_VISIBLE_DEVICES", "%s", buf_str(&list));
	}
}

static void set_defaults(struct scene *v, const char *user_path)
{
	AUTO_BUF struct buf home = { 0 };

	buf_adds(&home, "/home/");
	scene_label(&home, v->job->owner, HOME_NAME_MAX);
	if (str_eq(buf_str(&home), "/home/"))
		buf_adds(&home, "user");
	scene_set(v, "HOME", "%s", buf_str(&home));
	scene_set(v, "USER", "%s", v->job->owner);
	scene_set(v, "LOGNAME", "%s", v->job->owner);
	scene_set(v, "PATH", "%s", user_path ? user_path : DEFAULT_PATH);
	scene_set(v, "SHELL", "/bin/sh");
	scene_set(v, "LANG", "C.UTF-8");
	scene_set(v, "TMPDIR", "/tmp");
	/* Else nothing of a Python program is seen until its buffer is full. */
	scene_set(v, "PYTHONUNBUFFERED", "1");
	meet_set(v);
}

static void set_yard(struct scene *v)
{
	char address[16];

	scene_set(v, "YARD_JOB_ID", "%" PRId64, v->job->id);
	scene_set(v, "YARD_JOB_NAME", "%s", v->job->spec->name);
	if (v->job->array) {
		scene_set(v, "YARD_ARRAY_ID", "%" PRId64, v->job->array);
		scene_set(v, "YARD_ARRAY_INDEX", "%" PRId64, v->job->index);
		scene_set(v, "YARD_ARRAY_COUNT", "%" PRId64, v->job->array_count);
	}
	scene_set(v, "YARD_ROLE", "%s", v->role->name);
	scene_set(v, "YARD_TASK_INDEX", "%d", v->task->index);
	scene_set(v, "YARD_RANK", "%d", v->rank);
	scene_set(v, "YARD_WORLD_SIZE", "%zu", v->job->task_count);
	scene_set(v, "YARD_ATTEMPT", "%d", v->job->attempt);
	placement_address(v->task->place.slot, address);
	scene_set(v, "YARD_ADDRESS", "%s", address);
	scene_set(v, "YARD_HYPERPARAMETERS", CONTRACT_HYPERPARAMETERS);
	set_ports(v);
	set_services(v);
}

/* How a stop is told, how long it waits, and what an earlier attempt left to go on from. */
static void set_stop(struct scene *v, const struct contract_places *p)
{
	const struct spec *s = v->job->spec;
	AUTO_BUF struct buf grace = { 0 };
	AUTO_BUF struct buf most = { 0 };

	contract_seconds(s->grace_ms, &grace);
	contract_seconds(s->grace_max_ms, &most);
	scene_set(v, "YARD_STOP_FILE", CONTRACT_STOP_FILE);
	scene_set(v, "YARD_GRACE", "%s", buf_str(&grace));
	scene_set(v, "YARD_GRACE_MAX", "%s", buf_str(&most));
	v->b->stop_file = mem_strdup(CONTRACT_STOP_FILE);
	bundle_mount(v->b, MOUNT_DIR, CONTRACT_STOP_FOLDER, NULL);
	if (p->resume)
		scene_set(v, "YARD_RESUME_FROM", "%s/" CONTRACT_CHECKPOINTS "/%s",
			  p->resume_input ? CONTRACT_INPUT : CONTRACT_OUTPUT, p->resume);
}

/* The storage tree comes first: what the job asks for may lie on top of it. */
static void add_storage(struct scene *v, const struct contract_places *p)
{
	for (size_t i = 0; i < p->folder_count; i++) {
		const struct contract_folder *f = &p->folders[i];

		bundle_mount(v->b, f->kind, f->target, f->source)->range = f->range;
	}
}

static void add_folders(struct scene *v, const struct contract_places *p)
{
	const struct spec *s = v->job->spec;

	enum mount_kind code = !p->code       ? MOUNT_DIR
			       : p->code_bind ? MOUNT_SCRATCH_OF
					      : MOUNT_SCRATCH;

	bundle_mount(v->b, code, CONTRACT_CODE, p->code)->range =
		p->code_bind ? p->code_bind->range : -1;
	for (size_t i = 0; i < s->input_count; i++) {
		/* One file: it is the input itself; an estimator finds it in a folder. */
		const char *file = s->contract == SPEC_ESTIMATOR && p->input_files
					   ? p->input_files[i]
					   : NULL;
		AUTO_FREE char *target =
			str_printf(CONTRACT_INPUT "/%s%s%s", s->inputs[i].name,
				   file ? "/" : "", file ? file : "");
		const struct bind *bind = p->input_binds ? &p->input_binds[i] : NULL;
		bundle_mount(v->b, bind && bind->ours ? MOUNT_OURS_RO : MOUNT_BIND_RO,
			     target, p->inputs[i])
			->range = bind ? bind->range : -1;
		scene_set_for(v, "YARD_INPUT_", s->inputs[i].name, "%s", target);
	}
	for (size_t i = 0; i < s->output_count; i++) {
		AUTO_FREE char *target =
			str_printf(CONTRACT_OUTPUT "/%s", s->outputs[i].name);
		bundle_mount(v->b, MOUNT_BIND_RW, target, p->outputs[i])->range =
			p->output_binds ? p->output_binds[i].range : -1;
		scene_set_for(v, "YARD_OUTPUT_", s->outputs[i].name, "%s", target);
	}
}

static void add_hyperparameters(struct scene *v)
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

static void set_role(struct scene *v)
{
	const struct pairs *env = &v->role->env;

	for (size_t i = 0; i < env->count; i++)
		pairs_set(&v->b->env, env->items[i].key, env->items[i].value);
}

static void copy_command(struct scene *v)
{
	v->b->argv = mem_alloc(v->role->argc + 1, sizeof *v->b->argv);
	for (size_t i = 0; i < v->role->argc; i++)
		v->b->argv[i] = mem_strdup(v->role->argv[i]);
	v->b->argc = v->role->argc;
}

/* Whose it is, where it runs, and with how much. */
static struct bundle *begin(const struct scene *v)
{
	const struct job *j = v->job;
	struct bundle *b = bundle_create((struct task_ref){
		.job = j->id, .task = v->rank, .attempt = j->attempt });
	AUTO_BUF struct buf host = { 0 };

	b->folder = mem_strdup(v->places->attempt_folder);
	scene_host_name(&host, j, v->rank, v->places->yard);
	b->hostname = buf_take(&host);
	b->workdir = mem_strdup(CONTRACT_CODE);
	b->limits = v->role->each;
	b->place = v->task->place;
	b->shm_bytes = v->role->shm_bytes;
	b->pids_max = PIDS_MAX;
	b->uid_base = v->places->uid_base;
	b->uid_count = v->places->uid_count;
	b->owner_uid = j->owner_uid;
	return b;
}

struct bundle *contract_bundle(const struct job *j, int rank,
			       const struct contract_places *p)
{
	const struct task *t = &j->tasks[rank];
	struct scene v = {
		.job = j, .task = t, .role = scene_role(j, t), .rank = rank, .places = p
	};
	struct contract_peers *own =
		p->peers ? NULL : contract_peers_create(j, p->yard, p->requirements);
	bool estimator = j->spec->contract == SPEC_ESTIMATOR;

	v.peers = p->peers ? p->peers : own;
	v.b = begin(&v);
	copy_command(&v);
	set_defaults(&v, p->user_path);
	set_devices(&v);
	if (estimator)
		estimator_set(&v);
	else
		add_hyperparameters(&v);
	set_role(&v);
	if (estimator)
		estimator_set_ids(&v);
	set_yard(&v);
	set_stop(&v, p);
	add_storage(&v, p);
	add_folders(&v, p);
	packages_add(&v);
	meet_processes(&v);
	add_peers(&v);
	contract_peers_destroy(own);
	return v.b;
}
