// SPDX-License-Identifier: Apache-2.0
/* settings_live.h - settings that may be changed while the daemon runs, and all of them as
 * the API shows them.  What was changed is kept as a document of kind "setting" and stands
 * above flag, variable and file until it is taken back.  Each of them is an int64_t.
 */
#pragma once

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"
#include "wire/settings.h"

#define SETTINGS_DOC_KIND "setting"

bool settings_is_live(const char *name);
/* Whether the text would do; the message begins with the name. */
int settings_live_check(const char *name, const char *text, struct err *err);
/* text NULL: back to what it was at the start.  What makes no sense changes nothing. */
void settings_live_set(struct settings *s, const char *name, const char *text);
/* {"name","value","from","live","help"} of every setting that is kept. */
void settings_live_write(const struct settings *s, struct json *j, const char *key);
