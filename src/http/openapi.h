// SPDX-License-Identifier: Apache-2.0
/* openapi.h - the document that describes every route, made of the tables. */
#pragma once

#include <stddef.h>

#include "base/buf.h"
#include "http/params.h"

void openapi_write(struct buf *out);
/* What a ":name" of a path may be; NULL: nobody said. */
const struct param *openapi_path_word(const char *name, size_t len);
