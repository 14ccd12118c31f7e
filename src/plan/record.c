// SPDX-License-Identifier: Apache-2.0
#include "plan/record.h"

#include <stdbool.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

static bool is_zero(const void *p, size_t n)
{
	const unsigned char *b = p;

	while (n && !b[n - 1])
		n--;
	return n == 0;
}

static int64_t get_i32(const void *p)
{
	int v;

	memcpy(&v, p, sizeof v);
	return v;
}

static int64_t get_i64(const void *p)
{
	int64_t v;

	memcpy(&v, p, sizeof v);
	return v;
}

static size_t count_of(const struct field *f, const char *from)
{
	size_t n = f->room;

	if (f->count_size == sizeof(int))
		return (size_t)get_i32(from + f->count_at);
	if (f->count_size)
		return (size_t)get_i64(from + f->count_at);
	while (n && is_zero(from + f->at + (n - 1) * f->item->size, f->item->size))
		n--;
	return n;
}

/* A list of plain numbers is told by the key of its only field. */
static bool is_number(const struct table *t)
{
	return t->count == 1 && !t->fields[0].key[0];
}

static void write_list(struct json *j, const struct field *f, const char *from)
{
	size_t n = count_of(f, from);

	if (!n)
		return;
	json_array(j, f->key);
	for (size_t i = 0; i < n; i++) {
		const char *item = from + f->at + i * f->item->size;
		if (is_number(f->item)) {
			json_i64(j, NULL, get_i32(item));
			continue;
		}
		json_object(j, NULL);
		record_write(j, f->item, item);
		json_end(j);
	}
	json_end(j);
}

static void write_field(struct json *j, const struct field *f, const char *from)
{
	const char *p = from + f->at;
	const char *words;

	switch (f->kind) {
	case I64:
		if (get_i64(p))
			json_i64(j, f->key, get_i64(p));
		return;
	case I32:
		if (get_i32(p))
			json_i64(j, f->key, get_i32(p));
		return;
	case FLAG:
		if (*p)
			json_bool(j, f->key, true);
		return;
	case TEXT:
		if (*p)
			json_str(j, f->key, p);
		return;
	case WORDS:
		memcpy(&words, p, sizeof words);
		if (words)
			json_str(j, f->key, words);
		return;
	case LIST:
		write_list(j, f, from);
		return;
	}
}

void record_write(struct json *j, const struct table *t, const void *from)
{
	for (size_t i = 0; i < t->count; i++)
		write_field(j, &t->fields[i], from);
}

static int bad(const struct doc_node *n, struct err *err)
{
	return err_set(err, ERR_CORRUPT, "column %d: a bad value of '%s'", n->column,
		       n->key ? n->key : "a list");
}

static int read_number(const struct doc_node *n, const struct field *f, void *into,
		       struct err *err)
{
	int64_t v;
	int narrow;

	if (doc_whole(n, f->min, f->max, &v) < 0)
		return bad(n, err);
	narrow = (int)v;
	if (f->kind == I64)
		memcpy(into, &v, sizeof v);
	else
		memcpy(into, &narrow, sizeof narrow);
	return 0;
}

static int read_list(const struct doc_node *list, const struct field *f, char *into,
		     struct err *err)
{
	size_t i = 0;
	int narrow = (int)list->count;

	if (list->kind != DOC_LIST || list->count > f->room)
		return bad(list, err);
	for (const struct doc_node *n = list->first; n; n = n->next, i++) {
		char *item = into + f->at + i * f->item->size;
		if (is_number(f->item)
			    ? read_number(n, &f->item->fields[0], item, err) < 0
			    : record_read(n, f->item, item, err) < 0)
			return -1;
	}
	if (f->count_size == sizeof narrow)
		memcpy(into + f->count_at, &narrow, sizeof narrow);
	else if (f->count_size)
		memcpy(into + f->count_at, &list->count, sizeof list->count);
	return 0;
}

static int read_field(const struct doc_node *n, const struct field *f, char *into,
		      struct err *err)
{
	char *p = into + f->at;

	switch (f->kind) {
	case I64:
	case I32:
		return read_number(n, f, p, err);
	case FLAG:
		if (n->kind != DOC_BOOL)
			return bad(n, err);
		*(bool *)(void *)p = n->boolean;
		return 0;
	case TEXT:
		if (n->kind != DOC_STRING || n->text_len >= f->room)
			return bad(n, err);
		memcpy(p, n->text, n->text_len + 1);
		return 0;
	case WORDS:
		if (n->kind != DOC_STRING)
			return bad(n, err);
		memcpy(p, &n->text, sizeof n->text);
		return 0;
	case LIST:
		return read_list(n, f, into, err);
	}
	return 0;
}

int record_read(const struct doc_node *map, const struct table *t, void *into,
		struct err *err)
{
	if (map->kind != DOC_MAP)
		return bad(map, err);
	for (const struct doc_node *n = map->first; n; n = n->next) {
		const struct field *f = NULL;
		for (size_t i = 0; i < t->count && !f; i++)
			if (str_eq(t->fields[i].key, n->key))
				f = &t->fields[i];
		if (!f)
			return err_set(err, ERR_CORRUPT,
				       "column %d: an unknown field '%s'", n->key_column,
				       n->key);
		if (read_field(n, f, into, err) < 0)
			return -1;
	}
	return 0;
}
