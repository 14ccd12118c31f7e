// SPDX-License-Identifier: Apache-2.0
/* box.h - a sealed value: XChaCha20-Poly1305, bound to its label, so that a box which is
 * moved to another name does not open there. */
#pragma once

#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/vault.h"
#include "world/world.h"

#define BOX_KEY_BYTES 32

struct box_label {
	const char *kind, *scope, *owner, *name;
};

/* Adds the box as base64. */
void box_seal(struct world *w, const struct vault *key, const struct box_label *label,
	      const struct vault *value, struct buf *out);
/* NULL with err: it was damaged, moved or sealed by another key. */
struct vault *box_open(const struct vault *key, const struct box_label *label,
		       const char *text, struct err *err);
