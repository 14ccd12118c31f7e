// SPDX-License-Identifier: Apache-2.0
/* ask.h - questions to the person at the terminal (/dev/tty, so that stdin stays data). */
#pragma once

#include <stdbool.h>

#include "base/err.h"

/* The line typed, without its end; the caller frees.  NULL with err: nobody is there, or
 * they gave up.  usual: what just Enter means, or NULL. */
char *ask_line(const char *question, const char *usual, struct err *err);
/* Nothing of what is typed is shown; free it with ask_forget(). */
char *ask_password(const char *question, struct err *err);
/* A password that is being set: asked twice. */
char *ask_new_password(const char *question, struct err *err);
/* Only the whole word yes is one: 1; 0; -1 with err. */
int ask_yes(const char *question, struct err *err);
/* The first line of stdin, for scripts. */
char *ask_stdin(struct err *err);
void ask_forget(char *secret); /* overwrites and frees; NULL is fine */
