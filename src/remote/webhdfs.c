// SPDX-License-Identifier: Apache-2.0
/* webhdfs.c - HDFS by its REST interface: WebHDFS of a name node, or HttpFS.
 *
 * Reads are redirected to the data node that has the block, writes too; a secret's token
 * or user travels in the query, which is how WebHDFS knows callers.
 */
#include <stdio.h>
#include <string.h>

#include "base/doc.h"
#include "base/mem.h"
#include "base/str.h"
#include "remote/remote.h"

#define REDIRECTS     5
#define FOLDERS_MAX   1000000
#define EMPTY_BATCHES 100

struct hdfs_ask {
	const struct remote *remote;
	const char *method, *op;
	const char *path; /* from '/' */
	const char *more; /* of the query, escaped; may be NULL */
};

static char *full_path(const struct remote *r, const char *name)
{
	return r->uri.folder ? str_printf("/%s%s", r->uri.path, name)
			     : str_printf("/%s", r->uri.path);
}

static char *url_of(const struct hdfs_ask *ask)
{
	const struct remote_account *a = &ask->remote->account;
	struct buf b = { 0 };

	buf_printf(&b, "%s/webhdfs/v1", a->endpoint);
	remote_escape(&b, ask->path, "/");
	buf_printf(&b, "?op=%s", ask->op);
	if (a->token) {
		buf_adds(&b, "&delegation=");
		remote_escape(&b, a->token, "");
	} else if (a->user) {
		buf_adds(&b, "&user.name=");
		remote_escape(&b, a->user, "");
	}
	if (ask->more)
		buf_printf(&b, "&%s", ask->more);
	return buf_take(&b);
}

static int ask_hdfs(void *arg, struct net_request *q, struct err *err)
{
	const struct hdfs_ask *ask = arg;

	(void)err;
	q->method = ask->method;
	q->url = url_of(ask);
	return 0;
}

/* A question whose answer is JSON. */
static struct doc *hdfs_do(struct hdfs_ask *ask, struct net *n, struct net_answer *a,
			   struct err *err)
{
	struct net_plan plan = { ask_hdfs, ask };

	if (net_try(n, &plan, a, err) < 0)
		return NULL;
	if (a->status != 200) {
		AUTO_FREE char *what = str_printf("hdfs:%s", ask->path);
		net_refused(a, what, err);
		return NULL;
	}
	struct doc *d = doc_parse_json(buf_str(&a->body), a->body.len, err);
	if (!d)
		err_wrap(err, "the answer of %s", ask->remote->account.endpoint);
	return d;
}

struct status {
	const char *name;
	bool folder, file;
	int64_t size, mtime_ms, id;
};

static int read_status(const struct doc_node *s, struct status *out, struct err *err)
{
	const struct doc_node *size = doc_get(s, "length"),
			      *name = doc_get(s, "pathSuffix");
	const char *type = doc_str(s, "type", "");

	*out = (struct status){ .name = doc_str(s, "pathSuffix", NULL),
				.folder = str_eq(type, "DIRECTORY"),
				.file = str_eq(type, "FILE"),
				.mtime_ms = doc_i64(s, "modificationTime", 0),
				.id = doc_i64(s, "fileId", 0) };
	if (!name || name->kind != DOC_STRING || name->text_len != strlen(name->text) ||
	    !size || doc_whole(size, 0, INT64_MAX / 4, &out->size) < 0)
		return err_set(err, ERR_INVALID, "the server's list makes no sense");
	return 0;
}

static int add(struct manifest *out, const char *name, const struct status *s,
	       struct err *err)
{
	char version[24] = "";
	AUTO_FREE char *copy = mem_strdup(name);
	struct manifest_entry e = { .name = copy, .version = version };

	if (!s->folder) {
		e.size = s->size;
		e.mtime_ms = s->mtime_ms;
		snprintf(version, sizeof version, "%lld", (long long)s->id);
	}
	return manifest_add(out, &e, err);
}

static int hdfs_stat(const struct remote *r, struct net *n, struct manifest *out,
		     struct err *err)
{
	AUTO_NET_ANSWER struct net_answer a = { 0 };
	AUTO_FREE char *base = remote_uri_base(&r->uri, err);
	AUTO_FREE char *path = full_path(r, "");
	struct hdfs_ask ask = { r, "GET", "GETFILESTATUS", path, NULL };
	struct status s;

	if (!base)
		return -1;
	AUTO_DOC struct doc *d = hdfs_do(&ask, n, &a, err);
	if (!d || read_status(doc_get(doc_root(d), "FileStatus"), &s, err) < 0)
		return -1;
	if (!s.file)
		return err_set(err, ERR_INVALID,
			       "%s is a folder: its address ends in '/'", r->show);
	return add(out, base, &s, err);
}

/* The walk: folders still to be listed, by their names below the address. */
struct walk {
	const struct remote *remote;
	struct net *net;
	struct manifest *out;
	char **folders;
	size_t count, cap, seen;
};

static void push(struct walk *w, char *folder)
{
	mem_grow(&w->folders, &w->cap, w->count, sizeof *w->folders);
	w->folders[w->count++] = folder;
	w->seen++;
}

static int take(struct walk *w, const char *folder, const struct status *s,
		struct err *err)
{
	AUTO_FREE char *name =
		str_printf("%s%s%s", folder, s->name, s->folder ? "/" : "");

	if (!*s->name || strchr(s->name, '/'))
		return err_set(err, ERR_INVALID,
			       "the server lists \"%.200s\" in a folder", s->name);
	if ((int64_t)w->out->count >= w->remote->files_max || w->seen > FOLDERS_MAX)
		return err_set(err, ERR_TOO_LARGE, "%s has more than %lld files",
			       w->remote->show, (long long)w->remote->files_max);
	if (!s->folder && !s->file)
		return 0; /* a link of another file system */
	if (add(w->out, name, s, err) < 0)
		return -1;
	if (s->folder)
		push(w, TAKE(name));
	return 0;
}

/* The list is in {"FileStatuses":{"FileStatus":[..]}}, of a batch one level deeper. */
static int take_all(struct walk *w, const char *folder, const struct doc_node *list,
		    char **last, struct err *err)
{
	if (!list || list->kind != DOC_LIST)
		return err_set(err, ERR_INVALID, "the server's list makes no sense");
	for (const struct doc_node *s = list->first; s; s = s->next) {
		struct status st;
		if (read_status(s, &st, err) < 0 || take(w, folder, &st, err) < 0)
			return -1;
		free(*last);
		*last = mem_strdup(st.name);
	}
	return 0;
}

/* Some gateways know no batches: all of a folder in one answer then. */
static int list_plainly(struct walk *w, const char *folder, const char *path,
			struct err *err)
{
	AUTO_NET_ANSWER struct net_answer a = { 0 };
	struct hdfs_ask ask = { w->remote, "GET", "LISTSTATUS", path, NULL };
	AUTO_DOC struct doc *d = hdfs_do(&ask, w->net, &a, err);
	AUTO_FREE char *last = NULL;

	return d ? take_all(w, folder,
			    doc_get(doc_get(doc_root(d), "FileStatuses"), "FileStatus"),
			    &last, err)
		 : -1;
}

static int list_folder(struct walk *w, const char *folder, struct err *err)
{
	AUTO_FREE char *path = full_path(w->remote, folder);
	AUTO_FREE char *last = NULL;
	int64_t left = 1;

	for (int empty = 0; left > 0;) {
		AUTO_NET_ANSWER struct net_answer a = { 0 };
		AUTO_BUF struct buf more = { 0 };
		size_t before = w->out->count;
		buf_adds(&more, last ? "startAfter=" : "");
		remote_escape(&more, last ? last : "", "");
		struct hdfs_ask ask = { w->remote, "GET", "LISTSTATUS_BATCH", path,
					last ? more.data : NULL };
		AUTO_DOC struct doc *d = hdfs_do(&ask, w->net, &a, err);
		if (!d && a.status == 400 && !last)
			return list_plainly(w, folder, path, err);
		const struct doc_node *l =
			doc_get(d ? doc_root(d) : NULL, "DirectoryListing");
		if (!d || take_all(w, folder,
				   doc_get(doc_get(doc_get(l, "partialListing"),
						   "FileStatuses"),
					   "FileStatus"),
				   &last, err) < 0)
			return -1;
		left = doc_i64(l, "remainingEntries", 0);
		empty = w->out->count > before ? 0 : empty + 1;
		if (empty > EMPTY_BATCHES || (left > 0 && !last))
			return err_set(err, ERR_INVALID,
				       "%s: the server's list never ends",
				       w->remote->show);
	}
	return 0;
}

static int hdfs_list(const struct remote *r, struct net *n, struct manifest *out,
		     struct err *err)
{
	struct walk w = { .remote = r, .net = n, .out = out };
	int rc = 0;

	push(&w, mem_strdup(""));
	while (rc == 0 && w.count > 0) {
		AUTO_FREE char *folder = w.folders[--w.count];
		rc = list_folder(&w, folder, err);
	}
	while (w.count > 0)
		free(w.folders[--w.count]);
	free(w.folders);
	return rc;
}

static int hdfs_get(const struct remote *r, struct net *n, const struct remote_get *g,
		    struct net_answer *a, struct err *err)
{
	AUTO_FREE char *path = full_path(r, g->name);
	AUTO_FREE char *range =
		g->length ? str_printf("offset=%lld&length=%lld", (long long)g->from,
				       (long long)g->length)
			  : str_printf("offset=%lld", (long long)g->from);
	struct hdfs_ask ask = { r, "GET", "OPEN", path, range };
	struct net_request q;

	net_request_init(&q, "GET");
	q.url = url_of(&ask);
	q.follow = REDIRECTS;
	q.sink = g->sink;
	q.sink_arg = g->arg;
	int rc = net_perform(n, &q, a, err);
	net_request_fini(&q);
	if (rc == 0 && a->status == 200 && (g->from || g->length)) {
		a->status = 206; /* offset= is its way of ranges */
		a->range_at = g->from;
	}
	return rc;
}

struct hdfs_put {
	struct hdfs_ask ask;
	const struct remote_put *put;
	char *location;
};

static int ask_create(void *arg, struct net_request *q, struct err *err)
{
	struct hdfs_put *p = arg;

	(void)err;
	q->method = "PUT";
	q->url = url_of(&p->ask);
	/* What is not sent must be said, or some gateways wait for it. */
	q->body_data = "";
	q->body_size = 0;
	return 0;
}

static int ask_bytes(void *arg, struct net_request *q, struct err *err)
{
	struct hdfs_put *p = arg;

	(void)err;
	q->method = "PUT";
	q->url = mem_strdup(p->location);
	q->body_fd = p->put->fd;
	q->body_size = p->put->size;
	net_header(q, "Content-Type: application/octet-stream");
	return 0;
}

/* First the name node says where to write, then the bytes go there.  Two steps by hand: a
 * client that sends the bytes at once would send them twice. */
static int hdfs_put(const struct remote *r, struct net *n, const struct remote_put *f,
		    struct err *err)
{
	AUTO_NET_ANSWER struct net_answer a = { 0 };
	AUTO_FREE char *path = full_path(r, f->name);
	struct hdfs_put p = { { r, "PUT", "CREATE", path, "overwrite=true" }, f, NULL };
	struct net_plan create = { ask_create, &p }, bytes = { ask_bytes, &p };

	if (net_try(n, &create, &a, err) < 0)
		return -1;
	AUTO_FREE char *what = str_printf("hdfs:%s", path);
	if (a.status != 307 || !a.location)
		return net_refused(&a, what, err);
	AUTO_FREE char *location = mem_strdup(a.location);
	p.location = location;
	if (!str_starts(location, "https://") &&
	    (!str_starts(location, "http://") ||
	     str_starts(r->account.endpoint, "https://")))
		return err_set(err, ERR_INVALID, "%s: sent on to \"%.200s\"", what,
			       location);
	if (net_try(n, &bytes, &a, err) < 0)
		return -1;
	return a.status == 201 || a.status == 200 ? 0 : net_refused(&a, what, err);
}

const struct remote_ops remote_webhdfs_ops = {
	.stat = hdfs_stat,
	.list = hdfs_list,
	.get = hdfs_get,
	.put = hdfs_put,
};
