// SPDX-License-Identifier: Apache-2.0
#include "pack/ignore.h"

#include <string.h>

#include "base/mem.h"
#include "pack/glob.h"

struct rule {
	bool negated;
	bool folders_only;
	bool by_name; /* no slash in it: the last component alone is compared, at any depth */
	char *literal; /* what stands before the first special character */
	size_t literal_len;
	struct glob *rest; /* NULL: nothing follows */
};

struct list {
	size_t base_len; /* bytes of "a/b/" to skip in a path */
	struct rule *rules;
	size_t count, cap;
};

struct ignore {
	struct list *lists;
	size_t count, cap;
};

struct ignore *ignore_create(void)
{
	return mem_alloc(1, sizeof(struct ignore));
}

void ignore_push(struct ignore *ig, const char *base)
{
	size_t len = strlen(base);

	mem_grow(&ig->lists, &ig->cap, ig->count, sizeof *ig->lists);
	ig->lists[ig->count++] = (struct list){ .base_len = len ? len + 1 : 0 };
}

void ignore_pop(struct ignore *ig)
{
	struct list *l = &ig->lists[--ig->count];

	for (size_t i = 0; i < l->count; i++) {
		free(l->rules[i].literal);
		glob_destroy(l->rules[i].rest);
	}
	free(l->rules);
}

void ignore_destroy(struct ignore *ig)
{
	if (!ig)
		return;
	while (ig->count)
		ignore_pop(ig);
	free(ig->lists);
	free(ig);
}

/* Spaces at the end do not count unless a backslash stands before them. */
static size_t trim(const char *s, size_t len)
{
	size_t keep = 0;

	for (size_t i = 0; i < len; i++) {
		if (s[i] == ' ')
			continue;
		if (s[i] == '\\' && ++i == len)
			return len;
		keep = i + 1;
	}
	return keep;
}

static void add_rule(struct list *l, const char *s, size_t len)
{
	struct rule r = { .negated = len && *s == '!' };

	if (r.negated)
		s++, len--;
	r.folders_only = len && s[len - 1] == '/';
	if (r.folders_only)
		len--;
	r.by_name = !memchr(s, '/', len);
	if (!r.by_name && *s == '/')
		s++, len--;
	if (!len)
		return;
	while (r.literal_len < len && !memchr("*?[\\", s[r.literal_len], 4))
		r.literal_len++;
	/* git compares what stands before the first special character by itself, so that
	 * in "a**" followed by a slash the stars stand at a beginning.  By name it does not. */
	if (r.by_name && r.literal_len < len)
		r.literal_len = 0;
	r.literal = mem_strndup(s, r.literal_len);
	if (r.literal_len < len)
		r.rest = glob_create(s + r.literal_len, len - r.literal_len);
	mem_grow(&l->rules, &l->cap, l->count, sizeof *l->rules);
	l->rules[l->count++] = r;
}

void ignore_add(struct ignore *ig, const char *text, size_t len)
{
	struct list *l = &ig->lists[ig->count - 1];
	const char *end = text + len;

	if (len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
		text += 3;
	while (text < end) {
		const char *stop = memchr(text, '\n', (size_t)(end - text));
		size_t n = (size_t)((stop ? stop : end) - text);
		const char *line = text;

		text += n + 1;
		/* As for git a NUL byte ends the line. */
		n = strnlen(line, n);
		if (n && line[n - 1] == '\r')
			n--;
		if (n && *line != '#')
			add_rule(l, line, trim(line, n));
		if (!stop)
			break;
	}
}

static bool rule_matches(const struct rule *r, const char *path, bool is_folder)
{
	if (r->folders_only && !is_folder)
		return false;
	if (r->by_name) {
		const char *slash = strrchr(path, '/');
		path = slash ? slash + 1 : path;
	}
	if (strncmp(path, r->literal, r->literal_len) != 0)
		return false;
	path += r->literal_len;
	return r->rest ? glob_match(r->rest, path) : *path == '\0';
}

bool ignore_match(const struct ignore *ig, const char *path, bool is_folder)
{
	for (size_t i = ig->count; i-- > 0;) {
		const struct list *l = &ig->lists[i];
		for (size_t k = l->count; k-- > 0;)
			if (rule_matches(&l->rules[k], path + l->base_len, is_folder))
				return !l->rules[k].negated;
	}
	return false;
}
