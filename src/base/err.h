// SPDX-License-Identifier: Apache-2.0
/* err.h - what went wrong, as a value: a class and one sentence for a person.
 *
 * Functions that can fail return 0 or -1 and take a struct err last; it is
 * filled only on failure, and a caller that does not care passes NULL.  The
 * class decides HTTP status and exit code once, in wire/outcome.c.
 */
#pragma once

#include <stdarg.h>

enum err_code {
	ERR_NONE,
	ERR_INVALID,   /* the request is wrong: says which field and what is allowed */
	ERR_NOT_FOUND, /* no such thing, or not yours to see */
	ERR_DENIED,    /* known who you are; not allowed */
	ERR_UNKNOWN_CALLER, /* not known who you are */
	ERR_CONFLICT,    /* true now, may be otherwise later (name in use, wrong state) */
	ERR_TOO_LARGE,   /* over a named limit */
	ERR_QUOTA,       /* over a quota */
	ERR_UNSUPPORTED, /* this machine or this version cannot */
	ERR_BUSY,        /* try again later */
	ERR_TIMEOUT,
	ERR_IO,       /* the operating system said no */
	ERR_CORRUPT,  /* stored bytes do not make sense */
	ERR_INTERNAL, /* our bug */
	ERR_CODE_END
};

#define ERR_TEXT_MAX 1024

struct err {
	enum err_code code;
	char text[ERR_TEXT_MAX];
};

/* Both return -1, so that a failing function can end in `return err_set(...)`. */
int err_set(struct err *err, enum err_code code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Puts "fmt: " in front of what is there. */
int err_wrap(struct err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* err_set with ": " and the words for errno at the end. */
int err_sys(struct err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
const char *err_word(enum err_code code); /* "invalid", "not-found", ...: stable */
