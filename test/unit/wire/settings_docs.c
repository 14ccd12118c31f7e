// SPDX-License-Identifier: Apache-2.0
/* Whether docs/settings.md has the settings as the table has them. */
#include "docs.h"
#include "wire/settings_text.h"

int main(int argc, char **argv)
{
	AUTO_BUF struct buf body = { 0 };

	settings_reference(&body);
	AUTO_BUF struct buf page = docs_check(argc, argv, "settings", &body);
	OK(page.len > body.len, "it says more than the table");
	return END();
}
