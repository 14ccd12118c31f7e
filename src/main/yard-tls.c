// SPDX-License-Identifier: Apache-2.0
/* yard-tls - the module that `yard` loads when it talks TLS; see tls_calls in tls/tls.h. */
#include "tls/tls.h"

extern const struct tls_calls *const yard_tls_calls;
const struct tls_calls *const yard_tls_calls = &tls_calls;
