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
	for (int code = ERR_NONE; code < ERR_CODE_END; code++) {
		char row[32];
		snprintf(row, sizeof row, "\n| %d | ",
			 wire_exit_code((enum err_code)code));
		OK(strstr(buf_str(&page), row), "it tells what exit code %d means",
		   wire_exit_code((enum err_code)code));
	}
	return END();
}
