// SPDX-License-Identifier: Apache-2.0
/* doc.h - a YAML or JSON text as a tree; every node knows its line and column.
 *
 * One reader for job files, API bodies and stored events.  Depth, node count and
 * size are bounded (DOC_*_MAX), aliases that would blow up are refused, duplicate
 * keys are an error.  The tree and all its strings live in the doc: borrow them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define DOC_BYTES_MAX (8u << 20)
#define DOC_NODES_MAX 200000
#define DOC_DEPTH_MAX 64

enum doc_kind { DOC_NULL, DOC_BOOL, DOC_NUMBER, DOC_STRING, DOC_LIST, DOC_MAP };

struct doc_node {
	enum doc_kind kind;
	int line, column; /* of the value, from 1 */
	bool boolean;
	const char *text; /* scalars: decoded, NUL-terminated; numbers as written */
	size_t text_len;  /* may contain NUL bytes only when kind is DOC_STRING */
	const char *key;  /* set in a map's children */
	int key_line, key_column;
	struct doc_node *first, *next; /* children; siblings */
	size_t count;
};

struct doc;

struct doc_mark {
	int line, column; /* from 1; columns count characters, not bytes */
};

/* Strict JSON (RFC 8259), with surrogate pairs and a byte-exact position of errors. */
struct doc *doc_parse_json(const char *text, size_t len, struct err *err);
/* YAML 1.1 core: true/false, null, numbers; everything else is a string. */
struct doc *doc_parse_yaml(const char *text, size_t len, struct err *err);
/* JSON when the text begins with '{' or '[' and parses as such, else YAML. */
struct doc *doc_parse(const char *text, size_t len, struct err *err);
/* Tells the place of the problem apart from its text, when it fails (line 0: nowhere). */
struct doc *doc_parse_at(const char *text, size_t len, struct doc_mark *where,
			 struct err *err);
void doc_destroy(struct doc *d);                      /* NULL is fine */
const struct doc_node *doc_root(const struct doc *d); /* never NULL */

/* NULL: absent, or map is NULL or no map. */
const struct doc_node *doc_get(const struct doc_node *map, const char *key);
/* A whole number in the sense of JSON Schema, so 5.0 is one, within [min, max]; -1: not. */
int doc_whole(const struct doc_node *n, int64_t min, int64_t max, int64_t *out);
/* For trusted input (our own events, API answers): the value or the fallback. */
const char *doc_str(const struct doc_node *map, const char *key, const char *fallback);
int64_t doc_i64(const struct doc_node *map, const char *key, int64_t fallback);
bool doc_bool(const struct doc_node *map, const char *key, bool fallback);
/* Writes the value with all below it; json must have that many levels left. */
struct json;
void doc_write_json(const struct doc_node *n, struct json *j, const char *key);
int doc_depth(const struct doc_node *n);       /* 0 for scalars and empty lists, ... */
const char *doc_kind_word(enum doc_kind kind); /* "a number", "a list", ... */

void doc_cleanup(struct doc **d);
#define AUTO_DOC __attribute__((cleanup(doc_cleanup)))
