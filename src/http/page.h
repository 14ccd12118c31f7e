// SPDX-License-Identifier: Apache-2.0
/* page.h - the few pages that the yard itself shows to a browser: in English or Chinese, as
 * the browser asks; without any script or style but files of ours; framed by nobody. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "codec/http.h"

struct exchange;

/* Both languages of one sentence. */
struct page_text {
	const char *en, *zh;
};

bool page_chinese(const struct http_head *h); /* by Accept-Language */
const char *page_words(const struct exchange *ex, struct page_text t);
/* Whether it is a browser that would show a page. */
bool page_wanted(const struct http_head *h);
void page_escape(struct buf *out, const char *text); /* for HTML, attributes too */

struct page {
	int status;
	int64_t app;
	struct page_text title;
	int reload_s;        /* the page looks again after that long; 0: not */
	const char *script;  /* a file below .yard/; NULL: none */
	const char *headers; /* whole lines; NULL: none */
};
/* body: HTML of ours. */
void page_answer(struct exchange *ex, const struct page *p, const struct buf *body);
/* A page of one sentence, or the same as an error of the API's to who is no browser. */
void page_say(struct exchange *ex, const struct page *p, struct page_text text,
	      const struct err *err);
