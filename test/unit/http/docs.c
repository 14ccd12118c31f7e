// SPDX-License-Identifier: Apache-2.0
/* Whether docs/api.md tells of every route there is, and of no other; and docs/api-reference.md
 * is what the tables say.
 * usage: docs API-PAGE REFERENCE [--write] */
#include "tap.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/str.h"
#include "http/server.h"
#include "wire/api.h"

static void load(const char *path, struct buf *out)
{
	char chunk[4096];
	FILE *f = fopen(path, "r");
	size_t n;

	while (f && (n = fread(chunk, 1, sizeof chunk, f)) > 0)
		buf_add(out, chunk, n);
	if (f)
		fclose(f);
}

/* A row of the page names `METHOD`s and then the path, as in "`HEAD`, `PUT /code/:hash`". */
static bool told(const char *page, const char *method, const char *pattern)
{
	char path[128], word[32];
	size_t n = (size_t)snprintf(path, sizeof path, " %s`", pattern);

	snprintf(word, sizeof word, "`%s", method);
	for (const char *at = page; (at = strstr(at, path)); at += n) {
		const char *row = at;
		while (row > page && row[-1] != '\n')
			row--;
		const char *in = strstr(row, word);
		if (in && in < at)
			return true;
	}
	return false;
}

#define REFERENCE_HEAD                                                                             \
	"# Every route of the API\n\nMade from the tables in `src/http/routes_*.c` by "            \
	"`test-http-docs docs/api.md docs/api-reference.md --write`; a test holds it to them. "    \
	"The same for programs, with the shapes: `GET /yard/v1/openapi.json`. What it all means: " \
	"[api.md](api.md).\n\n"

static void reference(const char *path, bool write)
{
	struct buf want = { 0 }, have = { 0 };

	buf_adds(&want, REFERENCE_HEAD);
	http_routes_reference(&want);
	FILE *f = write ? fopen(path, "w") : NULL;
	if (f) {
		fwrite(want.data, 1, want.len, f);
		fclose(f);
	}
	load(path, &have);
	OK(str_eq(buf_str(&want), buf_str(&have)),
	   "the reference is what the tables say (else write it anew: --write)");
	buf_fini(&want);
	buf_fini(&have);
}

int main(int argc, char **argv)
{
	struct buf page = { 0 }, text = { 0 };
	int routes = 0, rows = 0;

	load(argc > 1 ? argv[1] : "docs/api.md", &page);
	OK(page.len > 0, "there is a page");
	http_routes_text(&text);
	for (char *rest = text.data, *line; (line = strsep(&rest, "\n")) && *line;
	     routes++) {
		char *method = strsep(&line, " "), *pattern = strsep(&line, "\t");
		if (str_starts(pattern, WIRE_PREFIX "/"))
			pattern += strlen(WIRE_PREFIX);
		OK(told(buf_str(&page), method, pattern), "%s %s is told", method,
		   pattern);
	}
	for (const char *at = buf_str(&page); (at = strstr(at, "\n| `")); at++, rows++)
		;
	OK(rows > 10 && rows <= routes,
	   "and nothing that is not there (%d rows, %d routes)", rows, routes);
	buf_fini(&page);
	buf_fini(&text);
	if (argc > 2)
		reference(argv[2], argc > 3 && str_eq(argv[3], "--write"));
	return END();
}
