// SPDX-License-Identifier: Apache-2.0
#include "base/doc.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/doc_build.h"
#include "base/mem.h"
#include "base/str.h"

#define BLOCK_BYTES     4096
#define BLOCK_BYTES_MAX (256u << 10)
#define FEW_KEYS        8 /* up to here, comparing all pairs beats sorting */

/* Memory comes in blocks that are freed together; each is twice the one before. */
struct block {
	struct block *older;
	size_t used, size;
	_Alignas(16) char bytes[];
};

struct doc {
	struct block *newest;
	size_t nodes, text_bytes; /* texts count as often as aliases repeat them */
	struct doc_node *root;
};

static const struct doc_node empty = { .kind = DOC_NULL, .line = 1, .column = 1 };

struct doc *doc_create(void)
{
	return mem_alloc(1, sizeof(struct doc));
}

void doc_destroy(struct doc *d)
{
	if (!d)
		return;
	for (struct block *b = d->newest, *older; b; b = older) {
		older = b->older;
		free(b);
	}
	free(d);
}

void doc_cleanup(struct doc **d)
{
	doc_destroy(*d);
}

void *doc_alloc(struct doc *d, size_t len)
{
	struct block *b = d->newest;
	size_t size;
	void *p;

	len = (len + 15) & ~(size_t)15;
	if (!b || b->size - b->used < len) {
		size = b ? b->size * 2 : BLOCK_BYTES;
		size = size < BLOCK_BYTES_MAX ? size : BLOCK_BYTES_MAX;
		size = size < len ? len : size;
		b = mem_alloc(1, sizeof *b + size);
		b->size = size;
		b->older = d->newest;
		d->newest = b;
	}
	p = b->bytes + b->used;
	b->used += len;
	return p;
}

char *doc_copy(struct doc *d, const char *s, size_t len)
{
	char *copy = doc_alloc(d, len + 1);

	if (len)
		memcpy(copy, s, len);
	return copy;
}

int build_fail(struct doc_build *b, struct doc_mark at, const char *fmt, ...)
{
	char text[ERR_TEXT_MAX / 2];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	if (b->where) {
		*b->where = at;
		return err_set(b->err, ERR_INVALID, "%s", text);
	}
	return err_set(b->err, ERR_INVALID, "line %d, column %d: %s", at.line, at.column,
		       text);
}

int build_key(struct doc_build *b, struct doc_mark at, const char *key, size_t len)
{
	struct doc_level *l = &b->levels[b->depth - 1];

	if (memchr(key, 0, len))
		return build_fail(b, at, "a key must not contain a NUL character");
	l->key = doc_copy(b->doc, key, len);
	l->key_mark = at;
	return 0;
}

static int fail_large(struct doc_build *b, struct doc_mark at, const char *what)
{
	build_fail(b, at, "%s", what);
	if (b->err)
		b->err->code = ERR_TOO_LARGE;
	return -1;
}

#define WORDS(x)  WORDS_(x)
#define WORDS_(x) #x

static int count_one(struct doc_build *b, struct doc_mark at, size_t text_bytes)
{
	if (b->doc->nodes >= DOC_NODES_MAX)
		return fail_large(b, at, "more than " WORDS(DOC_NODES_MAX) " values");
	b->doc->nodes++;
	b->doc->text_bytes += text_bytes;
	if (b->doc->text_bytes > DOC_BYTES_MAX)
		return fail_large(b, at, "aliases make the text larger than it may be");
	return 0;
}

static struct doc_node *add(struct doc_build *b, enum doc_kind kind, struct doc_mark at,
			    size_t len)
{
	struct doc_node *n;
	struct doc_level *l;

	if (count_one(b, at, len) < 0)
		return NULL;
	n = doc_alloc(b->doc, sizeof *n);
	n->kind = kind;
	n->line = at.line;
	n->column = at.column;
	if (!b->depth) {
		b->doc->root = n;
		return n;
	}
	l = &b->levels[b->depth - 1];
	n->key = l->key;
	n->key_line = l->key_mark.line;
	n->key_column = l->key_mark.column;
	l->key = NULL;
	if (l->last)
		l->last->next = n;
	else
		l->node->first = n;
	l->last = n;
	l->node->count++;
	return n;
}

struct doc_node *build_scalar(struct doc_build *b, enum doc_kind kind, struct doc_mark at,
			      const char *text, size_t len)
{
	struct doc_node *n = add(b, kind, at, len);

	if (!n)
		return NULL;
	n->text = text;
	n->text_len = len;
	n->boolean = kind == DOC_BOOL && (*text == 't' || *text == 'T');
	return n;
}

struct doc_node *build_open(struct doc_build *b, enum doc_kind kind, struct doc_mark at)
{
	struct doc_node *n;

	if (b->depth == DOC_DEPTH_MAX) {
		fail_large(b, at, "nested deeper than " WORDS(DOC_DEPTH_MAX) " levels");
		return NULL;
	}
	n = add(b, kind, at, 0);
	if (n)
		b->levels[b->depth++] = (struct doc_level){ .node = n };
	return n;
}

static int by_key_then_place(const void *va, const void *vb)
{
	const struct doc_node *a = *(const struct doc_node *const *)va;
	const struct doc_node *b = *(const struct doc_node *const *)vb;
	int order = strcmp(a->key, b->key);

	if (order)
		return order;
	if (a->key_line != b->key_line)
		return a->key_line < b->key_line ? -1 : 1;
	return (a->key_column > b->key_column) - (a->key_column < b->key_column);
}

static int fail_twice(struct doc_build *b, const struct doc_node *first,
		      const struct doc_node *again)
{
	return build_fail(b, (struct doc_mark){ again->key_line, again->key_column },
			  "\"%.100s\" is given twice: first in line %d, column %d",
			  again->key, first->key_line, first->key_column);
}

static int check_keys(struct doc_build *b, const struct doc_node *map)
{
	AUTO_FREE const struct doc_node **sorted = NULL;
	size_t n = 0;

	if (map->count <= FEW_KEYS) {
		for (const struct doc_node *x = map->first; x; x = x->next)
			for (const struct doc_node *y = x->next; y; y = y->next)
				if (strcmp(x->key, y->key) == 0)
					return fail_twice(b, x, y);
		return 0;
	}
	sorted = mem_alloc(map->count, sizeof *sorted);
	for (const struct doc_node *x = map->first; x; x = x->next)
		sorted[n++] = x;
	qsort(sorted, n, sizeof *sorted, by_key_then_place);
	for (size_t i = 1; i < n; i++)
		if (strcmp(sorted[i - 1]->key, sorted[i]->key) == 0)
			return fail_twice(b, sorted[i - 1], sorted[i]);
	return 0;
}

int build_close(struct doc_build *b)
{
	const struct doc_node *n = b->levels[b->depth - 1].node;

	assert(b->depth > 0);
	b->depth--;
	return n->kind == DOC_MAP ? check_keys(b, n) : 0;
}

static struct doc_node *copy_one(struct doc_build *b, const struct doc_node *from)
{
	struct doc_mark at = { from->line, from->column };

	if (from->kind == DOC_LIST || from->kind == DOC_MAP)
		return build_open(b, from->kind, at);
	return build_scalar(b, from->kind, at, from->text, from->text_len);
}

/* Walks the tree below from by its own stack; the builder's limits end a bomb. */
struct doc_node *build_again(struct doc_build *b, struct doc_mark at,
			     const struct doc_node *from)
{
	const struct doc_node *next[DOC_DEPTH_MAX];
	struct doc_node *top = copy_one(b, from), *n;
	int bottom = b->depth;

	if (!top)
		return NULL;
	top->line = at.line;
	top->column = at.column;
	if (from->kind != DOC_LIST && from->kind != DOC_MAP)
		return top;
	next[b->depth - 1] = from->first;
	while (b->depth >= bottom) {
		struct doc_level *l = &b->levels[b->depth - 1];
		const struct doc_node *src = next[b->depth - 1];
		if (!src) {
			b->depth--; /* its keys were checked when the original was closed */
			continue;
		}
		next[b->depth - 1] = src->next;
		l->key = src->key;
		l->key_mark = (struct doc_mark){ src->key_line, src->key_column };
		b->doc->text_bytes += src->key ? strlen(src->key) : 0;
		n = copy_one(b, src);
		if (!n)
			return NULL;
		if (n->kind == DOC_LIST || n->kind == DOC_MAP)
			next[b->depth - 1] = src->first;
	}
	return top;
}

static size_t digits(const char *s, size_t len, size_t from)
{
	size_t i = from;

	while (i < len && s[i] >= '0' && s[i] <= '9')
		i++;
	return i - from;
}

bool build_is_number(const char *s, size_t len)
{
	size_t i = len && s[0] == '-', n = digits(s, len, i);

	if (n == 0 || (n > 1 && s[i] == '0'))
		return false;
	i += n;
	if (i < len && s[i] == '.') {
		n = digits(s, len, i + 1);
		if (n == 0)
			return false;
		i += 1 + n;
	}
	if (i < len && (s[i] == 'e' || s[i] == 'E')) {
		i++;
		i += i < len && (s[i] == '-' || s[i] == '+');
		n = digits(s, len, i);
		if (n == 0)
			return false;
		i += n;
	}
	return i == len;
}

typedef int (*doc_reader)(struct doc_build *b, const char *text, size_t len);

static struct doc *parse_with(doc_reader read, const char *text, size_t len,
			      struct doc_mark *where, struct err *err)
{
	AUTO_DOC struct doc *d = NULL;
	struct doc_build b = { .where = where, .err = err };

	if (where)
		*where = (struct doc_mark){ 0 };
	if (len > DOC_BYTES_MAX) {
		err_set(err, ERR_TOO_LARGE, "a text of %zu bytes; at most %u are read",
			len, DOC_BYTES_MAX);
		return NULL;
	}
	b.doc = d = doc_create();
	if (read(&b, text, len) < 0)
		return NULL;
	return TAKE(d);
}

struct doc *doc_parse_json(const char *text, size_t len, struct err *err)
{
	return parse_with(doc_read_json, text, len, NULL, err);
}

struct doc *doc_parse_yaml(const char *text, size_t len, struct err *err)
{
	return parse_with(doc_read_yaml, text, len, NULL, err);
}

struct doc *doc_parse_at(const char *text, size_t len, struct doc_mark *where,
			 struct err *err)
{
	struct err first = { 0 };
	struct doc_mark first_at = { 0 };
	size_t i = 0;
	struct doc *d;

	while (i < len && strchr(" \t\r\n", text[i]) && text[i])
		i++;
	if (i == len || (text[i] != '{' && text[i] != '['))
		return parse_with(doc_read_yaml, text, len, where, err);
	d = parse_with(doc_read_json, text, len, where ? &first_at : NULL, &first);
	if (d)
		return d;
	/* YAML's flow style begins like JSON; when it is neither, JSON was meant. */
	if (first.code != ERR_TOO_LARGE)
		d = parse_with(doc_read_yaml, text, len, NULL, NULL);
	if (!d && where)
		*where = first_at;
	if (!d && err)
		*err = first;
	return d;
}

struct doc *doc_parse(const char *text, size_t len, struct err *err)
{
	return doc_parse_at(text, len, NULL, err);
}

const struct doc_node *doc_root(const struct doc *d)
{
	return d->root ? d->root : &empty;
}

const struct doc_node *doc_get(const struct doc_node *map, const char *key)
{
	if (!map || map->kind != DOC_MAP)
		return NULL;
	for (const struct doc_node *n = map->first; n; n = n->next)
		if (strcmp(n->key, key) == 0)
			return n;
	return NULL;
}

const char *doc_str(const struct doc_node *map, const char *key, const char *fallback)
{
	const struct doc_node *n = doc_get(map, key);

	return n && n->kind == DOC_STRING ? n->text : fallback;
}

int doc_whole(const struct doc_node *n, int64_t min, int64_t max, int64_t *out)
{
	if (n->kind != DOC_NUMBER)
		return -1;
	size_t len = strcspn(n->text, ".");
	const char *rest = n->text + len;
	if (rest[0] != '.' || !rest[1] || rest[1 + strspn(rest + 1, "0")])
		return str_to_i64(n->text, min, max, out);
	AUTO_FREE char *whole = mem_strndup(n->text, len);
	return str_to_i64(whole, min, max, out);
}

int64_t doc_i64(const struct doc_node *map, const char *key, int64_t fallback)
{
	const struct doc_node *n = doc_get(map, key);
	int64_t v;

	return n && doc_whole(n, INT64_MIN, INT64_MAX, &v) == 0 ? v : fallback;
}

bool doc_bool(const struct doc_node *map, const char *key, bool fallback)
{
	const struct doc_node *n = doc_get(map, key);

	return n && n->kind == DOC_BOOL ? n->boolean : fallback;
}

const char *doc_kind_word(enum doc_kind kind)
{
	static const char *const words[] = {
		[DOC_NULL] = "nothing",    [DOC_BOOL] = "true or false",
		[DOC_NUMBER] = "a number", [DOC_STRING] = "a text",
		[DOC_LIST] = "a list",     [DOC_MAP] = "a map",
	};

	return words[kind];
}
