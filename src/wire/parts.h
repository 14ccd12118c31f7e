// SPDX-License-Identifier: Apache-2.0
/* parts.h - what the room's own files share. */
#pragma once

#include "base/doc.h"
#include "base/json.h"
#include "job/event.h"
#include "job/life.h"

enum job_state wire_state_read(const struct doc_node *map);
enum outcome wire_outcome_read(const struct doc_node *map);
int wire_int(const struct doc_node *map, const char *key); /* 0: absent or out of range */
void wire_time_write(struct json *j, const char *key, int64_t ms); /* 0: null */
