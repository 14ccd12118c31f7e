// SPDX-License-Identifier: Apache-2.0
/* s3_put.c - a file becomes an object: at once, or in parts when it is large. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "remote/s3.h"

#define PART_BYTES (INT64_C(64) << 20)
#define PARTS_MAX  9000 /* servers allow 10000 */

struct parts {
	const struct remote *remote;
	struct net *net;
	char *key, *upload;
	struct buf list; /* of those that are there, as the last request names them */
};

static int put_whole(const struct remote *r, struct net *n, char *key,
		     const struct remote_put *p, struct err *err)
{
	AUTO_NET_ANSWER struct net_answer a = { 0 };
	struct s3_ask ask;

	s3_ask_init(&ask, r, "PUT");
	ask.key = key;
	ask.body_fd = p->fd;
	ask.body_size = p->size;
	if (sign_hash_file(p->fd, 0, p->size, ask.payload, err) < 0)
		return -1;
	return s3_do(&ask, n, &a, err);
}

static int begin(struct parts *p, struct err *err)
{
	AUTO_NET_ANSWER struct net_answer a = { 0 };
	struct list_page page = { 0 };
	struct s3_ask ask;

	s3_ask_init(&ask, p->remote, "POST");
	ask.key = p->key;
	ask.params[ask.param_count++] = (struct sign_param){ "uploads", NULL };
	ask.body_data = "";
	ask.body_size = 0;
	if (s3_do(&ask, p->net, &a, err) < 0)
		return -1;
	int rc = list_page_read(buf_str(&a.body), a.body.len, &page, err);
	if (rc == 0 && !page.upload_id)
		rc = err_set(err, ERR_INVALID, "%s: the server begins no upload",
			     p->remote->show);
	p->upload = TAKE(page.upload_id);
	list_page_fini(&page);
	return rc;
}

static int put_part(struct parts *p, const struct remote_put *f, int number, int64_t size,
		    struct err *err)
{
	AUTO_NET_ANSWER struct net_answer a = { 0 };
	char digits[16];
	struct s3_ask ask;

	snprintf(digits, sizeof digits, "%d", number);
	s3_ask_init(&ask, p->remote, "PUT");
	ask.key = p->key;
	ask.params[ask.param_count++] = (struct sign_param){ "partNumber", digits };
	ask.params[ask.param_count++] = (struct sign_param){ "uploadId", p->upload };
	ask.body_fd = f->fd;
	ask.body_at = size * (number - 1);
	ask.body_size = f->size - ask.body_at < size ? f->size - ask.body_at : size;
	if (sign_hash_file(f->fd, ask.body_at, ask.body_size, ask.payload, err) < 0 ||
	    s3_do(&ask, p->net, &a, err) < 0)
		return -1;
	if (!a.etag || strpbrk(a.etag, "<>&"))
		return err_set(err, ERR_INVALID,
			       "%s: the server takes part %d without a tag",
			       p->remote->show, number);
	buf_printf(&p->list, "<Part><PartNumber>%d</PartNumber><ETag>%s</ETag></Part>",
		   number, a.etag);
	return 0;
}

static int finish(struct parts *p, struct err *err)
{
	AUTO_NET_ANSWER struct net_answer a = { 0 };
	struct list_page page = { 0 };
	AUTO_FREE char *body =
		str_printf("<CompleteMultipartUpload>%s</CompleteMultipartUpload>",
			   buf_str(&p->list));
	struct s3_ask ask;

	s3_ask_init(&ask, p->remote, "POST");
	ask.key = p->key;
	ask.params[ask.param_count++] = (struct sign_param){ "uploadId", p->upload };
	ask.body_data = body;
	ask.body_size = (int64_t)strlen(body);
	sign_hash(body, strlen(body), ask.payload);
	if (s3_do(&ask, p->net, &a, err) < 0)
		return -1;
	/* It may take so long that the 200 is sent before anybody knows. */
	int rc = a.body.len ? list_page_read(a.body.data, a.body.len, &page, err) : 0;
	if (rc == 0 && page.is_error) {
		a.status = 500;
		rc = net_refused(&a, p->remote->show, err);
	}
	list_page_fini(&page);
	return rc;
}

/* Parts of an upload that nobody will finish cost money. */
static void give_up(struct parts *p)
{
	AUTO_NET_ANSWER struct net_answer a = { 0 };
	struct err ignored;
	struct s3_ask ask;

	s3_ask_init(&ask, p->remote, "DELETE");
	ask.key = p->key;
	ask.params[ask.param_count++] = (struct sign_param){ "uploadId", p->upload };
	(void)s3_do(&ask, p->net, &a, &ignored);
}

int s3_put(const struct remote *r, struct net *n, const struct remote_put *f,
	   struct err *err)
{
	AUTO_FREE char *key = s3_key(r, f->name);
	struct parts p = { .remote = r, .net = n, .key = key };
	int64_t size = PART_BYTES;
	int rc;

	if (f->size <= PART_BYTES)
		return put_whole(r, n, key, f, err);
	while (f->size / size >= PARTS_MAX)
		size *= 2;
	rc = begin(&p, err);
	if (rc < 0)
		return -1;
	for (int i = 1; rc == 0 && (i - 1) * size < f->size; i++)
		rc = put_part(&p, f, i, size, err);
	if (rc == 0)
		rc = finish(&p, err);
	if (rc < 0)
		give_up(&p);
	free(p.upload);
	buf_fini(&p.list);
	return rc;
}
