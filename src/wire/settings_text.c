// SPDX-License-Identifier: Apache-2.0
/* The settings as people read them: docs/settings.md and yardd(8), out of the table. */
#include "wire/settings_text.h"

#include <string.h>

static bool is_kept(const struct setting *s)
{
	return s->env != NULL; /* the others are for one call only */
}

/* "off|on" in a table: a bar would end the cell. */
static void put_value(const char *value, struct buf *out)
{
	for (; value && *value; value++)
		buf_printf(out, "%s%c", *value == '|' ? "\\" : "", *value);
}

void settings_reference(struct buf *out)
{
	const struct setting *rows;
	size_t count = settings_rows(&rows);

	buf_adds(out, "| flag and key | variable | what |\n|---|---|---|\n");
	for (size_t i = 0; i < count; i++)
		if (is_kept(&rows[i])) {
			buf_printf(out, "| `%s` ", rows[i].opt.name);
			put_value(rows[i].opt.value, out);
			buf_printf(out, " | `%s` | %s |\n", rows[i].env,
				   rows[i].opt.help);
		}
	buf_adds(out, "\nFor one call only, so flags and nothing else:\n\n");
	for (size_t i = 0; i < count; i++)
		if (!is_kept(&rows[i]))
			buf_printf(out, "- `--%s%s%s`: %s\n", rows[i].opt.name,
				   rows[i].opt.value ? " " : "",
				   rows[i].opt.value ? rows[i].opt.value : "",
				   rows[i].opt.help);
}
