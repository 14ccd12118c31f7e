// SPDX-License-Identifier: Apache-2.0
/* What the machine has, and how a bundle becomes the shim's task. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "engine/convert.h"
#include "engine/homes.h"
#include "tap.h"

static char root[64];

static const char *at(const char *path)
{
	static char full[4][256];
	static int turn;
	char *out = full[turn++ % 4];

	snprintf(out, sizeof full[0], "%s%s", root, path);
	return out;
}

static void folder(const char *path)
{
	char full[256];

	snprintf(full, sizeof full, "%s%s/", root, path);
	for (char *p = full + 1; (p = strchr(p, '/')); p++) {
		*p = '\0';
		mkdir(full, 0700);
		*p = '/';
	}
}

static void file(const char *path)
{
	int fd = open(at(path), O_WRONLY | O_CREAT | O_CLOEXEC, 0755);

	if (fd >= 0)
		close(fd);
}

static void pairs_put(struct pairs *p, const char *key, const char *value)
{
	mem_grow(&p->items, &p->cap, p->count, sizeof *p->items);
	p->items[p->count++] = (struct pair){ mem_strdup(key), mem_strdup(value) };
}

static void devices(void)
{
	struct engine_process_config c = { .node_name = "n",
					   .cpu_milli = 1500,
					   .memory_bytes = 77 };
	static const char *const nodes[] = {
		"nvidia10", "nvidia2",         "nvidia0", "nvidiactl", "nvidia-uvm",
		"davinci3", "davinci_manager", "nvidia",  "nvidia1x"
	};
	struct machine m;
	struct placement p = { 0 };
	struct shim_list list = { 0 };

	folder("/dev");
	machine_discover(&c, at("/dev"), &m);
	OK(m.node.up && m.node.capacity.cpu_milli == 1500 &&
		   m.node.capacity.memory_bytes == 77,
	   "a node has what it is said to have");
	IS_INT(resources_device(&m.node.capacity, "gpu"), 0,
	       "and no devices where there are none");
	for (size_t i = 0; i < COUNT_OF(nodes); i++) {
		char path[64];

		snprintf(path, sizeof path, "/dev/%s", nodes[i]);
		file(path);
	}
	machine_discover(&c, at("/dev"), &m);
	IS_INT(resources_device(&m.node.capacity, "gpu"), 3,
	       "device nodes with a number are devices");
	IS_INT(resources_device(&m.node.capacity, "npu"), 1, "of either maker");
	OK(!m.node.simulated_devices, "and are real");
	snprintf(p.devices[0].type, sizeof p.devices[0].type, "gpu");
	p.devices[0].mask = 0x5;
	machine_devices(&m, &p, &list);
	OK(list.count >= 2, "a placement of two shows two");
	IS(list.items[0], "/dev/nvidia0", "the first by number");
	IS(list.items[1], "/dev/nvidia10", "and the third");
	for (size_t i = 0; i < list.count; i++)
		free(list.items[i]);
	free(list.items);

	c.simulated[0] = (struct device_count){ "gpu", 8 };
	c.simulated[1] = (struct device_count){ "gpu:a100", 200 };
	c.cpu_milli = c.memory_bytes = 0;
	list = (struct shim_list){ 0 };
	machine_discover(&c, at("/dev"), &m);
	IS_INT(resources_device(&m.node.capacity, "gpu"), 8,
	       "declared devices take the place of found ones");
	IS_INT(resources_device(&m.node.capacity, "gpu:a100"), DEVICES_MAX,
	       "up to the most a node can have");
	OK(m.node.simulated_devices, "and it is said that they are declared");
	machine_devices(&m, &p, &list);
	IS_INT((long long)list.count, 0, "there is nothing of them to show");
	OK(m.node.capacity.cpu_milli >= 1000 && m.node.capacity.memory_bytes > 1 << 20,
	   "what is not said is asked of the machine");
	free(list.items);
}

static bool shows(const struct shim_task *task, const char *path)
{
	for (size_t i = 0; i < task->mount_count; i++)
		if (str_eq(task->mounts[i].target, path))
			return task->mounts[i].kind == SHIM_BIND_RO &&
			       str_eq(task->mounts[i].source, path);
	return false;
}

static void homes(void)
{
	struct bundle *b = bundle_create((struct task_ref){ 1, 0, 1 });
	AUTO_FREE char *path = NULL;
	struct shim_task task;

	folder("/home/u/venv/bin");
	file("/home/u/venv/pyvenv.cfg");
	folder("/home/u/py/bin");
	folder("/home/u/py/lib");
	file("/home/u/py/bin/python3");
	if (symlink(at("/home/u/py/bin/python3"), at("/home/u/venv/bin/python3")) < 0)
		exit(1);
	folder("/home/u/.local/bin");
	folder("/home/u/.local/lib");
	folder("/home/u/.local/state/yard/bin");
	folder("/home/u/.cargo/bin");
	folder("/home/u/conda/envs/x");
	folder("/home/user2/bin");
	path = str_printf("/usr/bin:%s:%s/:%s::%s:%s:%s:%s", at("/home/u/venv/bin"),
			  at("/home/u/.local/bin"), at("/home/u/.cargo/bin"),
			  at("/home/u/not/there"), "relative", root, root);
	pairs_put(&b->env, "PATH", path);
	pairs_put(&b->env, "CONDA_PREFIX", at("/home/u/conda/envs/x"));
	pairs_put(&b->env, "VIRTUAL_ENV", at("/home/u/.local/state/yard/bin"));
	shim_task_init(&task);
	homes_mount(at("/home/u"), at("/home/u/.local/state/yard"), b, &task);
	OK(shows(&task, at("/home/u/venv")),
	   "an environment goes along whole when its bin is in PATH");
	OK(!shows(&task, at("/home/u/venv/bin")), "and once");
	OK(shows(&task, at("/home/u/py")), "with the Python it was made with");
	OK(shows(&task, at("/home/u/.local/bin")) &&
		   shows(&task, at("/home/u/.local/lib")),
	   "of ~/.local only bin and lib");
	OK(!shows(&task, at("/home/u/.local")), "not the rest of it");
	OK(shows(&task, at("/home/u/.cargo/bin")) && !shows(&task, at("/home/u/.cargo")),
	   "of others only the folder named");
	OK(shows(&task, at("/home/u/conda/envs/x")), "CONDA_PREFIX goes along");
	OK(!shows(&task, at("/home/u/.local/state/yard/bin")),
	   "the daemon's own state never does");
	IS_INT((long long)task.mount_count, 6, "and nothing else");
	shim_task_fini(&task);
	bundle_destroy(b);

	b = bundle_create((struct task_ref){ 1, 0, 1 });
	path = (free(path), str_printf("%s:%s:%s", at("/home/u/.local/.."),
				       at("/home/user2/bin"), at("/home/u")));
	pairs_put(&b->env, "PATH", path);
	pairs_put(&b->env, "VIRTUAL_ENV", at("/home/u/.local/../../user2"));
	shim_task_init(&task);
	homes_mount(at("/home/u"), at("/home/u/.local/state/yard"), b, &task);
	IS_INT((long long)task.mount_count, 0,
	       "neither the home itself nor anything outside of it");
	shim_task_fini(&task);
	bundle_destroy(b);
}

/* Something is to be installed: what was shown can be written, for this task alone. */
static void homes_written(void)
{
	struct bundle *b = bundle_create((struct task_ref){ 1, 0, 1 });
	struct shim_task task;
	int scratch = 0;

	pairs_put(&b->env, "PATH", at("/home/u/venv/bin"));
	b->pip_config = mem_strdup("/config/pip.conf");
	shim_task_init(&task);
	homes_mount(at("/home/u"), at("/home/u/.local/state/yard"), b, &task);
	for (size_t i = 0; i < task.mount_count; i++)
		scratch += task.mounts[i].kind == SHIM_SCRATCH;
	OK(task.mount_count == 2 && scratch == 2,
	   "the environment and its Python, both through overlays");
	shim_task_fini(&task);
	folder("/home/u/.pip");
	file("/home/u/.pip/pip.conf");
	shim_task_init(&task);
	homes_mount(at("/home/u"), at("/home/u/.local/state/yard"), b, &task);
	IS(task.mounts[2].target, "/config/pip.conf", "with pip's configuration");
	OK(task.mounts[2].kind == SHIM_BIND_RO, "to be read");
	IS(task.mounts[2].source, at("/home/u/.pip/pip.conf"), "from where it is");
	shim_task_fini(&task);
	folder("/home/u/.config/pip");
	file("/home/u/.config/pip/pip.conf");
	shim_task_init(&task);
	homes_mount(at("/home/u"), at("/home/u/.local/state/yard"), b, &task);
	IS(task.mounts[2].source, at("/home/u/.config/pip/pip.conf"),
	   "the newer place goes first");
	IS_INT((long long)task.mount_count, 3, "one of them");
	shim_task_fini(&task);
	bundle_destroy(b);
}

static void steps(void)
{
	struct bundle *b = bundle_create((struct task_ref){ 1, 0, 1 });
	struct machine m = { 0 };
	struct convert_context c = { &m, NULL, "/state", NULL };
	const char *argv[] = { "pip", "install" };
	struct shim_task task;

	b->argv = mem_alloc(1, sizeof *b->argv);
	pairs_put(&bundle_stage(b, "requirements", argv, 2)->env, "A", "1");
	pairs_put(bundle_process(b), "LOCAL_RANK", "0");
	pairs_put(bundle_process(b), "LOCAL_RANK", "1");
	bundle_note(b, "a %s", "note");
	convert_bundle(&c, b, &task);
	OK(task.stage_count == 1 && str_eq(task.stages[0].name, "requirements") &&
		   task.stages[0].argv.count == 2 &&
		   str_eq(task.stages[0].argv.items[1], "install") &&
		   str_eq(task.stages[0].env.items[0], "A=1"),
	   "stages, with arguments and variables");
	OK(task.process_count == 2 && str_eq(task.processes[1].items[0], "LOCAL_RANK=1"),
	   "processes");
	OK(task.notes.count == 1 && str_eq(task.notes.items[0], "a note"),
	   "what is to be told in the log");
	shim_task_fini(&task);
	bundle_destroy(b);
}

static void bundles(void)
{
	struct bundle *b = bundle_create((struct task_ref){ 12, 3, 2 });
	struct machine m = { 0 };
	struct convert_context c = { &m, "/cache", "/state", "/home/u" };
	struct shim_task task;

	b->folder = mem_strdup("/f");
	b->hostname = mem_strdup("h");
	b->workdir = mem_strdup("/w");
	b->argv = mem_alloc(2, sizeof *b->argv);
	b->argv[b->argc++] = mem_strdup("cmd");
	pairs_put(&b->env, "A", "b=c");
	bundle_mount(b, MOUNT_SCRATCH, "/ml/usercode", "/code");
	bundle_file(b, "/ml/x.json", shared_create("{}\0", 3));
	b->env_peers = shared_create("PEERS=a,b", 9);
	bundle_mount(b, MOUNT_DIR, "/empty", NULL);
	b->limits = (struct resources){ .cpu_milli = 1, .memory_bytes = 2 };
	b->shm_bytes = 3;
	b->pids_max = 4;
	b->log_limit_bytes = 5;
	b->uid_base = 6;
	b->uid_count = 7;
	convert_bundle(&c, b, &task);
	OK(task.job == 12 && task.rank == 3 && task.attempt == 2, "whose it is");
	IS(task.env.items[0], "A=b=c", "variables");
	IS(task.env.items[1], "PEERS=a,b", "and the one that bundles share");
	OK(str_eq(task.argv.items[0], "cmd") && task.argv.count == 1 &&
		   !task.argv.items[1],
	   "arguments");
	IS_INT((long long)task.mount_count, 3,
	       "mounts, and none of the home in root mode");
	OK(task.mounts[0].kind == SHIM_SCRATCH && str_eq(task.mounts[0].source, "/code"),
	   "in order");
	OK(task.mounts[1].kind == SHIM_FILE && task.mounts[1].content_len == 3,
	   "files with their bytes");
	OK(task.mounts[2].kind == SHIM_DIR && !task.mounts[2].source, "folders");
	OK(task.cpu_milli == 1 && task.memory_bytes == 2 && task.shm_bytes == 3 &&
		   task.pids_max == 4 && task.log_limit_bytes == 5 &&
		   task.uid_base == 6 && task.uid_count == 7,
	   "limits");
	IS_INT((long long)task.groups.count, 0,
	       "without an input no groups are asked for");
	shim_task_fini(&task);
	bundle_mount(b, MOUNT_BIND_RO, "/in", "/data");
	b->owner_uid = 1; /* "daemon" everywhere */
	convert_bundle(&c, b, &task);
	OK(task.groups.count > 0 && str_eq(task.groups.items[0], "1"),
	   "with one, those of its reader, its own first");
	shim_task_fini(&task);
	b->owner_uid = 4000000001;
	convert_bundle(&c, b, &task);
	OK(task.groups.count == 1 && str_eq(task.groups.items[0], "65534"),
	   "who is not known here is in nobody's");
	shim_task_fini(&task);
	bundle_destroy(b);
}

static void exits(void)
{
	struct shim_exit in = { .kind = SHIM_OOM,
				.code = 1,
				.signal = 9,
				.peak_bytes = 3,
				.limit_bytes = 4,
				.cpu_ms = 5,
				.text = "why",
				.stage = "requirements" };
	struct task_exit out;

	convert_exit(&in, &out);
	OK(out.kind == EXIT_OOM && out.code == 1 && out.signal == 9 &&
		   out.peak_bytes == 3 && out.limit_bytes == 4 && out.cpu_ms == 5 &&
		   str_eq(out.text, "why") && str_eq(out.stage, "requirements"),
	   "an exit arrives whole");
}

int main(void)
{
	char command[128];
	int rc;

	snprintf(root, sizeof root, "/tmp/yard-convert-XXXXXX");
	if (!mkdtemp(root))
		return 1;
	devices();
	homes();
	homes_written();
	steps();
	bundles();
	exits();
	snprintf(command, sizeof command, "rm -rf '%s'", root);
	rc = system(command);
	return rc ? 1 : END();
}
