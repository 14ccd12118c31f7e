// SPDX-License-Identifier: Apache-2.0
/* catalog.h - what submitting needs of the catalogue. */
#pragma once

#include "http/internal.h"
#include "job/problem.h"
#include "job/spec.h"

/* Calls `go` when it is known what images there are: at once, unless one may be named that
 * is found on the host, and nobody has looked yet. */
void images_ready(struct exchange *ex, bool named, void (*go)(struct exchange *ex));
/* Adds a problem for each image that the job names and this caller cannot use. */
void images_check_spec(const struct exchange *ex, const struct spec *spec,
		       struct problems *out);
