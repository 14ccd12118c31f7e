// SPDX-License-Identifier: Apache-2.0
/* man.h - the manual page yard(1). */
#pragma once

#include "base/buf.h"
#include "cli/cli.h"

void man_page(struct buf *out);
