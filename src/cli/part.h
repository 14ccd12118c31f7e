// SPDX-License-Identifier: Apache-2.0
/* part.h - a large file in parts, and the partial file that a download goes on from.
 *
 * What is not whole yet is called .NAME.yard-part and lies beside where it will be.  Behind
 * the room for the file's bytes it holds a note: of which version of the file it is (the
 * server's ETag), and of each part that is there its CRC-32C.  A part is noted after its
 * bytes, and read again before it is believed: neither a kill nor a power cut makes a wrong
 * file.  The note is cut off and the file renamed when it is whole.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define PART_BYTES     (16ll << 20)
#define PART_COUNT_MAX 10000 /* of larger files the parts are larger */
#define PART_SUFFIX    ".yard-part"

struct parts {
	int64_t size, part_size;
	size_t count;
};

void parts_of(struct parts *p, int64_t size);
int64_t part_first(const struct parts *p, size_t n);
int64_t part_len(const struct parts *p, size_t n);

/* Where the partial file of a file lies; the caller frees. */
char *part_path(const char *path);
bool part_is_partial(const char *name); /* one that was left behind */

/* Opens the partial file, made when it is not there, and locks it: ERR_CONFLICT when another
 * process writes it. */
int part_open(const char *path, bool executable, struct err *err);
/* What of it is there already: sums[n] >= 0 is the CRC of part n, -1: it is not.  A partial
 * file of another version is emptied. */
int part_begin(int fd, const struct parts *p, const char *etag, int64_t *sums,
	       struct err *err);
int part_note(int fd, const struct parts *p, size_t n, uint32_t sum, struct err *err);
/* Of the bytes that are there. */
int part_sum(int fd, const struct parts *p, size_t n, uint32_t *out, struct err *err);
/* It is whole: cut to its size, given its time, and put where it belongs. */
int part_finish(int fd, const char *partial, const char *path, int64_t size,
		int64_t modified_ms, struct err *err);

int part_pwrite(int fd, const char *data, size_t len, int64_t at, struct err *err);
