// SPDX-License-Identifier: Apache-2.0
/* How tasks meet: what torch.distributed, its launchers and TensorFlow look for.
 *
 * RANK and WORLD_SIZE count tasks, as launchers that make processes of their own want them.
 * With a process a device they count processes, as torch itself does: those of rank 0's
 * task first. */
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "contract/scene.h"

#define MASTER_PORT_NAME "master"
#define TF_PORT_NAME     "tf"
/* On a task's own address, so nobody else has them. */
#define MASTER_PORT           29500
#define ESTIMATOR_MASTER_PORT 23456
#define TF_PORT               2222
#define TF_TASKS_MAX          1024 /* each of them is told of all */

static int processes_of(const struct job *j, const struct task *t)
{
	int devices = scene_role(j, t)->per_device ? scene_devices(t) : 1;

	return devices > 0 ? devices : 1;
}

static int processes_before(const struct job *j, int rank)
{
	int n = 0;

	for (int i = 0; i < rank; i++)
		n += processes_of(j, &j->tasks[i]);
	return n;
}

static void set_master(struct scene *v)
{
	const struct task *first = &v->job->tasks[0];
	bool estimator = v->job->spec->contract == SPEC_ESTIMATOR;
	int port = scene_port(scene_role(v->job, first), &first->place, MASTER_PORT_NAME);
	AUTO_BUF struct buf name = { 0 };
	char address[16];

	if (!port)
		port = estimator ? ESTIMATOR_MASTER_PORT : MASTER_PORT;
	placement_address(first->place.slot, address);
	if (estimator)
		scene_host_name(&name, v->job, 0, v->places->yard);
	scene_set(v, "MASTER_ADDR", "%s", estimator ? buf_str(&name) : address);
	scene_set(v, "MASTER_PORT", "%d", port);
}

/* How many processes a launcher is to start here: torchrun --nproc-per-node. */
static void set_per_node(struct scene *v)
{
	int devices = scene_devices(v->task);

	if (devices == 0 && v->job->spec->contract == SPEC_NATIVE)
		devices = 1;
	scene_set(v, "NPROC_PER_NODE", "%d", devices);
}

/* TensorFlow's words for the roles that have a meaning to it, or NULL. */
static const char *tf_type(const char *role)
{
	static const struct {
		const char *role, *type;
	} types[] = { { "chief", "chief" },
		      { "master", "chief" },
		      { "worker", "worker" },
		      { "ps", "ps" },
		      { "evaluator", "evaluator" } };

	for (size_t i = 0; i < COUNT_OF(types); i++)
		if (str_eq(types[i].role, role))
			return types[i].type;
	return NULL;
}

static bool is_tf(const struct job *j)
{
	for (size_t i = 0; i < j->spec->role_count; i++)
		if (!tf_type(j->spec->roles[i].name))
			return false;
	return j->task_count > 1 && j->task_count <= TF_TASKS_MAX;
}

/* The evaluator watches from outside: it is no part of the cluster. */
static void put_cluster(struct json *j, const struct job *job)
{
	json_object(j, NULL);
	for (size_t r = 0; r < job->spec->role_count; r++) {
		const struct role *role = &job->spec->roles[r];
		const char *type = tf_type(role->name);
		if (strcmp(type, "evaluator") == 0)
			continue;
		json_array(j, type);
		for (size_t i = 0; i < job->task_count; i++) {
			const struct task *t = &job->tasks[i];
			int port = scene_port(role, &t->place, TF_PORT_NAME);
			char address[16];
			if ((size_t)t->role != r)
				continue;
			placement_address(t->place.slot, address);
			AUTO_FREE char *text =
				str_printf("%s:%d", address, port ? port : TF_PORT);
			json_str(j, NULL, text);
		}
		json_end(j);
	}
	json_end(j);
}

char *meet_cluster(const struct job *job)
{
	struct buf text = { 0 };
	struct json j;

	if (!is_tf(job))
		return NULL;
	json_init(&j, &text);
	put_cluster(&j, job);
	return buf_take(&text);
}

static void set_tf_config(struct scene *v)
{
	AUTO_BUF struct buf text = { 0 };
	struct json j;

	json_init(&j, &text);
	json_object(&j, NULL);
	json_raw(&j, "cluster", v->peers->tf_cluster);
	json_object(&j, "task");
	json_str(&j, "type", tf_type(v->role->name));
	json_i64(&j, "index", v->task->index);
	json_end(&j);
	json_str(&j, "environment", "cloud");
	json_end(&j);
	scene_set(v, "TF_CONFIG", "%s", buf_str(&text));
}

void meet_set(struct scene *v)
{
	const struct job *j = v->job;
	int last = (int)j->task_count - 1;
	bool estimator = j->spec->contract == SPEC_ESTIMATOR;

	set_per_node(v);
	/* Only where there is somebody to talk to; an estimator's job expects it always. */
	if (!estimator && last == 0 && processes_of(j, v->task) == 1)
		return;
	set_master(v);
	scene_set(v, "RANK", "%d", v->rank);
	scene_set(v, "WORLD_SIZE", "%zu", j->task_count);
	if (v->peers->tf_cluster)
		set_tf_config(v);
}

/* The number of the k-th device of the task. */
static int device_number(const struct task *t, int k)
{
	uint64_t mask = t->place.devices[0].mask;

	while (k-- > 0)
		mask &= mask - 1;
	return mask ? __builtin_ctzll(mask) : 0;
}

__attribute__((format(printf, 3, 4))) static void own(struct pairs *env, const char *name,
						      const char *fmt, ...)
{
	AUTO_BUF struct buf text = { 0 };
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(&text, fmt, ap);
	va_end(ap);
	pairs_set(env, name, buf_str(&text));
}

void meet_processes(struct scene *v)
{
	const struct job *j = v->job;
	int count = processes_of(j, v->task), first, world;

	if (!v->role->per_device)
		return;
	first = processes_before(j, v->rank);
	world = processes_before(j, (int)j->task_count);
	for (int i = 0; i < count; i++) {
		struct pairs *env = bundle_process(v->b);

		own(env, "LOCAL_RANK", "%d", i);
		own(env, "LOCAL_WORLD_SIZE", "%d", count);
		own(env, "RANK", "%d", first + i);
		own(env, "WORLD_SIZE", "%d", world);
		own(env, "GROUP_RANK", "%d", v->rank);
		/* All see all devices of the task: LOCAL_RANK is the number of one's own
		 * among them, as with torchrun. */
		own(env, "YARD_DEVICE", "%d", device_number(v->task, i));
	}
}
