// SPDX-License-Identifier: Apache-2.0
/* Job files from anybody.  Beside not crashing: a file gives a spec or problems, never
 * both or neither; and a spec that was accepted survives being stored, read back and
 * submitted again without the slightest change. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "dialect/dialect.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define LAW(cond)                                                                        \
	do {                                                                             \
		if (!(cond))                                                             \
			abort();                                                         \
	} while (0)

static void same(const struct buf *a, const struct buf *b)
{
	LAW(a->len == b->len && memcmp(buf_str(a), buf_str(b), a->len) == 0);
}

static void write_doc(const struct doc *d, struct buf *out)
{
	struct json j;

	json_init(&j, out);
	doc_write_json(doc_root(d), &j, NULL);
}

/* What was read can be written as JSON and read again, by both readers. */
static void round_trip_doc(struct doc *d)
{
	AUTO_BUF struct buf first = { 0 }, second = { 0 }, third = { 0 };

	write_doc(d, &first);
	if (first.len > DOC_BYTES_MAX)
		return; /* escapes made it larger than what is read */
	AUTO_DOC struct doc *json = doc_parse_json(buf_str(&first), first.len, NULL);
	LAW(json);
	write_doc(json, &second);
	same(&first, &second);
	AUTO_DOC struct doc *again = doc_parse(buf_str(&second), second.len, NULL);
	LAW(again);
	write_doc(again, &third);
	same(&first, &third);
}

static void round_trip_spec(const struct spec *s)
{
	AUTO_BUF struct buf first = { 0 }, stored = { 0 }, again = { 0 };
	AUTO_PROBLEMS struct problems p = { 0 };

	spec_to_json(s, &first);
	LAW(first.len <= SPEC_BYTES_MAX);
	AUTO_DOC struct doc *d = doc_parse_json(first.data, first.len, NULL);
	LAW(d);
	AUTO_SPEC struct spec *back = spec_from_json(doc_root(d), NULL);
	LAW(back);
	spec_to_json(back, &stored);
	same(&first, &stored);
	AUTO_SPEC struct spec *resubmitted =
		dialect_find(DIALECT_NATIVE, NULL)->read(first.data, first.len, &p);
	LAW(resubmitted);
	spec_to_json(resubmitted, &again);
	same(&first, &again);
}

/* A member of any array that passed the check can be made, stored and read again. */
static void round_trip_member(const struct spec *s, int64_t index)
{
	AUTO_SPEC struct spec *m = array_member(s, index);
	AUTO_BUF struct buf first = { 0 }, second = { 0 };

	LAW(m && m->array.count == 0);
	spec_to_json(m, &first);
	AUTO_DOC struct doc *d = doc_parse_json(first.data, first.len, NULL);
	LAW(d);
	AUTO_SPEC struct spec *back = spec_from_json(doc_root(d), NULL);
	LAW(back);
	spec_to_json(back, &second);
	same(&first, &second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	AUTO_PROBLEMS struct problems p = { 0 };
	AUTO_SPEC struct spec *s = NULL;
	AUTO_DOC struct doc *json = doc_parse_json(text, size, NULL);
	AUTO_DOC struct doc *yaml = doc_parse_yaml(text, size, NULL);

	if (json)
		round_trip_doc(json);
	if (yaml)
		round_trip_doc(yaml);
	s = dialect_find(DIALECT_NATIVE, NULL)->read(text, size, &p);
	LAW(!s == (p.count > 0));
	for (size_t i = 0; i < p.count; i++)
		LAW(p.items[i].field && p.items[i].text && p.items[i].text[0] &&
		    p.items[i].line >= 0);
	if (s)
		round_trip_spec(s);
	if (s && s->array.count) {
		round_trip_member(s, 0);
		round_trip_member(s, s->array.count - 1);
	}
	return 0;
}
