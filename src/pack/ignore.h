// SPDX-License-Identifier: Apache-2.0
/* ignore.h - which files of a folder are left out: the rules of .gitignore, as git means them.
 *
 * A stack of rule files: each folder that is entered pushes its own, whose rules stand
 * above those of the folders around it.  The last rule that matches decides.  The caller
 * does not enter a folder that is ignored, so nothing below it can be taken back in.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct ignore;

struct ignore *ignore_create(void);
void ignore_destroy(struct ignore *ig); /* NULL is fine */

/* The text of a rule file that lies in folder `base` ("" is the top, else "a/b"). */
void ignore_push(struct ignore *ig, const char *base);
void ignore_add(struct ignore *ig, const char *text,
		size_t len); /* to the innermost folder */
void ignore_pop(struct ignore *ig);

/* path: from the top, "a/b/c"; every folder pushed must be one it lies in. */
bool ignore_match(const struct ignore *ig, const char *path, bool is_folder);
