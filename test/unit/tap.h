/* tap.h - a test prints TAP: OK(condition, "law in words", ...), then END().
 *
 * A failing OK() prints where it stands and the program goes on, so that one
 * run shows every broken law.
 */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static int tap_count, tap_failed;

__attribute__((format(printf, 4, 5), unused)) static inline bool
tap_ok(bool ok, const char *file, int line, const char *fmt, ...)
{
	va_list ap;

	printf("%s %d - ", ok ? "ok" : "not ok", ++tap_count);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
	if (!ok) {
		tap_failed++;
		printf("# failed at %s:%d\n", file, line);
	}
	fflush(stdout);
	return ok;
}

#define OK(cond, ...) tap_ok((cond), __FILE__, __LINE__, __VA_ARGS__)
#define IS(got, want, ...)                                                               \
	do {                                                                             \
		const char *g_ = (got), *w_ = (want);                                    \
		if (!OK(g_ && strcmp(g_, w_) == 0, __VA_ARGS__))                         \
			printf("# got  '%s'\n# want '%s'\n", g_ ? g_ : "(null)", w_);    \
	} while (0)
#define IS_INT(got, want, ...)                                                           \
	do {                                                                             \
		long long g_ = (got), w_ = (want);                                       \
		if (!OK(g_ == w_, __VA_ARGS__))                                          \
			printf("# got  %lld\n# want %lld\n", g_, w_);                    \
	} while (0)
#define SKIP(why) printf("ok %d # SKIP %s\n", ++tap_count, (why))
#define END()     (printf("1..%d\n", tap_count), tap_failed ? 1 : 0)
