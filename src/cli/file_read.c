// SPDX-License-Identifier: Apache-2.0
/* file_read.c - `yard file cat`, and stdin as a source of `yard cp`. */
#include "cli/file_read.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "cli/file_place.h"
#include "codec/url.h"

#define PIECE    (256u << 10)
#define TRIES    6
#define PAUSE_MS 250

int byte_range_read(const char *text, struct byte_range *out, struct err *err)
{
	const char *dash = strchr(text, '-');
	AUTO_FREE char *first = dash ? mem_strndup(text, (size_t)(dash - text)) : NULL;
	const char *last = dash ? dash + 1 : "";

	out->first = out->last = -1;
	if (!dash || (!*first && !*last) ||
	    (*first && str_to_i64(first, 0, INT64_MAX, &out->first) < 0) ||
	    (*last && str_to_i64(last, 0, INT64_MAX, &out->last) < 0) ||
	    (*first && *last && out->last < out->first))
		return err_set(err, ERR_INVALID,
			       "--bytes '%s': allowed is FIRST-LAST, FIRST- or -COUNT, "
			       "counted from 0",
			       text);
	return 0;
}

static void write_range(const struct byte_range *r, char out[64])
{
	if (r->first < 0)
		snprintf(out, 64, "bytes=-%" PRId64, r->last);
	else if (r->last < 0)
		snprintf(out, 64, "bytes=%" PRId64 "-", r->first);
	else
		snprintf(out, 64, "bytes=%" PRId64 "-%" PRId64, r->first, r->last);
}

/* "bytes 100-199/1000": where what comes begins. */
static int64_t content_first(const struct client *c)
{
	const char *text = client_header(c, "content-range");
	int64_t first = 0;

	if (text && str_starts(text, "bytes "))
		(void)str_leading_i64(text + strlen("bytes "), &first);
	return first;
}

struct reading {
	const char *path;
	struct byte_range range;
	bool ranged;
	char *etag;   /* of what was begun: what follows must be of the same file */
	int64_t next; /* the byte that comes next; -1: nothing came yet */
};

static int ask(struct client *c, const struct reading *r, struct err *err)
{
	AUTO_FREE char *target = place_target("/files/content", r->path);
	struct http_header headers[2];
	struct byte_range range = r->range;
	char text[64];
	size_t count = 0;

	if (r->next >= 0)
		range.first = r->next;
	if (r->next >= 0 && r->range.first < 0) /* a tail that broke: to the end */
		range.last = -1;
	if (r->ranged || r->next > 0) {
		write_range(&range, text);
		headers[count++] = (struct http_header){ "Range", text };
	}
	if (r->next >= 0 && r->etag)
		headers[count++] = (struct http_header){ "If-Match", r->etag };
	struct request q = { .method = "GET",
			     .target = target,
			     .headers = headers,
			     .header_count = count };
	return client_begin(c, &q, err);
}

/* 1: the connection broke, r->next says where. */
static int print_pieces(struct client *c, struct reading *r, struct err *err)
{
	struct http_piece piece = { NULL, 0 };

	for (;;) {
		switch (client_next_waiting(c, &piece, err)) {
		case HTTP_ITEM_DATA:
			cli_write(STDOUT_FILENO, piece.data, piece.len);
			r->next += (int64_t)piece.len;
			break;
		case HTTP_ITEM_END:
			return 0;
		default:
			return 1;
		}
	}
}

static int print_file(struct client *c, struct reading *r, struct err *err)
{
	int pause = PAUSE_MS;

	for (int i = 1;; i++) {
		int64_t before = r->next;
		int rc = ask(c, r, err);
		if (rc < 0 && client_status(c) != 0)
			return -1;
		if (rc == 0 && r->next < 0) {
			r->etag = mem_strdup(client_header(c, "etag"));
			r->next = content_first(c);
		}
		if (rc == 0)
			rc = print_pieces(c, r, err);
		if (rc == 0)
			return 0;
		if (r->next > before) { /* it goes on: patience begins anew */
			i = 1;
			pause = PAUSE_MS;
		}
		if (i == TRIES)
			return -1;
		usleep((useconds_t)pause * 1000);
		pause *= 2;
	}
}

int file_cat(struct cli *c, const char *const *paths, size_t count, const char *range)
{
	int code = 0;

	for (size_t i = 0; i < count; i++) {
		AUTO_PLACE struct place p = { 0 };
		struct reading r = { .next = -1, .ranged = range != NULL };
		struct err err;
		place_read_yard(&p, paths[i]);
		r.path = p.path;
		if ((range && byte_range_read(range, &r.range, &err) < 0) ||
		    print_file(c->client, &r, &err) < 0)
			code = cli_fail(c, &err);
		free(r.etag);
	}
	return code;
}

struct stdin_body {
	bool begun;
};

static int send_stdin(void *arg, struct client *c, struct err *err)
{
	AUTO_FREE char *piece = mem_alloc(1, PIECE);
	struct stdin_body *b = arg;
	ssize_t n;

	if (b->begun)
		return err_set(err, ERR_INVALID,
			       "the connection broke, and stdin cannot be "
			       "read again: put it into a file first");
	b->begun = true;
	while ((n = read(STDIN_FILENO, piece, PIECE)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_sys(err, "read stdin");
		if (client_send(c, piece, (size_t)n, err) < 0)
			return -1;
	}
	return 0;
}

int file_put_stdin(struct cli *c, const char *path, struct err *err)
{
	AUTO_BUF struct buf target = { 0 };
	AUTO_ANSWER struct answer a = { 0 };
	struct stdin_body body = { false };

	buf_adds(&target, "/files/content");
	url_query_add(&target, "path", path);
	url_query_add(&target, "parents", "true");
	struct request r = { .method = "PUT",
			     .target = buf_str(&target),
			     .write_body = send_stdin,
			     .arg = &body };
	return client_call(c->client, &r, &a, err);
}

struct cat_args {
	const char *bytes;
};

/* clang-format off */
static const struct opt cat_table[] = {
	{ "bytes", 'b', OPT_TEXT, OPT_INTO(struct cat_args, bytes), "RANGE", "only these, counted from 0: FIRST-LAST, FIRST-, or -COUNT for the last" },
};
/* clang-format on */

static int run_cat(struct cli *c, const void *args, const struct opts_list *operands)
{
	const struct cat_args *a = args;
	struct byte_range range;
	struct err err;

	if (a->bytes && byte_range_read(a->bytes, &range, &err) < 0)
		return cli_fail(c, &err);
	return file_cat(c, operands->items, operands->count, a->bytes);
}

const struct command cmd_file_cat = {
	.name = "file cat",
	.group = COMMAND_FILES,
	.operands = "PATH...",
	.summary = "print files of the yard's storage",
	.table = cat_table,
	.count = COUNT_OF(cat_table),
	.args_size = sizeof(struct cat_args),
	.starts = true,
	.operands_min = 1,
	.operands_max = SIZE_MAX,
	.run = run_cat,
};
