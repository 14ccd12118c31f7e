// SPDX-License-Identifier: Apache-2.0
/* The yard's own view of a job's series, for where there is no tensorboard.  The page is a
 * frame; pages/viewer.js draws what .yard/series gives it. */
#include <inttypes.h>
#include <string.h>

#include "base/str.h"
#include "http/app.h"
#include "http/internal.h"
#include "http/page.h"
#include "http/pages.h"

static const char *type_of(const char *name)
{
	return str_ends(name, ".css") ? "text/css; charset=utf-8"
				      : "text/javascript; charset=utf-8";
}

bool viewer_asset(struct exchange *ex, const char *name)
{
	static const char headers[] = "X-Content-Type-Options: nosniff\r\n"
				      "Cache-Control: no-cache\r\n";
	bool reads = str_eq(ex->head->method, "GET") || str_eq(ex->head->method, "HEAD");

	for (const struct page_file *f = page_files; f->name && reads; f++) {
		if (!str_eq(f->name, name))
			continue;
		struct buf *out = answer_scratch(ex);
		buf_add(out, f->data, f->len);
		answer_with(ex, 200, type_of(name), headers, out);
		return true;
	}
	return false;
}

void viewer_page(struct exchange *ex, const struct app *a)
{
	static const struct page_text none = { "This page needs JavaScript.",
					       "此页面需要 JavaScript。" };
	AUTO_BUF struct buf body = { 0 };

	buf_printf(&body,
		   "<div id=\"viewer\" data-job=\"%" PRId64
		   "\" data-program=\"%s\"></div>\n"
		   "<noscript><p>%s</p></noscript>",
		   a->of, a->state == APP_STARTING ? "coming" : "none",
		   page_words(ex, none));
	page_answer(ex,
		    &(struct page){ .status = 200,
				    .app = a->id,
				    .title = { "Series · Trainyard", "指标 · Trainyard" },
				    .script = "viewer.js",
				    .headers = "Yard-Page: viewer\r\n" },
		    &body);
}
