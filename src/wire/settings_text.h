// SPDX-License-Identifier: Apache-2.0
/* settings_text.h - the table of settings for docs/settings.md. */
#pragma once

#include "base/buf.h"
#include "wire/settings.h"

void settings_reference(struct buf *out);
