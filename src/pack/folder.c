// SPDX-License-Identifier: Apache-2.0
#include "pack/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/str.h"
#include "pack/ignore.h"
#include "pack/tar.h"

#define RULES_BYTES_MAX (1 << 20) /* of one rule file */
#define READ_BYTES      (256 << 10)

struct level {
	int fd;
	char **names; /* sorted */
	size_t count, cap, next;
	size_t path_len; /* of the folder's own path */
};

struct packer {
	const struct pack_job *job;
	struct pack_hash *hash;
	struct pack_stats *stats;
	struct ignore *ignore;
	struct buf path;  /* from the top of the work tree */
	size_t above_len; /* bytes of path that lie above the packed folder: "sub/" */
	struct buf out;
	char *chunk;
	struct level levels[PACK_DEPTH_MAX];
	int depth;
};

static __attribute__((format(printf, 2, 3))) void notice(const struct packer *p,
							 const char *fmt, ...)
{
	AUTO_BUF struct buf text = { 0 };
	va_list ap;

	if (!p->job->notice)
		return;
	va_start(ap, fmt);
	buf_vprintf(&text, fmt, ap);
	va_end(ap);
	p->job->notice(p->job->arg, buf_str(&text));
}

static const char *inner_path(const struct packer *p)
{
	return buf_str(&p->path) + p->above_len;
}

static int emit(struct packer *p, const void *data, size_t len, struct err *err)
{
	int64_t max = p->job->bytes_max ? p->job->bytes_max : PACK_BYTES_MAX;

	p->stats->bytes += (int64_t)len;
	if (p->stats->bytes > max)
		return err_set(
			err, ERR_TOO_LARGE,
			"the folder is larger than %lld MiB (biggest file: %s, %lld MiB): name what "
			"the job does not need in .yardignore, and give data as an input",
			(long long)(max >> 20), p->stats->largest,
			(long long)(p->stats->largest_bytes >> 20));
	pack_hash_add(p->hash, data, len);
	return p->job->write ? p->job->write(p->job->arg, data, len, err) : 0;
}

static int flush(struct packer *p, struct err *err)
{
	int rc = p->out.len ? emit(p, p->out.data, p->out.len, err) : 0;

	buf_clear(&p->out);
	return rc;
}

static int count_entry(struct packer *p, struct err *err)
{
	int64_t max = p->job->files_max ? p->job->files_max : PACK_FILES_MAX;

	if (++p->stats->files > max)
		return err_set(
			err, ERR_TOO_LARGE,
			"the folder holds more than %lld files: name what the job does not need "
			"in .yardignore",
			(long long)max);
	return 0;
}

static int put_head(struct packer *p, const struct tar_entry *e, struct err *err)
{
	if (count_entry(p, err) < 0)
		return -1;
	tar_head(e, &p->out);
	return p->out.len >= READ_BYTES ? flush(p, err) : 0;
}

static int put_bytes(struct packer *p, int fd, int64_t size, struct err *err)
{
	if (flush(p, err) < 0)
		return -1;
	for (int64_t left = size; left > 0;) {
		size_t want = left < READ_BYTES ? (size_t)left : READ_BYTES;
		ssize_t n = read(fd, p->chunk, want);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_sys(err, "read %s", inner_path(p));
		if (n == 0)
			return err_set(err, ERR_CONFLICT,
				       "%s became shorter while it was read",
				       inner_path(p));
		if (emit(p, p->chunk, (size_t)n, err) < 0)
			return -1;
		left -= n;
	}
	tar_pad(size, &p->out);
	return 0;
}

static int put_file(struct packer *p, int at, const char *name, struct err *err)
{
	struct stat st;
	AUTO_FD int fd = openat(at, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &st) < 0)
		return err_sys(
			err, "%s cannot be read (name it in .yardignore to leave it out)",
			inner_path(p));
	if (st.st_size > p->stats->largest_bytes) {
		p->stats->largest_bytes = st.st_size;
		snprintf(p->stats->largest, sizeof p->stats->largest, "%s",
			 inner_path(p));
	}
	struct tar_entry e = { TAR_FILE, inner_path(p), NULL, st.st_size,
			       (st.st_mode & 0111) != 0 };
	if (put_head(p, &e, err) < 0)
		return -1;
	return put_bytes(p, fd, st.st_size, err);
}

bool pack_link_inside(const char *path, const char *target)
{
	int depth = 0;

	if (target[0] == '/' || target[0] == '\0')
		return false;
	for (const char *s = path; (s = strchr(s, '/')); s++)
		depth++;
	while (*target) {
		size_t len = strcspn(target, "/");
		if (len == 2 && memcmp(target, "..", 2) == 0)
			depth--;
		else if (len > 0 && !(len == 1 && *target == '.'))
			depth++;
		if (depth < 0)
			return false;
		target += len;
		target += strspn(target, "/");
	}
	return true;
}

static int put_link(struct packer *p, int at, const char *name, struct err *err)
{
	char target[PATH_MAX];
	ssize_t n = readlinkat(at, name, target, sizeof target - 1);

	if (n < 0)
		return err_sys(err, "read link %s", inner_path(p));
	target[n] = '\0';
	if (!pack_link_inside(inner_path(p), target)) {
		notice(p, "left out: the link %s leads outside of the folder, to %s",
		       inner_path(p), target);
		return 0;
	}
	struct tar_entry e = { .kind = TAR_LINK, .path = inner_path(p), .link = target };
	return put_head(p, &e, err);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void add_rules(struct packer *p, int at, const char *file)
{
	AUTO_FD int fd = openat(at, file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	AUTO_BUF struct buf text = { 0 };
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return;
	if (st.st_size > RULES_BYTES_MAX) {
		notice(p, "%s%s is larger than 1 MiB and was not read", inner_path(p),
		       file);
		return;
	}
	buf_reserve(&text, (size_t)st.st_size);
	ssize_t n = read(fd, text.data, (size_t)st.st_size);
	if (n > 0)
		ignore_add(p->ignore, text.data, (size_t)n);
}

static void enter_rules(struct packer *p, int fd, const char *base)
{
	ignore_push(p->ignore, base);
	add_rules(p, fd, ".gitignore");
	add_rules(p, fd, ".yardignore");
}

/* Reads and sorts the folder's names; takes fd. */
static int enter(struct packer *p, int fd, struct err *err)
{
	struct level *l = &p->levels[p->depth];
	int copy = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 0);
	DIR *dir = copy < 0 ? NULL : fdopendir(copy);
	const struct dirent *e;

	if (!dir) {
		err_sys(err, "open folder %s (name it in .yardignore to leave it out)",
			*inner_path(p) ? inner_path(p) : p->job->folder);
		if (copy >= 0)
			close(copy);
		if (fd >= 0)
			close(fd);
		return -1;
	}
	*l = (struct level){ .fd = fd, .path_len = p->path.len };
	p->depth++;
	while (errno = 0, (e = readdir(dir))) {
		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, "..") ||
		    !strcmp(e->d_name, ".git"))
			continue;
		mem_grow(&l->names, &l->cap, l->count, sizeof *l->names);
		l->names[l->count++] = mem_strdup(e->d_name);
	}
	int failed = errno;
	closedir(dir);
	errno = failed;
	if (failed)
		return err_sys(err, "read folder %s", inner_path(p));
	if (l->count)
		qsort(l->names, l->count, sizeof *l->names, by_name);
	return 0;
}

static void leave(struct packer *p)
{
	struct level *l = &p->levels[--p->depth];

	for (size_t i = 0; i < l->count; i++)
		free(l->names[i]);
	free(l->names);
	close(l->fd);
}

static int put_folder(struct packer *p, int at, const char *name, struct err *err)
{
	struct tar_entry e = { .kind = TAR_FOLDER, .path = inner_path(p) };

	if (p->depth == PACK_DEPTH_MAX)
		return err_set(err, ERR_TOO_LARGE, "%s: folders nested deeper than %d",
			       inner_path(p), PACK_DEPTH_MAX);
	if (put_head(p, &e, err) < 0)
		return -1;
	int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (enter(p, fd, err) < 0)
		return -1;
	enter_rules(p, fd, buf_str(&p->path));
	return 0;
}

static void path_cut(struct packer *p, size_t len)
{
	p->path.len = len;
	if (p->path.data)
		p->path.data[len] = '\0';
}

static int put_next(struct packer *p, struct err *err)
{
	struct level *l = &p->levels[p->depth - 1];
	struct stat st;

	if (l->next == l->count) {
		leave(p);
		ignore_pop(p->ignore);
		return 0;
	}
	const char *name = l->names[l->next++];
	path_cut(p, l->path_len);
	if (p->path.len && p->path.data[p->path.len - 1] != '/')
		buf_addc(&p->path, '/');
	buf_adds(&p->path, name);
	if (fstatat(l->fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : err_sys(err, "look at %s", inner_path(p));
	if (ignore_match(p->ignore, p->path.data, S_ISDIR(st.st_mode)))
		return 0;
	switch (st.st_mode & S_IFMT) {
	case S_IFREG:
		return put_file(p, l->fd, name, err);
	case S_IFDIR:
		return put_folder(p, l->fd, name, err);
	case S_IFLNK:
		return put_link(p, l->fd, name, err);
	default:
		notice(p, "left out: %s is neither file, folder nor link", inner_path(p));
		return 0;
	}
}

/* The rules of the folders above, when the folder lies in a git work tree.  They do not
 * count if they would ignore the folder itself: who runs it there wants it. */
static void enter_above(struct packer *p, const char *folder)
{
	AUTO_FREE char *real = realpath(folder, NULL);
	AUTO_FREE char *top = mem_strdup(real);
	size_t top_len = 0;
	struct stat st;

	ignore_push(p->ignore, "");
	while (top && *top) {
		AUTO_FREE char *git = str_printf("%s/.git", top);
		if (stat(git, &st) == 0) {
			top_len = strlen(top);
			break;
		}
		*strrchr(top, '/') = '\0';
	}
	if (!top_len)
		return;
	AUTO_FD int fd = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return;
	add_rules(p, fd, ".git/info/exclude");
	for (const char *s = real + top_len; *s; s += strcspn(s, "/")) {
		AUTO_FD int sub = -1;
		enter_rules(p, fd, buf_str(&p->path));
		size_t len = strcspn(++s, "/");
		if (p->path.len)
			buf_addc(&p->path, '/');
		buf_add(&p->path, s, len);
		AUTO_FREE char *name = mem_strndup(s, len);
		sub = openat(fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (sub < 0 || ignore_match(p->ignore, p->path.data, true))
			break;
		close(fd);
		fd = TAKE_FD(sub);
		if (!s[len])
			return;
	}
	/* At the top itself, or ignored from above: nothing from above. */
	bool at_top = !real[top_len];
	ignore_destroy(p->ignore);
	p->ignore = ignore_create();
	ignore_push(p->ignore, "");
	if (at_top)
		add_rules(p, fd, ".git/info/exclude");
	path_cut(p, 0);
}

static int pack_all(struct packer *p, struct err *err)
{
	int fd = open(p->job->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	enter_above(p, p->job->folder);
	if (enter(p, fd, err) < 0)
		return -1;
	enter_rules(p, fd, buf_str(&p->path));
	if (p->path.len)
		buf_addc(&p->path, '/');
	p->above_len = p->levels[0].path_len = p->path.len;
	while (p->depth > 0)
		if (put_next(p, err) < 0)
			return -1;
	tar_end(&p->out);
	return flush(p, err);
}

int pack_folder(const struct pack_job *job, char hash[PACK_HASH_HEX],
		struct pack_stats *stats, struct err *err)
{
	struct pack_stats unused = { 0 };
	struct packer *p = mem_alloc(1, sizeof *p);

	p->job = job;
	p->stats = stats ? stats : &unused;
	memset(p->stats, 0, sizeof *p->stats);
	p->hash = pack_hash_create();
	p->ignore = ignore_create();
	p->chunk = mem_alloc(1, READ_BYTES);

	int rc = pack_all(p, err);
	if (rc == 0)
		pack_hash_finish(TAKE(p->hash), hash);
	while (p->depth > 0)
		leave(p);
	pack_hash_destroy(p->hash);
	ignore_destroy(p->ignore);
	buf_fini(&p->path);
	buf_fini(&p->out);
	free(p->chunk);
	free(p);
	return rc;
}
