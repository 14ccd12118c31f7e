// SPDX-License-Identifier: Apache-2.0
/* remote.h - data that lies elsewhere, behind one interface, by the scheme of its address.
 *
 * For yard-fetch only: it blocks, and what it hears is a stranger's.  A struct remote is
 * read by many threads; each brings its own struct net.  Names are relative to the folder
 * that the address names; of a file's address the one name is remote_uri_base().
 */
#pragma once

#include <stdint.h>

#include "base/err.h"
#include "remote/account.h"
#include "remote/manifest.h"
#include "remote/net.h"
#include "remote/request.h"
#include "remote/uri.h"

struct remote;

struct remote_get {
	const char *name;
	int64_t from, length; /* length 0: to the end */
	int (*sink)(void *arg, const void *data, size_t len, struct err *err);
	void *arg;
};

struct remote_put {
	const char *name;
	int fd;
	int64_t size;
};

struct remote_ops {
	/* Of a file's address: the one entry. */
	int (*stat)(const struct remote *r, struct net *n, struct manifest *out,
		    struct err *err);
	/* Of a folder's: everything below, at most files_max. */
	int (*list)(const struct remote *r, struct net *n, struct manifest *out,
		    struct err *err);
	/* One try; the answer's head is there when the sink is called first. */
	int (*get)(const struct remote *r, struct net *n, const struct remote_get *g,
		   struct net_answer *a, struct err *err);
	/* Tries until it is there whole, or says why not.  NULL: this one takes nothing. */
	int (*put)(const struct remote *r, struct net *n, const struct remote_put *p,
		   struct err *err);
};

struct remote {
	const struct remote_ops *ops;
	struct remote_uri uri;
	struct remote_account account;
	char *show; /* the address for people */
	int64_t files_max, bytes_max;
};

extern const struct remote_ops remote_http_ops, remote_s3_ops, remote_webhdfs_ops;

/* What the program does: descriptors and lines as request.h says. */
int remote_serve(int64_t uid, struct err *err);

struct remote_job {
	const struct remote *remote;
	struct manifest *manifest;
	int folder, says; /* says: where lines go, -1: nowhere */
};
/* get.c, put.c: many at a time; the lines "at ..." go out on the way. */
int remote_get_all(struct remote_job *j, struct err *err);
int remote_prove_all(struct remote_job *j, struct err *err);
int remote_put_all(struct remote_job *j, int64_t *files, struct err *err);

/* Works through `count` pieces in threads; stops at the first failure. */
struct remote_work {
	int (*piece)(void *arg, struct net *n, size_t at, struct err *err);
	void *arg;
	size_t count;
	int64_t total;          /* bytes, for the lines */
	_Atomic int64_t *bytes; /* so far; the pieces add to it */
	int says;
};
int remote_work(const struct remote_work *w, struct err *err);

/* sandbox.c.  From here on: the folder, what resolves names and checks certificates, and
 * the network; no other file, no process, no socket of this machine's.  Irreversible. */
int remote_sandbox(int folder, int64_t uid, int64_t bytes_max, struct err *err);

/* list.c.  A page of a bucket's list, and the two answers of an upload in parts. */
struct list_page {
	int (*each)(void *arg, const char *key, int64_t size, int64_t mtime_ms,
		    const char *etag, struct err *err);
	void *arg;
	bool truncated;
	char *next;      /* token or marker; NULL: not said */
	char *last;      /* the last key */
	char *upload_id; /* of InitiateMultipartUploadResult */
	bool is_error;   /* a 200 that says otherwise: <Error> */
};
int list_page_read(const char *xml, size_t len, struct list_page *page, struct err *err);
void list_page_fini(struct list_page *p);
/* "2026-11-16T07:20:07.000Z" to milliseconds since 1970; 0: it is none. */
int64_t list_time(const char *text);
