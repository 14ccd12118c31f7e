// SPDX-License-Identifier: Apache-2.0
/* log.h - one line to stderr for the person who runs the daemon.
 *
 * Only yard, http, cli and main write log lines; lower rooms return errors.  A line is
 * "2026-11-15T21:53:16.042Z warn: message", written by one write(), so that lines of
 * several processes do not mix; what would break the line is escaped.
 */
#pragma once

#include "world/world.h"

enum log_level { LEVEL_DEBUG, LEVEL_INFO, LEVEL_WARN, LEVEL_ERROR, LOG_LEVEL_COUNT };

void world_log(struct world *w, enum log_level level, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void world_log_level(enum log_level least); /* drops what is below; LEVEL_INFO at first */
const char *log_level_word(enum log_level level);
int log_level_from_word(const char *word, enum log_level *out);
