// SPDX-License-Identifier: Apache-2.0
/* doc_build.h - how a reader makes a doc; for doc_json.c and doc_yaml.c only.
 *
 * The builder holds every limit of doc.h, so that no reader can forget one: each call
 * that adds gives -1 with err and where filled once a limit or a law is broken.
 */
#pragma once

#include "base/doc.h"

struct doc_level {
	struct doc_node *node, *last;
	const char *key; /* of the value that comes next, in a map */
	struct doc_mark key_mark;
};

struct doc_build {
	struct doc *doc;
	struct doc_level levels[DOC_DEPTH_MAX];
	int depth;
	struct doc_mark *where; /* of the problem; may be NULL */
	struct err *err;
};

struct doc *doc_create(void);
void *doc_alloc(struct doc *d, size_t len); /* lives as long as the doc; zeroed */
char *doc_copy(struct doc *d, const char *s, size_t len);

/* ERR_INVALID with the place in where, or, without it, as "line 3, column 7: ..."; gives -1. */
int build_fail(struct doc_build *b, struct doc_mark at, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Copies the key. */
int build_key(struct doc_build *b, struct doc_mark at, const char *key, size_t len);
/* text must already live in the doc; NULL node: a limit was hit. */
struct doc_node *build_scalar(struct doc_build *b, enum doc_kind kind, struct doc_mark at,
			      const char *text, size_t len);
struct doc_node *build_open(struct doc_build *b, enum doc_kind kind, struct doc_mark at);
int build_close(struct doc_build *b);
/* Adds a finished node of the same doc once more, with all below it: an alias. */
struct doc_node *build_again(struct doc_build *b, struct doc_mark at,
			     const struct doc_node *from);
/* Whether the text is a number in JSON's sense: what DOC_NUMBER may hold. */
bool build_is_number(const char *text, size_t len);

/* The readers: fill b->doc, or -1. */
int doc_read_json(struct doc_build *b, const char *text, size_t len);
int doc_read_yaml(struct doc_build *b, const char *text, size_t len);
