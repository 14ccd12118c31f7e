// SPDX-License-Identifier: Apache-2.0
/* haul_put.c - a file of this machine goes to the yard. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "base/mem.h"
#include "base/str.h"
#include "cli/file_info.h"
#include "cli/haul_impl.h"
#include "pack/hash.h"

static int changed(struct err *err)
{
	return err_set(err, ERR_CONFLICT,
		       "it changes while it is read: try again when it is still");
}

static int open_file(const struct haul_file *f, struct stat *st, struct err *err)
{
	AUTO_FD int fd = open(f->from, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd < 0 || fstat(fd, st) < 0)
		return err_set(err, errno == ENOENT ? ERR_NOT_FOUND : ERR_IO, "%s",
			       strerror(errno));
	if (!S_ISREG(st->st_mode))
		return err_set(err, ERR_INVALID, "it is no plain file any more");
	return TAKE_FD(fd);
}

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_size == b->st_size && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
	       a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* All of it, or the words that it changed. */
static int read_whole(int fd, char *out, const struct stat *was, struct err *err)
{
	size_t len = (size_t)was->st_size, got = 0;
	struct stat now;

	while (got < len) {
		ssize_t n = read(fd, out + got, len - got);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_set(err, ERR_IO, "read: %s", strerror(errno));
		if (n == 0)
			break;
		got += (size_t)n;
	}
	if (fstat(fd, &now) < 0 || got < len || !is_same(was, &now))
		return changed(err);
	return 0;
}

static int put_small(struct hand *w, const struct haul_file *f, struct err *err)
{
	struct stat st = { 0 };
	AUTO_FD int fd = open_file(f, &st, err);

	if (fd < 0)
		return -1;
	if (st.st_size > 2 * PART_BYTES)
		return changed(err);
	char *room = hand_room(w, st.st_size + 1);
	if (read_whole(fd, room, &st, err) < 0)
		return -1;
	struct haul_file now = *f;
	now.modified_ms = file_modified_ms(&st);
	now.executable = st.st_mode & S_IXUSR;
	if (hand_put(w, &now, room, (size_t)st.st_size, err) < 0)
		return -1;
	hand_moved(w, st.st_size);
	return 0;
}

static int put_open(struct hand *w, struct big *b, struct err *err)
{
	if (b->fd >= 0)
		close(TAKE_FD(b->fd));
	b->fd = open_file(&b->file, &b->was, err);
	if (b->fd < 0)
		return -1;
	if (b->was.st_size <= PART_BYTES) /* it shrank since it was listed */
		return changed(err);
	haul_counts(w->haul)->bytes_all += b->was.st_size - b->file.size;
	b->file.size = b->was.st_size;
	b->file.modified_ms = file_modified_ms(&b->was);
	b->file.executable = b->was.st_mode & S_IXUSR;
	posix_fadvise(b->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
	return hand_upload_open(w, b, err);
}

struct sending {
	struct hand *hand;
	struct big *big;
	size_t n;
};

/* Read, summed and sent while it is in the processor's cache. */
static int send_part(void *arg, struct client *c, struct err *err)
{
	struct sending *s = arg;
	struct hand *w = s->hand;
	int64_t at = part_first(&s->big->parts, s->n);
	int64_t end = at + part_len(&s->big->parts, s->n);
	char *piece = hand_room(w, HAUL_PIECE);
	uint32_t sum = 0;

	haul_counts(w->haul)->bytes -= w->counted; /* of a try that broke */
	w->counted = 0;
	while (at < end) {
		size_t want = end - at < HAUL_PIECE ? (size_t)(end - at) : HAUL_PIECE;
		ssize_t n = pread(s->big->fd, piece, want, at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? err_set(err, ERR_IO, "read: %s", strerror(errno))
				     : changed(err);
		sum = crc32c_add(sum, piece, (size_t)n);
		if (client_write(c, piece, (size_t)n, err) < 0)
			return -1;
		at += n;
		hand_moved(w, n);
	}
	s->big->sums[s->n] = sum;
	return 0;
}

static int put_part(struct hand *w, struct big *b, size_t n, struct err *err)
{
	struct sending s = { w, b, n };
	struct request r = { .write_body = send_part, .arg = &s, .sized = true };

	if (b->have[n]) { /* since before: only its sum is needed */
		uint32_t sum;
		if (part_sum(b->fd, &b->parts, n, &sum, err) < 0)
			return -1;
		b->sums[n] = sum;
		hand_spared(w, part_len(&b->parts, n));
		return 0;
	}
	return hand_upload_part(w, b, n, &r, err);
}

static int put_close(struct hand *w, struct big *b, struct err *err)
{
	struct stat now;

	if (fstat(b->fd, &now) < 0 || !is_same(&b->was, &now)) {
		hand_upload_drop(w, b);
		return changed(err);
	}
	return hand_upload_close(w, b, err);
}

static int hash_file(const char *path, char hex[PACK_HASH_HEX], struct err *err)
{
	AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
	AUTO_FREE char *piece = mem_alloc(1, HAUL_PIECE);
	ssize_t n = 1;

	if (fd < 0)
		return err_set(err, ERR_IO, "%s", strerror(errno));
	struct pack_hash *h = pack_hash_create();
	while ((n = read(fd, piece, HAUL_PIECE)) > 0)
		pack_hash_add(h, piece, (size_t)n);
	if (n < 0) {
		pack_hash_destroy(h);
		return err_set(err, ERR_IO, "read: %s", strerror(errno));
	}
	pack_hash_finish(h, hex);
	return 0;
}

int haul_same_content(struct hand *w, const char *local, const char *remote, bool *same,
		      struct err *err)
{
	char hex[PACK_HASH_HEX];

	if (hash_file(local, hex, err) < 0)
		return -1;
	AUTO_FREE char *theirs = hand_remote_sum(w, remote, "blake2b", err);
	if (!theirs)
		return -1;
	AUTO_FREE char *mine = str_printf("blake2b=%s", hex);
	*same = str_eq(mine, theirs);
	return 0;
}

static int put_same(struct hand *w, const struct haul_file *f, bool *same,
		    struct err *err)
{
	return haul_same_content(w, f->from, f->to, same, err);
}

const struct way way_put = {
	.small = put_small,
	.open = put_open,
	.part = put_part,
	.close = put_close,
	.same = put_same,
};
