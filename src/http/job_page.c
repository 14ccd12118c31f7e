// SPDX-License-Identifier: Apache-2.0
/* The page of a job, below /apps/<job>/.yard/job, for who may see the job.
 *
 * It has the gate of apps: a ticket, a cookie of this job alone, or a login.  The page is a
 * frame; pages/job.js fills it with what the API says of the job, asked for below the same
 * path.  Only what reads can be asked there: a cookie is sent by whatever page makes a
 * browser do so, and all apps of a yard are one origin. */
#include <inttypes.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "http/app.h"
#include "http/handlers.h"
#include "http/page.h"
#include "http/route.h"
#include "http/view.h"

#define PAGE_OWN APP_OWN JOB_PAGE

/* What the page asks for, as the API has it. */
static const struct {
	const char *name, *pattern;
} parts[] = {
	{ "/job", "/jobs/:job" },
	{ "/events", "/jobs/:job/events" },
	{ "/logs", "/jobs/:job/logs" },
	{ "/metrics", "/jobs/:job/metrics" },
	{ "/usage", "/jobs/:job/usage/series" },
};

bool job_page_is(const char *rest)
{
	size_t n = strlen(PAGE_OWN);

	return strncmp(rest, PAGE_OWN, n) == 0 && (rest[n] == '\0' || rest[n] == '/');
}

static void no_job(struct exchange *ex, int64_t job)
{
	struct err err;

	err_set(&err, ERR_NOT_FOUND, "there is no job %lld, or it is not yours to see",
		(long long)job);
	page_say(ex, &(struct page){ 404, job, { "No such job", "没有这个作业" } },
		 (struct page_text){ "There is no such job, or it is not yours to see.",
				     "该作业不存在，或您无权查看。" },
		 &err);
}

static void show_page(struct exchange *ex, int64_t job)
{
	static const struct page_text none = { "This page needs JavaScript.",
					       "此页面需要 JavaScript。" };
	AUTO_BUF struct buf body = { 0 };

	buf_printf(&body,
		   "<div id=\"job\" data-job=\"%" PRId64 "\"></div>\n"
		   "<div id=\"viewer\" data-job=\"%" PRId64 "\" data-series=\"" JOB_PAGE
		   "/metrics\"></div>\n"
		   "<noscript><p>%s</p></noscript>",
		   job, job, page_words(ex, none));
	page_answer(ex,
		    &(struct page){ .status = 200,
				    .app = job,
				    .title = { "Job · Trainyard", "作业 · Trainyard" },
				    .script = "job.js",
				    .headers = "Yard-Page: job\r\n" },
		    &body);
}

void job_page_open(struct exchange *ex, int64_t job, const char *rest)
{
	const char *name = rest + strlen(PAGE_OWN);
	bool reads = str_eq(ex->head->method, "GET");

	if (!reads || !(ex->who->scopes & SCOPE_READ) || !view_may_see(ex, job)) {
		no_job(ex, job);
		return;
	}
	if (*name == '\0') {
		show_page(ex, job);
		return;
	}
	for (size_t i = 0; i < COUNT_OF(parts); i++)
		if (str_eq(name, parts[i].name)) {
			app_pass_on(ex, job, parts[i].pattern);
			return;
		}
	no_job(ex, job);
}

/* GET /jobs/:job/page */
void handle_job_page(struct exchange *ex)
{
	AUTO_BUF struct buf url = { 0 }, path = { 0 };
	struct buf *out = answer_scratch(ex);
	struct err err;
	struct json j;

	buf_printf(&path, APP_PATH "%" PRId64 PAGE_OWN, ex->job);
	if (app_url(ex, ex->job, PAGE_OWN, &url, &err) < 0) {
		answer_error(ex, &err);
		return;
	}
	json_init(&j, out);
	json_object(&j, NULL);
	json_i64(&j, "job", ex->job);
	json_str(&j, "path", buf_str(&path));
	json_str(&j, "url", buf_str(&url));
	json_end(&j);
	answer_json(ex, 200, out);
}
