// SPDX-License-Identifier: Apache-2.0
/* str.h - text: the only place that turns text into numbers, and "did you mean". */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

bool str_eq(const char *a, const char *b); /* NULL equals only NULL */
bool str_starts(const char *s, const char *prefix);
bool str_ends(const char *s, const char *suffix);

/* The whole text must be one decimal number in [min, max]; no spaces, no '+'. */
int str_to_i64(const char *s, int64_t min, int64_t max, int64_t *out);

/* The whole text must be a plain decimal number in [0, max], such as "7" or "0.25";
 * at most 15 digits, so that the double is the nearest one. */
int str_to_double(const char *s, double max, double *out);

/* The text must be one number as programs print them: "0.25", "-1e-3", "nan", "inf"; spaces
 * around it are fine. */
int str_to_real(const char *s, size_t len, double *out);

/* The number that s begins with; gives how many bytes it has, 0: none or too large. */
size_t str_leading_i64(const char *s, int64_t *out);

/* The word of the list that was probably meant, or NULL when none is near. */
const char *str_guess(const char *word, const char *const *list, size_t count);

char *str_printf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
