// SPDX-License-Identifier: Apache-2.0
/* key.h - an idempotency key: the same request sent twice makes one job. */
#pragma once

#define KEY_BYTES 33 /* 32 hex digits and the NUL */

void key_make(char out[KEY_BYTES]);
