// SPDX-License-Identifier: Apache-2.0
#include "pack/tar.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define OCTAL_MAX 077777777777LL /* what eleven octal digits hold: 8 GiB */

struct ustar {
	char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], sum[8], type;
	char link[100], magic[6], version[2], user[32], group[32], major[8], minor[8];
	char prefix[155], rest[12];
};

_Static_assert(sizeof(struct ustar) == TAR_BLOCK, "a head is one block");

static void octal(char *out, size_t size, int64_t value)
{
	char text[24];

	snprintf(text, sizeof text, "%0*" PRIo64, (int)size - 1, (uint64_t)value);
	memcpy(out, text, size);
}

/* Where path can be cut into prefix and name; 0: it fits whole, -1: nowhere. */
static long cut_of(const char *path, size_t len)
{
	if (len <= sizeof((struct ustar *)0)->name)
		return 0;
	for (size_t i = len - 1; i > 0; i--)
		if (i <= 155 && path[i] == '/' && len - i - 1 <= 100 && len - i - 1 > 0)
			return (long)i;
	return -1;
}

static void put_block(struct ustar *h, struct buf *out)
{
	unsigned sum = 0;

	memset(h->sum, ' ', sizeof h->sum);
	for (size_t i = 0; i < sizeof *h; i++)
		sum += ((const unsigned char *)h)[i];
	snprintf(h->sum, sizeof h->sum, "%06o", sum & 0777777);
	h->sum[7] = ' ';
	buf_add(out, h, sizeof *h);
}

static struct ustar blank(char type, int mode, int64_t size)
{
	struct ustar h = { .type = type, .magic = "ustar", .version = { '0', '0' } };

	octal(h.mode, sizeof h.mode, mode);
	octal(h.uid, sizeof h.uid, 0);
	octal(h.gid, sizeof h.gid, 0);
	octal(h.size, sizeof h.size, size);
	octal(h.mtime, sizeof h.mtime, TAR_TIME);
	octal(h.major, sizeof h.major, 0);
	octal(h.minor, sizeof h.minor, 0);
	return h;
}

/* "LEN key=value\n", where LEN counts itself. */
static void pax_record(struct buf *out, const char *key, const char *value)
{
	size_t body = strlen(key) + strlen(value) + 3, len = body + 1;

	while (len != body + (size_t)snprintf(NULL, 0, "%zu", len))
		len++;
	buf_printf(out, "%zu %s=%s\n", len, key, value);
}

static void pax_head(const char *path, const char *link, int64_t size, struct buf *out)
{
	AUTO_BUF struct buf body = { 0 };
	char digits[24];

	if (path)
		pax_record(&body, "path", path);
	if (link)
		pax_record(&body, "linkpath", link);
	if (size) {
		snprintf(digits, sizeof digits, "%" PRId64, size);
		pax_record(&body, "size", digits);
	}
	struct ustar h = blank('x', 0644, (int64_t)body.len);
	memcpy(h.name, "././@PaxHeader", strlen("././@PaxHeader"));
	put_block(&h, out);
	buf_add(out, body.data, body.len);
	tar_pad((int64_t)body.len, out);
}

void tar_head(const struct tar_entry *e, struct buf *out)
{
	static const char types[] = {
		[TAR_FILE] = '0', [TAR_LINK] = '2', [TAR_FOLDER] = '5'
	};
	AUTO_BUF struct buf path = { 0 };
	size_t link_len = e->kind == TAR_LINK ? strlen(e->link) : 0;
	int mode = e->kind == TAR_LINK                      ? 0777
		   : e->kind == TAR_FOLDER || e->executable ? 0755
							    : 0644;
	int64_t size = e->kind == TAR_FILE ? e->size : 0;

	buf_adds(&path, e->path);
	if (e->kind == TAR_FOLDER)
		buf_addc(&path, '/');
	long cut = cut_of(path.data, path.len);
	bool long_link = link_len > 100, huge = size > OCTAL_MAX;
	if (cut < 0 || long_link || huge)
		pax_head(cut < 0 ? path.data : NULL, long_link ? e->link : NULL,
			 huge ? size : 0, out);

	struct ustar h = blank(types[e->kind], mode, huge ? 0 : size);
	const char *name = cut > 0 ? path.data + cut + 1 : path.data;
	memcpy(h.name, name, strnlen(name, sizeof h.name));
	if (cut > 0)
		memcpy(h.prefix, path.data, (size_t)cut);
	if (link_len)
		memcpy(h.link, e->link, long_link ? sizeof h.link : link_len);
	put_block(&h, out);
}

void tar_pad(int64_t size, struct buf *out)
{
	static const char zeros[TAR_BLOCK];
	size_t over = (size_t)(size % TAR_BLOCK);

	if (over)
		buf_add(out, zeros, TAR_BLOCK - over);
}

void tar_end(struct buf *out)
{
	static const char zeros[2 * TAR_BLOCK];

	buf_add(out, zeros, sizeof zeros);
}
