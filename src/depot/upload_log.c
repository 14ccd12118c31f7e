// SPDX-License-Identifier: Apache-2.0
/* upload_log.c - uploads as they are written down: <state>/uploads/<id>.json says what it is,
 * <id>.parts has one record for each part that came.
 *
 * The first is made durable; a record is not, nor are the bytes it tells of: the boot id in
 * the first says whether both can be believed.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "base/doc.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "depot/tree.h"
#include "depot/upload_impl.h"

#define ABOUT_MAX (16 << 10)

struct record {
	uint32_t n, crc, check;
};

static uint32_t check_of(uint32_t n, uint32_t crc)
{
	const uint32_t both[2] = { n, crc };

	return crc32c_add(0, both, sizeof both);
}

static char *about_path(const struct upload *f)
{
	return str_printf("%s/%s.json", f->uploads->folder, f->id);
}

static char *parts_path(const struct upload *f)
{
	return str_printf("%s/%s.parts", f->uploads->folder, f->id);
}

static void about_json(const struct upload *f, struct buf *out)
{
	struct json j;

	json_init(&j, out);
	json_object(&j, NULL);
	json_str(&j, "owner", f->owner);
	json_str(&j, "path", f->path);
	json_i64(&j, "size", f->size);
	json_i64(&j, "part_size", f->part_size);
	json_i64(&j, "modified_ms", f->modified_ms);
	json_i64(&j, "created_ms", f->created_ms);
	json_bool(&j, "executable", f->executable);
	json_bool(&j, "parents", f->parents);
	json_str(&j, "boot", f->uploads->boot);
	json_end(&j);
}

static int write_whole(const char *path, const struct buf *text, struct err *err)
{
	AUTO_FREE char *temp = str_printf("%s.new", path);
	AUTO_FD int fd = open(temp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || write(fd, text->data, text->len) != (ssize_t)text->len ||
	    fsync(fd) < 0 || rename(temp, path) < 0) {
		int failure = errno;
		unlink(temp);
		errno = failure;
		return err_sys(err, "write %s", path);
	}
	return 0;
}

/* The parts first: were it the other way round, a crash in between would leave parts that
 * are believed though they were not looked at. */
int upload_log_write(const struct upload *f, struct err *err)
{
	AUTO_BUF struct buf about = { 0 }, parts = { 0 };
	AUTO_FREE char *about_at = about_path(f), *parts_at = parts_path(f);

	for (int64_t n = 0; n < f->part_count; n++) {
		struct record r = { (uint32_t)n, f->parts[n].crc, 0 };
		r.check = check_of(r.n, r.crc);
		if (f->parts[n].state == PART_HERE)
			buf_add(&parts, &r, sizeof r);
	}
	about_json(f, &about);
	if (write_whole(parts_at, &parts, err) < 0 ||
	    write_whole(about_at, &about, err) < 0)
		return -1;
	return tree_sync_folder(f->uploads->folder, err);
}

int upload_log_part(struct upload *f, int64_t n, uint32_t crc, struct err *err)
{
	struct record r = { (uint32_t)n, crc, check_of((uint32_t)n, crc) };
	AUTO_FREE char *path = parts_path(f);
	int rc = 0;

	pthread_mutex_lock(&f->disk);
	if (f->log < 0)
		f->log = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
	if (f->log < 0 || write(f->log, &r, sizeof r) != (ssize_t)sizeof r)
		rc = err_sys(err, "write down that part %lld came", (long long)n);
	pthread_mutex_unlock(&f->disk);
	return rc;
}

void upload_log_remove(const struct upload *f)
{
	AUTO_FREE char *about = about_path(f), *parts = parts_path(f);

	unlink(about);
	unlink(parts);
}

static void read_parts(struct upload *f)
{
	AUTO_FREE char *path = parts_path(f);
	AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct record r;
	struct stat st;

	if (fd < 0)
		return;
	while (read(fd, &r, sizeof r) == (ssize_t)sizeof r) {
		if (r.check != check_of(r.n, r.crc) || r.n >= f->part_count)
			break; /* a record that is not whole: the last one of a crash */
		f->parts[r.n] = (struct part){ PART_HERE, r.crc };
	}
	if (fstat(fd, &st) == 0 && (int64_t)st.st_mtim.tv_sec * 1000 > f->touched_ms)
		f->touched_ms = (int64_t)st.st_mtim.tv_sec * 1000;
}

static struct upload *read_about(struct uploads *u, const char *id,
				 const struct doc_node *n)
{
	int64_t size = doc_i64(n, "size", -1), part = doc_i64(n, "part_size", 0);
	const char *owner = doc_str(n, "owner", NULL), *path = doc_str(n, "path", NULL);

	if (size < 0 || size > UPLOAD_SIZE_MAX || part < UPLOAD_PART_MIN ||
	    part > UPLOAD_PART_MAX || size / part >= UPLOAD_PARTS_MAX || !owner || !path)
		return NULL;
	struct upload *f = upload_alloc(u, size, part);
	memcpy(f->id, id, UPLOAD_ID_BYTES - 1);
	f->owner = mem_strdup(owner);
	f->path = mem_strdup(path);
	f->modified_ms = doc_i64(n, "modified_ms", -1);
	f->created_ms = f->touched_ms = doc_i64(n, "created_ms", 0);
	f->executable = doc_bool(n, "executable", false);
	f->parents = doc_bool(n, "parents", false);
	f->doubtful = !str_eq(doc_str(n, "boot", ""), u->boot);
	return f;
}

/* One that cannot be read is left alone: its bytes go when their home is next swept. */
static void read_one(struct uploads *u, const char *name)
{
	AUTO_FREE char *path = str_printf("%s/%s", u->folder, name);
	AUTO_FREE char *text = mem_alloc(1, ABOUT_MAX);
	AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, ABOUT_MAX);
	AUTO_DOC struct doc *d = n > 0 ? doc_parse_json(text, (size_t)n, NULL) : NULL;
	struct upload *f = d ? read_about(u, name, doc_root(d)) : NULL;

	if (!f)
		return;
	read_parts(f);
	map_puts(u->all, f->id, f);
}

static int read_all(struct uploads *u, struct err *err)
{
	const struct dirent *e;

	if (tree_make(u->folder, 0700, err) < 0)
		return -1;
	DIR *dir = opendir(u->folder);
	if (!dir)
		return err_sys(err, "read %s", u->folder);
	while ((e = readdir(dir)))
		if (strlen(e->d_name) == UPLOAD_ID_BYTES - 1 + strlen(".json") &&
		    str_ends(e->d_name, ".json"))
			read_one(u, e->d_name);
	closedir(dir);
	return 0;
}

static void read_boot(char *out, size_t size)
{
	AUTO_FD int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, out, size - 1);

	out[n > 0 ? n : 0] = '\0';
	out[strcspn(out, "\n")] = '\0';
}

struct uploads *uploads_create(const char *state, struct err *err)
{
	struct uploads *u = mem_alloc(1, sizeof *u);

	pthread_mutex_init(&u->lock, NULL);
	u->all = map_create();
	u->folder = str_printf("%s/uploads", state);
	read_boot(u->boot, sizeof u->boot);
	if (read_all(u, err) == 0)
		return u;
	uploads_destroy(u);
	return NULL;
}

void uploads_destroy(struct uploads *u)
{
	struct upload *f;

	if (!u)
		return;
	for (size_t it = 0; (f = map_next(u->all, &it));)
		upload_free(f);
	map_destroy(u->all);
	pthread_mutex_destroy(&u->lock);
	free(u->folder);
	free(u);
}
