// SPDX-License-Identifier: Apache-2.0
/* cookie.h - cookies as a proxy handles them: find ours, hide ours, confine others'.
 *
 * A name counts as ours by its beginning, in small letters or capitals, so that no other
 * spelling of it gets past.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

/* The value of the n-th cookie (from 0) of that very name in a Cookie header; false: there
 * are no more.  One name may come several times: who reads must try each. */
bool cookie_find(const char *header, const char *name, size_t n, struct buf *value);

/* The header without the cookies whose names begin so; empty: none is left. */
void cookie_hide(const char *header, const char *prefix, struct buf *out);

/* A Set-Cookie of somebody who may set cookies below `path` ("/apps/12/") only: another
 * Path becomes that one, a Domain is dropped, the rest stays.  False: it may not be set at
 * all, since it has no name, a bad byte, or a name that begins with `prefix`. */
bool cookie_confine(const char *set_cookie, const char *path, const char *prefix,
		    struct buf *out);
