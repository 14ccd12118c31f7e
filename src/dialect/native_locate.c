// SPDX-License-Identifier: Apache-2.0
/* The check names fields of the spec ("roles[0].resources.cpu"); a person wants the place
 * in the file and the words of the file.  The longest way along the path that the file
 * really has is the place. */
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "dialect/native.h"

/* Whether path begins with this key as a whole step. */
static size_t step_length(const char *path, const char *key)
{
	size_t n = strlen(key);

	if (strncmp(path, key, n) != 0)
		return 0;
	return path[n] == 0 || path[n] == '.' || path[n] == '[' ? n : 0;
}

/* Keys may contain dots themselves: the longest that fits is meant. */
static const struct doc_node *step_map(const struct doc_node *map, const char **path)
{
	const struct doc_node *best = NULL;
	size_t longest = 0;

	for (const struct doc_node *n = map->first; n; n = n->next) {
		size_t len = step_length(*path, n->key);
		if (len > longest) {
			longest = len;
			best = n;
		}
	}
	*path += longest;
	return best;
}

/* Reads "[2]" and moves behind it. */
static bool step_index(const char **path, int64_t *index)
{
	size_t n = **path == '[' ? str_leading_i64(*path + 1, index) : 0;

	if (!n || (*path)[n + 1] != ']')
		return false;
	*path += n + 2;
	return true;
}

/* By index, or an entry that is just this name. */
static const struct doc_node *step_list(const struct doc_node *list, const char **path)
{
	const struct doc_node *n = list->first;
	int64_t index = 0;

	if (step_index(path, &index)) {
		while (n && index--)
			n = n->next;
		return n;
	}
	for (; n; n = n->next) {
		if (n->kind == DOC_STRING && step_length(*path, n->text)) {
			*path += strlen(n->text);
			return n;
		}
	}
	return NULL;
}

static const struct doc_node *nearest(const struct doc_node *from, const char *path)
{
	const struct doc_node *at = from, *next;

	for (;;) {
		path += *path == '.'; /* just one: a key may begin with dots */
		if (!*path)
			return at;
		next = NULL;
		if (at->kind == DOC_MAP)
			next = step_map(at, &path);
		else if (at->kind == DOC_LIST)
			next = step_list(at, &path);
		if (!next)
			return at;
		at = next;
	}
}

/* "roles[3].x": gives the role's place and moves to x; NULL: not a role's field. */
static const struct role_place *role_of(const struct native_reader *r, const char **path)
{
	const char *p = *path + (str_starts(*path, "roles") ? strlen("roles") : 0);
	int64_t index = 0;

	if (p == *path || !step_index(&p, &index) || (uint64_t)index >= r->place_count)
		return NULL;
	*path = p + (*p == '.');
	return &r->places[index];
}

static void locate_one(const struct native_reader *r, const struct doc_node *root,
		       struct problem *p)
{
	const char *rest = p->field;
	const struct role_place *place = role_of(r, &rest);
	const struct doc_node *at = nearest(place ? place->node : root, rest);

	p->line = at->line;
	p->column = at->column;
	if (place) {
		char *field = str_printf("%s%s%s", place->prefix,
					 *place->prefix && *rest ? "." : "", rest);
		free(p->field);
		p->field = field;
	}
}

void native_locate(const struct native_reader *r, const struct doc_node *root,
		   struct problems *found)
{
	for (size_t i = 0; i < found->count; i++)
		locate_one(r, root, &found->items[i]);
}
