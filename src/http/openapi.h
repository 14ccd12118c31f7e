// SPDX-License-Identifier: Apache-2.0
/* openapi.h - the document that describes every route, made of the tables. */
#pragma once

#include "base/buf.h"

void openapi_write(struct buf *out);
