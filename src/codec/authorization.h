// SPDX-License-Identifier: Apache-2.0
/* authorization.h - the Authorization header of a request: Bearer or Basic.
 *
 * Strict: one space, base64 with its padding and nothing else (two readers that disagree
 * about a credential are two doors), no control characters, UTF-8.
 */
#pragma once

#include "base/err.h"

#define AUTHORIZATION_MAX 1024 /* bytes of the header's value */

enum authorization_kind { AUTHORIZATION_BEARER, AUTHORIZATION_BASIC };

struct authorization {
	enum authorization_kind kind;
	char token[AUTHORIZATION_MAX]; /* Bearer */
	char name[AUTHORIZATION_MAX];  /* Basic */
	char password[AUTHORIZATION_MAX];
};

int authorization_read(const char *value, struct authorization *out, struct err *err);
void authorization_wipe(struct authorization *a);
