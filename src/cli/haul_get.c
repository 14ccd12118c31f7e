// SPDX-License-Identifier: Apache-2.0
/* haul_get.c - a file of the yard comes to this machine. */
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "cli/file_info.h"
#include "cli/haul_impl.h"

struct writing {
	int fd;
	int64_t at;
};

static int write_piece(void *arg, const char *data, size_t len, struct err *err)
{
	struct writing *to = arg;

	if (part_pwrite(to->fd, data, len, to->at, err) < 0)
		return -1;
	to->at += (int64_t)len;
	return 0;
}

static int get_small(struct hand *w, const struct haul_file *f, struct err *err)
{
	AUTO_FREE char *partial = part_path(f->to);
	AUTO_FD int fd = part_open(partial, f->executable, err);
	struct writing to = { .fd = fd };
	struct hand_read r = {
		.path = f->from, .len = -1, .take = write_piece, .arg = &to
	};

	if (fd < 0)
		return -1;
	if (hand_read(w, &r, err) < 0) {
		unlink(partial); /* too small to be worth keeping */
		return -1;
	}
	return part_finish(fd, partial, f->to, to.at, f->modified_ms, err);
}

static int get_open(struct hand *w, struct big *b, struct err *err)
{
	AUTO_INFO struct file_info now = { 0 };

	if (file_stat_yard(w->client, b->file.from, &now, err) < 0) {
		w->broke = client_status(w->client) == 0;
		return -1;
	}
	if (now.kind != FILE_PLAIN || !now.etag)
		return err_set(err, ERR_CONFLICT, "it is gone");
	haul_counts(w->haul)->bytes_all += now.size - b->file.size;
	b->file.size = now.size;
	b->file.modified_ms = now.modified_ms;
	b->file.executable = now.executable;
	parts_of(&b->parts, now.size);
	free(b->etag);
	free(b->sums);
	b->etag = mem_strdup(now.etag);
	b->sums = mem_alloc(b->parts.count, sizeof *b->sums);
	if (b->fd < 0) {
		b->partial = part_path(b->file.to);
		b->fd = part_open(b->partial, b->file.executable, err);
	}
	return b->fd < 0 ? -1 : part_begin(b->fd, &b->parts, b->etag, b->sums, err);
}

static int get_part(struct hand *w, struct big *b, size_t n, struct err *err)
{
	int64_t first = part_first(&b->parts, n), len = part_len(&b->parts, n);
	struct writing to = { .fd = b->fd, .at = first };
	struct hand_read r = { .path = b->file.from,
			       .etag = b->etag,
			       .first = first,
			       .len = len,
			       .take = write_piece,
			       .arg = &to };
	uint32_t found;

	if (b->sums[n] >= 0) {
		if (part_sum(b->fd, &b->parts, n, &found, err) < 0)
			return -1;
		if (found == (uint32_t)b->sums[n]) {
			hand_spared(w, len);
			return 0;
		}
	}
	if (hand_read(w, &r, err) < 0)
		return -1;
	b->sums[n] = r.sum;
	return part_note(b->fd, &b->parts, n, r.sum, err);
}

static int get_close(struct hand *w, struct big *b, struct err *err)
{
	(void)w;
	return part_finish(b->fd, b->partial, b->file.to, b->parts.size,
			   b->file.modified_ms, err);
}

static int get_same(struct hand *w, const struct haul_file *f, bool *same,
		    struct err *err)
{
	return haul_same_content(w, f->to, f->from, same, err);
}

const struct way way_get = {
	.small = get_small,
	.open = get_open,
	.part = get_part,
	.close = get_close,
	.same = get_same,
};
