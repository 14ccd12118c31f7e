// SPDX-License-Identifier: Apache-2.0
#include "remote/net.h"

#include <ctype.h>
#include <curl/curl.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"

#define CONNECT_S  20
#define SLOW_BYTES 1024 /* a second, and not over so many seconds: */
#define SLOW_S     30
#define TRIES      6
#define PAUSE_MS   200
#define PAUSE_MOST 20000
#define SAYS_MAX   300 /* of a server's own words that are shown */

static int64_t pause_ms = PAUSE_MS;
static int tries_most = TRIES, slow_most = SLOW_S;

struct net {
	CURL *easy;
	char why[CURL_ERROR_SIZE];
};

/* One exchange under way. */
struct exchange {
	struct net *net;
	const struct net_request *request;
	struct net_answer *answer;
	int64_t sent;
	struct err failed; /* by the sink or the body */
};

void net_patience(int64_t pause, int tries, int slow_s)
{
	pause_ms = pause ? pause : PAUSE_MS;
	tries_most = tries ? tries : TRIES;
	slow_most = slow_s ? slow_s : SLOW_S;
}

void net_setup(void)
{
	if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
		abort();
}

struct net *net_create(void)
{
	struct net *n = mem_alloc(1, sizeof *n);

	n->easy = curl_easy_init();
	if (!n->easy)
		abort(); /* out of memory */
	return n;
}

void net_destroy(struct net *n)
{
	if (!n)
		return;
	curl_easy_cleanup(n->easy);
	free(n);
}

void net_request_init(struct net_request *r, const char *method)
{
	*r = (struct net_request){ .method = method, .body_fd = -1, .body_size = -1 };
}

void net_request_fini(struct net_request *r)
{
	free(r->url);
	for (size_t i = 0; i < r->header_count; i++) {
		explicit_bzero(r->headers[i], strlen(r->headers[i]));
		free(r->headers[i]);
	}
	net_request_init(r, NULL);
}

void net_header(struct net_request *r, const char *fmt, ...)
{
	struct buf b = { 0 };
	va_list ap;

	if (r->header_count == NET_HEADERS_MAX)
		abort(); /* ours to count */
	va_start(ap, fmt);
	buf_vprintf(&b, fmt, ap);
	va_end(ap);
	r->headers[r->header_count++] = buf_take(&b);
}

void net_answer_fini(struct net_answer *a)
{
	free(a->etag);
	free(a->location);
	free(a->crc64);
	free(a->crc32c);
	free(a->sha256);
	buf_fini(&a->body);
	*a = (struct net_answer){ 0 };
}

static void answer_reset(struct net_answer *a)
{
	net_answer_fini(a);
	a->length = a->range_at = a->range_total = -1;
}

static void note(char **field, const char *value)
{
	free(*field);
	*field = mem_strdup(value);
}

/* "bytes 5-9/10", "bytes 5-9/ *" */
static void note_range(struct net_answer *a, const char *value)
{
	const char *slash = strchr(value, '/');

	if (!str_starts(value, "bytes "))
		return;
	if (str_leading_i64(value + 6, &a->range_at) == 0)
		a->range_at = -1;
	if (slash && str_leading_i64(slash + 1, &a->range_total) == 0)
		a->range_total = -1;
}

static void note_header(struct net_answer *a, const char *name, const char *value)
{
	if (strcasecmp(name, "etag") == 0)
		note(&a->etag, value);
	else if (strcasecmp(name, "location") == 0)
		note(&a->location, value);
	else if (strcasecmp(name, "content-length") == 0 &&
		 str_to_i64(value, 0, INT64_MAX / 4, &a->length) < 0)
		a->length = -1;
	else if (strcasecmp(name, "content-range") == 0)
		note_range(a, value);
	else if (strcasecmp(name, "last-modified") == 0)
		a->modified_ms = (int64_t)curl_getdate(value, NULL) * 1000;
	else if (strcasecmp(name, "x-oss-hash-crc64ecma") == 0)
		note(&a->crc64, value);
	else if (strcasecmp(name, "x-amz-checksum-crc32c") == 0)
		note(&a->crc32c, value);
	else if (strcasecmp(name, "x-amz-checksum-sha256") == 0)
		note(&a->sha256, value);
	if (a->modified_ms < 0)
		a->modified_ms = 0;
}

static size_t on_header(char *data, size_t one, size_t len, void *arg)
{
	struct exchange *x = arg;
	AUTO_FREE char *line = mem_strndup(data, len * one);
	char *colon = strchr(line, ':');

	if (str_starts(line, "HTTP/")) /* the next one's, after a redirect or a 100 */
		answer_reset(x->answer);
	if (!colon || strlen(line) > 8192)
		return len;
	*colon++ = '\0';
	colon += strspn(colon, " \t");
	colon[strcspn(colon, "\r\n")] = '\0';
	note_header(x->answer, line, colon);
	return len;
}

static size_t on_data(char *data, size_t one, size_t len, void *arg)
{
	struct exchange *x = arg;
	const struct net_request *r = x->request;
	long status = 0;

	len *= one;
	curl_easy_getinfo(x->net->easy, CURLINFO_RESPONSE_CODE, &status);
	x->answer->status = status;
	if (r->sink && status / 100 == 2)
		return r->sink(r->sink_arg, data, len, &x->failed) < 0 ? 0 : len;
	if (x->answer->body.len + len <= NET_BODY_MAX) {
		buf_add(&x->answer->body, data, len);
		return len;
	}
	if (status / 100 != 2)
		return len; /* nobody reads that far */
	err_set(&x->failed, ERR_TOO_LARGE, "an answer of more than %u bytes",
		NET_BODY_MAX);
	return 0;
}

static size_t on_send(char *out, size_t one, size_t room, void *arg)
{
	struct exchange *x = arg;
	const struct net_request *r = x->request;
	int64_t left = r->body_size - x->sent;
	size_t want = (int64_t)(room * one) < left ? room * one : (size_t)left;
	ssize_t n;

	if (r->body_fd < 0) {
		memcpy(out, r->body_data + x->sent, want);
		n = (ssize_t)want;
	} else {
		n = pread(r->body_fd, out, want, r->body_at + x->sent);
		if (n < 0)
			err_sys(&x->failed, "read what is sent");
		else if (n == 0 && want)
			err_set(&x->failed, ERR_IO,
				"a file got shorter while it was sent");
	}
	if (n < 0 || (n == 0 && want))
		return CURL_READFUNC_ABORT;
	x->sent += n;
	return (size_t)n;
}

static int on_seek(void *arg, curl_off_t offset, int origin)
{
	struct exchange *x = arg;

	if (origin != SEEK_SET)
		return CURL_SEEKFUNC_CANTSEEK;
	x->sent = offset;
	return CURL_SEEKFUNC_OK;
}

static void set_limits(CURL *c, const struct net_request *r)
{
	const char *all = str_starts(r->url, "https://") ? "https" : "http,https";

	curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(c, CURLOPT_REDIR_PROTOCOLS_STR, all);
	curl_easy_setopt(c, CURLOPT_FOLLOWLOCATION, r->follow > 0 ? 1L : 0L);
	curl_easy_setopt(c, CURLOPT_MAXREDIRS, (long)r->follow);
	curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_S);
	curl_easy_setopt(c, CURLOPT_LOW_SPEED_LIMIT, (long)SLOW_BYTES);
	curl_easy_setopt(c, CURLOPT_LOW_SPEED_TIME, (long)slow_most);
	curl_easy_setopt(c, CURLOPT_BUFFERSIZE, 256L << 10);
	curl_easy_setopt(c, CURLOPT_UPLOAD_BUFFERSIZE, 256L << 10);
	/* As stored: a file is what its bytes are, not what they unpack to. */
	curl_easy_setopt(c, CURLOPT_ACCEPT_ENCODING, NULL);
	curl_easy_setopt(c, CURLOPT_PATH_AS_IS, 1L);
	curl_easy_setopt(c, CURLOPT_USERAGENT, "trainyard/" YARD_VERSION);
}

static void set_method(CURL *c, const struct net_request *r)
{
	if (r->body_size >= 0) {
		curl_easy_setopt(c, CURLOPT_UPLOAD, 1L);
		curl_easy_setopt(c, CURLOPT_INFILESIZE_LARGE, (curl_off_t)r->body_size);
	} else if (str_eq(r->method, "HEAD")) {
		curl_easy_setopt(c, CURLOPT_NOBODY, 1L);
	}
	curl_easy_setopt(c, CURLOPT_CUSTOMREQUEST,
			 str_eq(r->method, "HEAD") ? NULL : r->method);
}

static struct curl_slist *set_headers(CURL *c, const struct net_request *r)
{
	struct curl_slist *list = curl_slist_append(NULL, "Expect:");

	for (size_t i = 0; i < r->header_count; i++)
		list = curl_slist_append(list, r->headers[i]);
	curl_easy_setopt(c, CURLOPT_HTTPHEADER, list);
	return list;
}

static int failed(const struct exchange *x, CURLcode rc, struct err *err)
{
	const char *why = *x->net->why ? x->net->why : curl_easy_strerror(rc);
	AUTO_FREE char *url = mem_strndup(x->request->url, strcspn(x->request->url, "?"));

	if (x->failed.code != ERR_NONE) {
		*err = x->failed;
		return -1;
	}
	switch (rc) {
	case CURLE_OPERATION_TIMEDOUT:
		return err_set(err, ERR_TIMEOUT, "%s: %s", url, why);
	case CURLE_UNSUPPORTED_PROTOCOL:
	case CURLE_TOO_MANY_REDIRECTS:
	case CURLE_URL_MALFORMAT:
		return err_set(err, ERR_INVALID, "%s: %s", url, why);
	case CURLE_PEER_FAILED_VERIFICATION:
	case CURLE_SSL_CACERT_BADFILE:
		return err_set(err, ERR_DENIED, "%s: %s", url, why);
	default:
		/* Names that do not resolve, connections refused or broken: may pass. */
		return err_set(err, ERR_BUSY, "%s: %s", url, why);
	}
}

int net_perform(struct net *n, const struct net_request *r, struct net_answer *out,
		struct err *err)
{
	struct exchange x = { .net = n, .request = r, .answer = out };
	CURL *c = n->easy;

	answer_reset(out);
	curl_easy_reset(c); /* its connections stay */
	n->why[0] = '\0';
	curl_easy_setopt(c, CURLOPT_ERRORBUFFER, n->why);
	curl_easy_setopt(c, CURLOPT_URL, r->url);
	curl_easy_setopt(c, CURLOPT_HEADERFUNCTION, on_header);
	curl_easy_setopt(c, CURLOPT_HEADERDATA, &x);
	curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, on_data);
	curl_easy_setopt(c, CURLOPT_WRITEDATA, &x);
	curl_easy_setopt(c, CURLOPT_READFUNCTION, on_send);
	curl_easy_setopt(c, CURLOPT_READDATA, &x);
	curl_easy_setopt(c, CURLOPT_SEEKFUNCTION, on_seek);
	curl_easy_setopt(c, CURLOPT_SEEKDATA, &x);
	set_limits(c, r);
	set_method(c, r);
	struct curl_slist *list = set_headers(c, r);
	CURLcode rc = curl_easy_perform(c);
	curl_slist_free_all(list);
	curl_easy_getinfo(c, CURLINFO_RESPONSE_CODE, &out->status);
	return rc == CURLE_OK ? 0 : failed(&x, rc, err);
}

bool net_again(int *tries, const struct err *why)
{
	int64_t ms = pause_ms << (*tries < 16 ? *tries : 16);
	struct timespec now;

	if ((why->code != ERR_BUSY && why->code != ERR_TIMEOUT) || ++*tries >= tries_most)
		return false;
	if (ms > PAUSE_MOST)
		ms = PAUSE_MOST;
	/* Many that failed together come back apart. */
	clock_gettime(CLOCK_MONOTONIC, &now);
	ms += ms * (now.tv_nsec / 1000 % 500) / 1000;
	nanosleep(&(struct timespec){ ms / 1000, ms % 1000 * 1000000 }, NULL);
	return true;
}

int net_try(struct net *n, const struct net_plan *p, struct net_answer *out,
	    struct err *err)
{
	int tries = 0;

	for (;;) {
		struct net_request r;
		net_request_init(&r, "GET");
		int rc = p->ask(p->arg, &r, err);
		if (rc == 0 && (rc = net_perform(n, &r, out, err)) == 0 &&
		    (out->status == 429 || (out->status >= 500 && out->status != 501))) {
			AUTO_FREE char *url = mem_strndup(r.url, strcspn(r.url, "?"));
			rc = net_refused(out, url, err);
		}
		net_request_fini(&r);
		if (rc == 0)
			return 0;
		if (!net_again(&tries, err))
			return -1;
	}
}

/* <Code>..</Code> of S3, "message":".." of WebHDFS: by what stands around it, since this is
 * for a person and not worth a parser. */
static void say_between(const char *body, const char *open, const char *close,
			struct buf *out)
{
	const char *from = strstr(body, open);
	const char *to = from ? strstr(from + strlen(open), close) : NULL;

	if (!to)
		return;
	from += strlen(open);
	buf_adds(out, out->len ? ", " : ": ");
	for (; from < to && out->len < SAYS_MAX; from++)
		buf_addc(out, *from < 0x20 || *from == 0x7f ? ' ' : *from);
}

int net_refused(const struct net_answer *a, const char *what, struct err *err)
{
	AUTO_BUF struct buf says = { 0 };
	const char *body = buf_str(&a->body);
	enum err_code code = a->status == 404                           ? ERR_NOT_FOUND
			     : a->status == 401 || a->status == 403     ? ERR_DENIED
			     : a->status == 501                         ? ERR_UNSUPPORTED
			     : a->status == 429 || a->status / 100 == 5 ? ERR_BUSY
									: ERR_INVALID;

	say_between(body, "<Code>", "</Code>", &says);
	say_between(body, "<Message>", "</Message>", &says);
	say_between(body, "\"message\":\"", "\"", &says);
	return err_set(err, code, "%s: the server answers %ld%s", what, a->status,
		       buf_str(&says));
}
