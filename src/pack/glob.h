// SPDX-License-Identifier: Apache-2.0
/* glob.h - shell patterns as git means them.
 *
 *   *       any run of characters but '/'       ?    any one character but '/'
 *   [a-z]   one of a set, [!a-z] not of it; POSIX classes such as [[:digit:]]; never '/'
 *   **      between slashes or at an end: any run, slashes too; a slash behind it goes with
 *           it when it stands for nothing, so that a/[two stars]/b also is a/b
 *   \c      the character c itself
 *
 * Matching takes at most pattern length times text length steps, whatever the pattern:
 * all ways to match are followed at once, none is retried.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define GLOB_BYTES_MAX 4096 /* a longer pattern matches nothing */

struct glob;

struct glob *glob_create(const char *pattern, size_t len);
void glob_destroy(struct glob *g); /* NULL is fine */
bool glob_match(const struct glob *g,
		const char *text); /* a malformed pattern matches nothing */
