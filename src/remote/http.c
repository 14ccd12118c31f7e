// SPDX-License-Identifier: Apache-2.0
/* http.c - one file at a web server. */
#include <stdio.h>
#include <sys/random.h>

#include "base/mem.h"
#include "base/str.h"
#include "remote/remote.h"

#define REDIRECTS 5

/* An address as it was written, with escapes for what a request line cannot hold. */
static char *url_of(const struct remote *r)
{
	struct buf b = { 0 };

	buf_printf(&b, "http%s://%s/", r->uri.secure ? "s" : "", r->uri.host);
	remote_escape(&b, r->uri.path, "%/?&=+!$'()*,;:@#[]");
	return buf_take(&b);
}

struct look {
	const struct remote *remote;
	bool head, stopped;
};

/* A server that knows no ranges sends all of it: the head was enough. */
static int stop_there(void *arg, const void *data, size_t len, struct err *err)
{
	struct look *l = arg;

	(void)data;
	(void)len;
	l->stopped = true;
	return err_set(err, ERR_CONFLICT, "enough");
}

static int ask_look(void *arg, struct net_request *q, struct err *err)
{
	struct look *l = arg;

	(void)err;
	q->method = l->head ? "HEAD" : "GET";
	q->url = url_of(l->remote);
	q->follow = REDIRECTS;
	if (!l->head) {
		net_header(q, "Range: bytes=0-0");
		q->sink = stop_there;
		q->sink_arg = l;
	}
	return 0;
}

/* Without anything that tells versions apart, what was fetched once says nothing about the
 * next time: a version that never comes again. */
static char *version_of(const struct net_answer *a)
{
	unsigned char once[12];
	struct buf b = { 0 };

	if (a->etag || a->modified_ms)
		return mem_strdup(a->etag ? a->etag : "");
	if (getrandom(once, sizeof once, 0) != (ssize_t)sizeof once)
		abort();
	buf_adds(&b, "once-");
	for (size_t i = 0; i < sizeof once; i++)
		buf_printf(&b, "%02x", once[i]);
	return buf_take(&b);
}

/* Some servers know no HEAD, or give no length with it: the first byte tells as well. */
static int look(const struct remote *r, struct net *n, struct net_answer *a,
		struct err *err)
{
	struct look l = { r, true, false };
	struct net_plan plan = { ask_look, &l };

	if (net_try(n, &plan, a, err) < 0)
		return -1;
	if (a->status == 200 && a->length >= 0)
		return 0;
	l.head = false;
	if (net_try(n, &plan, a, err) < 0 && !l.stopped)
		return -1;
	if (a->status == 416 && a->range_total == 0)
		a->length = 0;
	else if (a->status == 206)
		a->length = a->range_total;
	else if (a->status != 200)
		return net_refused(a, r->show, err);
	return 0;
}

static int http_stat(const struct remote *r, struct net *n, struct manifest *out,
		     struct err *err)
{
	AUTO_NET_ANSWER struct net_answer a = { 0 };
	AUTO_FREE char *base = remote_uri_base(&r->uri, err);

	if (!base || look(r, n, &a, err) < 0)
		return -1;
	AUTO_FREE char *version = version_of(&a);
	struct manifest_entry e = { .name = base,
				    .size = a.length,
				    .mtime_ms = a.modified_ms,
				    .version = version };
	return manifest_add(out, &e, err);
}

static int http_list(const struct remote *r, struct net *n, struct manifest *out,
		     struct err *err)
{
	(void)n;
	(void)out;
	return err_set(err, ERR_UNSUPPORTED, "%s: web servers have no folders", r->show);
}

static int http_get(const struct remote *r, struct net *n, const struct remote_get *g,
		    struct net_answer *a, struct err *err)
{
	struct net_request q;

	net_request_init(&q, "GET");
	q.url = url_of(r);
	q.follow = REDIRECTS;
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

const struct remote_ops remote_http_ops = {
	.stat = http_stat,
	.list = http_list,
	.get = http_get,
};
