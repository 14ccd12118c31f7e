// SPDX-License-Identifier: Apache-2.0
/* boards.h - what the server remembers of apps: which have answered, which are being made. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "http/app.h"

struct boards;

struct boards *boards_create(void);
void boards_destroy(struct boards *b); /* NULL is fine */

/* Whether its program has begun to listen, in this attempt: looks, unless that is known. */
bool boards_is_up(struct http_server *s, const struct app *a);
/* Whether it listens now, or did a moment ago: app_is_there(), which takes its time. */
bool boards_is_there(struct http_server *s, const struct app *a, struct err *err);

/* Boards of one owner that were asked for and are not recorded yet: no two at a time of one
 * job, and they count as running.  False: there is one. */
bool boards_begin(struct boards *b, const char *owner, int64_t of);
void boards_done(struct boards *b, int64_t of);
int boards_pending(const struct boards *b, const char *owner);
