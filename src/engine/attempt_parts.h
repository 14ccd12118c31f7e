// SPDX-License-Identifier: Apache-2.0
/* attempt_parts.h - what attempt.c and attempt_control.c share; nobody else includes it. */
#pragma once

#include "engine/process.h"

#define LOOK_PAUSE_MS  5
#define KILL_WITHIN_MS 5000

void attempt_pause(struct attempt *a, int64_t ms); /* then its state says what is due */
struct link *attempt_connect(struct attempt *a,
			     const struct link_events *ev); /* or NULL */
/* Carries the wish to stop to the shim; comes back by timer until the task is over. */
void attempt_send_stop(struct attempt *a);
