// SPDX-License-Identifier: Apache-2.0
/* apps.h - making a TensorBoard: the job it is, and how many there may be. */
#pragma once

#include <stdint.h>

#include "base/err.h"
#include "http/app.h"
#include "job/spec.h"

#define BOARDS_MAX_DEFAULT 5
#define BOARD_LIMIT_MS     INT64_C(14400000)
#define BOARD_LIMIT_REASON "TensorboardLimitExceeded"

/* The job that shows `of`.  output: which of its outputs holds the event files; NULL: the
 * one named logs or tensorboard, or none at all: then there is what its log says.
 * ERR_NOT_FOUND: it has no such output. */
struct spec *board_spec(const struct job *of, const char *output, int64_t limit_ms,
			struct err *err);

/* The app with an address for this caller. */
void answer_app(struct exchange *ex, int status, const struct app *a);

/* Every app that has not ended and that this caller may open, newest first; owner and kind
 * NULL: of all.  each() may stop it by false. */
struct apps_query {
	const char *owner, *kind;
	int64_t of; /* 0: of all */
	const struct principal *see;
};
int apps_each(struct http_server *s, const struct apps_query *q,
	      bool (*each)(void *arg, const struct app *a), void *arg, struct err *err);
