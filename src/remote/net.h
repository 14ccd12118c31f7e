// SPDX-License-Identifier: Apache-2.0
/* net.h - one HTTP exchange after another; libcurl is seen in net.c only.
 *
 * A struct net is one thread's; it keeps its connections.  Nothing but http and https is
 * ever spoken, also not after a redirect, and a server that is slower than NET_SLOW is
 * given up.  Whether to try again is net_try()'s: each try is asked for anew, because a
 * signature has its time in it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

#define NET_HEADERS_MAX 16
#define NET_BODY_MAX    (16u << 20) /* of an answer that is kept in memory */

void net_setup(void); /* once, before there are threads */
struct net;
struct net *net_create(void);
void net_destroy(struct net *n); /* NULL is fine */

struct net_request {
	const char *method; /* GET, HEAD, PUT, POST, DELETE */
	char *url;
	char *headers[NET_HEADERS_MAX]; /* "Name: value" */
	size_t header_count;
	int follow; /* so many redirects; never from https to http */
	/* What is sent: bytes of a file, or of memory; size -1: nothing. */
	int body_fd; /* -1: body_data */
	const char *body_data;
	int64_t body_at, body_size;
	/* What comes, when the status is 2xx; else, and when NULL, it is kept in the answer.
	 * -1 ends the exchange with that error. */
	int (*sink)(void *arg, const void *data, size_t len, struct err *err);
	void *sink_arg;
};

void net_request_init(struct net_request *r, const char *method);
void net_request_fini(struct net_request *r);
void net_header(struct net_request *r, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

struct net_answer {
	long status;
	int64_t length;                /* Content-Length; -1: not said */
	int64_t range_at;              /* Content-Range: first byte; -1: not said */
	int64_t range_total;           /* and of how many; -1: not said */
	int64_t modified_ms;           /* Last-Modified; 0: not said */
	char *etag, *location;         /* NULL: not said */
	char *crc64, *crc32c, *sha256; /* of x-oss-hash-crc64ecma, x-amz-checksum-... */
	struct buf body;
};
void net_answer_fini(struct net_answer *a);
#define AUTO_NET_ANSWER __attribute__((cleanup(net_answer_fini)))

/* 0: there is an answer, whatever its status.  ERR_TIMEOUT and ERR_BUSY: worth another try. */
int net_perform(struct net *n, const struct net_request *r, struct net_answer *out,
		struct err *err);

struct net_plan {
	/* Fills an initialised request; called before each try. */
	int (*ask)(void *arg, struct net_request *r, struct err *err);
	void *arg;
};
/* Until it is answered by something else than 429 or 5xx, or tried often enough. */
int net_try(struct net *n, const struct net_plan *p, struct net_answer *out,
	    struct err *err);
/* Whether a failed try may be followed by another; sleeps the longer the more there were. */
bool net_again(int *tries, const struct err *why);
/* Of a test: the first pause, how many tries there are, and after how many seconds a slow
 * server is given up.  0: as it is. */
void net_patience(int64_t pause_ms, int tries, int slow_s);

/* An unhappy status in words; the body is the server's: cut, and made plain. */
int net_refused(const struct net_answer *a, const char *what, struct err *err);
