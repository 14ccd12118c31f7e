// SPDX-License-Identifier: Apache-2.0
#include "http/range.h"

#include <stdbool.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

void range_ask_read(struct range_ask *a, const struct http_head *head)
{
	a->range = mem_strdup(http_head_get(head, "range"));
	a->if_range = mem_strdup(http_head_get(head, "if-range"));
	a->if_match = mem_strdup(http_head_get(head, "if-match"));
	a->if_none_match = mem_strdup(http_head_get(head, "if-none-match"));
}

void range_ask_fini(struct range_ask *a)
{
	free(a->range);
	free(a->if_range);
	free(a->if_match);
	free(a->if_none_match);
	*a = (struct range_ask){ 0 };
}

/* "*", or the tag in a list of them. */
static bool names(const char *list, const char *etag)
{
	size_t n = strlen(etag);

	if (str_eq(list, "*"))
		return true;
	for (const char *at = list; (at = strstr(at, etag)); at += n)
		if ((at == list || strchr(", \t/", at[-1])) &&
		    (!at[n] || strchr(", \t", at[n])))
			return true;
	return false;
}

/* "a-b", "a-" or "-n"; false: it is none of these. */
static bool read_range(const char *text, int64_t *first, int64_t *last)
{
	const char *dash = strchr(text, '-');
	AUTO_FREE char *a = dash ? mem_strndup(text, (size_t)(dash - text)) : NULL;

	*first = *last = -1;
	if (!dash || (dash == text && !dash[1]))
		return false;
	if (*a && str_to_i64(a, 0, INT64_MAX, first) < 0)
		return false;
	if (dash[1] && str_to_i64(dash + 1, 0, INT64_MAX, last) < 0)
		return false;
	return *first < 0 || *last < 0 || *first <= *last;
}

static void find(const char *text, int64_t size, struct range_found *out)
{
	int64_t first, last;

	if (!read_range(text, &first, &last))
		return;
	if (first < 0) { /* the last n */
		first = last >= size ? 0 : size - last;
		last = last ? size - 1 : -1;
	}
	if (last < 0 && first < size)
		last = size - 1;
	if (first >= size || last < first) {
		*out = (struct range_found){ .status = 416 };
		return;
	}
	out->status = 206;
	out->first = first;
	out->length = (last < size - 1 ? last : size - 1) - first + 1;
}

void range_find(const struct range_ask *a, const struct file_info *i,
		struct range_found *out)
{
	*out = (struct range_found){ .status = 200, .length = i->size };
	if (a->if_match && !names(a->if_match, i->etag)) {
		*out = (struct range_found){ .status = 412 };
		return;
	}
	if (a->if_none_match && names(a->if_none_match, i->etag)) {
		*out = (struct range_found){ .status = 304 };
		return;
	}
	if (!a->range || !str_starts(a->range, "bytes=") || strchr(a->range, ',') ||
	    (a->if_range && !str_eq(a->if_range, i->etag)))
		return;
	find(a->range + strlen("bytes="), i->size, out);
}
