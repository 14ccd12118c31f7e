// SPDX-License-Identifier: Apache-2.0
/* haul_relay.c - a file of the yard is copied inside it, through here. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "cli/file_info.h"
#include "cli/haul_impl.h"

struct keeping {
	char *room;
	size_t len, max;
};

static int keep_piece(void *arg, const char *data, size_t len, struct err *err)
{
	struct keeping *k = arg;

	if (len > k->max - k->len)
		return err_set(err, ERR_CONFLICT, "it grew while it was copied");
	memcpy(k->room + k->len, data, len);
	k->len += len;
	return 0;
}

static int relay_small(struct hand *w, const struct haul_file *f, struct err *err)
{
	struct keeping k = { .room = hand_room(w, f->size + 1), .max = (size_t)f->size };
	struct hand_read r = {
		.path = f->from, .len = -1, .take = keep_piece, .arg = &k
	};

	if (hand_read(w, &r, err) < 0)
		return -1;
	return hand_put(w, f, k.room, k.len, err);
}

static int relay_open(struct hand *w, struct big *b, struct err *err)
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
	free(b->etag);
	b->etag = mem_strdup(now.etag);
	return hand_upload_open(w, b, err);
}

static int relay_part(struct hand *w, struct big *b, size_t n, struct err *err)
{
	int64_t len = part_len(&b->parts, n);
	struct keeping k = { .room = hand_room(w, len), .max = (size_t)len };
	struct hand_read read = { .path = b->file.from,
				  .etag = b->etag,
				  .first = part_first(&b->parts, n),
				  .len = len,
				  .take = keep_piece,
				  .arg = &k };
	struct request r = { .body = k.room };

	/* Also of parts that are there: the sum of the whole wants all of them. */
	if (hand_read(w, &read, err) < 0)
		return -1;
	b->sums[n] = read.sum;
	return b->have[n] ? 0 : hand_upload_part(w, b, n, &r, err);
}

static int relay_same(struct hand *w, const struct haul_file *f, bool *same,
		      struct err *err)
{
	AUTO_FREE char *a = hand_remote_sum(w, f->from, "blake2b", err);
	AUTO_FREE char *b = a ? hand_remote_sum(w, f->to, "blake2b", err) : NULL;

	*same = b && str_eq(a, b);
	return b ? 0 : -1;
}

const struct way way_relay = {
	.small = relay_small,
	.open = relay_open,
	.part = relay_part,
	.close = hand_upload_close,
	.same = relay_same,
};
