// SPDX-License-Identifier: Apache-2.0
/* Runs a fuzz target over a folder of inputs: each file whole, cut short at many places,
 * and with single bytes changed ("big-" files, slow by intent, just whole).  The same
 * every time; a sanitizer or an assert fails it.
 */
#include "tap.h"

#include <dirent.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/str.h"

#define VARIANTS_MAX 200 /* of one file: keeps the run short whatever the corpus */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* In memory of exactly its size, so that reading past the end is seen. */
static void run(const char *data, size_t size)
{
	uint8_t *exact = mem_dup(data, size);

	LLVMFuzzerTestOneInput(exact, size);
	free(exact);
}

static void load(const char *path, struct buf *out)
{
	char chunk[65536];
	FILE *f = fopen(path, "r");
	size_t n;

	while (f && (n = fread(chunk, 1, sizeof chunk, f)) > 0)
		buf_add(out, chunk, n);
	if (f)
		fclose(f);
}

static void run_variants(struct buf *b)
{
	static const char odd[] = { 0,   '"', '{', ']',  ':',        '\n',      '-',
				    '9', '&', '*', '\\', (char)0x80, (char)0xff };
	size_t step = b->len / VARIANTS_MAX + 1;

	for (size_t i = 0; i < b->len; i += step)
		run(b->data, i);
	for (size_t i = 0; i < b->len; i += step) {
		char kept = b->data[i];
		b->data[i] = odd[i % sizeof odd];
		run(b->data, b->len);
		b->data[i] = kept;
	}
}

static void replay(const char *folder, const char *name)
{
	AUTO_BUF struct buf path = { 0 }, data = { 0 };

	buf_printf(&path, "%s/%s", folder, name);
	load(buf_str(&path), &data);
	run(buf_str(&data), data.len);
	if (!str_starts(name, "big-"))
		run_variants(&data);
	OK(true, "%s (%zu bytes) and its neighbours", name, data.len);
}

int main(int argc, char **argv)
{
	struct dirent **list = NULL;
	int n = argc > 1 ? scandir(argv[1], &list, NULL, alphasort) : -1;

	OK(n > 2, "there is a corpus");
	for (int i = 0; i < n; i++) {
		if (list[i]->d_name[0] != '.')
			replay(argv[1], list[i]->d_name);
		free(list[i]);
	}
	free(list);
	return END();
}
