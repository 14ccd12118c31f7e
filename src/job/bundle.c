// SPDX-License-Identifier: Apache-2.0
#include "job/bundle.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"

struct shared *shared_create(const void *text, size_t len)
{
	struct shared *s = mem_alloc(1, sizeof *s + len + 1);

	s->refs = 1;
	s->len = len;
	if (len)
		memcpy(s->text, text, len);
	return s;
}

struct shared *shared_ref(struct shared *s)
{
	s->refs++;
	return s;
}

void shared_unref(struct shared *s)
{
	if (s && --s->refs == 0)
		free(s);
}

struct secret_set *secret_set_create(size_t count)
{
	struct secret_set *s = mem_alloc(1, sizeof *s + count * sizeof s->items[0]);

	s->refs = 1;
	s->count = count;
	return s;
}

struct secret_set *secret_set_ref(struct secret_set *s)
{
	if (s)
		s->refs++;
	return s;
}

void secret_set_unref(struct secret_set *s)
{
	if (!s || --s->refs > 0)
		return;
	for (size_t i = 0; i < s->count; i++) {
		free(s->items[i].env);
		free(s->items[i].file);
		vault_unref(s->items[i].value);
	}
	free(s);
}

struct bundle *bundle_create(struct task_ref ref)
{
	struct bundle *b = mem_alloc(1, sizeof *b);

	b->ref = ref;
	b->uid_base = -1;
	b->owner_uid = -1;
	return b;
}

static void stage_fini(struct stage *s)
{
	for (size_t i = 0; i < s->argc; i++)
		free(s->argv[i]);
	free(s->argv);
	free(s->name);
	pairs_fini(&s->env);
}

void bundle_destroy(struct bundle *b)
{
	if (!b)
		return;
	for (size_t i = 0; i < b->argc; i++)
		free(b->argv[i]);
	for (size_t i = 0; i < b->mount_count; i++) {
		free(b->mounts[i].target);
		free(b->mounts[i].source);
		shared_unref(b->mounts[i].content);
	}
	for (size_t i = 0; i < b->stage_count; i++)
		stage_fini(&b->stages[i]);
	for (size_t i = 0; i < b->process_count; i++)
		pairs_fini(&b->processes[i]);
	free(b->stages);
	free(b->processes);
	pairs_fini(&b->notes);
	free(b->argv);
	free(b->mounts);
	pairs_fini(&b->env);
	shared_unref(b->env_peers);
	secret_set_unref(b->secrets);
	free(b->folder);
	free(b->hostname);
	free(b->workdir);
	free(b->pip_config);
	free(b->stop_file);
	free(b);
}

struct stage *bundle_stage(struct bundle *b, const char *name, const char *const *argv,
			   size_t argc)
{
	struct stage *s;

	b->stages = mem_realloc(b->stages, b->stage_count + 1, sizeof *b->stages);
	s = &b->stages[b->stage_count++];
	*s = (struct stage){ .name = mem_strdup(name),
			     .argv = mem_alloc(argc + 1, sizeof *s->argv),
			     .argc = argc };
	for (size_t i = 0; i < argc; i++)
		s->argv[i] = mem_strdup(argv[i]);
	return s;
}

struct pairs *bundle_process(struct bundle *b)
{
	b->processes =
		mem_realloc(b->processes, b->process_count + 1, sizeof *b->processes);
	b->processes[b->process_count] = (struct pairs){ 0 };
	return &b->processes[b->process_count++];
}

void bundle_note(struct bundle *b, const char *fmt, ...)
{
	AUTO_BUF struct buf text = { 0 };
	AUTO_FREE char *key = str_printf("%zu", b->notes.count);
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(&text, fmt, ap);
	va_end(ap);
	pairs_set(&b->notes, key, buf_str(&text));
}

struct mount *bundle_mount(struct bundle *b, enum mount_kind kind, const char *target,
			   const char *source)
{
	struct mount *m;

	mem_grow(&b->mounts, &b->mount_cap, b->mount_count, sizeof *b->mounts);
	m = &b->mounts[b->mount_count++];
	*m = (struct mount){ .kind = kind,
			     .target = mem_strdup(target),
			     .source = mem_strdup(source),
			     .range = -1 };
	return m;
}

void bundle_file(struct bundle *b, const char *target, struct shared *content)
{
	bundle_mount(b, MOUNT_FILE, target, NULL)->content = content;
}
