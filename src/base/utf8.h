// SPDX-License-Identifier: Apache-2.0
/* utf8.h - one well-formed UTF-8 sequence at a time (no surrogates, no overlong forms). */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Bytes of the sequence that s begins with, or 0 when it is not one. len >= 1. */
size_t utf8_sequence(const char *s, size_t len);
size_t utf8_count(const char *s); /* characters of a good text */
/* Writes a code point (at most 0x10ffff, no surrogate); gives its bytes, 1 to 4. */
size_t utf8_write(uint32_t point, char out[4]);
