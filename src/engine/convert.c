// SPDX-License-Identifier: Apache-2.0
#include "engine/convert.h"

#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "engine/homes.h"

#define CORE_BYTES    0 /* a core file would fill the task's own folders */
#define LIMIT_AS_OURS (-1)
#define GROUPS_MAX    1024
#define NOGROUP       65534

static const enum shim_mount_kind mount_kinds[MOUNT_KIND_COUNT] = {
	[MOUNT_BIND_RO] = SHIM_BIND_RO, [MOUNT_BIND_RW] = SHIM_BIND_RW,
	[MOUNT_SCRATCH] = SHIM_SCRATCH, [MOUNT_DIR] = SHIM_DIR,
	[MOUNT_FILE] = SHIM_FILE,       [MOUNT_OURS_RO] = SHIM_OURS_RO,
	[MOUNT_LINK] = SHIM_LINK,       [MOUNT_SCRATCH_OF] = SHIM_SCRATCH_OF,
};

static const enum exit_kind exit_kinds[SHIM_EXIT_COUNT] = {
	[SHIM_CODE] = EXIT_CODE,
	[SHIM_SIGNAL] = EXIT_SIGNAL,
	[SHIM_OOM] = EXIT_OOM,
	[SHIM_STOPPED] = EXIT_STOPPED,
	[SHIM_UNSTARTED] = EXIT_UNSTARTED,
};

static void convert_mounts(const struct bundle *b, struct shim_task *out)
{
	for (size_t i = 0; i < b->mount_count; i++) {
		const struct mount *m = &b->mounts[i];
		struct shim_mount *to =
			shim_task_mount(out, mount_kinds[m->kind], m->target, m->source);

		to->range = b->uid_base >= 0 ? m->range : -1;
		if (m->kind != MOUNT_FILE || !m->content)
			continue;
		to->content = mem_dup(m->content->text, m->content->len);
		to->content_len = m->content->len;
	}
}

/* The shim opens inputs as their reader, and cannot look up names: it is static.  The depot
 * asked for the same names off the loop a moment ago, so a network's answer is near. */
static void add_groups(int64_t uid, struct shim_list *out)
{
	gid_t groups[GROUPS_MAX] = { NOGROUP };
	int count = GROUPS_MAX;
	char names[4096], text[16];
	struct passwd pw, *found = NULL;

	if (getpwuid_r((uid_t)uid, &pw, names, sizeof names, &found) != 0 || !found)
		count = 1;
	else if (getgrouplist(pw.pw_name, pw.pw_gid, groups, &count) < 0)
		count = GROUPS_MAX;
	for (int i = 0; i < count; i++) {
		snprintf(text, sizeof text, "%u", groups[i]);
		shim_list_add(out, text);
	}
}

static bool has_input(const struct bundle *b)
{
	for (size_t i = 0; i < b->mount_count; i++)
		if (b->mounts[i].kind == MOUNT_BIND_RO ||
		    b->mounts[i].kind == MOUNT_SCRATCH_OF)
			return true;
	return false;
}

/* A variable that a secret takes the place of. */
static bool is_secret(const struct bundle *b, const char *name)
{
	for (size_t i = 0; b->secrets && i < b->secrets->count; i++)
		if (str_eq(b->secrets->items[i].env, name))
			return true;
	return false;
}

struct vault *convert_secrets(const struct bundle *b)
{
	const struct secret_set *set = b->secrets;
	AUTO_FREE struct shim_secret *list =
		set ? mem_alloc(set->count + 1, sizeof *list) : NULL;

	for (size_t i = 0; set && i < set->count; i++) {
		const struct secret_grant *g = &set->items[i];

		list[i] = (struct shim_secret){
			.kind = g->env ? SHIM_SECRET_ENV : SHIM_SECRET_FILE,
			.name = g->env ? g->env : g->file,
			.mode = (unsigned)g->mode,
			.value = vault_data(g->value),
			.len = vault_len(g->value),
		};
	}
	return set && set->count ? shim_secrets_encode(list, set->count) : NULL;
}

static void add_variables(const struct pairs *env, struct shim_list *out)
{
	for (size_t i = 0; i < env->count; i++) {
		AUTO_FREE char *var =
			str_printf("%s=%s", env->items[i].key, env->items[i].value);

		shim_list_add(out, var);
	}
}

static void convert_steps(const struct bundle *b, struct shim_task *out)
{
	for (size_t i = 0; i < b->stage_count; i++) {
		struct shim_stage *s = shim_task_stage(out, b->stages[i].name);

		for (size_t k = 0; k < b->stages[i].argc; k++)
			shim_list_add(&s->argv, b->stages[i].argv[k]);
		add_variables(&b->stages[i].env, &s->env);
	}
	for (size_t i = 0; i < b->process_count; i++)
		add_variables(&b->processes[i], shim_task_process(out));
	for (size_t i = 0; i < b->notes.count; i++)
		shim_list_add(&out->notes, b->notes.items[i].value);
}

void convert_bundle(const struct convert_context *c, const struct bundle *b,
		    struct shim_task *out)
{
	shim_task_init(out);
	out->job = b->ref.job;
	out->rank = b->ref.task;
	out->attempt = b->ref.attempt;
	out->folder = mem_strdup(b->folder);
	out->cache = mem_strdup(c->cache);
	out->hostname = mem_strdup(b->hostname);
	out->workdir = mem_strdup(b->workdir);
	out->stop_file = mem_strdup(b->stop_file);
	for (size_t i = 0; i < b->argc; i++)
		shim_list_add(&out->argv, b->argv[i]);
	for (size_t i = 0; i < b->env.count; i++) {
		if (is_secret(b, b->env.items[i].key))
			continue;
		AUTO_FREE char *var =
			str_printf("%s=%s", b->env.items[i].key, b->env.items[i].value);

		shim_list_add(&out->env, var);
	}
	if (b->env_peers)
		shim_list_add(&out->env, b->env_peers->text);
	convert_steps(b, out);
	machine_devices(c->machine, &b->place, &out->devices);
	convert_mounts(b, out);
	if (b->uid_base < 0 && c->home)
		homes_mount(c->home, c->state_dir, b, out);
	out->cpu_milli = b->limits.cpu_milli;
	out->memory_bytes = b->limits.memory_bytes;
	out->shm_bytes = b->shm_bytes;
	out->pids_max = b->pids_max;
	out->log_limit_bytes = b->log_limit_bytes;
	out->uid_base = b->uid_base;
	out->uid_count = b->uid_count;
	out->owner_uid = b->owner_uid;
	if (b->uid_base >= 0 && b->owner_uid > 0 && has_input(b))
		add_groups(b->owner_uid, &out->groups);
	out->secret_count = b->secrets ? (int64_t)b->secrets->count : 0;
	out->nofile = LIMIT_AS_OURS;
	out->core_bytes = CORE_BYTES;
	out->memlock_bytes = LIMIT_AS_OURS;
}

void convert_exit(const struct shim_exit *in, struct task_exit *out)
{
	*out = (struct task_exit){
		.kind = exit_kinds[in->kind],
		.code = (int)in->code,
		.signal = (int)in->signal,
		.peak_bytes = in->peak_bytes,
		.limit_bytes = in->limit_bytes,
		.cpu_ms = in->cpu_ms,
		.ended_ms = in->ended_ms,
	};
	snprintf(out->text, sizeof out->text, "%s", in->text);
	snprintf(out->stage, sizeof out->stage, "%s", in->stage);
}

void convert_lost(const char *why, struct task_exit *out)
{
	*out = (struct task_exit){ .kind = EXIT_LOST };
	snprintf(out->text, sizeof out->text, "%s", why);
}

void convert_unstarted(const char *why, struct task_exit *out)
{
	*out = (struct task_exit){ .kind = EXIT_UNSTARTED };
	snprintf(out->text, sizeof out->text, "%s", why);
}
