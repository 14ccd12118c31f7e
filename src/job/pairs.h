// SPDX-License-Identifier: Apache-2.0
/* pairs.h - names with values, in the order they were first set. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct pair {
	char *key, *value;
};

struct pairs { /* zero-initialised is empty and valid */
	struct pair *items;
	size_t count, cap;
};

void pairs_set(struct pairs *p, const char *key, const char *value); /* copies both */
const char *pairs_get(const struct pairs *p, const char *key);       /* NULL: absent */
void pairs_fini(struct pairs *p);
