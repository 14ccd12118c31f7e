// SPDX-License-Identifier: Apache-2.0
/* term.h - the terminal for a full-screen view: keys one by one, another screen, its size.
 *
 * While it is open the signals that would end the process are taken by term_wait(), so that
 * the terminal is put back whichever way the view ends (but for SIGKILL).
 */
#pragma once

#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

enum term_key {                /* below 256: the byte itself */
		TERM_NONE = 0, /* the time is over */
		TERM_UP = 256,
		TERM_DOWN,
		TERM_PAGE_UP,
		TERM_PAGE_DOWN,
		TERM_HOME,
		TERM_END,
		TERM_ESCAPE,
		TERM_RESIZED,
		TERM_GONE, /* a signal, or no terminal any more: close and leave */
};

struct term;

struct term *term_open(struct err *err); /* NULL: stdin and stdout are no terminal */
void term_close(struct term *t);         /* puts everything back; NULL is fine */
void term_size(const struct term *t, int *rows, int *cols);
/* The next key, or what else happened, within so many milliseconds. */
int term_wait(struct term *t, int timeout_ms);
int term_signal(const struct term *t); /* after TERM_GONE: which, or 0 */

/* The key that the bytes begin with, and how many of them it takes (0: more must come). */
int term_decode(const char *bytes, size_t len, size_t *used);
