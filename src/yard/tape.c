// SPDX-License-Identifier: Apache-2.0
#include "yard/tape.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"

#define AHEAD_MAX (64u << 20) /* what the disk may be behind */

struct tape {
	struct world_lane *lane;
	int fd;
	int64_t left; /* bytes that may still be added */
	struct buf waiting, writing;
	bool under_way, closed, failed;
};

struct tape *tape_open(struct world *w, const char *path, int64_t most_bytes,
		       struct err *err)
{
	AUTO_FREE char *before = str_printf("%s.1", path);
	struct tape *t;
	int fd;

	if (rename(path, before) < 0 && errno != ENOENT) {
		err_sys(err, "%s", before);
		return NULL;
	}
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0) {
		err_sys(err, "%s", path);
		return NULL;
	}
	t = mem_alloc(1, sizeof *t);
	t->fd = fd;
	t->left = most_bytes;
	t->lane = world_lane_create(w, 1);
	return t;
}

static void write_out(void *arg)
{
	struct tape *t = arg;

	for (size_t at = 0; at < t->writing.len && !t->failed;) {
		ssize_t n = write(t->fd, t->writing.data + at, t->writing.len - at);
		if (n < 0 && errno != EINTR)
			t->failed = true;
		at += n > 0 ? (size_t)n : 0;
	}
}

static void destroy(struct tape *t)
{
	close(t->fd);
	buf_fini(&t->waiting);
	buf_fini(&t->writing);
	free(t);
}

static void turn(struct tape *t);

static void written(void *arg)
{
	struct tape *t = arg;

	t->under_way = false;
	buf_clear(&t->writing);
	if (!t->closed) {
		turn(t);
		return;
	}
	buf_fini(&t->writing);
	t->writing = t->waiting;
	t->waiting = (struct buf){ 0 };
	write_out(t);
	destroy(t);
}

/* What waits is written, if nothing is being written. */
static void turn(struct tape *t)
{
	struct buf empty = t->writing;

	if (t->under_way || !t->waiting.len)
		return;
	t->writing = t->waiting;
	t->waiting = empty;
	t->under_way = true;
	world_lane_work(t->lane, write_out, written, t);
}

bool tape_over(const struct tape *t)
{
	return t->left <= 0;
}

void tape_add(struct tape *t, const struct buf *lines)
{
	if (t->left <= 0)
		return;
	t->left -= (int64_t)lines->len;
	if (t->left <= 0 || t->waiting.len + lines->len > AHEAD_MAX) {
		t->left = 0;
		return;
	}
	buf_add(&t->waiting, lines->data, lines->len);
	turn(t);
}

void tape_close(struct tape *t)
{
	if (!t)
		return;
	world_lane_destroy(t->lane);
	t->closed = true;
	if (!t->under_way)
		written(t);
}
