// SPDX-License-Identifier: Apache-2.0
/* spec_check.h - what the parts of the check share; for spec_check*.c only. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "job/spec.h"

struct check {
	struct problems *out;
	struct buf path; /* of what is being checked: "roles[0].resources" */
};

#define CHECK_NAME_RULE                                                                  \
	"letters, digits, '.', '_' and '-', beginning with a letter or digit"

/* Goes one step down the path; check_leave() with what it gave goes back. */
size_t check_enter(struct check *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void check_leave(struct check *c, size_t before);
/* A problem of path.leaf; of the path itself when leaf is "". */
void check_bad(struct check *c, const char *leaf, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

bool check_is_name(const char *s, const char *also); /* also: further characters */
bool check_is_utf8(const char *s);
/* Whether two names become the same variable, and would hide each other. */
bool check_alike(const char *a, const char *b);
void check_name(struct check *c, const char *leaf, const char *name, size_t most);
void check_text(struct check *c, const char *leaf, const char *text);
void check_range(struct check *c, const char *leaf, int64_t v, int64_t min, int64_t max);
void check_count(struct check *c, const char *leaf, size_t count, size_t max);

void check_role(struct check *c, struct role *r); /* fills its defaults */
void check_data(struct check *c, struct spec *s); /* what goes in and out */
void check_array(struct check *c, struct spec *s);
void check_array_bytes(struct check *c, const struct spec *s); /* when all else is well */
void check_secrets(struct check *c, const struct spec *s);
