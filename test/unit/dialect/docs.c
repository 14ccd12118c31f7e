// SPDX-License-Identifier: Apache-2.0
/* Whether docs/job-file.md has the fields as the table has them.
 * usage: docs FILE [JOB-FILE...]: checks FILE, and that these job files have no problem
 *        docs FILE --write: brings FILE up to date
 *        docs FILE --schema: prints the JSON Schema */
#include "tap.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/doc.h"
#include "dialect/dialect.h"

#define BEGIN_MARK "<!-- fields: begin -->\n"
#define END_MARK   "<!-- fields: end -->\n"

static int load(const char *path, struct buf *out)
{
	char chunk[4096];
	FILE *f = fopen(path, "r");
	size_t n;

	if (!f)
		return -1;
	while ((n = fread(chunk, 1, sizeof chunk, f)) > 0)
		buf_add(out, chunk, n);
	fclose(f);
	return 0;
}

static int save(const char *path, const char *text, const char *begin, const char *end,
		const char *fields)
{
	FILE *f = fopen(path, "w");

	if (!f)
		return 1;
	fwrite(text, 1, (size_t)(begin - text), f);
	fputs(fields, f);
	fputs(end, f);
	return fclose(f) ? 1 : 0;
}

/* The schema is JSON, knows every field of the reference, and refuses others. */
static void schema(void)
{
	AUTO_BUF struct buf text = { 0 };
	struct err err = { 0 };

	dialect_find(DIALECT_NATIVE, NULL)->schema(&text);
	AUTO_DOC struct doc *d = doc_parse_json(text.data, text.len, &err);
	if (!OK(d, "the schema is JSON %s", err.text))
		return;
	const struct doc_node *top = doc_get(doc_root(d), "properties");
	const struct doc_node *role =
		doc_get(doc_get(doc_get(doc_root(d), "$defs"), "role"), "properties");
	OK(top && top->count == 34,
	   "34 fields at the top: the job's, and those of a role");
	OK(role && role->count == 11, "11 fields of a role");
	OK(doc_get(top, "command") && doc_get(top, "after-ok") &&
		   doc_get(role, "resources"),
	   "by their names");
	IS(doc_str(doc_root(d), "$schema", ""),
	   "https://json-schema.org/draft/2020-12/schema", "draft 2020-12");
}

/* Every example of the file is a job file without problems. */
static void examples(const char *text)
{
	static const char begin[] = "```yaml\n", end[] = "```\n";
	int count = 0;

	for (const char *p = strstr(text, begin); p; p = strstr(p, begin)) {
		const char *stop = strstr(p + strlen(begin), end);
		AUTO_PROBLEMS struct problems problems = { 0 };
		p += strlen(begin);
		if (!OK(stop, "example %d has an end", ++count))
			return;
		AUTO_SPEC struct spec *s =
			dialect_find(DIALECT_NATIVE, NULL)
				->read(p, (size_t)(stop - p), &problems);
		OK(s, "example %d is right", count);
		for (size_t i = 0; i < problems.count; i++)
			printf("# %d: %s: %s\n", problems.items[i].line,
			       problems.items[i].field, problems.items[i].text);
	}
	OK(count >= 3, "there are examples");
}

int main(int argc, char **argv)
{
	AUTO_BUF struct buf file = { 0 }, fields = { 0 };
	const char *begin, *end;

	if (argc < 2 || load(argv[1], &file) < 0) {
		printf("Bail out! cannot read the file\n");
		return 1;
	}
	if (argc > 2 && strcmp(argv[2], "--schema") == 0) {
		dialect_find(DIALECT_NATIVE, NULL)->schema(&fields);
		puts(buf_str(&fields));
		return 0;
	}
	dialect_find(DIALECT_NATIVE, NULL)->reference(&fields);
	begin = strstr(buf_str(&file), BEGIN_MARK);
	begin = begin ? begin + strlen(BEGIN_MARK) : NULL;
	end = begin ? strstr(begin, END_MARK) : NULL;
	if (end && argc > 2 && strcmp(argv[2], "--write") == 0)
		return save(argv[1], buf_str(&file), begin, end, buf_str(&fields));
	OK(end && (size_t)(end - begin) == fields.len &&
		   memcmp(begin, fields.data, fields.len) == 0,
	   "docs/job-file.md is up to date (else run this with the file and --write)");
	schema();
	examples(buf_str(&file));
	for (int i = 2; i < argc; i++) {
		AUTO_BUF struct buf text = { 0 };
		AUTO_PROBLEMS struct problems problems = { 0 };
		load(argv[i], &text);
		AUTO_SPEC struct spec *s =
			dialect_find(DIALECT_NATIVE, NULL)
				->read(buf_str(&text), text.len, &problems);
		OK(s, "%s is right", argv[i]);
	}
	return END();
}
