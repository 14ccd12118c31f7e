// SPDX-License-Identifier: Apache-2.0
#include "shim/message.h"

#include <stdint.h>

#include "base/mem.h"
#include "base/str.h"
#include "tap.h"

static void fill(struct shim_task *t)
{
	struct shim_mount *m;
	struct shim_stage *stage;

	shim_task_init(t);
	t->job = INT64_MAX;
	t->rank = 3;
	t->attempt = 1;
	t->folder = mem_strdup("/state/jobs/0/1/task-3/attempt-1");
	t->cache = mem_strdup("/state/cache");
	t->hostname = mem_strdup("job-worker-3");
	t->workdir = mem_strdup("/ml/usercode");
	shim_list_add(&t->argv, "sh");
	shim_list_add(&t->argv, "");
	shim_list_add(&t->argv, "a b\n\xff");
	shim_list_add(&t->env, "HOME=/root");
	stage = shim_task_stage(t, "requirements");
	shim_list_add(&stage->argv, "pip");
	shim_list_add(&stage->env, "PIP_USER=0");
	stage = shim_task_stage(t, "second");
	shim_list_add(&stage->argv, "true");
	shim_list_add(shim_task_process(t), "LOCAL_RANK=0");
	shim_list_add(shim_task_process(t), "LOCAL_RANK=1");
	shim_list_add(&t->notes, "a note");
	shim_list_add(&t->devices, "/dev/nvidia0");
	t->memory_bytes = 1 << 30;
	t->uid_base = 1000000;
	t->uid_count = 65536;
	t->owner_uid = 1001;
	shim_list_add(&t->groups, "1001");
	shim_list_add(&t->groups, "27");
	shim_task_mount(t, SHIM_BIND_RO, "/in", "/data/with:colon,comma");
	shim_task_mount(t, SHIM_DIR, "/mnt/user", NULL);
	m = shim_task_mount(t, SHIM_FILE, "/etc/hosts", NULL);
	m->content = mem_dup("a\0b", 3);
	m->content_len = 3;
	m = shim_task_mount(t, SHIM_FILE, "/empty", NULL);
	m->content = mem_strdup("");
	shim_task_mount(t, SHIM_BIND_RW, "/share", "/host/share")->range = 2000000;
	shim_task_mount(t, SHIM_OURS_RO, "/public", "/host/public");
	shim_task_mount(t, SHIM_LINK, "/mnt/share", "/share");
	shim_task_mount(t, SHIM_SCRATCH_OF, "/code", "/host/code")->range = 3000000;
	t->stop_file = mem_strdup("/run/yard/stop");
}

static bool same_list(const struct shim_list *a, const struct shim_list *b)
{
	if (a->count != b->count)
		return false;
	for (size_t i = 0; i < a->count; i++) {
		if (!str_eq(a->items[i], b->items[i]))
			return false;
	}
	return a->count == 0 || b->items[b->count] == NULL;
}

static bool same_mount(const struct shim_mount *a, const struct shim_mount *b)
{
	return a->kind == b->kind && str_eq(a->target, b->target) &&
	       str_eq(a->source, b->source) && a->range == b->range &&
	       a->content_len == b->content_len &&
	       (a->content_len == 0 ||
		memcmp(a->content, b->content, a->content_len) == 0);
}

static bool same_steps(const struct shim_task *a, const struct shim_task *b)
{
	bool ok = a->stage_count == b->stage_count &&
		  a->process_count == b->process_count && same_list(&a->notes, &b->notes);

	for (size_t i = 0; ok && i < a->stage_count; i++)
		ok = str_eq(a->stages[i].name, b->stages[i].name) &&
		     same_list(&a->stages[i].argv, &b->stages[i].argv) &&
		     same_list(&a->stages[i].env, &b->stages[i].env);
	for (size_t i = 0; ok && i < a->process_count; i++)
		ok = same_list(&a->processes[i], &b->processes[i]);
	return ok;
}

static bool same(const struct shim_task *a, const struct shim_task *b)
{
	bool ok = a->job == b->job && a->rank == b->rank && a->attempt == b->attempt &&
		  a->cpu_milli == b->cpu_milli && a->memory_bytes == b->memory_bytes &&
		  a->shm_bytes == b->shm_bytes && a->pids_max == b->pids_max &&
		  a->log_limit_bytes == b->log_limit_bytes &&
		  a->uid_base == b->uid_base && a->uid_count == b->uid_count &&
		  a->owner_uid == b->owner_uid && a->nofile == b->nofile &&
		  a->core_bytes == b->core_bytes && a->memlock_bytes == b->memlock_bytes;

	ok = ok && str_eq(a->folder, b->folder) && str_eq(a->cache, b->cache) &&
	     str_eq(a->hostname, b->hostname) && str_eq(a->workdir, b->workdir) &&
	     str_eq(a->stop_file, b->stop_file) && same_list(&a->argv, &b->argv) &&
	     same_list(&a->env, &b->env) && same_list(&a->devices, &b->devices) &&
	     same_list(&a->groups, &b->groups) && a->mount_count == b->mount_count;
	for (size_t i = 0; ok && i < a->mount_count; i++)
		ok = same_mount(&a->mounts[i], &b->mounts[i]);
	return ok && same_steps(a, b);
}

/* Decodes a copy that ends where the message ends, so that ASan sees a step too far. */
static bool decodes(const char *data, size_t len)
{
	AUTO_FREE char *exact = mem_dup(data, len);
	struct shim_task t;
	struct err err = { 0 };
	bool ok = shim_task_decode(exact, len, &t, &err) == 0;

	if (ok)
		shim_task_fini(&t);
	return ok;
}

static void test_task(void)
{
	AUTO_BUF struct buf b = { 0 };
	struct shim_task in, out;
	struct err err = { 0 };
	int cut = 0, wrong = 0;

	fill(&in);
	shim_task_encode(&in, &b);
	OK(shim_task_decode(b.data, b.len, &out, &err) == 0,
	   "what was encoded can be decoded: %s", err.text);
	OK(same(&in, &out), "and is the same");
	shim_task_fini(&out);
	for (size_t n = 0; n < b.len; n++)
		cut += decodes(b.data, n);
	IS_INT(cut, 0, "no part of a message is taken for a whole one");
	for (size_t i = 0; i < b.len; i++) {
		for (int bit = 0; bit < 8; bit++) {
			b.data[i] = (char)(b.data[i] ^ 1 << bit);
			wrong += decodes(b.data, b.len);
			b.data[i] = (char)(b.data[i] ^ 1 << bit);
		}
	}
	OK(wrong >= 0,
	   "every message with one bit changed is refused or decoded (%d were), never misread",
	   wrong);
	buf_addc(&b, 0);
	OK(!decodes(b.data, b.len), "nothing may follow the end");
	shim_task_fini(&in);
}

struct change {
	const char *words;
	void (*make)(struct shim_task *t);
};

static void no_command(struct shim_task *t)
{
	free(t->argv.items[0]);
	free(t->argv.items[1]);
	free(t->argv.items[2]);
	t->argv.count = 0;
}

static void empty_stage(struct shim_task *t)
{
	shim_task_stage(t, "nothing");
}

static void too_many_stages(struct shim_task *t)
{
	while (t->stage_count <= SHIM_STAGES_MAX)
		shim_list_add(&shim_task_stage(t, "x")->argv, "x");
}

static void too_many_processes(struct shim_task *t)
{
	while (t->process_count <= SHIM_PROCESSES_MAX)
		shim_task_process(t);
}

static void long_stage(struct shim_task *t)
{
	shim_list_add(&shim_task_stage(t, "requirements-of-the-whole-yard-1")->argv, "x");
}

static void set(char **at, const char *to)
{
	free(*at);
	*at = mem_strdup(to);
}

static void relative_folder(struct shim_task *t)
{
	set(&t->folder, "jobs/1");
}

static void climbing_target(struct shim_task *t)
{
	set(&t->mounts[0].target, "/in/../../etc");
}

static void climbing_end(struct shim_task *t)
{
	set(&t->mounts[0].target, "/in/..");
}

static void root_target(struct shim_task *t)
{
	set(&t->mounts[0].target, "/");
}

static void no_source(struct shim_task *t)
{
	free(t->mounts[0].source);
	t->mounts[0].source = NULL;
}

static void climbing_stop(struct shim_task *t)
{
	set(&t->stop_file, "/run/../etc/passwd");
}

static void root_share(struct shim_task *t)
{
	t->mounts[4].range = 0;
}

static void ranged_input(struct shim_task *t)
{
	t->mounts[0].range = 2000000;
}

static void root_range(struct shim_task *t)
{
	t->uid_base = 0;
}

static void wide_range(struct shim_task *t)
{
	t->uid_base = UINT32_MAX;
}

static void test_refused(void)
{
	static const struct change changes[] = {
		{ "a task without a command", no_command },
		{ "an empty stage", empty_stage },
		{ "a stage too many", too_many_stages },
		{ "a process too many", too_many_processes },
		{ "a stage with too long a name", long_stage },
		{ "a folder that is not absolute", relative_folder },
		{ "a target that climbs out", climbing_target },
		{ "a target that ends in ..", climbing_end },
		{ "the root as a target", root_target },
		{ "a bind without a source", no_source },
		{ "a stop file that climbs out", climbing_stop },
		{ "a share of the machine's root", root_share },
		{ "an input whose owner would be mapped", ranged_input },
		{ "a range that contains the machine's root", root_range },
		{ "a range beyond the uids there are", wide_range },
	};

	for (size_t i = 0; i < COUNT_OF(changes); i++) {
		AUTO_BUF struct buf b = { 0 };
		struct shim_task t;

		fill(&t);
		changes[i].make(&t);
		shim_task_encode(&t, &b);
		OK(!decodes(b.data, b.len), "refused: %s", changes[i].words);
		shim_task_fini(&t);
	}
}

static void test_frames(void)
{
	AUTO_BUF struct buf b = { 0 };
	struct shim_frame f;
	int early = 0;

	shim_frame_add(&b, SHIM_STDIN, "hello", 5);
	shim_frame_add(&b, SHIM_OK, NULL, 0);
	for (size_t n = 0; n < 13; n++)
		early += shim_frame_get(b.data, n, &f) != 0;
	IS_INT(early, 0, "a frame is not there before its last byte");
	IS_INT(shim_frame_get(b.data, b.len, &f), 13, "then it says how long it is");
	OK(f.type == SHIM_STDIN && f.len == 5 && memcmp(f.data, "hello", 5) == 0,
	   "and what is in it");
	IS_INT(shim_frame_get(b.data + 13, b.len - 13, &f), 8, "an empty frame follows");
	OK(shim_frame_get("\x30\0\0\0\0\0\1\1", 8, &f) == -1,
	   "a frame longer than allowed is refused by its head");
	OK(shim_frame_get("\x01\0\0\0\0\0\x80\0", 8, &f) == 0, "a bundle may be longer");
	OK(shim_frame_get("\x01\0\0\0\1\0\x80\0", 8, &f) == -1,
	   "but not longer than 8 MiB");
	OK(shim_frame_get("\x20\1\0\0\0\0\0\0", 8, &f) == -1,
	   "bytes that must be zero are");
	OK(shim_frame_get("\xff\0\0\0\0\0\0\0", 8, &f) == -1,
	   "an unknown type is refused");
}

static void test_exec(void)
{
	AUTO_BUF struct buf b = { 0 };
	struct shim_exec in = { .tty = true, .rows = 50, .columns = 300 }, out;
	struct err err = { 0 };
	int cut = 0;

	shim_list_add(&in.argv, "bash");
	shim_list_add(&in.env, "TERM=xterm");
	shim_exec_encode(&in, &b);
	OK(shim_exec_decode(b.data, b.len, &out, &err) == 0, "an exec can be decoded");
	OK(out.tty && out.rows == 50 && out.columns == 300 &&
		   same_list(&in.argv, &out.argv) && same_list(&in.env, &out.env),
	   "and is the same");
	shim_exec_fini(&out);
	for (size_t n = 0; n < b.len; n++) {
		AUTO_FREE char *exact = mem_dup(b.data, n);
		cut += shim_exec_decode(exact, n, &out, &err) == 0;
	}
	IS_INT(cut, 0, "no part of it");
	shim_exec_fini(&in);
}

int main(void)
{
	test_task();
	test_refused();
	test_frames();
	test_exec();
	return END();
}
