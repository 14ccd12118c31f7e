// SPDX-License-Identifier: Apache-2.0
/* secret.h - what the routes of people need of secrets. */
#pragma once

#include "http/internal.h"
#include "job/problem.h"
#include "job/spec.h"
#include "who/change.h"

/* Adds a problem for each secret that the job names and this caller cannot use: before every
 * yard_submit(). */
void secret_check_spec(const struct exchange *ex, const struct spec *spec,
		       struct problems *out);
/* Who is removed takes their secrets with them: the next one of that name must not have
 * them.  Adds it to the change. */
void secret_forget(const struct exchange *ex, enum secret_scope scope, const char *owner,
		   struct who_change *c);
