// SPDX-License-Identifier: Apache-2.0
/* crc32c.h - CRC-32C (Castagnoli), as iSCSI, TFRecord and our file transfers use it.
 *
 * By the processor's instruction where it has one (10 to 20 GB/s), else by tables.  It finds
 * accidents, not malice.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Of the bytes that have `crc` (0: none) with these behind them. */
uint32_t crc32c_add(uint32_t crc, const void *data, size_t len);
/* Of two runs of bytes, one behind the other, from what each has alone. */
uint32_t crc32c_join(uint32_t first, uint32_t second, uint64_t second_len);
/* The same without the instruction: for machines that lack it, and for tests. */
uint32_t crc32c_add_plainly(uint32_t crc, const void *data, size_t len);
