// SPDX-License-Identifier: Apache-2.0
/* A pattern and the lines it is looked for in, both a stranger's: no crash, and an end. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "stream/pattern.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct seen {
	const char *from, *to;
};

static void found(void *arg, const char *text, size_t len)
{
	const struct seen *line = arg;
	double v;

	if (text < line->from || text + len > line->to)
		abort();
	str_to_real(text, len, &v);
}

/* The first line is the pattern. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *nl = memchr(data, '\n', size);
	size_t len = nl ? (size_t)(nl - data) : size;
	struct err err = { 0 };

	if (len > 1024 || memchr(data, '\0', len))
		return 0;
	AUTO_FREE char *text = mem_strndup((const char *)data, len);
	struct pattern *p = pattern_create(text, &err);
	if (!p) {
		if (!*err.text)
			abort();
		return 0;
	}
	const char *line = (const char *)data + len, *end = (const char *)data + size;
	while (line < end) {
		line++;
		const char *stop = memchr(line, '\n', (size_t)(end - line));
		struct seen at = { line, stop ? stop : end };
		pattern_search(p, at.from, (size_t)(at.to - at.from), found, &at, &err);
		line = at.to;
	}
	pattern_destroy(p);
	return 0;
}
