// SPDX-License-Identifier: Apache-2.0
/* host.h - which Python and which frameworks this host has. */
#pragma once

#include "catalog/image.h"

struct host_find {
	struct image **items;
	size_t count, cap;
};

/* Asks the first python3 or python of that path; blocks, off the loop.  Nothing found is
 * fine: then there is one entry, without a framework. */
void host_look(const char *path, struct host_find *out);
void host_find_fini(struct host_find *f);
/* The answer of that Python as entries; for host_look() and tests. */
void host_read(const char *json, size_t len, struct host_find *out);
