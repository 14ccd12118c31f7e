// SPDX-License-Identifier: Apache-2.0
/* s3.c - buckets: S3, what speaks like it, and OSS. */
#include "remote/s3.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "base/str.h"

#define EMPTY_PAGES_MAX 100 /* in a row that say "there is more" and bring nothing */

void s3_ask_init(struct s3_ask *a, const struct remote *r, const char *method)
{
	*a = (struct s3_ask){
		.remote = r, .method = method, .body_fd = -1, .body_size = -1
	};
	memcpy(a->payload, SIGN_EMPTY, sizeof SIGN_EMPTY);
}

char *s3_key(const struct remote *r, const char *name)
{
	return r->uri.folder ? str_printf("%s%s", r->uri.path, name)
			     : mem_strdup(r->uri.path);
}

/* As it goes into the Host line: clients leave out the port a scheme has anyway. */
static char *host_of(const struct remote *r)
{
	const char *at = strstr(r->account.endpoint, "://") + 3;
	const char *usual = str_starts(r->account.endpoint, "https:") ? ":443" : ":80";
	size_t len = strlen(at) - (str_ends(at, usual) ? strlen(usual) : 0);

	return r->account.virtual_host ? str_printf("%s.%.*s", r->uri.host, (int)len, at)
				       : mem_strndup(at, len);
}

int s3_request(void *arg, struct net_request *q, struct err *err)
{
	const struct s3_ask *ask = arg;
	const struct remote *r = ask->remote;
	AUTO_FREE char *host = host_of(r);
	AUTO_BUF struct buf path = { 0 }, query = { 0 };
	const char *scheme = str_starts(r->account.endpoint, "https:") ? "https" : "http";

	(void)err;
	buf_addc(&path, '/');
	if (!r->account.virtual_host) {
		remote_escape(&path, r->uri.host, "");
		if (ask->key)
			buf_addc(&path, '/');
	}
	if (ask->key)
		remote_escape(&path, ask->key, "/");
	struct sign_request s = { .method = ask->method,
				  .host = host,
				  .path = path.data,
				  .bucket = r->uri.host,
				  .key = ask->key ? ask->key : "",
				  .params = ask->params,
				  .param_count = ask->param_count,
				  .payload = ask->payload,
				  .checksums = ask->checksums,
				  .now_s = (int64_t)time(NULL) };
	sign_query(&s, &query);
	q->method = ask->method;
	q->url = str_printf("%s://%s%s%s%s", scheme, host, path.data,
			    query.len ? "?" : "", buf_str(&query));
	q->body_fd = ask->body_fd;
	q->body_data = ask->body_data;
	q->body_at = ask->body_at;
	q->body_size = ask->body_size;
	sign_request(&r->account, &s, q);
	return 0;
}

int s3_do(const struct s3_ask *ask, struct net *n, struct net_answer *a, struct err *err)
{
	struct s3_ask copy = *ask;
	struct net_plan plan = { s3_request, &copy };

	if (net_try(n, &plan, a, err) < 0)
		return -1;
	if (a->status / 100 == 2)
		return 0;
	AUTO_FREE char *what =
		str_printf("%s://%s/%s", remote_scheme_word(ask->remote->uri.scheme),
			   ask->remote->uri.host, ask->key ? ask->key : "");
	net_refused(a, what, err);
	if (err->code == ERR_DENIED && !ask->remote->account.access_key)
		return err_set(
			err, ERR_DENIED,
			"%s: the server answers %ld, and no keys are known: set the secret "
			"'%s.%s' or '%s' (docs/storage-remote.md)",
			what, a->status, remote_scheme_word(ask->remote->uri.scheme),
			ask->remote->uri.host,
			remote_scheme_word(ask->remote->uri.scheme));
	return -1;
}

/* "abc", with its quotes, becomes abc. */
static char *plain_etag(const char *etag)
{
	size_t n = etag ? strlen(etag) : 0;

	return n >= 2 && etag[0] == '"' && etag[n - 1] == '"'
		       ? mem_strndup(etag + 1, n - 2)
		       : mem_strdup(etag ? etag : "");
}

static int s3_stat(const struct remote *r, struct net *n, struct manifest *out,
		   struct err *err)
{
	AUTO_NET_ANSWER struct net_answer a = { 0 };
	AUTO_FREE char *base = remote_uri_base(&r->uri, err);
	struct s3_ask ask;

	if (!base)
		return -1;
	s3_ask_init(&ask, r, "HEAD");
	ask.key = r->uri.path;
	if (s3_do(&ask, n, &a, err) < 0)
		return err->code == ERR_NOT_FOUND
			       ? err_set(err, ERR_NOT_FOUND,
					 "%s is not there; a folder's address ends in '/'",
					 r->show)
			       : -1;
	if (a.length < 0)
		return err_set(err, ERR_INVALID, "%s: the server tells no size", r->show);
	AUTO_FREE char *version = plain_etag(a.etag);
	struct manifest_entry e = { .name = base,
				    .size = a.length,
				    .mtime_ms = a.modified_ms,
				    .version = version };
	return manifest_add(out, &e, err);
}

struct listing {
	const struct remote *remote;
	struct manifest *out;
};

static int each_key(void *arg, const char *key, int64_t size, int64_t mtime_ms,
		    const char *etag, struct err *err)
{
	struct listing *l = arg;
	const char *prefix = l->remote->uri.path;

	if (!str_starts(key, prefix))
		return err_set(
			err, ERR_INVALID,
			"the server lists \"%.200s\", which is not below \"%.200s\"", key,
			prefix);
	key += strlen(prefix);
	if (!*key) /* the folder itself, as some tools make it */
		return 0;
	if ((int64_t)l->out->count >= l->remote->files_max)
		return err_set(err, ERR_TOO_LARGE, "%s has more than %lld files",
			       l->remote->show, (long long)l->remote->files_max);
	AUTO_FREE char *version = plain_etag(etag);
	AUTO_FREE char *name = mem_strdup(key);
	char none[] = "";
	bool folder = str_ends(key, "/");
	struct manifest_entry e = { .name = name,
				    .size = folder ? 0 : size,
				    .mtime_ms = folder ? 0 : mtime_ms,
				    .version = folder ? none : version };
	return manifest_add(l->out, &e, err);
}

/* By token where the server is S3's like, by marker where it is OSS's own. */
static void ask_page(struct s3_ask *ask, const struct remote *r, char *from)
{
	size_t n = 0;

	if (!r->account.oss_signature && from)
		ask->params[n++] = (struct sign_param){ "continuation-token", from };
	ask->params[n++] = (struct sign_param){ "encoding-type", "url" };
	if (!r->account.oss_signature)
		ask->params[n++] = (struct sign_param){ "list-type", "2" };
	if (r->account.oss_signature && from)
		ask->params[n++] = (struct sign_param){ "marker", from };
	ask->params[n++] = (struct sign_param){ "max-keys", "1000" };
	ask->params[n++] = (struct sign_param){ "prefix", r->uri.path };
	ask->param_count = n;
}

/* Where the next page begins; NULL with err: the server leads in a circle. */
static char *next_page(const struct remote *r, const struct list_page *page,
		       const char *from, struct err *err)
{
	const char *next = page->next ? page->next : page->last;

	if (!next || str_eq(next, from)) {
		err_set(err, ERR_INVALID, "%s: the server's list never ends", r->show);
		return NULL;
	}
	return r->account.oss_signature && page->next ? remote_unescape(next, true)
						      : mem_strdup(next);
}

static int s3_list(const struct remote *r, struct net *n, struct manifest *out,
		   struct err *err)
{
	struct listing l = { r, out };
	AUTO_FREE char *from = NULL;
	int empty = 0, rc = 0;

	for (bool more = true; more && rc == 0;) {
		AUTO_NET_ANSWER struct net_answer a = { 0 };
		struct list_page page = { .each = each_key, .arg = &l };
		size_t before = out->count;
		struct s3_ask ask;
		s3_ask_init(&ask, r, "GET");
		ask_page(&ask, r, from);
		if (s3_do(&ask, n, &a, err) < 0)
			return -1;
		rc = list_page_read(buf_str(&a.body), a.body.len, &page, err);
		empty = out->count > before ? 0 : empty + 1;
		more = rc == 0 && page.truncated;
		if (more && empty > EMPTY_PAGES_MAX)
			rc = err_set(err, ERR_INVALID, "%s: the server's list never ends",
				     r->show);
		char *next = more && rc == 0 ? next_page(r, &page, from, err) : NULL;
		if (more && !next)
			rc = -1;
		free(from);
		from = next;
		list_page_fini(&page);
	}
	if (rc == 0 && out->count == 0 && *r->uri.path)
		return err_set(err, ERR_NOT_FOUND, "%s: there is nothing", r->show);
	return rc;
}

/* A server that does not know the question for sums is asked once. */
static _Atomic bool no_sums;

static int get_once(const struct remote *r, struct net *n, const struct remote_get *g,
		    struct net_answer *a, struct err *err)
{
	AUTO_FREE char *key = s3_key(r, g->name);
	struct s3_ask ask;
	struct net_request q;

	s3_ask_init(&ask, r, "GET");
	ask.key = key;
	ask.checksums = !no_sums && !r->account.oss_signature && !g->from && !g->length;
	net_request_init(&q, "GET");
	s3_request(&ask, &q, err);
	q.sink = g->sink;
	q.sink_arg = g->arg;
	if (g->length)
		net_header(&q, "Range: bytes=%lld-%lld", (long long)g->from,
			   (long long)(g->from + g->length - 1));
	else if (g->from)
		net_header(&q, "Range: bytes=%lld-", (long long)g->from);
	int rc = net_perform(n, &q, a, err);
	net_request_fini(&q);
	return rc;
}

static int s3_get(const struct remote *r, struct net *n, const struct remote_get *g,
		  struct net_answer *a, struct err *err)
{
	bool asked = !no_sums;
	int rc = get_once(r, n, g, a, err);

	if (rc < 0 || a->status != 501 || !asked)
		return rc;
	no_sums = true;
	return get_once(r, n, g, a, err);
}

const struct remote_ops remote_s3_ops = {
	.stat = s3_stat,
	.list = s3_list,
	.get = s3_get,
	.put = s3_put,
};
