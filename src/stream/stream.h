// SPDX-License-Identifier: Apache-2.0
/* stream.h - bytes out of tasks: logs that are read by offset and followed.
 *
 * A task's log is a run of records (base/logframe.h) in segment files that the shim
 * writes in the attempt's folder; see there for the layout.  An offset counts the
 * bytes of the record run since the attempt began, so it survives rotation and a
 * reader can go on exactly where it broke off.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/logframe.h"
#include "world/world.h"

struct log_reader;

/* A folder with no log yet is an empty log. */
struct log_reader *log_reader_open(const char *folder, uint64_t offset, struct err *err);
void log_reader_close(struct log_reader *r);
/* Next whole record: 1, or 0: nothing more yet, or -1.  Data is valid until the next call. */
int log_reader_next(struct log_reader *r, struct logframe *frame, const char **data,
		    struct err *err);
uint64_t log_reader_offset(const struct log_reader *r); /* behind the last record given */
uint64_t log_reader_skipped(
	const struct log_reader *r); /* bytes rotated away before they were read */
/* A reader of the last `lines` lines (< 0: all): the first record is given without the
 * lines before them.  For `logs --tail`. */
struct log_reader *log_reader_open_tail(const char *folder, int64_t lines,
					struct err *err);
/* The offset of the record from which at least `lines` lines remain. */
int log_tail_offset(const char *folder, int64_t lines, uint64_t *offset, struct err *err);

/* An offset with nothing of that moment or later before it; what follows may be older. */
int log_since_offset(const char *folder, int64_t since_us, uint64_t *offset,
		     struct err *err);

/* Follows: calls on_more (on the loop) whenever the log may have grown; costs nothing while
 * it does not.  The folder need not be there yet.  Read once after this call, then at
 * each on_more; destroying any follower inside on_more is fine.  All followers of a
 * world share one inotify descriptor: a user may have no more than 128 of those. */
struct log_follow;
struct log_follow *log_follow_create(struct world *w, const char *folder,
				     world_cb on_more, void *arg, struct err *err);
void log_follow_destroy(struct log_follow *f);

/* Keeps that descriptor while there is no follower, until it is released: to close one
 * takes the kernel some ms, in which the loop would stand still.  NULL, which is fine to
 * release: it could not be made now. */
struct log_hub;
struct log_hub *log_hub_keep(struct world *w);
void log_hub_release(struct log_hub *h);
