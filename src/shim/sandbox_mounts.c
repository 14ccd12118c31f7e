// SPDX-License-Identifier: Apache-2.0
/* The mounts a bundle lists: inputs, outputs, code, small files. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "shim/mount.h"
#include "shim/sandbox_parts.h"
#include "shim/source.h"
#include "shim/userns.h"

static bool in_range(const struct shim_task *t, uid_t uid)
{
	return uid >= t->uid_base && uid < t->uid_base + t->uid_count;
}

static bool has_source(const struct shim_mount *m)
{
	return m->kind == SHIM_BIND_RO || m->kind == SHIM_BIND_RW ||
	       m->kind == SHIM_SCRATCH || m->kind == SHIM_SCRATCH_OF ||
	       m->kind == SHIM_OURS_RO;
}

static int find_map(const struct sandbox_maps *m, gid_t gid)
{
	for (int i = 0; i < m->count; i++) {
		if (m->owner[i].gid == gid)
			return m->owner[i].fd;
	}
	return -1;
}

static int add_owner_map(struct sandbox_maps *m, const struct shim_task *t, gid_t gid,
			 struct err *err)
{
	struct idrange uids = { t->owner_uid, t->uid_base, 1 },
		       gids = { gid, t->uid_base, 1 };
	int fd;

	if (find_map(m, gid) >= 0 || m->count == SANDBOX_MAPS_MAX)
		return 0; /* a folder without a map is refused when it is mounted */
	if ((fd = userns_create(&uids, &gids, err)) < 0)
		return -1;
	m->owner[m->count].gid = gid;
	m->owner[m->count++].fd = fd;
	return 0;
}

/* What several tasks share belongs to a range of its own, and to each of them inside. */
static int add_range_map(struct sandbox_maps *m, const struct shim_task *t, size_t i,
			 struct err *err)
{
	struct idrange r = { t->mounts[i].range, t->uid_base, t->uid_count };

	m->ranges[i] = userns_create(&r, &r, err);
	return m->ranges[i] < 0 ? -1 : 0;
}

/* Opens the source of mount i, and makes the map it will need. */
static int add_source(struct sandbox_maps *m, const struct shim_task *t, size_t i,
		      struct err *err)
{
	struct stat st;
	int fd = source_open(t, &t->mounts[i], err);

	if (fd < 0)
		return err_wrap(err, "mount %s", t->mounts[i].target);
	m->sources[i] = fd;
	if (fstatat(fd, "", &st, AT_EMPTY_PATH) < 0)
		return err_sys(err, "look at %s", t->mounts[i].source);
	if (t->mounts[i].range >= 0)
		return add_range_map(m, t, i, err);
	return t->owner_uid > 0 && st.st_uid == t->owner_uid
		       ? add_owner_map(m, t, st.st_gid, err)
		       : 0;
}

int sandbox_maps_init(struct sandbox_maps *m, const struct shim_task *t, struct err *err)
{
	*m = (struct sandbox_maps){ .range = -1 };
	if (t->uid_base < 0)
		return 0;
	if ((m->range = userns_range(t->uid_base, t->uid_count, err)) < 0)
		return -1;
	m->sources = mem_alloc(t->mount_count + 1, sizeof *m->sources);
	m->ranges = mem_alloc(t->mount_count + 1, sizeof *m->ranges);
	for (; m->source_count < t->mount_count; m->source_count++)
		m->sources[m->source_count] = m->ranges[m->source_count] = -1;
	for (size_t i = 0; i < t->mount_count; i++) {
		if (has_source(&t->mounts[i]) && add_source(m, t, i, err) < 0)
			return -1;
	}
	return 0;
}

void sandbox_maps_drop_sources(struct sandbox_maps *m)
{
	for (size_t i = 0; i < m->source_count; i++) {
		if (m->sources[i] >= 0)
			close(m->sources[i]);
		if (m->ranges[i] >= 0)
			close(m->ranges[i]);
	}
	free(TAKE(m->sources));
	free(TAKE(m->ranges));
	m->source_count = 0;
}

void sandbox_maps_fini(struct sandbox_maps *m)
{
	sandbox_maps_drop_sources(m);
	if (m->range >= 0)
		close(m->range);
	for (int i = 0; i < m->count; i++)
		close(m->owner[i].fd);
	*m = (struct sandbox_maps){ .range = -1 };
}

/* Root mode: a folder of the job's owner is root's inside, so that what the task may read is
 * what the owner may, and what it writes is the owner's.  Of anybody else's folder it sees what
 * anybody may, and writes nothing: a setuid file made inside would be that one's outside.
 * -1 in *map: nothing to map. */
static int choose_map(const struct sandbox *s, const struct shim_mount *m,
		      const struct stat *st, int *map, struct err *err)
{
	*map = -1;
	if (!s->root_mode || in_range(s->task, st->st_uid))
		return 0;
	if (m->range >= 0 && st->st_uid >= m->range &&
	    st->st_uid < m->range + s->task->uid_count) {
		*map = s->maps->ranges[m - s->task->mounts];
		return 0;
	}
	if (m->kind == SHIM_OURS_RO)
		return 0;
	if (m->kind == SHIM_SCRATCH && st->st_uid == 0)
		*map = s->maps->range; /* the daemon's own copy of the code; never written */
	else if (s->task->owner_uid > 0 && st->st_uid == s->task->owner_uid)
		*map = find_map(s->maps, st->st_gid);
	if (*map < 0 && m->kind == SHIM_BIND_RW)
		return err_set(err, ERR_DENIED,
			       "%s belongs to uid %u: this task may not write there",
			       m->source, st->st_uid);
	return 0;
}

/* A copy of the source, with its owner mapped where the file system can. */
static int source_mount(const struct sandbox *s, const struct shim_mount *m, mode_t *mode,
			struct err *err)
{
	bool deep =
		!s->root_mode && m->kind != SHIM_SCRATCH && m->kind != SHIM_SCRATCH_OF;
	uint64_t attr = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
	/* Init's own copy of the descriptor. */
	AUTO_FD int fd = s->root_mode ? s->maps->sources[m - s->task->mounts]
				      : mount_copy(m->source, deep, err);
	struct stat st;
	int map;

	/* Asked of what was bound, not of the path, which may lead elsewhere by now. */
	if (fd < 0 || fstatat(fd, "", &st, AT_EMPTY_PATH) < 0 ||
	    choose_map(s, m, &st, &map, err) < 0)
		return -1;
	*mode = st.st_mode;
	if (m->kind != SHIM_BIND_RW)
		attr |= MOUNT_ATTR_RDONLY;
	if (mount_change(fd, attr, map, deep, err) == 0)
		return TAKE_FD(fd);
	if (map < 0)
		return -1;
	/* What is shared is there beside what was asked for: rather to read than no task. */
	if (m->range >= 0)
		attr |= MOUNT_ATTR_RDONLY;
	else if (m->kind == SHIM_BIND_RW)
		return err_wrap(
			err,
			"the file system of %s cannot map owners: give the folder to uid %lld",
			m->source, (long long)s->task->uid_base);
	return mount_change(fd, attr, -1, deep, err) < 0 ? -1 : TAKE_FD(fd);
}

static int bind(struct sandbox *s, const struct shim_mount *m, struct err *err)
{
	const char *name = strrchr(m->target, '/') + 1;
	AUTO_FREE char *parent = mem_strndup(m->target, (size_t)(name - m->target - 1));
	mode_t mode;
	AUTO_FD int fd = source_mount(s, m, &mode, err);

	if (fd < 0)
		return -1;
	if (S_ISDIR(mode)) {
		AUTO_FD int at = sandbox_folder(s, m->target, err);
		return at < 0 ? -1 : mount_place(TAKE_FD(fd), at, "", err);
	}
	AUTO_FD int dir = sandbox_folder(s, parent[0] ? parent : "/", err);
	if (dir < 0)
		return -1;
	if (faccessat(dir, name, F_OK, AT_SYMLINK_NOFOLLOW) < 0 &&
	    sandbox_file(s, dir, name, 0644, (struct bytes){ 0 }, err) < 0)
		return -1;
	return mount_place(TAKE_FD(fd), dir, name, err);
}

static int scratch(struct sandbox *s, const struct shim_mount *m, struct err *err)
{
	char lower[16];
	mode_t mode;
	int n;
	AUTO_FD int at = sandbox_folder(s, m->target, err);
	AUTO_FD int fd = source_mount(s, m, &mode, err);

	if (at < 0 || fd < 0 || (n = sandbox_overlay_slot(s, err)) < 0)
		return -1;
	snprintf(lower, sizeof lower, "l%d", n);
	if (mount_place(TAKE_FD(fd), AT_FDCWD, lower, err) < 0)
		return -1;
	return sandbox_overlay(s, n, false, at, err);
}

/* A file with a content of its own. */
struct small {
	const char *target;
	mode_t mode;
	struct bytes content;
	char own[32]; /* its name among what the sandbox is built of, should it need one */
};

/* Where the folder cannot be written (a read-only bind), a file of our own is bound over it. */
static int bind_file(const struct sandbox *s, const struct small *f, int dir,
		     const char *name, struct err *err)
{
	if (sandbox_file(s, AT_FDCWD, f->own, f->mode, f->content, err) < 0)
		return -1;
	return mount_bind(f->own, dir, name, 0, false, err);
}

static int small_file(const struct sandbox *s, const struct small *f, struct err *err)
{
	const char *name = strrchr(f->target, '/') + 1;
	AUTO_FREE char *parent = mem_strndup(f->target, (size_t)(name - f->target - 1));
	AUTO_FD int dir = sandbox_folder(s, parent[0] ? parent : "/", err);

	if (dir < 0)
		return -1;
	if (unlinkat(dir, name, 0) < 0 && errno == EROFS)
		return bind_file(s, f, dir, name, err);
	if (faccessat(dir, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return err_sys(err, "replace %s", f->target);
	return sandbox_file(s, dir, name, f->mode, f->content, err);
}

static int file_of_bundle(const struct sandbox *s, const struct shim_mount *m,
			  struct err *err)
{
	struct small f = { m->target, 0644, { m->content, m->content_len }, "" };

	if (s->etc_filled && str_starts(m->target, "/etc/") &&
	    !strchr(m->target + 5, '/'))
		return 0;
	snprintf(f.own, sizeof f.own, "f%td", m - s->task->mounts);
	return small_file(s, &f, err);
}

/* Secrets that are files: in the task's own memory, and gone with it. */
static int secret_files(const struct sandbox *s, struct err *err)
{
	for (size_t i = 0; i < s->task->secrets.count; i++) {
		const struct shim_secret *one = &s->task->secrets.items[i];
		struct small f = {
			one->name, (mode_t)one->mode, { one->value, one->len }, ""
		};

		snprintf(f.own, sizeof f.own, "s%zu", i);
		if (one->kind == SHIM_SECRET_FILE && small_file(s, &f, err) < 0)
			return err_wrap(err, "secret in %s", one->name);
	}
	return 0;
}

/* A second name for a folder costs no mount. */
static int link_to(const struct sandbox *s, const struct shim_mount *m, struct err *err)
{
	const char *name = strrchr(m->target, '/') + 1;
	AUTO_FREE char *parent = mem_strndup(m->target, (size_t)(name - m->target - 1));
	AUTO_FD int dir = sandbox_folder(s, parent[0] ? parent : "/", err);

	if (dir < 0)
		return -1;
	if (symlinkat(m->source, dir, name) < 0)
		return err_sys(err, "make the link %s", m->target);
	if (s->root_mode &&
	    fchownat(dir, name, s->owner, s->owner, AT_SYMLINK_NOFOLLOW) < 0)
		return err_sys(err, "give %s to the task", m->target);
	return 0;
}

static int one(struct sandbox *s, const struct shim_mount *m, struct err *err)
{
	switch (m->kind) {
	case SHIM_BIND_RO:
	case SHIM_BIND_RW:
	case SHIM_OURS_RO:
		return bind(s, m, err);
	case SHIM_LINK:
		return link_to(s, m, err);
	case SHIM_SCRATCH:
	case SHIM_SCRATCH_OF:
		return scratch(s, m, err);
	case SHIM_FILE:
		return file_of_bundle(s, m, err);
	case SHIM_DIR: {
		AUTO_FD int fd = sandbox_folder(s, m->target, err);
		return fd < 0 ? -1 : 0;
	}
	case SHIM_MOUNT_COUNT:
		break;
	}
	return err_set(err, ERR_INTERNAL, "unknown kind of mount");
}

int sandbox_mounts(struct sandbox *s, struct err *err)
{
	for (size_t i = 0; i < s->task->mount_count; i++) {
		if (one(s, &s->task->mounts[i], err) < 0)
			return err_wrap(err, "mount %s", s->task->mounts[i].target);
	}
	if (secret_files(s, err) < 0)
		return -1;
	/* The working folder is always there. */
	AUTO_FD int work = sandbox_folder(s, s->task->workdir, err);
	return work < 0 ? -1 : 0;
}
