// SPDX-License-Identifier: Apache-2.0
#include "powercut_vfs.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/str.h"

#define SECTOR 512

struct power power = { .full_after = -1 };

/* One change since the last sync: bytes at an offset, or (data NULL) a new length. */
struct change {
	int64_t at;
	char *data;
	size_t len;
};

/* A deletion that was not synced may be undone: then the ghost is there.  The first sync
 * of a new file syncs the folder too, as it does in SQLite's own unix VFS. */
struct disk_file {
	char *path;
	bool synced_once; /* the name is on disk, with what is durable */
	bool exists, has_ghost;
	struct buf durable, ghost;
	struct change *changes;
	size_t change_count, change_cap;
	struct disk_file *next;
};

struct cut_file {
	sqlite3_file base;
	struct disk_file *disk; /* NULL: not of interest (temporary, shared memory) */
	sqlite3_file *real;
};

static struct disk_file *files;
static sqlite3_vfs *real_vfs;

static uint64_t chance(void)
{
	uint64_t z = power.seed += 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

/* True when the power is off; counts the call. */
static bool cut(void)
{
	power.calls++;
	if (power.cut_at && power.calls >= power.cut_at)
		power.off = true;
	return power.off;
}

static struct disk_file *find(const char *path)
{
	for (struct disk_file *f = files; f; f = f->next) {
		if (str_eq(f->path, path))
			return f;
	}
	return NULL;
}

static void forget_changes(struct disk_file *f)
{
	for (size_t i = 0; i < f->change_count; i++)
		free(f->changes[i].data);
	f->change_count = 0;
}

static void add_change(struct disk_file *f, int64_t at, const void *data, size_t len)
{
	mem_grow(&f->changes, &f->change_cap, f->change_count, sizeof *f->changes);
	f->changes[f->change_count++] =
		(struct change){ at, data ? mem_dup(data, len) : NULL, len };
}

static void set_length(struct buf *b, size_t len)
{
	static const char zero[4096];

	if (len < b->len)
		b->len = len;
	while (b->len < len)
		buf_add(b, zero, len - b->len < sizeof zero ? len - b->len : sizeof zero);
}

static void put(struct buf *b, int64_t at, const char *data, size_t len)
{
	if (b->len < (size_t)at + len)
		set_length(b, (size_t)at + len);
	memcpy(b->data + at, data, len);
}

/* All of it, or by chance each sector of it. */
static void apply(struct disk_file *f, const struct change *c, bool surely)
{
	if (!c->data) {
		if (surely || chance() % 2)
			set_length(&f->durable, (size_t)c->at);
		return;
	}
	for (size_t done = 0, n; done < c->len; done += n) {
		n = SECTOR - (size_t)(c->at + (int64_t)done) % SECTOR;
		if (n > c->len - done)
			n = c->len - done;
		if (surely || chance() % 2)
			put(&f->durable, c->at + (int64_t)done, c->data + done, n);
	}
}

static struct cut_file *of(sqlite3_file *f)
{
	return (struct cut_file *)f;
}

static int cut_close(sqlite3_file *f)
{
	int rc = of(f)->real->pMethods->xClose(of(f)->real);

	sqlite3_free(of(f)->real);
	return rc;
}

static int cut_read(sqlite3_file *f, void *to, int len, sqlite3_int64 at)
{
	return of(f)->real->pMethods->xRead(of(f)->real, to, len, at);
}

static int cut_write(sqlite3_file *f, const void *from, int len, sqlite3_int64 at)
{
	if (of(f)->disk) {
		if (cut())
			return SQLITE_IOERR_WRITE;
		if (power.full_after >= 0 && (power.full_after -= len) < 0) {
			power.full_after = 0;
			return SQLITE_FULL;
		}
		add_change(of(f)->disk, at, from, (size_t)len);
	}
	return of(f)->real->pMethods->xWrite(of(f)->real, from, len, at);
}

static int cut_truncate(sqlite3_file *f, sqlite3_int64 size)
{
	if (of(f)->disk) {
		if (cut())
			return SQLITE_IOERR_TRUNCATE;
		add_change(of(f)->disk, size, NULL, 0);
	}
	return of(f)->real->pMethods->xTruncate(of(f)->real, size);
}

static int cut_sync(sqlite3_file *f, int flags)
{
	struct disk_file *d = of(f)->disk;

	(void)flags;
	if (!d)
		return SQLITE_OK;
	if (cut())
		return SQLITE_IOERR_FSYNC;
	if (power.ignores_sync)
		return SQLITE_OK;
	for (size_t i = 0; i < d->change_count; i++)
		apply(d, &d->changes[i], true);
	forget_changes(d);
	if (!d->synced_once) {
		for (struct disk_file *other = files; other; other = other->next)
			other->has_ghost = false;
	}
	d->synced_once = true;
	return SQLITE_OK; /* the real one need not: nobody cuts the real power */
}

static int cut_size(sqlite3_file *f, sqlite3_int64 *size)
{
	return of(f)->real->pMethods->xFileSize(of(f)->real, size);
}

static int cut_lock(sqlite3_file *f, int level)
{
	return of(f)->real->pMethods->xLock(of(f)->real, level);
}

static int cut_unlock(sqlite3_file *f, int level)
{
	return of(f)->real->pMethods->xUnlock(of(f)->real, level);
}

static int cut_check_lock(sqlite3_file *f, int *out)
{
	return of(f)->real->pMethods->xCheckReservedLock(of(f)->real, out);
}

static int cut_control(sqlite3_file *f, int op, void *arg)
{
	return of(f)->real->pMethods->xFileControl(of(f)->real, op, arg);
}

static int cut_sector(sqlite3_file *f)
{
	(void)f;
	return SECTOR;
}

static int cut_traits(sqlite3_file *f)
{
	(void)f;
	return 0; /* promises nothing: not even that a sector is written whole or in order */
}

static int cut_shm_map(sqlite3_file *f, int page, int size, int extend,
		       void volatile **out)
{
	return of(f)->real->pMethods->xShmMap(of(f)->real, page, size, extend, out);
}

static int cut_shm_lock(sqlite3_file *f, int offset, int n, int flags)
{
	return of(f)->real->pMethods->xShmLock(of(f)->real, offset, n, flags);
}

static void cut_shm_barrier(sqlite3_file *f)
{
	of(f)->real->pMethods->xShmBarrier(of(f)->real);
}

static int cut_shm_unmap(sqlite3_file *f, int delete)
{
	return of(f)->real->pMethods->xShmUnmap(of(f)->real, delete);
}

static const sqlite3_io_methods methods = {
	.iVersion = 2,
	.xClose = cut_close,
	.xRead = cut_read,
	.xWrite = cut_write,
	.xTruncate = cut_truncate,
	.xSync = cut_sync,
	.xFileSize = cut_size,
	.xLock = cut_lock,
	.xUnlock = cut_unlock,
	.xCheckReservedLock = cut_check_lock,
	.xFileControl = cut_control,
	.xSectorSize = cut_sector,
	.xDeviceCharacteristics = cut_traits,
	.xShmMap = cut_shm_map,
	.xShmLock = cut_shm_lock,
	.xShmBarrier = cut_shm_barrier,
	.xShmUnmap = cut_shm_unmap,
};

static struct disk_file *remember(const char *path)
{
	struct disk_file *f = find(path);

	if (!f) {
		f = mem_alloc(1, sizeof *f);
		f->path = mem_strdup(path);
		f->next = files;
		files = f;
	}
	f->exists = true;
	return f;
}

static int cut_open(sqlite3_vfs *vfs, const char *path, sqlite3_file *file, int flags,
		    int *out)
{
	struct cut_file *f = of(file);
	int kinds = SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL, rc;

	(void)vfs;
	*f = (struct cut_file){ 0 };
	if (power.off)
		return SQLITE_CANTOPEN;
	f->real = sqlite3_malloc(real_vfs->szOsFile);
	memset(f->real, 0, (size_t)real_vfs->szOsFile);
	rc = real_vfs->xOpen(real_vfs, path, f->real, flags, out);
	if (rc != SQLITE_OK) {
		sqlite3_free(f->real);
		return rc;
	}
	f->base.pMethods = &methods;
	if (path && (flags & kinds))
		f->disk = remember(path);
	return SQLITE_OK;
}

static int cut_delete(sqlite3_vfs *vfs, const char *path, int sync_folder)
{
	struct disk_file *f = find(path);

	(void)vfs;
	if (f && cut())
		return SQLITE_IOERR_DELETE;
	if (f) {
		f->has_ghost = !sync_folder && (f->synced_once || f->has_ghost);
		if (f->synced_once) {
			struct buf old = f->ghost;
			f->ghost = f->durable;
			f->durable = old;
		}
		forget_changes(f);
		buf_clear(&f->durable);
		f->synced_once = f->exists = false;
	}
	return real_vfs->xDelete(real_vfs, path, 0);
}

void power_install(void)
{
	static sqlite3_vfs vfs;

	real_vfs = sqlite3_vfs_find("unix");
	vfs = *real_vfs;
	vfs.zName = "powercut";
	vfs.szOsFile = (int)sizeof(struct cut_file);
	vfs.xOpen = cut_open;
	vfs.xDelete = cut_delete;
	sqlite3_vfs_register(&vfs, 1);
}

static void settle_one(struct disk_file *f)
{
	AUTO_FREE char *index = str_printf("%s-shm", f->path);
	AUTO_FD int fd = -1;

	unlink(index);
	unlink(f->path);
	for (size_t i = 0; i < f->change_count; i++)
		apply(f, &f->changes[i], false);
	forget_changes(f);
	if (!f->synced_once && f->has_ghost && chance() % 2) {
		buf_clear(&f->durable);
		buf_add(&f->durable, f->ghost.data, f->ghost.len);
		f->exists = true;
	} else if (!f->synced_once && (!f->exists || chance() % 2)) {
		buf_clear(&f->durable);
		f->exists = f->has_ghost = false;
		return;
	}
	f->synced_once = true;
	f->has_ghost = false;
	fd = open(f->path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
	if (fd < 0 ||
	    write(fd, buf_str(&f->durable), f->durable.len) != (ssize_t)f->durable.len)
		printf("Bail out! cannot write %s\n", f->path);
}

void power_settle(void)
{
	for (struct disk_file *f = files; f; f = f->next)
		settle_one(f);
	power.off = false;
	power.cut_at = 0;
	power.calls = 0;
}

void power_reset(uint64_t seed)
{
	while (files) {
		struct disk_file *f = files;
		files = f->next;
		forget_changes(f);
		free(f->changes);
		buf_fini(&f->durable);
		buf_fini(&f->ghost);
		free(f->path);
		free(f);
	}
	power = (struct power){ .full_after = -1, .seed = seed };
}
