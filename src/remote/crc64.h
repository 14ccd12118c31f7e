// SPDX-License-Identifier: Apache-2.0
/* crc64.h - CRC-64 as ECMA-182 defines and xz, and OSS, use it (reflected). */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Of the bytes that have `crc` (0: none) with these behind them. */
uint64_t crc64_add(uint64_t crc, const void *data, size_t len);
