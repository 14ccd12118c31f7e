// SPDX-License-Identifier: Apache-2.0
/* show.h - everything about one job, for people. */
#pragma once

#include "cli/cli.h"

int show_job(struct cli *c, const char *job, struct buf *out, struct err *err);
