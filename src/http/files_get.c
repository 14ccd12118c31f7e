// SPDX-License-Identifier: Apache-2.0
/* The bytes of a file, or a range of them.
 *
 * Small ones are read off the loop and leave with their head in one packet.  Large ones are
 * sent by the kernel (sendfile), by a thread of the storage as long as the socket takes
 * them; then the loop waits for room.  Where bytes must pass a filter (TLS) the thread reads
 * them and the loop writes, a bounded amount ahead.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/sendfile.h>
#include <time.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "base/mem.h"
#include "base/str.h"
#include "depot/file.h"
#include "http/files.h"
#include "http/handlers.h"
#include "http/params.h"
#include "http/range.h"
#include "http/route.h"

#define SMALL_BYTES (256 << 10)
#define PIECE_BYTES (512 << 10)         /* read at a time, for a filter */
#define TURN_BYTES  (INT64_C(16) << 20) /* of one client before others have their turn */

struct get {
	struct exchange *ex; /* NULL: the client has gone */
	struct storage *storage;
	char *path;
	struct volume_place place;
	struct range_ask ask;
	struct range_found found;
	struct file_info info;
	int file, socket;
	int64_t at, left;
	struct buf bytes; /* a small file's, or the next piece for a filter */
	bool head;        /* asked by HEAD */
	bool summed;      /* bytes is all of what is sent: so its sum can be told */
	bool busy;        /* a thread works on it */
	bool again;       /* the socket takes no more now */
	struct err err;
};

static void get_free(struct get *g)
{
	if (g->file >= 0)
		close(g->file);
	if (g->socket >= 0)
		close(g->socket);
	range_ask_fini(&g->ask);
	volume_place_fini(&g->place);
	buf_fini(&g->bytes);
	free(g->path);
	free(g);
}

static void get_gone(struct exchange *ex)
{
	struct get *g = ex->state;

	g->ex = NULL;
	if (!g->busy)
		get_free(g);
}

static void run(struct get *g, world_cb work, world_cb done)
{
	g->busy = true;
	storage_work(g->storage, work, done, g);
}

static void add_head(const struct get *g, struct buf *out)
{
	char date[64];
	time_t when = (time_t)(g->info.modified_ms / 1000);
	struct tm tm;

	buf_adds(out, "Content-Type: application/octet-stream\r\n"
		      "X-Content-Type-Options: nosniff\r\nAccept-Ranges: bytes\r\n"
		      "Cache-Control: private, no-cache\r\n");
	buf_printf(out, "ETag: %s\r\n", g->info.etag);
	if (gmtime_r(&when, &tm) &&
	    strftime(date, sizeof date, "%a, %d %b %Y %H:%M:%S GMT", &tm))
		buf_printf(out, "Last-Modified: %s\r\n", date);
	buf_printf(out, "Yard-Modified-Ms: %lld\r\n", (long long)g->info.modified_ms);
	if (g->info.executable)
		buf_adds(out, "Yard-Executable: true\r\n");
	if (g->summed)
		buf_printf(out, "Yard-Checksum: crc32c=%08x\r\n",
			   crc32c_add(0, g->bytes.data, g->bytes.len));
	if (g->found.status == 206)
		buf_printf(out, "Content-Range: bytes %lld-%lld/%lld\r\n",
			   (long long)g->found.first,
			   (long long)(g->found.first + g->found.length - 1),
			   (long long)g->info.size);
	if (g->found.status == 416)
		buf_printf(out, "Content-Range: bytes */%lld\r\n",
			   (long long)g->info.size);
}

/* Cut off: the client sees that it is not whole. */
static void cut(struct get *g)
{
	g->ex->body_over = false;
	http_conn_answered(g->ex);
}

static void send_on(struct get *g);

static void send_work(void *arg)
{
	struct get *g = arg;
	int64_t turn = 0;

	g->again = false;
	while (g->left > 0 && turn < TURN_BYTES) {
		size_t want = (size_t)(g->left < TURN_BYTES ? g->left : TURN_BYTES);
		off_t at = g->at;
		ssize_t n = sendfile(g->socket, g->file, &at, want);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN) {
			g->again = true;
			return;
		}
		if (n <= 0) {
			err_set(&g->err, ERR_IO, "it became shorter, or cannot be read");
			return;
		}
		g->at += n;
		g->left -= n;
		turn += n;
	}
}

static void read_work(void *arg)
{
	struct get *g = arg;
	size_t want = (size_t)(g->left < PIECE_BYTES ? g->left : PIECE_BYTES);
	ssize_t n = -1;

	buf_clear(&g->bytes);
	buf_reserve(&g->bytes, want + 1);
	do
		n = pread(g->file, g->bytes.data, want, g->at);
	while (n < 0 && errno == EINTR);
	if (n <= 0) {
		err_set(&g->err, ERR_IO, "it became shorter, or cannot be read");
		return;
	}
	g->bytes.len = (size_t)n;
}

/* Both ways: what the thread was to do is done. */
static void sent(void *arg)
{
	struct get *g = arg;

	g->busy = false;
	if (!g->ex) {
		get_free(g);
		return;
	}
	if (g->err.code != ERR_NONE) {
		cut(g);
		return;
	}
	if (g->socket < 0) {
		http_conn_write(g->ex->conn, g->bytes.data, g->bytes.len);
		g->at += (int64_t)g->bytes.len;
		g->left -= (int64_t)g->bytes.len;
		g->again = !answer_room(g->ex);
	}
	if (g->left == 0) {
		http_conn_answered(g->ex);
	} else if (!g->again) {
		send_on(g);
	} else {
		if (g->socket >= 0)
			http_conn_await(g->ex->conn);
		http_conn_timer(g->ex->conn, g->ex->server->config.write_ms);
	}
}

static void send_on(struct get *g)
{
	world_cb work = g->socket >= 0 ? send_work : read_work;

	run(g, work, sent);
}

static void get_room(struct exchange *ex)
{
	struct get *g = ex->state;

	if (!g->busy)
		send_on(g);
}

/* It reads nothing of what is sent. */
static void get_timer(struct exchange *ex)
{
	const struct get *g = ex->state;

	if (!g->busy)
		http_conn_destroy(ex->conn);
}

static void refuse(struct get *g)
{
	AUTO_BUF struct buf more = { 0 };
	struct err err;

	add_head(g, &more);
	if (g->found.status == 412) {
		err_set(&err, ERR_CONFLICT, "If-Match: %s is another one by now",
			g->place.path);
		answer_status(g->ex, 412, &err, NULL);
		return;
	}
	answer_sized(g->ex, g->found.status, &more, "", 0);
}

static void opened(void *arg)
{
	struct get *g = arg;
	AUTO_BUF struct buf more = { 0 };

	g->busy = false;
	if (!g->ex) {
		get_free(g);
		return;
	}
	if (g->err.code != ERR_NONE) {
		answer_error(g->ex, &g->err);
		return;
	}
	if (g->found.status != 200 && g->found.status != 206) {
		refuse(g);
		return;
	}
	add_head(g, &more);
	if (!g->head && g->left == 0) {
		answer_sized(g->ex, g->found.status, &more, buf_str(&g->bytes),
			     g->bytes.len);
		return;
	}
	answer_sized_begin(g->ex, g->found.status, &more, g->found.length);
	if (g->head) {
		http_conn_answered(g->ex);
		return;
	}
	g->socket = http_conn_lend(g->ex->conn);
	send_on(g);
}

static int read_small(struct get *g)
{
	buf_reserve(&g->bytes, (size_t)g->left + 1);
	while (g->left > 0) {
		ssize_t n = pread(g->file, g->bytes.data + g->bytes.len, (size_t)g->left,
				  g->at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return err_set(&g->err, ERR_IO, "%s became shorter just now",
				       g->place.path);
		g->bytes.len += (size_t)n;
		g->at += n;
		g->left -= n;
	}
	return 0;
}

static void open_work(void *arg)
{
	struct get *g = arg;

	g->file = file_open(&g->place, &g->info, &g->err);
	if (g->file < 0)
		return;
	range_find(&g->ask, &g->info, &g->found);
	g->at = g->found.first;
	g->left = g->found.length;
	if (!g->head && g->left <= SMALL_BYTES)
		g->summed = read_small(g) == 0;
}

static void ranged(void *arg, int64_t job, bool again, const struct err *err)
{
	struct get *g = arg;

	(void)job, (void)again;
	g->busy = false;
	if (!g->ex) {
		get_free(g);
		return;
	}
	volume_place_fini(&g->place);
	if (err)
		answer_error(g->ex, err);
	else if (files_find(g->ex, g->path, VOLUME_READ, &g->place, &g->err) < 0)
		answer_error(g->ex, &g->err);
	else
		run(g, open_work, opened);
}

void handle_file_get(struct exchange *ex)
{
	static const struct exchange_ops ops = { .room = get_room,
						 .timer = get_timer,
						 .gone = get_gone };
	const char *path = param_text(ex, "path");
	struct volume_place place;
	struct err err;

	if (files_find(ex, path, VOLUME_READ, &place, &err) < 0) {
		answer_error(ex, &err);
		return;
	}
	struct get *g = mem_alloc(1, sizeof *g);
	g->ex = ex;
	g->storage = ex->server->config.storage;
	g->place = place;
	g->path = mem_strdup(path);
	g->file = g->socket = -1;
	g->head = str_eq(ex->head->method, "HEAD");
	range_ask_read(&g->ask, ex->head);
	ex->state = g;
	ex->ops = &ops;
	g->busy = true;
	if (!files_range(ex, &place, ranged, g))
		run(g, open_work, opened);
}
