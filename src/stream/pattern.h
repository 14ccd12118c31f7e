// SPDX-License-Identifier: Apache-2.0
/* pattern.h - a number in a line, found by a regular expression with one group.
 *
 * Expressions are Perl's (PCRE2, seen in pattern.c only), as most people write them.  They
 * come from users, as do the lines: one that tries too many ways on a line gives up on it, and
 * one that costs too much over many lines is given up on for good.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "job/problem.h"
#include "job/spec.h"

#define PATTERN_LINE_MAX 4096 /* bytes of a line that are looked at */

struct pattern;

/* NULL with err: where it is wrong and how. */
struct pattern *pattern_create(const char *text, struct err *err);
void pattern_destroy(struct pattern *p); /* NULL is fine */

/* Calls found() for every match in the line, from left to right, with what is in the group
 * (len 0 when the group took no part).  -1: it was given up on; err says why, once. */
typedef void (*pattern_found)(void *arg, const char *text, size_t len);
int pattern_search(struct pattern *p, const char *line, size_t len, pattern_found found,
		   void *arg, struct err *err);

/* How long all searches of it took. */
int64_t pattern_cost_ns(const struct pattern *p);

/* Adds a problem for every pattern of the spec that is none. */
void pattern_check(const struct spec *s, struct problems *out);
