// SPDX-License-Identifier: Apache-2.0
/* The long poll: a client that waits costs a connection and nothing else. */
#include "http/route.h"

#include "http/handlers.h"
#include "http/view.h"

#define WAIT_MS_MAX (10 * 60 * 1000)

static void answer_now(struct exchange *ex, int status)
{
	struct err err;
	AUTO_JOB struct job *owned = NULL;
	const struct job *j = view_find(ex, &owned, &err);

	if (j)
		answer_job(ex, status, j);
	else
		answer_error(ex, &err);
}

static void wait_event(struct exchange *ex, const struct event *e)
{
	if (e->kind == EV_ENDED)
		answer_now(ex, 200);
}

static void wait_timer(struct exchange *ex)
{
	answer_now(ex, 202);
}

void handle_wait(struct exchange *ex)
{
	static const struct exchange_ops ops = { .event = wait_event,
						 .timer = wait_timer };
	int64_t timeout_ms = param_int(ex, "timeout_ms", WAIT_MS_MAX);

	/* A job is live until its ENDED is on disk, and then this hears of it. */
	if (!yard_live(ex->server->config.yard, ex->job)) {
		answer_now(ex, 200);
		return;
	}
	if (timeout_ms == 0) {
		answer_now(ex, 202);
		return;
	}
	ex->ops = &ops;
	server_park(ex, ex->job);
	http_conn_timer(ex->conn, timeout_ms < WAIT_MS_MAX ? timeout_ms : WAIT_MS_MAX);
}
