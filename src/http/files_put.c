// SPDX-License-Identifier: Apache-2.0
/* Bytes that come in: a whole file, or one part of an upload.
 *
 * What comes is gathered in one block while a thread of the storage writes the other; when
 * both are full the client is not read from.  So an upload never holds more than two
 * blocks, and a small file, which fits into one, costs one piece of work in all.
 */
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "depot/file_put.h"
#include "http/files.h"
#include "http/handlers.h"
#include "http/params.h"
#include "http/route.h"

#define BLOCK_MOST  (1u << 20)
#define BLOCK_LEAST (64u << 10)
#define BLOCKS_ALL  (64u << 20) /* of all uploads together, about */

struct put;

/* Where it goes.  Called off the loop, one at a time. */
struct sink {
	int (*begin)(struct put *p);
	int (*write)(struct put *p, const void *data, size_t len);
	int (*finish)(struct put *p); /* and nothing after it */
	void (*abort)(struct put *p); /* of what was begun and not finished */
	void (*answer)(struct put *p);
};

enum put_state { PUT_NEW, PUT_BEGUN, PUT_OVER };

struct put {
	struct exchange *ex; /* NULL: the client has gone */
	struct http_server *server;
	struct storage *storage;
	const struct sink *sink;
	struct volume_place place;
	char *path;
	enum put_state state; /* the threads' */
	struct buf filling, writing;
	bool busy, paused, ended, last; /* last: what is being written is the end */
	int64_t now_ms, size,
		taken; /* size: as the head says, or -1; taken: of the quota */
	int64_t replaced;
	bool has_sum;
	struct checksum sum;
	struct file_put_how how;
	struct file_put *file;
	struct file_info info;
	char id[UPLOAD_ID_BYTES];
	int64_t n;
	struct upload_part *part;
	struct err err;
};

static void put_free(struct put *p)
{
	p->server->puts--;
	volume_place_fini(&p->place);
	buf_fini(&p->filling);
	buf_fini(&p->writing);
	free(p->path);
	free(p);
}

static void abort_work(void *arg)
{
	struct put *p = arg;

	p->sink->abort(p);
}

static void aborted(void *arg)
{
	put_free(arg);
}

/* The client has gone, or was refused. */
static void leave(struct put *p)
{
	if (p->state == PUT_BEGUN) {
		p->busy = true;
		storage_work(p->storage, abort_work, aborted, p);
	} else {
		put_free(p);
	}
}

static void put_gone(struct exchange *ex)
{
	struct put *p = ex->state;

	p->ex = NULL;
	if (!p->busy)
		leave(p);
}

static int write_block(struct put *p)
{
	if (p->state == PUT_NEW) {
		if (p->sink->begin(p) < 0)
			return -1;
		p->state = PUT_BEGUN;
	}
	if (p->writing.len && p->sink->write(p, p->writing.data, p->writing.len) < 0)
		return -1;
	if (!p->last)
		return 0;
	p->state = PUT_OVER;
	return p->sink->finish(p);
}

static void put_work(void *arg)
{
	write_block(arg);
}

static size_t block_bytes(const struct put *p)
{
	size_t share = BLOCKS_ALL / (p->server->puts + 1);

	return share > BLOCK_MOST    ? BLOCK_MOST
	       : share < BLOCK_LEAST ? BLOCK_LEAST
				     : share;
}

static void go_on(struct put *p);

static void written(void *arg)
{
	struct put *p = arg;

	p->busy = false;
	buf_clear(&p->writing);
	if (p->state == PUT_OVER && p->err.code == ERR_NONE)
		storage_touched(p->storage, &p->place);
	if (!p->ex) {
		leave(p);
		return;
	}
	if (p->err.code != ERR_NONE)
		answer_error(p->ex, &p->err); /* then put_gone() */
	else if (p->last)
		p->sink->answer(p);
	else
		go_on(p);
}

/* Begins to write what is there, if it is worth it and nobody does. */
static void go_on(struct put *p)
{
	bool full = p->filling.len >= block_bytes(p);

	if (!p->busy && (full || p->ended)) {
		struct buf swap = p->writing;
		p->writing = p->filling;
		p->filling = swap;
		p->last = p->ended;
		p->busy = true;
		full = false;
		storage_work(p->storage, put_work, written, p);
	}
	if (p->paused != (full && !p->ended)) {
		p->paused = !p->paused;
		http_conn_pause(p->ex->conn, p->paused);
	}
}

static void put_body(struct exchange *ex, const char *data, size_t len)
{
	struct put *p = ex->state;

	if (p->size > 0 && !p->filling.cap)
		buf_reserve(&p->filling,
			    p->size < BLOCK_LEAST ? (size_t)p->size + 1 : BLOCK_LEAST);
	buf_add(&p->filling, data, len);
	go_on(p);
}

static void put_end(struct exchange *ex)
{
	struct put *p = ex->state;

	p->ended = true;
	go_on(p);
}

/* The place is known again, now that there are uids for it; what came meanwhile waits. */
static void ranged(void *arg, int64_t job, bool again, const struct err *err)
{
	struct put *p = arg;

	(void)job, (void)again;
	p->busy = false;
	if (!p->ex) {
		leave(p);
		return;
	}
	volume_place_fini(&p->place);
	if (err)
		p->err = *err;
	else
		files_find(p->ex, p->path, VOLUME_WRITE, &p->place, &p->err);
	if (p->err.code != ERR_NONE)
		answer_error(p->ex, &p->err);
	else
		go_on(p);
}

/* NULL: that was answered. */
static struct put *put_begin(struct exchange *ex, const char *path,
			     const struct sink *sink)
{
	static const struct exchange_ops ops = { .body = put_body,
						 .body_end = put_end,
						 .gone = put_gone };
	const char *sum = http_head_get(ex->head, "yard-checksum");
	struct volume_place place;
	struct checksum said;
	struct err err;

	if (sum && checksum_read(sum, &said, &err) < 0) {
		err_wrap(&err, "Yard-Checksum");
		answer_error(ex, &err);
		return NULL;
	}
	if (files_find(ex, path, VOLUME_WRITE, &place, &err) < 0) {
		answer_error(ex, &err);
		return NULL;
	}
	struct put *p = mem_alloc(1, sizeof *p);
	p->ex = ex;
	p->server = ex->server;
	p->server->puts++;
	p->storage = ex->server->config.storage;
	p->sink = sink;
	p->place = place;
	p->path = mem_strdup(path);
	p->size = ex->head->length;
	p->now_ms = world_now_ms(ex->server->config.world);
	p->has_sum = sum != NULL;
	if (sum)
		p->sum = said;
	ex->state = p;
	ex->ops = &ops;
	p->busy = files_range(ex, &place, ranged, p);
	return p;
}

static int take_quota(struct put *p, int64_t bytes)
{
	if (usage_take(storage_usage(p->storage), &p->place, bytes, &p->err) < 0)
		return -1;
	p->taken += bytes;
	return 0;
}

static void settle(struct put *p, int64_t more)
{
	usage_settle(storage_usage(p->storage), &p->place, p->taken, more);
	p->taken = 0;
}

/* What it replaces makes room for it. */
static int file_begin(struct put *p)
{
	int64_t more = p->size;
	struct file_info old;

	if (more > 0 && usage_quota(storage_usage(p->storage), &p->place) &&
	    file_stat(&p->place, &old, NULL) == 0 && old.kind == FILE_FILE)
		more -= old.size;
	if (more > 0 && take_quota(p, more) < 0)
		return -1;
	p->file = file_put_begin(&p->place, &p->how, &p->err);
	if (!p->file)
		settle(p, 0);
	return p->file ? 0 : -1;
}

static int file_write(struct put *p, const void *data, size_t len)
{
	if (p->size < 0 && take_quota(p, (int64_t)len) < 0)
		return -1;
	return file_put_write(p->file, data, len, &p->err);
}

static int file_finish(struct put *p)
{
	int64_t bytes = file_put_bytes(p->file);
	int rc = file_put_finish(TAKE(p->file), &p->info, &p->replaced, &p->err);

	settle(p, rc < 0 ? 0 : p->replaced > 0 ? bytes - p->replaced : bytes);
	return rc;
}

static void file_abort(struct put *p)
{
	file_put_abort(TAKE(p->file));
	settle(p, 0);
}

static void file_answer(struct put *p)
{
	files_answer_file(p->ex, p->replaced < 0 ? 201 : 200, p->place.path, &p->info);
}

void handle_file_put(struct exchange *ex)
{
	static const struct sink sink = { file_begin, file_write, file_finish, file_abort,
					  file_answer };
	const char *if_none = http_head_get(ex->head, "if-none-match");
	struct put *p;
	struct err err;

	if (if_none && !str_eq(if_none, "*")) {
		err_set(&err, ERR_INVALID, "If-None-Match: only * means something here");
		answer_error(ex, &err);
		return;
	}
	p = put_begin(ex, param_text(ex, "path"), &sink);
	if (!p)
		return;
	p->how = (struct file_put_how){
		.parents = param_bool(ex, "parents"),
		.only_new = if_none != NULL,
		.executable = param_bool(ex, "executable"),
		.sync = !param_text(ex, "sync") || param_bool(ex, "sync"),
		.modified_ms = param_int(ex, "modified_ms", -1),
		.has_checksum = p->has_sum,
		.checksum = p->sum,
	};
}

static int part_begin(struct put *p)
{
	p->part = upload_part_begin(storage_uploads(p->storage), &p->place, p->id, p->n,
				    p->now_ms, &p->err);
	if (p->part && p->has_sum)
		upload_part_sums(p->part, p->sum.kind);
	return p->part ? 0 : -1;
}

static int part_write(struct put *p, const void *data, size_t len)
{
	return upload_part_write(p->part, data, len, &p->err);
}

static int part_finish(struct put *p)
{
	return upload_part_finish(TAKE(p->part), p->has_sum ? &p->sum : NULL, &p->err);
}

static void part_abort(struct put *p)
{
	upload_part_abort(TAKE(p->part));
}

static void part_answer(struct put *p)
{
	answer_empty(p->ex, 204);
}

void handle_upload_part(struct exchange *ex)
{
	static const struct sink sink = { part_begin, part_write, part_finish, part_abort,
					  part_answer };
	AUTO_FREE char *path = NULL;
	struct err err;
	int64_t n;

	if (str_to_i64(ex->param[1], 0, UPLOAD_PARTS_MAX, &n) < 0) {
		err_set(&err, ERR_INVALID, "part: '%.24s' is not a number from 0 to %d",
			ex->param[1], UPLOAD_PARTS_MAX - 1);
		answer_error(ex, &err);
		return;
	}
	path = files_upload_path(ex, &err);
	if (!path) {
		answer_error(ex, &err);
		return;
	}
	struct put *p = put_begin(ex, path, &sink);
	if (!p)
		return;
	p->n = n;
	memcpy(p->id, ex->param[0], strnlen(ex->param[0], sizeof p->id - 1));
}
