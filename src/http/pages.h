// SPDX-License-Identifier: Apache-2.0
/* pages.h - the files in pages/, built into the program. */
#pragma once

#include <stddef.h>

struct page_file {
	const char *name; /* NULL ends the table */
	const unsigned char *data;
	size_t len;
};

extern const struct page_file page_files[];
