// SPDX-License-Identifier: Apache-2.0
/* range.h - which bytes of a file are asked for, and on which condition (RFC 9110). */
#pragma once

#include <stdint.h>

#include "codec/http.h"
#include "depot/file.h"

/* Copies: a connection's head does not stay. */
struct range_ask {
	char *range, *if_range, *if_match, *if_none_match; /* NULL: not said */
};

struct range_found {
	int status; /* 200, 206, 304, 412, 416 */
	int64_t first, length;
};

void range_ask_read(struct range_ask *a, const struct http_head *head);
void range_ask_fini(struct range_ask *a);
/* Several ranges at once, or what is none, are answered with the whole. */
void range_find(const struct range_ask *a, const struct file_info *i,
		struct range_found *out);
