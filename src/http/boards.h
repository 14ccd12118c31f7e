// SPDX-License-Identifier: Apache-2.0
/* boards.h - what the server remembers of apps: which have answered, which are being made. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "http/app.h"

struct boards;

struct boards *boards_create(void);
void boards_destroy(struct boards *b); /* NULL is fine */
void boards_quiet(struct boards *b);   /* nobody is called any more */

/* An attempt of an app whose program took a call is up. */
bool boards_answered(const struct boards *b, int64_t app, int attempt);
void boards_note(struct boards *b, int64_t app, int attempt);
/* Calls it, unless it is known to be up; what comes of it is noted. */
void boards_probe(struct http_server *s, const struct app *a);

/* Boards of one owner that were asked for and are not recorded yet: no two at a time of one
 * job, and they count as running.  False: there is one. */
bool boards_begin(struct boards *b, const char *owner, int64_t of);
void boards_done(struct boards *b, int64_t of);
int boards_pending(const struct boards *b, const char *owner);
