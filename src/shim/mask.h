// SPDX-License-Identifier: Apache-2.0
/* mask.h - takes secrets out of a stream of bytes.
 *
 * Every byte that belongs to an occurrence of a secret goes, and in place of each run of
 * them stands "***".  What comes out does not depend on how the bytes were cut into
 * pieces: bytes that may be the beginning of a secret are held back until it is known, so
 * never more than the longest of them.  Pure: no clock, no system calls but for memory.
 *
 * Looked for are the value, without its last line end too, its lines of at least
 * MASK_LINE_MIN bytes, and its base64 (both alphabets, also inside of a longer text).
 * Values shorter than MASK_MIN are not: they would be found everywhere.
 */
#pragma once

#include <stddef.h>

#define MASK_TEXT     "***"
#define MASK_MIN      4
#define MASK_LINE_MIN 6
#define MASK_BASE64_MAX                                                                  \
	4096 /* of longer values base64 is not looked for: tools break it into lines */

struct mask;
struct mask_value {
	const char *data;
	size_t len;
};

/* Copies what it needs, into locked memory.  NULL: nothing to look for. */
struct mask *mask_create(const struct mask_value *values, size_t count);
void mask_destroy(struct mask *m); /* NULL is fine; after its streams */

/* One stream.  out() gets what is clear: it may be called during feed and end, and must
 * have used the bytes when it returns. */
struct mask_stream;
typedef void (*mask_out)(void *arg, const char *data, size_t len);
struct mask_stream *mask_stream_create(const struct mask *m, mask_out out, void *arg);
void mask_stream_destroy(
	struct mask_stream *s); /* NULL is fine; drops what is held back */
void mask_feed(struct mask_stream *s, const char *data, size_t len);
void mask_end(struct mask_stream *s); /* nothing more comes: gives out the rest */
size_t mask_held(const struct mask_stream *s); /* bytes not given out yet */
