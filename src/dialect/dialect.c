// SPDX-License-Identifier: Apache-2.0
#include "dialect/dialect.h"

#include <string.h>

#include "base/str.h"
#include "dialect/native.h"

const struct dialect *const dialects[] = { &dialect_native, NULL };

const struct dialect *dialect_find(const char *name, struct err *err)
{
	const char *names[sizeof dialects / sizeof *dialects] = { 0 };
	const char *guess;
	size_t n = 0;

	for (; dialects[n]; n++) {
		if (strcmp(dialects[n]->name, name) == 0)
			return dialects[n];
		names[n] = dialects[n]->name;
	}
	guess = str_guess(name, names, n);
	err_set(err, ERR_INVALID, "there is no dialect \"%.60s\"%s%s%s", name,
		guess ? "; did you mean \"" : "", guess ? guess : "", guess ? "\"?" : "");
	return NULL;
}
