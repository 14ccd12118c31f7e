// SPDX-License-Identifier: Apache-2.0
/* Walks over a tree by an own stack: no tree is deeper than DOC_DEPTH_MAX. */
#include "base/doc.h"
#include "base/json.h"

struct walk {
	const struct doc_node *next[DOC_DEPTH_MAX];
	int depth;
};

static void open_node(const struct doc_node *n, struct json *j, const char *key)
{
	if (n->kind == DOC_MAP)
		json_object(j, key);
	else
		json_array(j, key);
}

static bool has_children(const struct doc_node *n)
{
	return n->kind == DOC_LIST || n->kind == DOC_MAP;
}

static void write_scalar(const struct doc_node *n, struct json *j, const char *key)
{
	switch (n->kind) {
	case DOC_NULL:
		json_null(j, key);
		return;
	case DOC_BOOL:
		json_bool(j, key, n->boolean);
		return;
	case DOC_NUMBER:
		json_raw(j, key, n->text);
		return;
	case DOC_STRING:
		json_strn(j, key, n->text, n->text_len);
		return;
	case DOC_LIST:
	case DOC_MAP:
		return;
	}
}

void doc_write_json(const struct doc_node *n, struct json *j, const char *key)
{
	struct walk w = { .depth = 0 };

	if (!has_children(n)) {
		write_scalar(n, j, key);
		return;
	}
	open_node(n, j, key);
	w.next[w.depth++] = n->first;
	while (w.depth) {
		const struct doc_node *c = w.next[w.depth - 1];
		if (!c) {
			json_end(j);
			w.depth--;
			continue;
		}
		w.next[w.depth - 1] = c->next;
		if (!has_children(c)) {
			write_scalar(c, j, c->key);
			continue;
		}
		open_node(c, j, c->key);
		w.next[w.depth++] = c->first;
	}
}

int doc_depth(const struct doc_node *n)
{
	struct walk w = { .depth = 0 };
	int deepest = 0;

	if (!has_children(n) || !n->first)
		return 0;
	w.next[w.depth++] = n->first;
	while (w.depth) {
		const struct doc_node *c = w.next[w.depth - 1];
		if (!c) {
			w.depth--;
			continue;
		}
		deepest = w.depth > deepest ? w.depth : deepest;
		w.next[w.depth - 1] = c->next;
		if (has_children(c) && c->first)
			w.next[w.depth++] = c->first;
	}
	return deepest;
}
