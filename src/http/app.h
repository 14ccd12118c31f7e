// SPDX-License-Identifier: Apache-2.0
/* app.h - programs in tasks that people open in a browser, below /apps/<job>/.
 *
 * An app is a job with the label yard.app=KIND and a port named "app", on whose first task
 * it answers.  Whatever is asked below its path goes to it (proxy.h), but for .yard/,
 * where the yard's own pages are.
 *
 * A TensorBoard that finds no tensorboard to run says so and ends well: from then on the
 * yard itself shows the job's series there, for as long as the board would have run.
 *
 *   app.c        which app a number means, who may open it; app_owner.c: who listens there
 *   app_gate.c   tickets, cookies, and what becomes of a request below /apps/
 *   app_login.c  the login page
 *   boards.c     the API: start, list, end; door.c: an address that a browser can open
 *   viewer.c     our own pages of series; job_page.c: the page of a job, which is there
 *                for every job; page.c: how a page of ours looks
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "job/job.h"
#include "job/principal.h"

#define APP_PATH        "/apps/"
#define APP_OWN         "/.yard/" /* behind an app's number: pages of the yard's */
#define JOB_PAGE        "job"     /* behind that: of the job itself, app or not */
#define APP_LABEL       "yard.app"
#define APP_LABEL_OF    "yard.app.of"    /* the job that it shows */
#define APP_LABEL_SHARE "yard.app.share" /* group: who may see the job may open it */
#define APP_LABEL_PATH  "yard.app.path"  /* strip: it does not know /apps/<job> */
#define APP_PORT        "app"
#define APP_BOARD       "tensorboard"
#define APP_KIND_BYTES  64
#define APP_COOKIE      PROXY_COOKIES "app"
#define APP_COOKIE_MS   INT64_C(43200000)

struct exchange;
struct http_server;

enum app_state { APP_STARTING, APP_RUNNING, APP_ENDED, APP_STATE_COUNT };

struct app {
	int64_t id, of; /* its own job, and the one it shows; 0: none */
	char owner[NAME_MAX_BYTES], group[NAME_MAX_BYTES], kind[APP_KIND_BYTES];
	enum app_state state;
	bool viewer;        /* no program answers: the yard shows what there is */
	bool shared, strip; /* by its labels */
	char address[16];
	int port; /* 0: there is nobody to call */
	int attempt;
	int64_t ends_ms; /* 0: not known yet, or never */
};

const char *app_state_word(enum app_state s);
bool app_is_board(const struct app *a);
/* ERR_NOT_FOUND: no such job, or it is no app. */
int app_find(struct http_server *s, int64_t id, struct app *out, struct err *err);
void app_from_job(struct http_server *s, const struct job *j, struct app *out);
/* To look at a board: who may see it and the job it shows.  Another app may be a terminal:
 * its owner and admins, unless it is shared. */
bool app_may_open(struct http_server *s, const struct app *a, const struct principal *p);
/* Its program listens, and who listens is its program: tasks share a network. */
bool app_is_there(struct http_server *s, const struct app *a, struct err *err);
/* Of the texts of /proc/net/tcp and tcp6: the uid of who would be called; -1: nobody. */
int64_t app_listener(const char *tcp, const char *tcp6, const char *address, int port);
/* The same of this moment: the kernel is asked. */
int64_t app_listener_now(const char *address, int port);

/* Who asks for something below /apps/: by the app's cookie, else as everywhere. */
int app_ask(struct exchange *ex, struct err *err);
void handle_app(struct exchange *ex);
void handle_app_login(struct exchange *ex);
/* -1: the path names no app. */
int64_t app_of_path(const char *path, const char **rest);
/* headers: whole lines, or "". */
void app_redirect(struct exchange *ex, int status, const char *target,
		  const char *headers);
bool app_is_foreign(const struct exchange *ex);
/* "Set-Cookie: ..." that lets who in for a while. */
void app_cookie(struct exchange *ex, const struct principal *who, int64_t app,
		struct buf *header);
/* The login page, with what was wrong; text may be NULL. */
void app_login_page(struct exchange *ex, int64_t app, const char *text);

/* boards.c.  Before anything is asked, and last of all. */
void apps_open(struct http_server *s);
void apps_close(struct http_server *s);
/* door.c: "http://127.0.0.1:8471/apps/12/?ticket=..." as this caller can open it. */
int app_url(struct exchange *ex, int64_t app, const char *rest, struct buf *out,
	    struct err *err);
/* From here on this is that GET of the API's about that job, which ex->who may see. */
void app_pass_on(struct exchange *ex, int64_t job, const char *pattern);

/* viewer.c: our own pages; false: there is no such. */
bool viewer_asset(struct exchange *ex, const char *name);
void viewer_page(struct exchange *ex, const struct app *a);

/* job_page.c: whether that, behind a job's number, is its page or something of it. */
bool job_page_is(const char *rest);
void job_page_open(struct exchange *ex, int64_t job, const char *rest);
