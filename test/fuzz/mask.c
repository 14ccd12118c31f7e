// SPDX-License-Identifier: Apache-2.0
/* Secrets and text are the input's; the first byte says how many secrets and in which pieces
 * the text comes.  However it is cut, the same comes out, without any of them in it. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "shim/mask.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void take(void *arg, const char *data, size_t len)
{
	buf_add(arg, data, len);
}

static void run(const struct mask *m, const char *text, size_t len, size_t step,
		struct buf *out)
{
	struct mask_stream *s = mask_stream_create(m, take, out);

	for (size_t at = 0; at < len; at += step) {
		size_t n = step < len - at ? step : len - at;
		AUTO_FREE char *piece = mem_dup(text + at, n);
		mask_feed(s, piece, n);
	}
	mask_end(s);
	if (mask_held(s))
		abort();
	mask_stream_destroy(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct mask_value values[4];
	size_t count = 0, step = len ? 1 + data[0] % 13 : 0;
	const char *at = (const char *)data + 1, *end = (const char *)data + len;

	/* Up to four values, each with its length before it; the rest is the text. */
	for (size_t want = len ? 1 + data[0] / 64 : 0; count < want && at < end;
	     count++) {
		size_t n = (uint8_t)*at++;
		n = n < (size_t)(end - at) ? n : (size_t)(end - at);
		values[count] = (struct mask_value){ at, n };
		at += n;
	}
	struct mask *m = count ? mask_create(values, count) : NULL;
	if (!m)
		return 0;
	AUTO_BUF struct buf whole = { 0 }, pieces = { 0 };
	size_t left = (size_t)(end - at);
	run(m, at, left, left ? left : 1, &whole);
	run(m, at, left, step, &pieces);
	if (whole.len != pieces.len || whole.len > left ||
	    (whole.len && memcmp(whole.data, pieces.data, whole.len) != 0))
		abort();
	/* What was put in may stand next to what was left; a value with none of "*" in it cannot
	 * come about that way. */
	for (size_t i = 0; i < count && whole.len; i++)
		if (values[i].len >= MASK_MIN &&
		    !memchr(values[i].data, '*', values[i].len) &&
		    memmem(whole.data, whole.len, values[i].data, values[i].len))
			abort();
	mask_destroy(m);
	return 0;
}
