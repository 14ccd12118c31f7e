// SPDX-License-Identifier: Apache-2.0
/* why.h - the four sentences of a waiting job, on the wire. */
#pragma once

#include "base/json.h"
#include "yard/why.h"

struct exchange;

/* Fields of an object that is open: those of the shape "why" behind its own. */
void why_write(struct json *j, const struct yard *y, const struct yard_reason *r);
void why_dry_run(struct exchange *ex, const struct spec *spec);
