// SPDX-License-Identifier: Apache-2.0
/* board.h - a folder of event files, read on as it grows; seen inside this room alone.
 *
 * A folder that holds event files is a run, named by its path below the board's.  Its files
 * are read in the order of their names, each from where reading ended before.  The folder is
 * a task's: it may hold anything, and change while it is read.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stream/metric_set.h"
#include "stream/metrics.h"
#include "stream/record.h"

#define BOARD_FILES_MAX   10000
#define BOARD_FOLDERS_MAX 4000   /* that are looked into */
#define BOARD_ENTRIES_MAX 200000 /* names that are looked at */
#define BOARD_DEPTH_MAX   24

struct board;

struct board *board_create(const struct metrics_folder *f);
void board_destroy(struct board *b); /* NULL is fine */
/* Looks for new files.  A folder that is not there has none. */
void board_look(struct board *b, struct metric_set *set);
/* Reads on, at most about *budget bytes, which are taken off.  True: there is more. */
bool board_read(struct board *b, struct metric_set *set, struct record_buffer *buffer,
		int64_t *budget);
size_t board_bytes(const struct board *b); /* of memory, about */
/* What is wrong with files at present, one after the other; *at begins as 0. */
const char *board_problem(const struct board *b, size_t *at);
void board_find(struct board *b); /* which folder its path means now */
bool board_same(const struct board *a,
		const struct board *b); /* one and the same folder */
/* One whole record of a run.  -1: it is no event; what was good before is taken. */
int board_take(struct metric_run *run, const uint8_t *data, size_t len);
