// SPDX-License-Identifier: Apache-2.0
/* connect.h - a connected socket, or the reason why not, within a bounded time. */
#pragma once

#include "base/err.h"

int connect_unix(const char *path, struct err *err);
/* A name or an address; each address it has gets its turn. */
int connect_tcp(const char *host, int port, struct err *err);
