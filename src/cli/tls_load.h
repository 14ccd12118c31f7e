// SPDX-License-Identifier: Apache-2.0
/* tls_load.h - TLS when it is needed: the module beside this program, or where
 * `make install` puts it.  Loaded once, and kept. */
#pragma once

#include "base/err.h"
#include "tls/tls.h"

const struct tls_calls *tls_load(struct err *err); /* NULL with err */
