// SPDX-License-Identifier: Apache-2.0
#include "cli/table.h"

#include "tap.h"

static struct table *sample(void)
{
	static const char *const heads[] = { ">ID", "NAME", "REASON" };
	struct table *t = table_create(heads, 3);

	table_cell(t, TABLE_PLAIN, "%d", 7);
	table_cell(t, TABLE_GOOD, "short");
	table_cell(t, TABLE_PLAIN, "because of something long");
	table_cell(t, TABLE_PLAIN, "%d", 1234);
	table_cell(t, TABLE_PLAIN, "\xc3\xa9tude");
	table_cell(t, TABLE_PLAIN, "x");
	return t;
}

int main(void)
{
	AUTO_BUF struct buf out = { 0 };
	struct table *t = sample();

	table_render(t, false, 0, &out);
	IS(out.data,
	   "  ID  NAME   REASON\n"
	   "   7  short  because of something long\n"
	   "1234  \xc3\xa9tude  x\n",
	   "columns are as wide as their widest cell, numbers flush right, counted in characters");
	buf_clear(&out);
	table_render(t, false, 24, &out);
	IS(out.data,
	   "  ID  NAME   REASON\n"
	   "   7  short  because of\xe2\x80\xa6\n"
	   "1234  \xc3\xa9tude  x\n",
	   "the last column is cut to the terminal");
	buf_clear(&out);
	table_render(t, true, 0, &out);
	OK(strstr(out.data, "\033[32mshort\033[0m  because"),
	   "colours go around a cell, not its padding");
	table_destroy(t);

	static const char *const one[] = { "NAME" };
	t = table_create(one, 1);
	table_cell(t, TABLE_PLAIN, "evil\033[2J\nname\xff\xc2\x9b");
	buf_clear(&out);
	table_render(t, false, 0, &out);
	IS(out.data, "NAME\nevil?[2J?name??\n",
	   "names of other people cannot move the cursor");
	table_destroy(t);
	return END();
}
