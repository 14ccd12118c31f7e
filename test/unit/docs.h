// SPDX-License-Identifier: Apache-2.0
/* docs.h - whether a page of docs/ has what a table says, between two marks in it:
 *
 *   <!-- NAME: begin -->
 *   ...
 *   <!-- NAME: end -->
 *
 * With --write behind the page's path the page is brought up to date instead.
 */
#pragma once

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/str.h"
#include "tap.h"

static inline int docs_load(const char *path, struct buf *out)
{
	char chunk[4096];
	size_t n;
	FILE *f = fopen(path, "re");

	if (!f)
		return -1;
	while ((n = fread(chunk, 1, sizeof chunk, f)) > 0)
		buf_add(out, chunk, n);
	fclose(f);
	return 0;
}

static inline int docs_save(const char *path, const struct buf *text)
{
	FILE *f = fopen(path, "we");

	if (!f)
		return -1;
	fwrite(text->data, 1, text->len, f);
	return fclose(f);
}

/* argv[1]: the page.  Gives its text, for further checks; empty: there is nothing to check. */
static inline struct buf docs_check(int argc, char **argv, const char *name,
				    const struct buf *body)
{
	AUTO_BUF struct buf want = { 0 };
	struct buf page = { 0 };
	AUTO_FREE char *begin_mark = str_printf("<!-- %s: begin -->\n", name);
	AUTO_FREE char *end_mark = str_printf("<!-- %s: end -->", name);

	if (!OK(argc > 1 && docs_load(argv[1], &page) == 0, "the page can be read"))
		return page;
	const char *begin = strstr(buf_str(&page), begin_mark),
		   *end = strstr(buf_str(&page), end_mark);
	if (!OK(begin && end && begin < end, "%s has a place for %s", argv[1], name))
		return page;
	begin += strlen(begin_mark);
	buf_add(&want, page.data, (size_t)(begin - page.data));
	buf_add(&want, body->data, body->len);
	buf_adds(&want, end);
	if (argc > 2 && strcmp(argv[2], "--write") == 0) {
		OK(docs_save(argv[1], &want) == 0, "%s is written", argv[1]);
		return page;
	}
	OK(want.len == page.len && memcmp(want.data, page.data, page.len) == 0,
	   "%s is up to date (else run this with the page and --write)", argv[1]);
	return page;
}
