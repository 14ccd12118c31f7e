// SPDX-License-Identifier: Apache-2.0
/* submit.h - what every way to make a job has in common. */
#pragma once

#include "base/err.h"
#include "job/problem.h"
#include "job/spec.h"

struct exchange;

/* 1: a good idempotency key, 0: none; -1: not a key. */
int submit_key(struct exchange *ex, const char **key, struct err *err);
/* A snapshot that is not here could only fail later, when nobody looks. */
int submit_check_code(struct exchange *ex, const struct spec *spec, struct err *err);
/* Answers with everything that is wrong with a job file. */
void submit_refuse(struct exchange *ex, const struct problems *problems);
/* Takes the spec.  What was asked (a NULL-ended list of texts) is what a key stands for. */
void submit_spec(struct exchange *ex, struct spec *spec, const char *key,
		 const char *const *asked);
