// SPDX-License-Identifier: Apache-2.0
#include "cli/part.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "base/mem.h"
#include "base/str.h"
#include "cli/file_place.h"

#define MAGIC     "yard-part 1\n"
#define ETAG_ROOM 128
#define SUM_BYTES (256u << 10)
#define THERE     (1ull << 32) /* a slot: this bit, and the CRC below it */

struct note {
	char magic[16];
	int64_t size, part_size;
	char etag[ETAG_ROOM];
};

void parts_of(struct parts *p, int64_t size)
{
	p->size = size;
	p->part_size = PART_BYTES;
	while ((size + p->part_size - 1) / p->part_size > PART_COUNT_MAX)
		p->part_size *= 2;
	p->count = (size_t)((size + p->part_size - 1) / p->part_size);
}

int64_t part_first(const struct parts *p, size_t n)
{
	return (int64_t)n * p->part_size;
}

int64_t part_len(const struct parts *p, size_t n)
{
	int64_t rest = p->size - part_first(p, n);

	return rest < p->part_size ? rest : p->part_size;
}

char *part_path(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	int folder = (int)(name - path);
	size_t most = NAME_MAX - sizeof PART_SUFFIX; /* and the dot before it */

	if (strlen(name) <= most)
		return str_printf("%.*s.%s" PART_SUFFIX, folder, path, name);
	/* A name that leaves no room: its beginning, and a sum of all of it. */
	return str_printf("%.*s.%.*s-%08x" PART_SUFFIX, folder, path, (int)most - 9, name,
			  crc32c_add(0, name, strlen(name)));
}

bool part_is_partial(const char *name)
{
	return name[0] == '.' && str_ends(name, PART_SUFFIX);
}

/* Of one that an earlier run has left: who may read it may run it, or nobody may. */
static void set_executable(int fd, mode_t mode, bool executable)
{
	if (!(mode & S_IXUSR) == executable)
		(void)!fchmod(fd, executable ? mode | (mode & 0444) >> 2 : mode & ~0111u);
}

int part_open(const char *path, bool executable, struct err *err)
{
	/* Another process may finish and rename it between our open and our lock. */
	for (int i = 0; i < 100; i++) {
		AUTO_FD int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW,
				      executable ? 0777 : 0666);
		struct stat mine, named;
		if (fd < 0)
			return err_sys(err, "make %s", path);
		if (flock(fd, LOCK_EX | LOCK_NB) < 0)
			return err_set(err, errno == EWOULDBLOCK ? ERR_CONFLICT : ERR_IO,
				       "another process writes %s: let it finish", path);
		if (fstat(fd, &mine) == 0 && lstat(path, &named) == 0 &&
		    mine.st_ino == named.st_ino && mine.st_dev == named.st_dev) {
			set_executable(fd, mine.st_mode & 0777, executable);
			return TAKE_FD(fd);
		}
	}
	return err_set(err, ERR_CONFLICT, "another process writes %s: let it finish",
		       path);
}

static int pread_all(int fd, void *out, size_t len, int64_t at, struct err *err)
{
	char *p = out;

	while (len > 0) {
		ssize_t n = pread(fd, p, len, at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? err_sys(err, "read")
				     : err_set(err, ERR_CORRUPT, "it is shorter");
		p += n;
		at += n;
		len -= (size_t)n;
	}
	return 0;
}

int part_pwrite(int fd, const char *data, size_t len, int64_t at, struct err *err)
{
	while (len > 0) {
		ssize_t n = pwrite(fd, data, len, at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_sys(err, "write");
		data += n;
		at += n;
		len -= (size_t)n;
	}
	return 0;
}

static void make_note(const struct parts *p, const char *etag, struct note *out)
{
	memset(out, 0, sizeof *out);
	snprintf(out->magic, sizeof out->magic, "%s", MAGIC);
	snprintf(out->etag, sizeof out->etag, "%s", etag);
	out->size = p->size;
	out->part_size = p->part_size;
}

int part_begin(int fd, const struct parts *p, const char *etag, int64_t *sums,
	       struct err *err)
{
	AUTO_FREE uint64_t *slots = mem_alloc(p->count, sizeof *slots);
	size_t slots_len = p->count * sizeof *slots;
	int64_t whole = p->size + (int64_t)(sizeof(struct note) + slots_len);
	struct note wanted, found;
	struct stat st;

	for (size_t n = 0; n < p->count; n++)
		sums[n] = -1;
	if (strlen(etag) >= ETAG_ROOM)
		return err_set(err, ERR_CORRUPT, "the server's ETag is too long");
	make_note(p, etag, &wanted);
	if (fstat(fd, &st) == 0 && st.st_size == whole &&
	    pread_all(fd, &found, sizeof found, p->size, err) == 0 &&
	    memcmp(&found, &wanted, sizeof found) == 0 &&
	    pread_all(fd, slots, slots_len, p->size + (int64_t)sizeof found, err) == 0) {
		for (size_t n = 0; n < p->count; n++)
			if (slots[n] & THERE)
				sums[n] = (int64_t)(slots[n] & 0xffffffff);
		return 0;
	}
	if (ftruncate(fd, 0) < 0 || ftruncate(fd, whole) < 0)
		return err_sys(err, "make room");
	return part_pwrite(fd, (const char *)&wanted, sizeof wanted, p->size, err);
}

int part_note(int fd, const struct parts *p, size_t n, uint32_t sum, struct err *err)
{
	uint64_t slot = THERE | sum;

	return part_pwrite(fd, (const char *)&slot, sizeof slot,
			   p->size + (int64_t)(sizeof(struct note) + n * sizeof slot),
			   err);
}

int part_sum(int fd, const struct parts *p, size_t n, uint32_t *out, struct err *err)
{
	AUTO_FREE char *piece = mem_alloc(1, SUM_BYTES);
	int64_t at = part_first(p, n), end = at + part_len(p, n);
	uint32_t sum = 0;

	while (at < end) {
		size_t len = end - at < SUM_BYTES ? (size_t)(end - at) : SUM_BYTES;
		if (pread_all(fd, piece, len, at, err) < 0)
			return -1;
		sum = crc32c_add(sum, piece, len);
		at += (int64_t)len;
	}
	*out = sum;
	return 0;
}

static struct timespec time_of(int64_t ms)
{
	int64_t s = ms / 1000 - (ms % 1000 < 0);

	return (struct timespec){ .tv_sec = s,
				  .tv_nsec = (long)(ms - s * 1000) * 1000000 };
}

int part_finish(int fd, const char *partial, const char *path, int64_t size,
		int64_t modified_ms, struct err *err)
{
	const struct timespec times[2] = { { .tv_nsec = UTIME_OMIT },
					   time_of(modified_ms) };

	if (size >= 0 && ftruncate(fd, size) < 0)
		return err_sys(err, "cut %s", partial);
	if (futimens(fd, times) < 0)
		return err_sys(err, "set the time of %s", partial);
	if (rename(partial, path) < 0)
		return err_sys(err, "rename to %s", path);
	return 0;
}
