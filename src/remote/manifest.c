// SPDX-License-Identifier: Apache-2.0
#include "remote/manifest.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/str.h"
#include "pack/hash.h"
#include "remote/uri.h"

#define VERSION_MAX 512
#define CHUNK_BYTES (256u << 10)
/* Stay as they are in a line, so that it can be read by people. */
#define KEEP "/!#$&'()*+,:;=?@[] \"<>^`{|}"

int manifest_add(struct manifest *m, const struct manifest_entry *e, struct err *err)
{
	if (remote_name_check(e->name, err) < 0)
		return -1;
	if (e->size < -1 || e->size > INT64_MAX / 4 || m->bytes > INT64_MAX / 4)
		return err_set(err, ERR_INVALID,
			       "\"%.200s\" has a size that cannot be: %lld", e->name,
			       (long long)e->size);
	if (strlen(e->version) > VERSION_MAX)
		return err_set(err, ERR_INVALID, "\"%.200s\" has a version of %zu bytes",
			       e->name, strlen(e->version));
	mem_grow(&m->entries, &m->cap, m->count, sizeof *m->entries);
	m->entries[m->count++] = (struct manifest_entry){
		.name = mem_strdup(e->name),
		.size = e->size,
		.mtime_ms = e->mtime_ms,
		.version = mem_strdup(e->version),
	};
	m->bytes += e->size > 0 ? e->size : 0;
	return 0;
}

static int by_name(const void *a, const void *b)
{
	const struct manifest_entry *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static bool is_file_there(const struct manifest *m, char *name)
{
	struct manifest_entry key = { .name = name };

	return bsearch(&key, m->entries, m->count, sizeof key, by_name) != NULL;
}

/* A folder on the way to `name` that is a file. */
static int check_way(const struct manifest *m, const char *name, struct err *err)
{
	AUTO_FREE char *way = mem_strdup(name);

	for (char *slash = strchr(way, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (is_file_there(m, way))
			return err_set(
				err, ERR_INVALID,
				"\"%.200s\" is a file, and \"%.200s\" would lie in it: no "
				"file system has both; name a folder with one of them",
				way, name);
		*slash = '/';
	}
	return 0;
}

int manifest_finish(struct manifest *m, struct err *err)
{
	if (m->count)
		qsort(m->entries, m->count, sizeof *m->entries, by_name);
	for (size_t i = 0; i < m->count; i++) {
		const char *name = m->entries[i].name;
		if (i && strcmp(name, m->entries[i - 1].name) == 0)
			return err_set(err, ERR_INVALID, "\"%.200s\" is listed twice",
				       name);
		if (check_way(m, name, err) < 0)
			return -1;
	}
	return 0;
}

void manifest_fini(struct manifest *m)
{
	for (size_t i = 0; i < m->count; i++) {
		free(m->entries[i].name);
		free(m->entries[i].version);
	}
	free(m->entries);
	*m = (struct manifest){ 0 };
}

static int write_all(int fd, const struct buf *b, struct err *err)
{
	size_t done = 0;

	while (done < b->len) {
		ssize_t n = write(fd, b->data + done, b->len - done);
		if (n < 0 && errno != EINTR)
			return err_sys(err, "write the list of files");
		done += n > 0 ? (size_t)n : 0;
	}
	return 0;
}

int manifest_write(const struct manifest *m, int fd, struct err *err)
{
	AUTO_BUF struct buf b = { 0 };

	for (size_t i = 0; i < m->count; i++) {
		const struct manifest_entry *e = &m->entries[i];
		buf_printf(&b, "%lld\t%lld\t", (long long)e->size,
			   (long long)e->mtime_ms);
		remote_escape(&b, e->version, KEEP);
		buf_addc(&b, '\t');
		remote_escape(&b, e->name, KEEP);
		buf_addc(&b, '\n');
		if (b.len < CHUNK_BYTES)
			continue;
		if (write_all(fd, &b, err) < 0)
			return -1;
		buf_clear(&b);
	}
	return write_all(fd, &b, err);
}

static int read_line(struct manifest *m, char *line, struct err *err)
{
	struct manifest_entry e = { 0 };
	char *part[4] = { line };
	int parts = 1;

	for (char *p = line; parts < 4 && (p = strchr(p, '\t')); parts++) {
		*p++ = '\0';
		part[parts] = p;
	}
	AUTO_FREE char *version = parts == 4 ? remote_unescape(part[2], false) : NULL;
	AUTO_FREE char *name = version ? remote_unescape(part[3], false) : NULL;
	if (!name || str_to_i64(part[0], -1, INT64_MAX / 4, &e.size) < 0 ||
	    str_to_i64(part[1], INT64_MIN / 4, INT64_MAX / 4, &e.mtime_ms) < 0)
		return err_set(err, ERR_CORRUPT,
			       "a line of the list of files makes no sense");
	e.name = name;
	e.version = version;
	return manifest_add(m, &e, err);
}

int manifest_read(int fd, struct manifest *out, struct err *err)
{
	AUTO_MANIFEST struct manifest m = { 0 };
	AUTO_BUF struct buf b = { 0 };
	ssize_t n;

	do {
		buf_reserve(&b, CHUNK_BYTES);
		n = pread(fd, b.data + b.len, CHUNK_BYTES, (off_t)b.len);
		if (n < 0 && errno != EINTR)
			return err_sys(err, "read the list of files");
		b.len += n > 0 ? (size_t)n : 0;
		if (b.len > MANIFEST_BYTES_MAX)
			return err_set(err, ERR_TOO_LARGE,
				       "the list of files is too long");
	} while (n != 0);
	b.data[b.len] = '\0';
	for (char *line = b.data, *end; line && *line; line = end + 1) {
		end = strchr(line, '\n');
		if (!end)
			return err_set(err, ERR_CORRUPT, "the list of files is cut off");
		*end = '\0';
		if (read_line(&m, line, err) < 0)
			return -1;
	}
	if (manifest_finish(&m, err) < 0)
		return -1;
	*out = m;
	m = (struct manifest){ 0 };
	return 0;
}

int manifest_key(const char *address, const char *endpoint, int fd,
		 char hex[MANIFEST_HASH_HEX], struct err *err)
{
	AUTO_FREE char *chunk = mem_alloc(1, CHUNK_BYTES);
	struct pack_hash *h = pack_hash_create();
	ssize_t n;

	/* The NULs keep the parts apart. */
	pack_hash_add(h, address, strlen(address) + 1);
	pack_hash_add(h, endpoint ? endpoint : "", strlen(endpoint ? endpoint : "") + 1);
	for (off_t at = 0; (n = pread(fd, chunk, CHUNK_BYTES, at)) > 0; at += n)
		pack_hash_add(h, chunk, (size_t)n);
	pack_hash_finish(h, hex);
	return n < 0 ? err_sys(err, "read the list of files") : 0;
}
_Static_assert(MANIFEST_HASH_HEX == PACK_HASH_HEX, "one kind of hash names both");
