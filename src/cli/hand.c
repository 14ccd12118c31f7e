// SPDX-License-Identifier: Apache-2.0
/* hand.c - what a hand asks of the server, and when it asks again. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "cli/file_place.h"
#include "cli/haul_impl.h"
#include "codec/url.h"

#define TRIES        6
#define PAUSE_MS     250 /* doubled each time: 8 s in all, beside the client's own patience */
#define SUM_TEXT_MAX 32

void hand_init(struct hand *w, struct haul *h)
{
	*w = (struct hand){ .haul = h };
	w->client = client_create(&haul_cli(h)->server, false, NULL);
}

void hand_fini(struct hand *w)
{
	client_destroy(TAKE(w->client));
	free(TAKE(w->bytes));
}

char *hand_room(struct hand *w, int64_t bytes)
{
	if (w->room < (size_t)bytes) {
		free(w->bytes);
		w->bytes = mem_alloc(1, (size_t)bytes);
		w->room = (size_t)bytes;
	}
	return w->bytes;
}

void hand_moved(struct hand *w, int64_t bytes)
{
	w->counted += bytes;
	haul_counts(w->haul)->bytes += bytes;
}

void hand_spared(struct hand *w, int64_t bytes)
{
	haul_counts(w->haul)->bytes_all -= bytes;
}

int hand_try(struct hand *w, hand_step step, void *arg, struct err *err)
{
	int pause = PAUSE_MS;

	for (int i = 1;; i++) {
		w->broke = false;
		w->counted = 0;
		if (step(w, arg, err) == 0)
			return 0;
		haul_counts(w->haul)->bytes -= w->counted;
		if (!w->broke || i == TRIES || haul_dead(w->haul))
			return -1;
		usleep((useconds_t)pause * 1000);
		pause *= 2;
	}
}

/* No whole answer, or one that says: later. */
static bool is_network(const struct client *c)
{
	int status = client_status(c);

	return status == 0 || status == 429 || status == 502 || status == 503 ||
	       status == 504;
}

int hand_call(struct hand *w, const struct request *r, struct answer *out,
	      struct err *err)
{
	int rc = client_call(w->client, r, out, err);

	/* A body that could not be made is our failure, and says so itself. */
	if (rc < 0 && err->code != ERR_CONFLICT)
		w->broke = is_network(w->client);
	return rc;
}

static const char *show_sum(uint32_t sum, char out[SUM_TEXT_MAX])
{
	snprintf(out, SUM_TEXT_MAX, "crc32c=%08" PRIx32, sum);
	return out;
}

static int changed(struct err *err)
{
	return err_set(err, ERR_CONFLICT, "it changed while it was copied");
}

/* All of it came.  Of small files the server says their sum. */
static int check_end(struct hand *w, const struct hand_read *r, int64_t got,
		     struct err *err)
{
	const char *said = client_header(w->client, "yard-checksum");
	char sum[SUM_TEXT_MAX];

	if (r->len >= 0 && got != r->len)
		return changed(err);
	if (!said || str_eq(said, show_sum(r->sum, sum)) || !str_starts(said, "crc32c="))
		return 0;
	w->broke = true; /* on the way: another try may bring it whole */
	return err_set(err, ERR_CORRUPT, "it came damaged: its %s, not %s", sum, said);
}

/* The pieces of an answer whose head is there. */
static int take_pieces(struct hand *w, struct hand_read *r, struct err *err)
{
	struct http_piece piece = { NULL, 0 };
	int64_t got = 0;

	r->sum = 0;
	for (;;) {
		switch (client_next_waiting(w->client, &piece, err)) {
		case HTTP_ITEM_DATA:
			got += (int64_t)piece.len;
			r->sum = crc32c_add(r->sum, piece.data, piece.len);
			if (r->take(r->arg, piece.data, piece.len, err) < 0) {
				client_drop(w->client);
				return -1;
			}
			hand_moved(w, (int64_t)piece.len);
			break;
		case HTTP_ITEM_END:
			return check_end(w, r, got, err);
		default:
			w->broke = true;
			return -1;
		}
	}
}

int hand_read(struct hand *w, struct hand_read *r, struct err *err)
{
	AUTO_FREE char *target = place_target("/files/content", r->path);
	char range[64];
	struct http_header headers[2];
	size_t count = 0;

	if (r->len >= 0) {
		snprintf(range, sizeof range, "bytes=%" PRId64 "-%" PRId64, r->first,
			 r->first + r->len - 1);
		headers[count++] = (struct http_header){ "Range", range };
	}
	if (r->etag)
		headers[count++] = (struct http_header){ "If-Match", r->etag };
	struct request request = { .method = "GET",
				   .target = target,
				   .headers = headers,
				   .header_count = count };
	if (client_begin(w->client, &request, err) < 0) {
		if (client_status(w->client) == 412 || client_status(w->client) == 416)
			return changed(err);
		w->broke = is_network(w->client);
		return -1;
	}
	if (r->len >= 0 && client_status(w->client) != 206) {
		client_drop(w->client);
		return err_set(err, ERR_CORRUPT, "the server gave all instead of a part");
	}
	return take_pieces(w, r, err);
}

static char *put_target(const struct haul_file *f, bool sync)
{
	struct buf out = { 0 };
	char ms[24];

	snprintf(ms, sizeof ms, "%" PRId64, f->modified_ms);
	buf_adds(&out, "/files/content");
	url_query_add(&out, "path", f->to);
	url_query_add(&out, "modified_ms", ms);
	url_query_add(&out, "parents", "true");
	if (!sync)
		url_query_add(&out, "sync", "false");
	if (f->executable)
		url_query_add(&out, "executable", "true");
	return buf_take(&out);
}

int hand_put(struct hand *w, const struct haul_file *f, const char *data, size_t len,
	     struct err *err)
{
	AUTO_FREE char *target = put_target(f, !haul_syncs_later(w->haul, f->to));
	AUTO_ANSWER struct answer a = { 0 };
	char sum[SUM_TEXT_MAX];
	struct http_header checksum = { "Yard-Checksum",
					show_sum(crc32c_add(0, data, len), sum) };
	struct request r = { .method = "PUT",
			     .target = target,
			     .body = data,
			     .body_len = len,
			     .headers = &checksum,
			     .header_count = 1 };

	return hand_call(w, &r, &a, err);
}

/* "have": [[first, last], ...], numbers of parts. */
static int read_have(const struct doc_node *list, struct big *b, struct err *err)
{
	for (const struct doc_node *n = list ? list->first : NULL; n; n = n->next) {
		int64_t first, last, most = (int64_t)b->parts.count - 1;
		if (n->kind != DOC_LIST || n->count != 2 ||
		    doc_whole(n->first, 0, most, &first) < 0 ||
		    doc_whole(n->first->next, first, most, &last) < 0)
			return err_set(err, ERR_CORRUPT,
				       "the server has parts of it that there are not");
		for (int64_t i = first; i <= last; i++)
			b->have[i] = true;
	}
	return 0;
}

static int read_upload(const struct doc_node *map, struct big *b, struct err *err)
{
	int64_t part_size = doc_i64(map, "part_size", 0);
	const char *name = doc_str(map, "upload", NULL);

	if (!name || part_size <= 0 || doc_i64(map, "size", -1) != b->parts.size)
		return err_set(err, ERR_CORRUPT,
			       "the server's upload is of something else");
	/* One that was begun by another client may have parts of another size. */
	b->parts.part_size = part_size;
	b->parts.count = (size_t)((b->parts.size + part_size - 1) / part_size);
	if (b->parts.count > PART_COUNT_MAX * 100)
		return err_set(err, ERR_CORRUPT, "the server wants too many parts");
	free(b->upload);
	free(b->have);
	free(b->sums);
	b->upload = mem_strdup(name);
	b->have = mem_alloc(b->parts.count, sizeof *b->have);
	b->sums = mem_alloc(b->parts.count, sizeof *b->sums);
	return read_have(doc_get(map, "have"), b, err);
}

int hand_upload_open(struct hand *w, struct big *b, struct err *err)
{
	AUTO_BUF struct buf body = { 0 };
	AUTO_ANSWER struct answer a = { 0 };
	struct json j;

	parts_of(&b->parts, b->file.size);
	json_init(&j, &body);
	json_object(&j, NULL);
	json_str(&j, "path", b->file.to);
	json_i64(&j, "size", b->parts.size);
	json_i64(&j, "part_size", b->parts.part_size);
	json_i64(&j, "modified_ms", b->file.modified_ms);
	json_bool(&j, "executable", b->file.executable);
	json_bool(&j, "parents", true);
	json_end(&j);
	struct request r = { .method = "POST",
			     .target = "/files/uploads",
			     .body = buf_str(&body),
			     .body_len = body.len };
	return hand_call(w, &r, &a, err) < 0 ? -1 : read_upload(doc_root(a.doc), b, err);
}

int hand_upload_part(struct hand *w, const struct big *b, size_t n, struct request *r,
		     struct err *err)
{
	AUTO_FREE char *target = str_printf("/files/uploads/%s/parts/%zu", b->upload, n);
	AUTO_ANSWER struct answer a = { 0 };

	r->method = "PUT";
	r->target = target;
	r->body_len = (size_t)part_len(&b->parts, n);
	int rc = hand_call(w, r, &a, err);
	/* One that was killed may still be sending it, as far as the server knows. */
	w->broke |= rc < 0 && a.status == 409;
	return rc;
}

void hand_upload_drop(struct hand *w, const struct big *b)
{
	AUTO_FREE char *target = str_printf("/files/uploads/%s", b->upload);
	AUTO_ANSWER struct answer a = { 0 };
	struct request r = { .method = "DELETE", .target = target };
	struct err ignored; /* it goes by itself, later */

	client_call(w->client, &r, &a, &ignored);
}

int hand_upload_close(struct hand *w, struct big *b, struct err *err)
{
	AUTO_FREE char *target = str_printf("/files/uploads/%s/finish", b->upload);
	AUTO_BUF struct buf body = { 0 };
	AUTO_ANSWER struct answer a = { 0 };
	char text[SUM_TEXT_MAX];
	uint32_t sum = 0;
	struct json j;

	for (size_t n = 0; n < b->parts.count; n++)
		sum = crc32c_join(sum, (uint32_t)b->sums[n],
				  (uint64_t)part_len(&b->parts, n));
	json_init(&j, &body);
	json_object(&j, NULL);
	json_str(&j, "checksum", show_sum(sum, text));
	json_end(&j);
	struct request r = { .method = "POST",
			     .target = target,
			     .body = buf_str(&body),
			     .body_len = body.len };
	if (hand_call(w, &r, &a, err) == 0)
		return 0;
	if (!w->broke)
		hand_upload_drop(w, b);
	return -1;
}

char *hand_remote_sum(struct hand *w, const char *path, const char *kind, struct err *err)
{
	AUTO_FREE char *plain = place_target("/files/stat", path);
	AUTO_FREE char *target = str_printf("%s&checksum=%s", plain, kind);
	AUTO_ANSWER struct answer a = { 0 };
	struct request r = { .method = "GET", .target = target };

	if (hand_call(w, &r, &a, err) < 0)
		return NULL;
	const char *sum = doc_str(doc_root(a.doc), "checksum", NULL);
	if (!sum)
		err_set(err, ERR_UNSUPPORTED, "the server gives no checksum of it");
	return mem_strdup(sum);
}
