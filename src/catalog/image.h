// SPDX-License-Identifier: Apache-2.0
/* image.h - one entry of the catalogue of images. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/doc.h"
#include "base/err.h"
#include "base/json.h"
#include "job/pairs.h"

#define IMAGE_NAME_MAX   128
#define IMAGE_TEXT_MAX   512
#define IMAGE_LABELS_MAX 64
#define IMAGE_HOST       "host" /* runs on the host, whatever is installed there */

enum image_scope {
	IMAGE_OFFICIAL,  /* the yard's, kept by its admins */
	IMAGE_WORKSPACE, /* the same, made by people of this site */
	IMAGE_OWN,       /* one user's, seen by them */
	IMAGE_SCOPE_COUNT
};

struct image {
	char *name, *uri;
	char *framework, *version; /* "PyTorch", "2.3.1"; "" when it has none */
	char *accelerator;         /* "CPU", "GPU", "NPU" */
	char *python, *os;         /* "3.11", "debian12"; "" */
	char *runs;                /* IMAGE_HOST, or a container image */
	char *uses;                /* "training develop": words, by spaces */
	char *description, *owner; /* who made it; "" for what was found on the host */
	enum image_scope scope;
	int64_t created_ms;
	struct pairs labels;
};

/* Reads an object of the API or a document and completes it: what is not given and can be
 * told from the rest (the uri, as HOST/NAMESPACE/REPOSITORY:TAG) is.  NULL with err, which
 * names the field. */
struct image *image_read(const struct doc_node *map, const char *name, struct err *err);
void image_destroy(struct image *i); /* NULL is fine */
/* HOST/NAMESPACE/REPOSITORY:TAG, as clients of other platforms take an image apart: the
 * framework with its use, then version, chip, Python and system.  The caller frees it. */
char *image_uri(const struct image *i);
void image_write(const struct image *i, struct json *j, const char *key);

const char *image_scope_word(enum image_scope s); /* "official", ... */
int image_scope_from_word(const char *word, enum image_scope *out);
bool image_name_ok(const char *name);
#define IMAGE_NAME_RULE                                                                  \
	"small letters, digits, '.', '_' and '-', at most 127, a letter or digit first"

/* "2.10" is above "2.9"; a word behind the numbers makes it older: 2.0rc1 is below 2.0. */
int version_compare(const char *a, const char *b);
/* Whether v is `asked` or a finer one: 1.12.1 is of 1.12, 1.120 is not. */
bool version_within(const char *v, const char *asked);
