// SPDX-License-Identifier: Apache-2.0
/* harness.h - one process engine under test: starts tasks by number and waits for them. */
#pragma once

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "engine/engine.h"
#include "fake_shim.h"
#include "tap.h"

#define TASKS_MAX   256
#define PATIENCE_MS 20000

struct seen {
	int started, exited;
	struct task_exit exit;
};

static struct {
	struct world *world;
	struct engine *engine;
	struct engine_process_config config;
	char state[64];
	struct seen seen[TASKS_MAX];
	int next, nodes;
	int wait_started, wait_exited; /* leave the loop once this task has */
	bool late;
} t;

static void on_started(void *arg, const struct task_ref *ref)
{
	(void)arg;
	t.seen[ref->job].started++;
	if (t.wait_started == ref->job)
		world_stop(t.world);
}

static void on_exited(void *arg, const struct task_ref *ref, const struct task_exit *exit)
{
	(void)arg;
	t.seen[ref->job].exited++;
	t.seen[ref->job].exit = *exit;
	if (t.wait_exited == ref->job)
		world_stop(t.world);
}

static void on_node(void *arg, const struct node *n)
{
	(void)arg;
	t.nodes += n->up && n->capacity.cpu_milli >= 1000 &&
		   n->capacity.memory_bytes > 1 << 20;
}

static void on_late(void *arg)
{
	(void)arg;
	t.late = true;
	world_stop(t.world);
}

static bool run(int64_t ms)
{
	struct world_timer *timer = world_timer_create(t.world, on_late, NULL);

	t.late = false;
	world_timer_at(timer, world_mono_ms(t.world) + ms);
	world_run(t.world);
	world_timer_destroy(timer);
	t.wait_started = t.wait_exited = -1;
	return !t.late;
}

static bool until_started(int i)
{
	t.wait_started = i;
	return t.seen[i].started || run(PATIENCE_MS);
}

static bool until_exited(int i)
{
	t.wait_exited = i;
	return t.seen[i].exited || run(PATIENCE_MS);
}

static bool engine_up(void)
{
	const struct engine_sink sink = { NULL, on_started, on_exited, on_node };
	struct err err;

	t.engine = engine_process_create(t.world, &t.config, &sink, &err);
	if (t.engine)
		t.engine->ops->begin(t.engine);
	return t.engine != NULL;
}

static void engine_down(void)
{
	t.engine->ops->destroy(t.engine);
	t.engine = NULL;
}

static struct task_ref ref_of(int i)
{
	return (struct task_ref){ .job = i, .task = 0, .attempt = 1 };
}

static const char *folder_of(int i)
{
	static char folder[128];

	snprintf(folder, sizeof folder, "%s/jobs/0/%d/task-0/attempt-1", t.state, i);
	return folder;
}

static void pairs_put(struct pairs *p, const char *key, const char *value)
{
	mem_grow(&p->items, &p->cap, p->count, sizeof *p->items);
	p->items[p->count++] = (struct pair){ mem_strdup(key), mem_strdup(value) };
}

static struct bundle *bundle_of(int i, const char *a0, const char *a1, const char *a2)
{
	struct bundle *b = bundle_create(ref_of(i));
	const char *args[] = { a0, a1, a2 };

	b->folder = mem_strdup(folder_of(i));
	b->hostname = mem_strdup("test-main-0");
	b->workdir = mem_strdup("/tmp");
	b->argv = mem_alloc(4, sizeof *b->argv);
	for (; b->argc < 3 && args[b->argc]; b->argc++)
		b->argv[b->argc] = mem_strdup(args[b->argc]);
	pairs_put(&b->env, "PATH", "/usr/local/bin:/usr/bin:/bin");
	pairs_put(&b->env, "HOME", "/tmp");
	b->limits = (struct resources){ .cpu_milli = 1000, .memory_bytes = 256 << 20 };
	b->place.slot = i + 1;
	b->shm_bytes = 1 << 20;
	b->log_limit_bytes = 1 << 20;
	b->pids_max = 64;
	if (geteuid() == 0 && getenv("YARD_SHIM")) {
		b->uid_base = 1000000;
		b->uid_count = 65536;
	}
	return b;
}

static int start(const char *a0, const char *a1, const char *a2)
{
	int i = t.next++;

	t.engine->ops->start(t.engine, bundle_of(i, a0, a1, a2));
	return i;
}

static int start_sh(const char *script)
{
	return start("/bin/sh", "-c", script);
}

static void stop(int i, bool kill)
{
	struct task_ref r = ref_of(i);

	t.engine->ops->stop(t.engine, &r, kill ? NULL : "{}");
}

/* The live shim of a task, by its mark. */
static pid_t shim_pid(int i)
{
	AUTO_BUF struct buf b = { 0 };
	struct shim_mark mark = { 0 };
	struct err err;
	char path[160];

	snprintf(path, sizeof path, "%s/mark", folder_of(i));
	fake_read(path, &b);
	if (shim_mark_decode(buf_str(&b), b.len, &mark, &err) < 0)
		return 0;
	return (pid_t)mark.pid;
}

static void open_test(const char *shim)
{
	struct err err;

	memset(&t, 0, sizeof t);
	t.wait_started = t.wait_exited = -1;
	snprintf(t.state, sizeof t.state, "/tmp/yard-engine-XXXXXX");
	if (!mkdtemp(t.state) || chmod(t.state, 0711) < 0)
		exit(1);
	t.world = world_uv_create(&err);
	t.config = (struct engine_process_config){ .shim_path = shim,
						   .state_dir = t.state,
						   .node_name = "here" };
	OK(engine_up() && t.nodes == 1, "an engine comes up and tells its node");
}

static void close_test(void)
{
	char command[128];

	engine_down();
	world_destroy(t.world);
	snprintf(command, sizeof command, "rm -rf '%s'", t.state);
	if (system(command) != 0)
		printf("# %s is left\n", t.state);
}
