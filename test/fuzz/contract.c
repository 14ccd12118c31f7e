// SPDX-License-Identifier: Apache-2.0
/* What a stranger's code requires, and a stranger's shell line: merged and expanded. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "contract/quote.h"
#include "contract/scene.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void merge(const char *text)
{
	char *items[] = { (char[]){ "numpy==2" }, (char[]){ "-r more.txt" } };
	struct requirements job = { REQUIREMENTS_ALL, items, COUNT_OF(items) };
	AUTO_BUF struct buf out = { 0 };
	AUTO_BUF struct buf gone = { 0 };

	packages_merge(text, &job, &out, &gone);
	assert(str_ends(buf_str(&out), "numpy==2\n-r /ml/usercode/more.txt\n"));
}

/* What is put in is put in whole, and all else stays; without the variable, everything. */
static void expand(const char *line)
{
	AUTO_BUF struct buf out = { 0 };
	AUTO_BUF struct buf same = { 0 };
	AUTO_BUF struct buf word = { 0 };

	quote_expand(line, "ARGS", "'a'", &out);
	assert(out.len <= strlen(line));
	quote_expand(line, "ARGS", "$ARGS", &same);
	assert(same.len <= strlen(line));
	quote_word(line, &word);
	assert(word.len >= strlen(line));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	AUTO_FREE char *text = mem_strndup((const char *)data, len);

	merge(text);
	expand(text);
	return 0;
}
