// SPDX-License-Identifier: Apache-2.0
#include "depot/cache_disk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/doc.h"
#include "base/mem.h"
#include "base/str.h"
#include "depot/tree.h"
#include "pack/hash.h"

#define ABOUT_MAX 8192
#define PART      ".part"

static int read_text(const char *path, char *out, size_t most)
{
	AUTO_FD int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, out, most - 1);

	out[n > 0 ? n : 0] = '\0';
	return n < 0 ? -1 : 0;
}

static int write_text(const char *path, const char *text, struct err *err)
{
	AUTO_FD int fd =
		open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		return err_sys(err, "write %s", path);
	return 0;
}

static void this_boot(char out[64])
{
	if (read_text("/proc/sys/kernel/random/boot_id", out, 64) < 0)
		snprintf(out, 64, "unknown");
}

static bool same_boot(const char *folder)
{
	AUTO_FREE char *path = str_printf("%s/boot", folder);
	char then[64], now[64];

	this_boot(now);
	return read_text(path, then, sizeof then) == 0 && str_eq(then, now);
}

static int64_t bytes_of(const char *folder)
{
	AUTO_FREE char *path = str_printf("%s/about", folder);
	char text[ABOUT_MAX];

	if (read_text(path, text, sizeof text) < 0)
		return -1;
	AUTO_DOC struct doc *d = doc_parse_json(text, strlen(text), NULL);
	return d ? doc_i64(doc_root(d), "bytes", -1) : -1;
}

static void find_jobs(const char *folder, struct cache_found *f)
{
	AUTO_FREE char *path = str_printf("%s/jobs", folder);
	DIR *dir = opendir(path);
	const struct dirent *e;
	int64_t job;

	while (dir && (e = readdir(dir))) {
		if (str_to_i64(e->d_name, 1, INT64_MAX, &job) < 0)
			continue;
		mem_grow(&f->jobs, &f->job_cap, f->job_count, sizeof *f->jobs);
		f->jobs[f->job_count++] = job;
	}
	if (dir)
		closedir(dir);
}

/* -1: it makes no sense, or is of no use any more. */
static int look_at(const char *folder, const char *name, struct cache_found *f)
{
	struct stat st;

	*f = (struct cache_found){ .part = str_ends(name, PART) };
	if (strlen(name) < sizeof f->key - 1)
		return -1;
	memcpy(f->key, name, sizeof f->key - 1);
	if (!pack_hash_valid(f->key) ||
	    !str_eq(name + sizeof f->key - 1, f->part ? PART : ""))
		return -1;
	f->bytes = bytes_of(folder);
	if (f->bytes < 0 || lstat(folder, &st) < 0 || (f->part && !same_boot(folder)))
		return -1;
	f->used_ms = (int64_t)st.st_mtim.tv_sec * 1000 + st.st_mtim.tv_nsec / 1000000;
	find_jobs(folder, f);
	return 0;
}

int cache_disk_scan(const char *root,
		    void (*each)(void *arg, const struct cache_found *f), void *arg,
		    struct err *err)
{
	DIR *dir = opendir(root);
	const struct dirent *e;

	if (!dir)
		return err_sys(err, "read %s", root);
	while ((e = readdir(dir))) {
		AUTO_FREE char *folder = str_printf("%s/%s", root, e->d_name);
		struct cache_found f;
		if (e->d_name[0] == '.')
			continue;
		if (look_at(folder, e->d_name, &f) == 0)
			each(arg, &f);
		else
			tree_delete(folder, NULL);
		free(f.jobs);
	}
	closedir(dir);
	return 0;
}

static char *part_of(const char *root, const char *key)
{
	return str_printf("%s/%s" PART, root, key);
}

int cache_disk_begin(const char *root, const char *key, const char *about, int64_t owner,
		     struct err *err)
{
	AUTO_FREE char *part = part_of(root, key);
	AUTO_FREE char *data = str_printf("%s/data", part);
	AUTO_FREE char *about_path = str_printf("%s/about", part);
	AUTO_FREE char *boot_path = str_printf("%s/boot", part);
	char boot[64];

	if (same_boot(part) && bytes_of(part) >= 0)
		return utimensat(AT_FDCWD, part, NULL, 0) < 0
			       ? err_sys(err, "use %s", part)
			       : 0;
	this_boot(boot);
	if (tree_delete(part, err) < 0 || tree_make(part, 0700, err) < 0 ||
	    tree_make(data, 0755, err) < 0)
		return -1;
	if (owner >= 0 && chown(data, (uid_t)owner, (gid_t)owner) < 0)
		return err_sys(err, "give %s to yard-fetch", data);
	if (write_text(about_path, about, err) < 0)
		return -1;
	return write_text(boot_path, boot, err); /* last: what has it is complete */
}

int cache_disk_open(const char *root, const char *key, struct err *err)
{
	AUTO_FREE char *part = part_of(root, key);
	AUTO_FREE char *data = str_printf("%s/data", part);
	int fd = open(data, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	return fd < 0 ? err_sys(err, "open %s", data) : fd;
}

static int note(const char *folder, const char *kind, const char *name, struct err *err)
{
	AUTO_FREE char *above = str_printf("%s/%s", folder, kind);
	AUTO_FREE char *path = str_printf("%s/%s", above, name);

	if (mkdir(above, 0700) < 0 && errno != EEXIST)
		return err_sys(err, "make %s", above);
	return write_text(path, "", err);
}

int cache_disk_finish(const char *root, const char *key, const char *user, int64_t *bytes,
		      struct err *err)
{
	AUTO_FREE char *part = part_of(root, key);
	AUTO_FREE char *data = str_printf("%s/data", part);
	AUTO_FREE char *final = str_printf("%s/%s", root, key);
	struct tree_size size = { 0 };

	/* Nobody's processes must not change what many jobs read. */
	if (geteuid() == 0 && tree_own(data, 0, 0, err) < 0)
		return -1;
	if (note(part, "users", user, err) < 0 || tree_sync(part, &size, err) < 0)
		return -1;
	if (rename(part, final) < 0)
		return err_sys(err, "put %s in place", final);
	*bytes = size.bytes;
	return tree_sync_folder(root, err);
}

bool cache_disk_proved(const char *root, const char *key, const char *user)
{
	AUTO_FREE char *path = str_printf("%s/%s/users/%s", root, key, user);

	return access(path, F_OK) == 0;
}

int cache_disk_use(const char *root, const char *key, const char *user, int64_t job,
		   struct err *err)
{
	AUTO_FREE char *folder = str_printf("%s/%s", root, key);
	AUTO_FREE char *jobs = str_printf("%s/jobs", folder);
	char id[24];

	snprintf(id, sizeof id, "%" PRId64, job);
	if (note(folder, "users", user, err) < 0 || note(folder, "jobs", id, err) < 0)
		return -1;
	/* A mark that a crash of the machine took would let it be removed under a job; but
	 * no job outlives that.  So nothing is synced here. */
	return utimensat(AT_FDCWD, folder, NULL, 0) < 0 ? err_sys(err, "use %s", folder)
							: 0;
}

char *cache_disk_take(const char *root, const char *key, bool part, uint64_t unique)
{
	AUTO_FREE char *from = part ? part_of(root, key) : str_printf("%s/%s", root, key);
	AUTO_FREE char *to = str_printf("%s/gone-%016" PRIx64, root, unique);

	return rename(from, to) < 0 && errno != ENOENT ? NULL : TAKE(to);
}
