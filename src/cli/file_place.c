// SPDX-License-Identifier: Apache-2.0
#include "cli/file_place.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "codec/url.h"

/* Of a prefix that says: the yard's.  0: there is none. */
static size_t prefix_len(const char *text)
{
	static const char *const prefixes[] = { "yard:", "pfs:" };

	for (size_t i = 0; i < COUNT_OF(prefixes); i++)
		if (str_starts(text, prefixes[i]))
			return strlen(prefixes[i]);
	return 0;
}

static void fill(struct place *out, enum place_kind kind, const char *path)
{
	size_t len = strlen(path), all = len;

	while (len > 1 && path[len - 1] == '/')
		len--;
	out->kind = kind;
	out->path = mem_strndup(path, len);
	out->inside = len < all || !*place_base(out->path);
}

void place_read_yard(struct place *out, const char *text)
{
	const char *path = text + prefix_len(text);

	if (str_starts(path, "///")) /* of pfs:///pfs/..., whose host is nobody */
		path += 2;
	fill(out, PLACE_YARD, path);
}

void place_read(struct place *out, const char *text)
{
	if (prefix_len(text))
		place_read_yard(out, text);
	else if (str_eq(text, "-"))
		*out = (struct place){ PLACE_STREAM, mem_strdup("-"), false };
	else
		fill(out, PLACE_LOCAL, text);
}

void place_fini(struct place *p)
{
	free(p->path);
	p->path = NULL;
}

const char *place_base(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	bool none = str_eq(name, ".") || str_eq(name, "..") || str_eq(path, "~");

	return none ? path + strlen(path) : name;
}

char *place_join(const char *folder, const char *name)
{
	size_t len = strlen(folder);

	if (len == 0)
		return mem_strdup(name);
	return str_printf(folder[len - 1] == '/' ? "%s%s" : "%s/%s", folder, name);
}

void place_show(enum place_kind kind, const char *path, struct buf *out)
{
	if (kind == PLACE_YARD)
		buf_adds(out, "yard:");
	buf_adds(out, path);
}

char *place_target(const char *route, const char *path)
{
	struct buf out = { 0 };

	buf_adds(&out, route);
	url_query_add(&out, "path", *path ? path : "~");
	return buf_take(&out);
}

bool place_name_ok(const char *name)
{
	return *name && !strchr(name, '/') && !str_eq(name, ".") && !str_eq(name, "..");
}
