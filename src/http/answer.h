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
void answer_status(struct exchange *ex, int status, const struct err *err,
		   const struct problems *problems);
void answer_error(struct exchange *ex, const struct err *err); /* status by its class */
void answer_busy(struct exchange *ex, const struct err *err,
		 int64_t wait_ms); /* 429: too often, come again after that long */
void answer_empty(struct exchange *ex, int status);
/* An answer in pieces. */
void answer_begin(struct exchange *ex, int status, const char *type);
#define ANSWER_SLACK 20
void answer_piece_begin(struct buf *out); /* empties it but for the room a piece needs */
void answer_piece(struct exchange *ex, struct buf *out); /* then filled by the caller */
void answer_end(struct exchange *ex);
bool answer_room(const struct exchange *ex);     /* false: wait for ops->room */
size_t answer_high(const struct exchange *ex);   /* how much may wait to be sent */
struct buf *answer_scratch(struct exchange *ex); /* the server's own, emptied */
