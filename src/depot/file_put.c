// SPDX-License-Identifier: Apache-2.0
#include "depot/file_put.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/mem.h"
#include "depot/open.h"

#define TEMP_MAX (sizeof FILE_PUT_TEMP + 16)

struct file_put {
	struct volume_place place;
	struct file_put_how how;
	int at;           /* the folder, O_PATH */
	const char *name; /* the part of place.rel that names it in there */
	int fd;
	char temp[TEMP_MAX]; /* its name for the time being, or "": it has none */
	struct checksum_run *run;
	int64_t bytes;
};

static int draw_name(char out[TEMP_MAX], struct err *err)
{
	uint64_t unique;

	if (getrandom(&unique, sizeof unique, 0) < 0)
		return err_sys(err, "draw a name");
	snprintf(out, TEMP_MAX, FILE_PUT_TEMP "%016" PRIx64, unique);
	return 0;
}

/* Refused before the bytes are sent, where that is possible. */
static int check_target(const struct volume_place *p, const struct file_put_how *how,
			int at, const char *name, struct err *err)
{
	struct stat st;

	if (fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : open_error(p, "look at", err);
	if (S_ISDIR(st.st_mode))
		return err_set(err, ERR_CONFLICT,
			       "%s is a folder: name the file in it, or remove it first",
			       p->path);
	if (how->only_new)
		return err_set(err, ERR_CONFLICT, "%s is there already", p->path);
	return 0;
}

static int make_file(struct file_put *f, struct err *err)
{
	mode_t mode = f->how.executable ? 0755 : 0644;

	f->fd = openat(f->at, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, mode);
	if (f->fd >= 0)
		return 0;
	if (errno != EOPNOTSUPP && errno != EISDIR && errno != ENOSYS &&
	    errno != EINVAL && errno != ENOENT)
		return open_error(&f->place, "write", err);
	/* A file system that has no files without names. */
	if (draw_name(f->temp, err) < 0)
		return -1;
	f->fd = openat(f->at, f->temp, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		       mode);
	if (f->fd >= 0)
		return 0;
	f->temp[0] = '\0';
	return open_error(&f->place, "write", err);
}

static int begin(struct file_put *f, struct err *err)
{
	struct acting a;
	AUTO_FD int area = open_area(&f->place, err);

	if (area < 0)
		return -1;
	f->at = open_parent(area, &f->place, f->how.parents, &f->name, err);
	if (f->at < 0 || check_target(&f->place, &f->how, f->at, f->name, err) < 0 ||
	    act_as_owner(&a, &f->place, f->at, err) < 0)
		return -1;
	int rc = make_file(f, err);
	act_end(&a);
	return rc;
}

struct file_put *file_put_begin(const struct volume_place *p,
				const struct file_put_how *how, struct err *err)
{
	struct file_put *f = mem_alloc(1, sizeof *f);

	volume_place_copy(p, &f->place);
	f->how = *how;
	f->at = f->fd = -1;
	if (begin(f, err) < 0) {
		file_put_abort(f);
		return NULL;
	}
	if (how->has_checksum)
		f->run = checksum_begin(how->checksum.kind);
	return f;
}

int file_put_write(struct file_put *f, const void *data, size_t len, struct err *err)
{
	const char *p = data;

	if (f->run)
		checksum_add(f->run, data, len);
	while (len > 0) {
		ssize_t n = write(f->fd, p, len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return open_error(&f->place, "write", err);
		p += n;
		len -= (size_t)n;
		f->bytes += n;
	}
	return 0;
}

int64_t file_put_bytes(const struct file_put *f)
{
	return f->bytes;
}

static void remove_temp(struct file_put *f)
{
	struct acting a;

	if (!f->temp[0] || act_as_owner(&a, &f->place, f->at, NULL) < 0)
		return;
	unlinkat(f->at, f->temp, 0);
	act_end(&a);
	f->temp[0] = '\0';
}

void file_put_abort(struct file_put *f)
{
	if (!f)
		return;
	remove_temp(f);
	if (f->fd >= 0)
		close(f->fd);
	if (f->at >= 0)
		close(f->at);
	checksum_drop(f->run);
	volume_place_fini(&f->place);
	free(f);
}

static int check_sum(struct file_put *f, struct err *err)
{
	struct checksum is;

	if (!f->run)
		return 0;
	checksum_end(TAKE(f->run), &is);
	return checksum_same(&f->how.checksum, &is, err);
}

/* Time and durability: of the file, before it has its name. */
static int settle(const struct volume_place *p, const struct file_put_how *how, int fd,
		  struct err *err)
{
	const struct timespec times[2] = {
		{ .tv_nsec = UTIME_OMIT },
		{ .tv_sec = how->modified_ms / 1000,
		  .tv_nsec = how->modified_ms % 1000 * 1000000 },
	};

	if (how->modified_ms >= 0 && futimens(fd, times) < 0)
		return open_error(p, "set the time of", err);
	if (how->sync && fsync(fd) < 0)
		return open_error(p, "make durable", err);
	return 0;
}

static int settle_folder(const struct volume_place *p, int at, struct err *err)
{
	AUTO_FD int fd = openat(at, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 || fsync(fd) < 0 ? open_error(p, "make durable", err) : 0;
}

/* A name that is not in use is taken at once; else a name for a moment, moved over it. */
static int give_name(struct file_put *f, bool there, struct err *err)
{
	char self[64];

	snprintf(self, sizeof self, "/proc/self/fd/%d", f->fd);
	if (!f->temp[0] && !there) {
		if (linkat(AT_FDCWD, self, f->at, f->name, AT_SYMLINK_FOLLOW) == 0)
			return 0;
		if (errno != EEXIST)
			return open_error(&f->place, "name", err);
		if (f->how.only_new)
			return err_set(err, ERR_CONFLICT, "%s is there already",
				       f->place.path);
	}
	if (!f->temp[0]) {
		if (draw_name(f->temp, err) < 0)
			return -1;
		if (linkat(AT_FDCWD, self, f->at, f->temp, AT_SYMLINK_FOLLOW) < 0) {
			f->temp[0] = '\0';
			return open_error(&f->place, "name", err);
		}
	}
	unsigned flags = f->how.only_new ? RENAME_NOREPLACE : 0;
	if (renameat2(f->at, f->temp, f->at, f->name, flags) < 0) {
		if (errno == EEXIST)
			return err_set(err, ERR_CONFLICT, "%s is there already",
				       f->place.path);
		return open_error(&f->place, "name", err);
	}
	f->temp[0] = '\0';
	return 0;
}

/* -1: the name is not in use. */
static int64_t bytes_there(int at, const char *name)
{
	struct stat st;

	if (fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -1;
	return S_ISREG(st.st_mode) && st.st_nlink == 1 ? st.st_size : 0;
}

static int finish(struct file_put *f, struct file_info *out, int64_t *replaced,
		  struct err *err)
{
	struct acting a;
	struct stat st;

	if (check_sum(f, err) < 0 || settle(&f->place, &f->how, f->fd, err) < 0)
		return -1;
	*replaced = bytes_there(f->at, f->name);
	if (act_as_owner(&a, &f->place, f->at, err) < 0)
		return -1;
	int rc = give_name(f, *replaced >= 0, err);
	if (rc == 0 && f->how.sync)
		rc = settle_folder(&f->place, f->at, err);
	act_end(&a);
	if (rc == 0 && fstat(f->fd, &st) == 0)
		file_info_of(&st, out);
	return rc;
}

int file_put_finish(struct file_put *f, struct file_info *out, int64_t *replaced,
		    struct err *err)
{
	int rc = finish(f, out, replaced, err);

	file_put_abort(f);
	return rc;
}

static int move_named(const struct volume_place *p, const struct file_put_how *how,
		      const struct file_named *from, int at, const char *name,
		      struct err *err)
{
	unsigned flags = how->only_new ? RENAME_NOREPLACE : 0;

	if (renameat2(from->at, from->name, at, name, flags) == 0)
		return how->sync ? settle_folder(p, at, err) : 0;
	if (errno == EEXIST)
		return err_set(err, ERR_CONFLICT, "%s is there already", p->path);
	if (errno == EXDEV)
		return err_set(err, ERR_UNSUPPORTED,
			       "%s lies on another disk than the rest of its area: send "
			       "it whole",
			       p->path);
	return open_error(p, "name", err);
}

int file_put_named(const struct volume_place *p, const struct file_put_how *how,
		   const struct file_named *from, int64_t *replaced, struct err *err)
{
	struct acting a;
	const char *name;
	AUTO_FD int area = open_area(p, err);
	AUTO_FD int at = area < 0 ? -1 : open_parent(area, p, how->parents, &name, err);

	if (at < 0 || check_target(p, how, at, name, err) < 0)
		return -1;
	if (fchmod(from->fd, how->executable ? 0755 : 0644) < 0)
		return open_error(p, "set the mode of", err);
	if (settle(p, how, from->fd, err) < 0)
		return -1;
	*replaced = bytes_there(at, name);
	if (act_as_owner(&a, p, at, err) < 0)
		return -1;
	int rc = move_named(p, how, from, at, name, err);
	act_end(&a);
	return rc;
}
