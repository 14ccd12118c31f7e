// SPDX-License-Identifier: Apache-2.0
/* secret_use.h - a secret that a job names: never its value. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

#define SECRET_VALUE_MAX (64 << 10) /* bytes of one value */
#define SECRET_USES_MAX  32         /* of one job */
#define SECRET_MODE      0600

struct secret_use {
	char *name;
	char *env;  /* the variable it becomes, or NULL: */
	char *file; /* the file, an absolute path inside */
	char *from; /* "group/NAME" or "user/NAME"; NULL: the owner's, else the job's group's */
	int mode; /* of the file */
};

#define SECRET_NAME_RULE                                                                 \
	"1 to 63 of a-z, 0-9, '.', '_' and '-', beginning with a letter or '_'"
bool secret_name_ok(const char *name);

/* "0600", "600": octal, at most 0777. */
int secret_mode_read(const char *text, int *out);
#define SECRET_MODE_TEXT 5
const char *secret_mode_write(int mode, char out[SECRET_MODE_TEXT]); /* "0600" */

enum secret_scope { SECRET_USER, SECRET_GROUP, SECRET_SCOPE_COUNT };
const char *secret_scope_word(enum secret_scope s);
int secret_scope_from_word(const char *word, enum secret_scope *out);
/* "group/NAME": whose; -1: not of that form.  The owner is inside the text. */
int secret_from_read(const char *text, enum secret_scope *scope, const char **owner);
