// SPDX-License-Identifier: Apache-2.0
/* Whether docs/commands.md has the commands as the tables have them. */
#include "docs.h"

#include "cli/help.h"
#include "wire/outcome.h"

int main(int argc, char **argv)
{
	AUTO_BUF struct buf body = { 0 };

	help_reference(&body);
	AUTO_BUF struct buf page = docs_check(argc, argv, "commands", &body);
	for (int code = 0; code < EXIT_CODE_END; code++) {
		char row[128];
		snprintf(row, sizeof row, "\n| %d | %s |\n", code, wire_exit_words(code));
		OK(strstr(buf_str(&page), row), "it tells what exit code %d means", code);
	}
	for (int code = ERR_NONE; code < ERR_CODE_END; code++)
		OK(wire_exit_code((enum err_code)code) < EXIT_CODE_END,
		   "the exit code of class %s has a meaning",
		   err_word((enum err_code)code));
	return END();
}
