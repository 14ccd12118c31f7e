// SPDX-License-Identifier: Apache-2.0
#include "job/bundle.h"

#include <string.h>

#include "base/mem.h"

struct bundle *bundle_create(struct task_ref ref)
{
	struct bundle *b = mem_alloc(1, sizeof *b);

	b->ref = ref;
	b->uid_base = -1;
	b->owner_uid = -1;
	return b;
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
		free(b->mounts[i].content);
	}
	free(b->argv);
	free(b->mounts);
	pairs_fini(&b->env);
	free(b->folder);
	free(b->hostname);
	free(b->workdir);
	free(b);
}

struct mount *bundle_mount(struct bundle *b, enum mount_kind kind, const char *target,
			   const char *source)
{
	struct mount *m;

	mem_grow(&b->mounts, &b->mount_cap, b->mount_count, sizeof *b->mounts);
	m = &b->mounts[b->mount_count++];
	*m = (struct mount){ .kind = kind,
			     .target = mem_strdup(target),
			     .source = mem_strdup(source) };
	return m;
}

void bundle_file(struct bundle *b, const char *target, const void *content, size_t len)
{
	struct mount *m = bundle_mount(b, MOUNT_FILE, target, NULL);

	m->content = mem_strndup(content, len); /* a NUL behind it, for convenience */
	m->content_len = len;
}
