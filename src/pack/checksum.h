// SPDX-License-Identifier: Apache-2.0
/* checksum.h - what a sender says of a file's bytes, and whether it is so.
 *
 * Written "crc32c=<8 hex>", "sha256=<64 hex>" or "blake2b=<64 hex>" (BLAKE2b-256).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define CHECKSUM_TEXT_MAX 80

enum checksum_kind {
	CHECKSUM_CRC32C,
	CHECKSUM_SHA256,
	CHECKSUM_BLAKE2B,
	CHECKSUM_KIND_COUNT
};

/* What was said. */
struct checksum {
	enum checksum_kind kind;
	uint8_t bytes[32]; /* of a CRC: 4, the highest first */
};

/* The kind that a word names; -1: none. */
int checksum_kind_read(const char *word, enum checksum_kind *out);
int checksum_read(const char *text, struct checksum *out, struct err *err);
void checksum_write(const struct checksum *c, char out[CHECKSUM_TEXT_MAX]);
void checksum_of_crc32c(uint32_t crc, struct checksum *out);

/* What is. */
struct checksum_run;
struct checksum_run *checksum_begin(enum checksum_kind kind);
void checksum_add(struct checksum_run *r, const void *data, size_t len);
void checksum_end(struct checksum_run *r, struct checksum *out); /* takes r */
void checksum_drop(struct checksum_run *r);                      /* NULL is fine */
/* ERR_INVALID in words when they differ. */
int checksum_same(const struct checksum *said, const struct checksum *is,
		  struct err *err);
