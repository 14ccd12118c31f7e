// SPDX-License-Identifier: Apache-2.0
#include "unpack/unpack.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"
#include "pack/folder.h"

#define BLOCK_BYTES (256 << 10)

struct unpacker {
	struct archive *in;
	int target;
	const struct unpack_limits *limits;
	int64_t entries, bytes;
};

static int refuse(struct err *err, const char *path, const char *why)
{
	return err_set(err, ERR_INVALID, "the archive was refused: \"%.200s\" %s", path,
		       why);
}

/* A folder below the target; the kernel itself keeps the walk there and off every link. */
static int open_below(const struct unpacker *u, const char *path)
{
	struct open_how how = {
		.flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
	};

	return (int)syscall(SYS_openat2, u->target, path, &how, sizeof how);
}

/* Writes "a/b" for "./a//b/"; refuses what leaves. */
static int clean_path(const char *path, char out[PATH_MAX], struct err *err)
{
	size_t used = 0;
	int depth = 0;

	if (path[0] == '/')
		return refuse(err, path, "is an absolute path");
	for (const char *s = path; *s;) {
		size_t len = strcspn(s, "/");
		if (len == 2 && memcmp(s, "..", 2) == 0)
			return refuse(err, path, "has \"..\" in its path");
		if (len > 0 && !(len == 1 && *s == '.')) {
			if (++depth > PACK_DEPTH_MAX)
				return refuse(err, path, "lies too deep");
			if (len > NAME_MAX || used + len + 2 > PATH_MAX)
				return refuse(err, path, "has too long a name");
			if (used)
				out[used++] = '/';
			memcpy(out + used, s, len);
			used += len;
		}
		s += len;
		s += strspn(s, "/");
	}
	out[used] = '\0';
	return 0;
}

static int made_wrong(const char *path, struct err *err)
{
	if (errno == ELOOP || errno == EXDEV || errno == ENOTDIR || errno == EEXIST ||
	    errno == EISDIR)
		return refuse(err, path,
			      "stands where the archive already made something else");
	return err_sys(err, "unpack %.200s", path);
}

/* Makes what is missing on the way, one step at a time, never through a link. */
static int make_folders(const struct unpacker *u, char *path)
{
	int at = fcntl(u->target, F_DUPFD_CLOEXEC, 0);

	for (char *s = path, *slash; at >= 0 && s; s = slash ? slash + 1 : NULL) {
		slash = strchr(s, '/');
		if (slash)
			*slash = '\0';
		int next = -1;
		if (mkdirat(at, s, 0755) == 0 || errno == EEXIST)
			next = openat(at, s,
				      O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		int failed = errno;
		close(at);
		errno = failed;
		at = next;
		if (slash)
			*slash = '/';
	}
	return at;
}

/* The folder `path` lies in, made where missing; *name is its last component. */
static int open_parent(const struct unpacker *u, char *path, const char **name,
		       struct err *err)
{
	char *slash = strrchr(path, '/');
	int fd;

	*name = slash ? slash + 1 : path;
	if (!slash) {
		fd = fcntl(u->target, F_DUPFD_CLOEXEC, 0);
	} else {
		*slash = '\0';
		fd = open_below(u, path);
		if (fd < 0 && errno == ENOENT)
			fd = make_folders(u, path);
		*slash = '/';
	}
	if (fd < 0)
		made_wrong(path, err);
	return fd;
}

static int count_bytes(struct unpacker *u, const char *path, int64_t more,
		       struct err *err)
{
	u->bytes += more;
	if (more < 0 || u->bytes > u->limits->bytes)
		return err_set(
			err, ERR_TOO_LARGE,
			"the archive unpacks to more than %lld bytes (at \"%.200s\")",
			(long long)u->limits->bytes, path);
	return 0;
}

static int write_block(int fd, const char *data, size_t len, int64_t at, const char *path,
		       struct err *err)
{
	while (len > 0) {
		ssize_t n = pwrite(fd, data, len, at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_sys(err, "unpack %.200s", path);
		data += n;
		at += n;
		len -= (size_t)n;
	}
	return 0;
}

static int broken(const struct unpacker *u, const char *path, struct err *err)
{
	const char *why = archive_error_string(u->in);

	if (!archive_format(u->in)) /* none of those that were asked for */
		return err_set(
			err, ERR_INVALID,
			"it is no archive that is taken here: give a tar file, as it is or "
			"packed by gzip or zstd (.tar, .tar.gz, .tar.zst)");
	return err_set(err, ERR_INVALID, "the archive is broken%s%.200s: %s",
		       *path ? " at " : "", path, why ? why : "no reason given");
}

static int write_data(struct unpacker *u, int fd, const char *path, struct err *err)
{
	int64_t end = 0;

	for (;;) {
		const void *data;
		size_t len;
		la_int64_t at;
		int rc = archive_read_data_block(u->in, &data, &len, &at);

		if (rc == ARCHIVE_EOF)
			break;
		if (rc < ARCHIVE_WARN)
			return broken(u, path, err);
		if (at < end || at > INT64_MAX - (int64_t)len)
			return refuse(err, path, "has overlapping pieces");
		if (count_bytes(u, path, at + (int64_t)len - end, err) < 0 ||
		    write_block(fd, data, len, at, path, err) < 0)
			return -1;
		end = at + (int64_t)len;
	}
	return 0;
}

static int unpack_file(struct unpacker *u, struct archive_entry *e, int at,
		       const char *name, const char *path, struct err *err)
{
	mode_t mode = archive_entry_perm(e) & 0111 ? 0755 : 0644;
	int64_t size = archive_entry_size_is_set(e) ? archive_entry_size(e) : 0;

	/* Said before it is tried: a bomb is refused by what it claims already. */
	if (size < 0 || size > u->limits->bytes - u->bytes)
		return count_bytes(u, path, size < 0 ? -1 : size, err);
	if (unlinkat(at, name, 0) < 0 && errno != ENOENT)
		return made_wrong(path, err);
	AUTO_FD int fd = openat(
		at, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return made_wrong(path, err);
	if (write_data(u, fd, path, err) < 0)
		return -1;
	/* A hole at the end has no data of its own. */
	struct stat st;
	if (fstat(fd, &st) < 0)
		return err_sys(err, "unpack %.200s", path);
	if (st.st_size < size) {
		if (count_bytes(u, path, size - st.st_size, err) < 0)
			return -1;
		if (ftruncate(fd, size) < 0)
			return err_sys(err, "unpack %.200s", path);
	}
	struct timespec times[2] = { { .tv_nsec = UTIME_OMIT },
				     { .tv_sec = archive_entry_mtime(e) } };
	if (fchmod(fd, mode) < 0 || futimens(fd, times) < 0)
		return err_sys(err, "unpack %.200s", path);
	return 0;
}

static int unpack_link(const struct unpacker *u, struct archive_entry *e, int at,
		       const char *name, const char *path, struct err *err)
{
	const char *to = archive_entry_symlink(e);

	(void)u;
	if (!to || !pack_link_inside(path, to))
		return refuse(err, path, "is a link that leads outside");
	if (unlinkat(at, name, 0) < 0 && errno != ENOENT)
		return made_wrong(path, err);
	return symlinkat(to, at, name) < 0 ? made_wrong(path, err) : 0;
}

static int unpack_hardlink(const struct unpacker *u, struct archive_entry *e, int at,
			   const char *name, const char *path, struct err *err)
{
	char from[PATH_MAX] = "";
	const char *from_name;

	if (clean_path(archive_entry_hardlink(e), from, err) < 0)
		return -1;
	if (!*from || strcmp(from, path) == 0)
		return refuse(err, path, "is a link to itself");
	AUTO_FD int from_at = open_parent(u, from, &from_name, err);
	if (from_at < 0)
		return -1;
	struct stat st;
	if (fstatat(from_at, from_name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
	    !S_ISREG(st.st_mode))
		return refuse(err, path,
			      "is a link to a file that is not in the archive");
	if (unlinkat(at, name, 0) < 0 && errno != ENOENT)
		return made_wrong(path, err);
	return linkat(from_at, from_name, at, name, 0) < 0 ? made_wrong(path, err) : 0;
}

static int unpack_folder(int at, const char *name, const char *path, struct err *err)
{
	struct stat st;

	if (mkdirat(at, name, 0755) == 0)
		return 0;
	if (errno == EEXIST && fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    S_ISDIR(st.st_mode))
		return 0;
	return made_wrong(path, err);
}

static int unpack_entry(struct unpacker *u, struct archive_entry *e, struct err *err)
{
	const char *raw = archive_entry_pathname(e), *name;
	char path[PATH_MAX] = "";

	if (++u->entries > u->limits->entries)
		return err_set(err, ERR_TOO_LARGE,
			       "the archive has more than %lld entries",
			       (long long)u->limits->entries);
	if (!raw)
		return refuse(err, "", "is an entry without a name");
	if (clean_path(raw, path, err) < 0)
		return -1;
	if (archive_entry_perm(e) & (S_ISUID | S_ISGID))
		return refuse(err, raw, "has the setuid or setgid bit");
	if (!*path)
		return archive_entry_filetype(e) == AE_IFDIR
			       ? 0
			       : refuse(err, raw, "has no name");
	AUTO_FD int at = open_parent(u, path, &name, err);
	if (at < 0)
		return -1;
	if (archive_entry_hardlink(e))
		return unpack_hardlink(u, e, at, name, path, err);
	switch (archive_entry_filetype(e)) {
	case AE_IFREG:
		return unpack_file(u, e, at, name, path, err);
	case AE_IFDIR:
		return unpack_folder(at, name, path, err);
	case AE_IFLNK:
		return unpack_link(u, e, at, name, path, err);
	default:
		return refuse(err, raw, "is a device, a pipe or a socket");
	}
}

static int unpack_all(struct unpacker *u, struct err *err)
{
	struct archive_entry *e;

	for (;;) {
		int rc = archive_read_next_header(u->in, &e);
		if (rc == ARCHIVE_EOF)
			return 0;
		if (rc < ARCHIVE_WARN)
			return broken(u, "", err);
		if (unpack_entry(u, e, err) < 0)
			return -1;
	}
}

int unpack_archive(int archive, int target, const struct unpack_limits *limits,
		   struct err *err)
{
	struct unpacker u = { .in = archive_read_new(),
			      .target = target,
			      .limits = limits };
	int rc = -1;

	if (!u.in)
		return err_set(err, ERR_INTERNAL, "libarchive did not start");
	/* No other formats: each is one more parser to trust. */
	if (archive_read_support_format_tar(u.in) < ARCHIVE_WARN ||
	    archive_read_support_filter_gzip(u.in) < ARCHIVE_WARN ||
	    archive_read_support_filter_zstd(u.in) < ARCHIVE_WARN)
		err_set(err, ERR_INTERNAL, "libarchive lacks tar, gzip or zstd");
	else if (archive_read_open_fd(u.in, archive, BLOCK_BYTES) != ARCHIVE_OK)
		broken(&u, "", err);
	else
		rc = unpack_all(&u, err);
	archive_read_free(u.in);
	return rc;
}
