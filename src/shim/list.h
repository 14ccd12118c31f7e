// SPDX-License-Identifier: Apache-2.0
/* list.h - strings in a row, as messages carry them. */
#pragma once

#include <stddef.h>

#define SHIM_LIST_MAX 65536 /* arguments, variables or mounts */

struct shim_list { /* of strings; NULL-terminated, so that items can be an argv */
	char **items;
	size_t count, cap;
};

void shim_list_add(struct shim_list *l, const char *s);
