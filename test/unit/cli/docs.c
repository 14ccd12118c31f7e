// SPDX-License-Identifier: Apache-2.0
/* Whether docs/commands.md has the commands as the tables have them.
 *
 *   test-cli-docs docs/commands.md [--write]
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "cli/help.h"
#include "tap.h"
#include "wire/outcome.h"

#define BEGIN_MARK "<!-- commands: begin -->\n"
#define END_MARK   "<!-- commands: end -->"

static int load(const char *path, struct buf *out)
{
	char chunk[4096];
	size_t n;
	FILE *f = fopen(path, "re");

	if (!f)
		return -1;
	while ((n = fread(chunk, 1, sizeof chunk, f)) > 0)
		buf_add(out, chunk, n);
	fclose(f);
	return 0;
}

static int save(const char *path, const struct buf *text)
{
	FILE *f = fopen(path, "we");

	if (!f)
		return 1;
	fwrite(text->data, 1, text->len, f);
	return fclose(f);
}

int main(int argc, char **argv)
{
	AUTO_BUF struct buf file = { 0 }, want = { 0 };

	if (argc < 2 || load(argv[1], &file) < 0) {
		printf("Bail out! cannot read docs/commands.md\n");
		return 1;
	}
	const char *begin = strstr(buf_str(&file), BEGIN_MARK),
		   *end = strstr(buf_str(&file), END_MARK);
	if (!OK(begin && end && begin < end,
		"docs/commands.md has a place for the commands"))
		return END();
	begin += strlen(BEGIN_MARK);
	buf_add(&want, file.data, (size_t)(begin - file.data));
	help_reference(&want);
	buf_adds(&want, end);
	if (argc > 2 && strcmp(argv[2], "--write") == 0)
		return save(argv[1], &want);
	OK(want.len == file.len && memcmp(want.data, file.data, file.len) == 0,
	   "docs/commands.md is up to date (else run this with the file and --write)");
	for (int code = ERR_NONE; code < ERR_CODE_END; code++) {
		char row[32];
		snprintf(row, sizeof row, "\n| %d | ",
			 wire_exit_code((enum err_code)code));
		OK(strstr(buf_str(&file), row), "it tells what exit code %d means",
		   wire_exit_code((enum err_code)code));
	}
	return END();
}
