// SPDX-License-Identifier: Apache-2.0
/* sha1.h - HMAC-SHA1, which OSS's first signature is made of and nothing else here. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define SHA1_BYTES 20

void sha1_hmac(const char *key, const char *text, uint8_t out[SHA1_BYTES]);
