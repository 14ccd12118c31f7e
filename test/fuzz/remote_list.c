// SPDX-License-Identifier: Apache-2.0
/* What a server of other storage says: a page of a bucket's list, an HDFS name, a list of
 * files as text, a line of yard-fetch.  No crash; what is taken as a name stays below its
 * folder; what is taken as a list is the same when it is written and read again. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "remote/remote.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_name(const char *name)
{
	if (name[0] == '/' || str_eq(name, "..") || strstr(name, "/../") ||
	    str_starts(name, "../") || str_ends(name, "/..") || strstr(name, "//"))
		abort();
}

static int each(void *arg, const char *key, int64_t size, int64_t mtime_ms,
		const char *etag, struct err *err)
{
	struct manifest_entry e = { .size = size, .mtime_ms = mtime_ms };
	AUTO_FREE char *name = mem_strdup(key), *version = mem_strdup(etag);

	e.name = name;
	e.version = version;
	return manifest_add(arg, &e, err);
}

static void round_trip(struct manifest *m)
{
	AUTO_MANIFEST struct manifest back = { 0 };
	AUTO_FD int fd = memfd_create("m", MFD_CLOEXEC);
	struct err err;

	for (size_t i = 0; i < m->count; i++)
		check_name(m->entries[i].name);
	if (manifest_write(m, fd, &err) < 0 || manifest_read(fd, &back, &err) < 0 ||
	    back.count != m->count || back.bytes != m->bytes)
		abort();
	for (size_t i = 0; i < m->count; i++)
		if (!str_eq(m->entries[i].name, back.entries[i].name) ||
		    !str_eq(m->entries[i].version, back.entries[i].version))
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO_MANIFEST struct manifest listed = { 0 }, read = { 0 };
	struct list_page page = { .each = each, .arg = &listed };
	AUTO_FREE char *text = mem_strndup((const char *)data, size);
	AUTO_FD int fd = memfd_create("m", MFD_CLOEXEC);
	struct remote_line line;
	struct remote_uri uri;
	struct err err;

	if (list_page_read((const char *)data, size, &page, &err) == 0 &&
	    manifest_finish(&listed, &err) == 0)
		round_trip(&listed);
	list_page_fini(&page);
	if (write(fd, data, size) == (ssize_t)size && manifest_read(fd, &read, &err) == 0)
		round_trip(&read);
	remote_line_read(text, &line);
	if (remote_uri_parse(text, &uri, &err) == 0) {
		AUTO_FREE char *base = uri.folder ? NULL : remote_uri_base(&uri, &err);
		if (base &&
		    (strchr(base, '/') || str_eq(base, "..") || str_eq(base, ".")))
			abort();
		remote_uri_fini(&uri);
	}
	return 0;
}
