// SPDX-License-Identifier: Apache-2.0
/* event_words.h - an event in words, for people; pure. */
#pragma once

#include "base/buf.h"
#include "cli/table.h"
#include "wire/api.h"

/* Appends what an event says beside its kind; gives the colour of the kind. */
enum table_colour event_words(const struct wire_event *e, struct buf *out);
