// SPDX-License-Identifier: Apache-2.0
/* Bodies of anybody against every shape that is sent to us: no crash; what is refused is
 * refused in words; and what was taken is taken again when it is written anew. */
#include "wire/shape.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/buf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct wire_shape *s, const struct doc_node *root)
{
	struct buf text = { 0 };
	struct json j;
	struct err err = { 0 };

	if (wire_shape_check(s, root, &err) < 0) {
		if (err.code != ERR_INVALID || !*err.text)
			abort();
		return;
	}
	json_init(&j, &text);
	doc_write_json(root, &j, NULL);
	struct doc *again = doc_parse_json(buf_str(&text), text.len, &err);
	if (!again || wire_shape_check(s, doc_root(again), &err) < 0)
		abort();
	doc_destroy(again);
	buf_fini(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct err err;
	struct doc *d = doc_parse_json((const char *)data, size, &err);
	const struct wire_shape *s;

	if (!d)
		return 0;
	for (size_t i = 0; doc_depth(doc_root(d)) < 60 && (s = wire_shape_at(i)); i++)
		if (s->request)
			check(s, doc_root(d));
	doc_destroy(d);
	return 0;
}
