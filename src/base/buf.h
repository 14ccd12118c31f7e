// SPDX-License-Identifier: Apache-2.0
/* buf.h - bytes that grow. Always NUL-terminated behind its length, so that
 * data can be used as a string. Zero-initialised is empty and valid.
 */
#pragma once

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

struct buf {
	char *data; /* NULL while nothing was ever added: use buf_str() */
	size_t len, cap;
};

void buf_fini(struct buf *b);
void buf_clear(struct buf *b); /* keeps the memory */
void buf_reserve(struct buf *b, size_t more);
void buf_add(struct buf *b, const void *data, size_t len);
void buf_adds(struct buf *b, const char *s);
void buf_addc(struct buf *b, char c);
void buf_add_i64(struct buf *b, int64_t value); /* in decimal */
void buf_printf(struct buf *b, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void buf_vprintf(struct buf *b, const char *fmt, va_list ap)
	__attribute__((format(printf, 2, 0)));
void buf_drop(struct buf *b, size_t n);   /* forget the first n bytes */
void buf_cut(struct buf *b, size_t len);  /* forget all behind the first len bytes */
const char *buf_str(const struct buf *b); /* never NULL */
char *buf_take(struct buf *b);            /* the caller frees; b is empty after */

#define AUTO_BUF __attribute__((cleanup(buf_fini)))
