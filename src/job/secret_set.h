// SPDX-License-Identifier: Apache-2.0
/* secret_set.h - secrets of an attempt, opened: the same for all its tasks, and apart from
 * all that is written or told anywhere. */
#pragma once

#include <stddef.h>

#include "base/vault.h"

struct secret_grant {
	char *env, *file; /* one of them: the variable, or the path inside */
	int mode;         /* of the file */
	struct vault *value;
};

struct secret_set {
	int refs;
	size_t count;
	struct secret_grant items[];
};

struct secret_set *secret_set_create(size_t count);      /* empty grants; one reference */
struct secret_set *secret_set_ref(struct secret_set *s); /* NULL is fine in both */
void secret_set_unref(struct secret_set *s);
