// SPDX-License-Identifier: Apache-2.0
/* tasks.h - what the daemon's surroundings mean for the tasks it starts. */
#pragma once

#include "main/daemon.h"

/* Fills identity and pip; what they point to lives as long as the daemon. */
int tasks_describe(struct daemon *d, struct yard_config *yard, struct err *err);
void tasks_forget(struct daemon *d);
