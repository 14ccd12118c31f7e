// SPDX-License-Identifier: Apache-2.0
#include "depot/upload.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "base/mem.h"
#include "base/str.h"
#include "depot/file_put.h"
#include "depot/open.h"
#include "depot/upload_impl.h"

#define PART_DEFAULT (INT64_C(16) << 20)
#define READ_BYTES   (256 << 10)

void upload_view_fini(struct upload_view *v)
{
	free(v->path);
	free(v->have);
	*v = (struct upload_view){ 0 };
}

int64_t upload_part_bytes(const struct upload *f, int64_t n)
{
	int64_t from = n * f->part_size;

	return f->size - from < f->part_size ? f->size - from : f->part_size;
}

static void view(const struct upload *f, struct upload_view *out)
{
	size_t cap = 0;

	*out = (struct upload_view){ .size = f->size, .part_size = f->part_size };
	memcpy(out->id, f->id, sizeof out->id);
	out->path = mem_strdup(f->path);
	pthread_mutex_lock(&f->uploads->lock);
	for (int64_t n = 0; n < f->part_count; n++) {
		if (f->parts[n].state != PART_HERE)
			continue;
		if (out->have_count && out->have[out->have_count - 1][1] == n - 1) {
			out->have[out->have_count - 1][1] = n;
			continue;
		}
		mem_grow(&out->have, &cap, out->have_count, sizeof *out->have);
		out->have[out->have_count][0] = out->have[out->have_count][1] = n;
		out->have_count++;
	}
	pthread_mutex_unlock(&f->uploads->lock);
}

static int no_upload(const char *id, struct err *err)
{
	return err_set(err, ERR_NOT_FOUND,
		       "there is no upload %.40s under way: begin it again", id);
}

struct upload *upload_alloc(struct uploads *u, int64_t size, int64_t part_size)
{
	struct upload *f = mem_alloc(1, sizeof *f);

	assert(part_size > 0);
	f->uploads = u;
	f->size = size;
	f->part_size = part_size;
	f->part_count = (size + part_size - 1) / part_size;
	f->parts = mem_alloc((size_t)f->part_count + 1, sizeof *f->parts);
	f->fd = f->log = -1;
	pthread_mutex_init(&f->disk, NULL);
	return f;
}

void upload_free(struct upload *f)
{
	if (f->fd >= 0)
		close(f->fd);
	if (f->log >= 0)
		close(f->log);
	pthread_mutex_destroy(&f->disk);
	free(f->owner);
	free(f->path);
	free(f->parts);
	free(f);
}

/* With the lock held: one that can be found. */
static struct upload *find(const struct uploads *u, const char *id)
{
	struct upload *f = map_gets(u->all, id);

	return f && !f->gone ? f : NULL;
}

struct upload *upload_hold(struct uploads *u, const struct volume_place *p,
			   const char *id, struct err *err)
{
	pthread_mutex_lock(&u->lock);
	struct upload *f = find(u, id);
	if (f && !str_eq(f->path, p->path))
		f = NULL;
	if (f)
		f->refs++;
	pthread_mutex_unlock(&u->lock);
	if (!f)
		no_upload(id, err);
	return f;
}

void upload_drop(struct upload *f)
{
	struct uploads *u = f->uploads;

	pthread_mutex_lock(&u->lock);
	bool last = --f->refs == 0 && f->gone;
	if (last)
		map_dels(u->all, f->id);
	pthread_mutex_unlock(&u->lock);
	if (last)
		upload_free(f);
}

static char *bytes_name(const struct upload *f)
{
	return str_printf("upload-%s", f->id);
}

static int open_bytes(struct upload *f, const struct volume_place *p, struct err *err)
{
	AUTO_FREE char *name = bytes_name(f);
	AUTO_FD int own = open_own(p, err);
	struct acting a;
	struct stat st;

	if (own < 0 || act_as_owner(&a, p, own, err) < 0)
		return -1;
	AUTO_FD int fd = openat(own, name,
				O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	int failure = errno;
	act_end(&a);
	errno = failure;
	if (fd < 0)
		return open_error(p, "go on with", err);
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size != f->size)
		return err_set(err, ERR_CONFLICT,
			       "%s: the bytes that came so far were changed; begin again",
			       p->path);
	f->fd = TAKE_FD(fd);
	return 0;
}

static bool is_whole(const struct upload *f, int64_t n, char *bytes)
{
	int64_t left = upload_part_bytes(f, n), at = n * f->part_size;
	uint32_t crc = 0;
	ssize_t got;

	for (; left > 0; at += got, left -= got) {
		size_t want = left < READ_BYTES ? (size_t)left : READ_BYTES;
		got = pread(f->fd, bytes, want, at);
		if (got <= 0)
			return false;
		crc = crc32c_add(crc, bytes, (size_t)got);
	}
	return crc == f->parts[n].crc;
}

/* After a crash of the machine: a part is there when its bytes are. */
static void believe(struct upload *f)
{
	AUTO_FREE char *bytes = mem_alloc(1, READ_BYTES);

	for (int64_t n = 0; n < f->part_count; n++) {
		if (f->parts[n].state != PART_HERE || is_whole(f, n, bytes))
			continue;
		pthread_mutex_lock(&f->uploads->lock);
		f->parts[n].state = PART_MISSING;
		pthread_mutex_unlock(&f->uploads->lock);
	}
	f->doubtful = upload_log_write(f, NULL) < 0;
}

int upload_open(struct upload *f, const struct volume_place *p, struct err *err)
{
	pthread_mutex_lock(&f->disk);
	int rc = f->fd >= 0 ? 0 : open_bytes(f, p, err);
	if (rc == 0 && f->doubtful)
		believe(f);
	pthread_mutex_unlock(&f->disk);
	return rc;
}

static int check_size(const struct upload_about *about, int64_t *part_size,
		      struct err *err)
{
	int64_t part = about->part_size ? about->part_size : PART_DEFAULT;

	while (!about->part_size && part < UPLOAD_PART_MAX &&
	       about->size / part >= UPLOAD_PARTS_MAX / 10)
		part *= 2;
	if (about->size < 0 || about->size > UPLOAD_SIZE_MAX)
		return err_set(err, ERR_INVALID, "size: 0 to %lld bytes",
			       (long long)UPLOAD_SIZE_MAX);
	if (part < UPLOAD_PART_MIN || part > UPLOAD_PART_MAX)
		return err_set(err, ERR_INVALID, "part_size: %lld to %lld bytes",
			       (long long)UPLOAD_PART_MIN, (long long)UPLOAD_PART_MAX);
	if (about->size / part >= UPLOAD_PARTS_MAX)
		return err_set(err, ERR_INVALID,
			       "part_size: at most %d parts; take larger ones",
			       UPLOAD_PARTS_MAX);
	*part_size = part;
	return 0;
}

static struct upload *find_same(const struct uploads *u, const struct volume_place *p,
				const struct upload_about *about, size_t *count)
{
	struct upload *f, *same = NULL;

	for (size_t it = 0; (f = map_next(u->all, &it));) {
		if (!str_eq(f->owner, about->owner))
			continue;
		++*count;
		if (!f->gone && str_eq(f->path, p->path) && f->size == about->size &&
		    f->modified_ms == about->modified_ms &&
		    (!about->part_size || about->part_size == f->part_size))
			same = f;
	}
	return same;
}

/* Room for all of it is asked for now: a disk that is too full says so before hours of
 * sending. */
static int make_bytes(struct upload *f, const struct volume_place *p, struct err *err)
{
	AUTO_FREE char *name = bytes_name(f);
	AUTO_FD int own = open_own(p, err);
	struct acting a;

	if (own < 0 || act_as_owner(&a, p, own, err) < 0)
		return -1;
	f->fd = openat(own, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		       0600);
	int rc = f->fd < 0 || (fallocate(f->fd, 0, 0, f->size ? f->size : 1) < 0 &&
			       errno != EOPNOTSUPP && errno != ENOSYS)
			 ? open_error(p, "write", err)
			 : 0;
	if (rc == 0 && ftruncate(f->fd, f->size) < 0)
		rc = open_error(p, "write", err);
	if (rc < 0 && f->fd >= 0)
		unlinkat(own, name, 0);
	act_end(&a);
	return rc;
}

/* missing: the first part that is not here; -1: all are. */
static bool any_coming(const struct upload *f, int64_t *missing)
{
	bool coming = false;

	*missing = -1;
	for (int64_t n = 0; n < f->part_count; n++) {
		coming |= f->parts[n].state == PART_COMING;
		if (*missing < 0 && f->parts[n].state != PART_HERE)
			*missing = n;
	}
	return coming;
}

/* Its bytes, and what is written down of it. */
static void forget(const struct upload *f, const struct volume_place *p)
{
	AUTO_FREE char *name = bytes_name(f);
	AUTO_FD int own = open_own(p, NULL);
	struct acting a;

	if (own >= 0 && act_as_owner(&a, p, own, NULL) == 0) {
		unlinkat(own, name, 0);
		act_end(&a);
	}
	upload_log_remove(f);
}

/* Before its bytes are: what lies there and is not known would be swept away.  Found by
 * others once they are. */
static void enter(struct upload *f)
{
	struct uploads *u = f->uploads;

	pthread_mutex_lock(&u->lock);
	map_puts(u->all, f->id, f);
	pthread_mutex_unlock(&u->lock);
}

static struct upload *make(struct uploads *u, const struct volume_place *p,
			   const struct upload_about *about, int64_t part_size,
			   struct err *err)
{
	struct upload *f = upload_alloc(u, about->size, part_size);
	uint8_t id[(UPLOAD_ID_BYTES - 1) / 2];

	f->owner = mem_strdup(about->owner);
	f->path = mem_strdup(p->path);
	f->modified_ms = about->modified_ms;
	f->executable = about->executable;
	f->parents = about->parents;
	f->created_ms = f->touched_ms = about->now_ms;
	f->refs = 1;
	f->gone = true;
	if (getrandom(id, sizeof id, 0) != (ssize_t)sizeof id) {
		err_sys(err, "draw a name");
	} else {
		for (size_t i = 0; i < sizeof id; i++)
			snprintf(f->id + 2 * i, 3, "%02x", id[i]);
		enter(f);
		if (make_bytes(f, p, err) == 0) {
			if (upload_log_write(f, err) == 0)
				return f;
			forget(f, p);
		}
	}
	upload_drop(f);
	return NULL;
}

/* Nobody finds it any more; the caller, who holds it, is the one to drop it.  False: a part
 * of it is coming. */
static bool take_out(struct upload *f)
{
	struct uploads *u = f->uploads;
	int64_t missing;

	pthread_mutex_lock(&u->lock);
	bool free_now = !f->gone && !any_coming(f, &missing);
	f->gone |= free_now;
	pthread_mutex_unlock(&u->lock);
	return free_now;
}

/* The one of the same owner, path, size and time, if its bytes are still there. */
static struct upload *find_again(struct uploads *u, const struct volume_place *p,
				 const struct upload_about *about, struct err *err)
{
	size_t count = 0;

	pthread_mutex_lock(&u->lock);
	struct upload *f = find_same(u, p, about, &count);
	if (f)
		f->refs++;
	pthread_mutex_unlock(&u->lock);
	if (!f && count >= UPLOADS_MAX)
		err_set(err, ERR_QUOTA,
			"you have %zu uploads under way: finish or remove some", count);
	if (!f || upload_open(f, p, NULL) == 0)
		return f;
	if (take_out(f))
		forget(f, p);
	upload_drop(f);
	return NULL;
}

/* To be found, for the first time or once more. */
static void show(struct upload *f)
{
	pthread_mutex_lock(&f->uploads->lock);
	f->gone = false;
	pthread_mutex_unlock(&f->uploads->lock);
}

static struct upload *make_new(struct uploads *u, struct usage *usage,
			       const struct volume_place *p,
			       const struct upload_about *about, int64_t part_size,
			       struct err *err)
{
	struct file_info old;
	int64_t more = about->size;

	/* What it replaces makes room for it. */
	if (usage_quota(usage, p) && file_stat(p, &old, NULL) == 0 &&
	    old.kind == FILE_FILE)
		more = old.size < more ? more - old.size : 0;
	if (usage_take(usage, p, more, err) < 0)
		return NULL;
	struct upload *f = make(u, p, about, part_size, err);
	/* For good once the bytes have their room: they are counted where they lie. */
	usage_settle(usage, p, more, f ? about->size : 0);
	if (f)
		show(f);
	return f;
}

int upload_begin(struct uploads *u, struct usage *usage, const struct volume_place *p,
		 const struct upload_about *about, struct upload_view *out,
		 struct err *err)
{
	struct err full = { .code = ERR_NONE };
	int64_t part_size = 0;

	if (check_size(about, &part_size, err) < 0)
		return -1;
	struct upload *f = find_again(u, p, about, &full);
	bool fresh = !f;
	if (!f && full.code != ERR_NONE)
		return err_set(err, full.code, "%s", full.text);
	if (!f)
		f = make_new(u, usage, p, about, part_size, err);
	if (!f)
		return -1;
	view(f, out);
	out->fresh = fresh;
	upload_drop(f);
	return 0;
}

char *upload_path(struct uploads *u, const char *id, const char *owner, struct err *err)
{
	char *path = NULL;

	pthread_mutex_lock(&u->lock);
	const struct upload *f = find(u, id);
	if (f && (!owner || str_eq(f->owner, owner)))
		path = mem_strdup(f->path);
	pthread_mutex_unlock(&u->lock);
	if (!path)
		no_upload(id, err);
	return path;
}

int upload_show(struct uploads *u, const struct volume_place *p, const char *id,
		struct upload_view *out, struct err *err)
{
	struct upload *f = upload_hold(u, p, id, err);

	if (!f)
		return -1;
	int rc = upload_open(f, p, err);
	if (rc == 0)
		view(f, out);
	upload_drop(f);
	return rc;
}

/* By the parts' sums where that will do; else the bytes are read once more. */
static int check_whole(const struct upload *f, const struct checksum *said,
		       struct err *err)
{
	struct checksum is;

	if (said->kind == CHECKSUM_CRC32C) {
		uint32_t crc = 0;
		for (int64_t n = 0; n < f->part_count; n++)
			crc = crc32c_join(crc, f->parts[n].crc,
					  (uint64_t)upload_part_bytes(f, n));
		checksum_of_crc32c(crc, &is);
		return checksum_same(said, &is, err);
	}
	AUTO_FREE char *bytes = mem_alloc(1, READ_BYTES);
	struct checksum_run *run = checksum_begin(said->kind);
	ssize_t got;
	for (int64_t at = 0; (got = pread(f->fd, bytes, READ_BYTES, at)) > 0; at += got)
		checksum_add(run, bytes, (size_t)got);
	checksum_end(run, &is);
	return got < 0 ? err_sys(err, "read %s back", f->path)
		       : checksum_same(said, &is, err);
}

static int finish(struct upload *f, const struct volume_place *p,
		  const struct checksum *said, int64_t *replaced, struct err *err)
{
	AUTO_FREE char *name = bytes_name(f);
	struct file_put_how how = { .parents = f->parents,
				    .executable = f->executable,
				    .sync = true,
				    .modified_ms = f->modified_ms };

	if (said && check_whole(f, said, err) < 0)
		return -1;
	AUTO_FD int own = open_own(p, err);
	struct file_named from = { own, name, f->fd };
	return own < 0 ? -1 : file_put_named(p, &how, &from, replaced, err);
}

static int check_parts(struct upload *f, struct err *err)
{
	int64_t missing;

	pthread_mutex_lock(&f->uploads->lock);
	any_coming(f, &missing);
	pthread_mutex_unlock(&f->uploads->lock);
	if (missing < 0)
		return 0;
	return err_set(err, ERR_CONFLICT,
		       "part %lld of %lld did not come yet: ask which are there, send "
		       "the others, then finish",
		       (long long)missing, (long long)f->part_count);
}

int upload_finish(struct uploads *u, const struct volume_place *p, const char *id,
		  const struct checksum *said, int64_t *replaced, struct err *err)
{
	struct upload *f = upload_hold(u, p, id, err);
	int rc = -1;

	if (!f)
		return -1;
	if (upload_open(f, p, err) < 0 || check_parts(f, err) < 0) {
		/* err is told */
	} else if (!take_out(f)) {
		err_set(err, ERR_CONFLICT, "somebody else is finishing it");
	} else {
		rc = finish(f, p, said, replaced, err);
		if (rc == 0)
			upload_log_remove(f);
		else
			show(f); /* to be tried again */
	}
	upload_drop(f);
	return rc;
}

int upload_cancel(struct uploads *u, const struct volume_place *p, const char *id,
		  int64_t *size, struct err *err)
{
	struct upload *f = upload_hold(u, p, id, err);
	int rc = 0;

	if (!f)
		return -1;
	if (take_out(f)) {
		*size = f->size;
		forget(f, p);
	} else {
		rc = err_set(err, ERR_CONFLICT,
			     "a part of it is coming just now: stop that first");
	}
	upload_drop(f);
	return rc;
}

void upload_abandon(struct uploads *u, const char *id)
{
	pthread_mutex_lock(&u->lock);
	struct upload *f = find(u, id);
	if (f)
		f->refs++;
	pthread_mutex_unlock(&u->lock);
	if (!f)
		return;
	if (take_out(f))
		upload_log_remove(f);
	upload_drop(f);
}

bool upload_known(struct uploads *u, const char *id)
{
	pthread_mutex_lock(&u->lock);
	bool known = map_gets(u->all, id) != NULL;
	pthread_mutex_unlock(&u->lock);
	return known;
}

char *upload_expired(struct uploads *u, int64_t now_ms, char id[UPLOAD_ID_BYTES])
{
	const struct upload *f;
	int64_t missing;
	char *path = NULL;

	pthread_mutex_lock(&u->lock);
	for (size_t it = 0; !path && (f = map_next(u->all, &it));) {
		if (f->gone || now_ms - f->touched_ms < UPLOAD_KEEP_MS ||
		    any_coming(f, &missing))
			continue;
		path = mem_strdup(f->path);
		memcpy(id, f->id, UPLOAD_ID_BYTES);
	}
	pthread_mutex_unlock(&u->lock);
	return path;
}
