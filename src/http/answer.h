// SPDX-License-Identifier: Apache-2.0
/* answer.h - what is written back: whole, or in pieces. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "job/problem.h"

struct exchange;

void answer_json(struct exchange *ex, int status, const struct buf *json);
void answer_text(struct exchange *ex, const char *type, const struct buf *text);
/* A refusal that programs tell apart by its reason, one word. */
void answer_reason(struct exchange *ex, int status, const struct err *err,
		   const char *reason);
/* With further headers, as whole lines. */
void answer_with(struct exchange *ex, int status, const char *type, const char *headers,
		 const struct buf *body);
void answer_status(struct exchange *ex, int status, const struct err *err,
		   const struct problems *problems);
void answer_error(struct exchange *ex, const struct err *err); /* status by its class */
void answer_busy(struct exchange *ex, const struct err *err,
		 int64_t wait_ms); /* 429: too often, come again after that long */
void answer_empty(struct exchange *ex, int status);
/* A yard_done for a held exchange: 204 once it is on disk, or the error; drops it. */
void answer_done(void *arg, int64_t job, bool again, const struct err *err);
/* An answer in pieces. */
void answer_begin(struct exchange *ex, int status, const char *type);
/* Of bytes that are no JSON: `more` are further lines of the head.  answer_sized_begin() is
 * followed by so many bytes, by http_conn_write() or by another way, and by
 * http_conn_answered(). */
void answer_sized(struct exchange *ex, int status, const struct buf *more,
		  const char *body, size_t len);
void answer_sized_begin(struct exchange *ex, int status, const struct buf *more,
			int64_t len);
#define ANSWER_SLACK 20
void answer_piece_begin(struct buf *out); /* empties it but for the room a piece needs */
void answer_piece(struct exchange *ex, struct buf *out); /* then filled by the caller */
void answer_end(struct exchange *ex);
bool answer_room(const struct exchange *ex);     /* false: wait for ops->room */
size_t answer_high(const struct exchange *ex);   /* how much may wait to be sent */
struct buf *answer_scratch(struct exchange *ex); /* the server's own, emptied */
