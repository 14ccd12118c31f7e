// SPDX-License-Identifier: Apache-2.0
/* Authorization headers of anybody: no crash, and one meaning only.  What is taken as Basic
 * must, written anew, be the very text it was read from. */
#include "codec/authorization.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void encode(const char *text, size_t len, struct buf *out)
{
	static const char set[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				  "0123456789+/";

	for (size_t i = 0; i < len; i += 3) {
		unsigned bits = 0;
		for (size_t k = 0; k < 3; k++)
			bits = bits << 8 | (i + k < len ? (uint8_t)text[i + k] : 0);
		for (size_t k = 0; k < 4; k++)
			buf_addc(out, i + k > len ? '=' : set[bits >> (18 - 6 * k) & 63]);
	}
}

static void check_basic(const char *value, const struct authorization *a)
{
	struct buf plain = { 0 }, again = { 0 };

	buf_printf(&plain, "%s:%s", a->name, a->password);
	encode(plain.data, plain.len, &again);
	if (strchr(a->name, ':') || strcmp(buf_str(&again), value + 6) != 0)
		abort();
	buf_fini(&plain);
	buf_fini(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *value = mem_strndup((const char *)data, size);
	struct authorization a;
	struct err err;

	if (authorization_read(value, &a, &err) == 0) {
		if (a.kind == AUTHORIZATION_BASIC)
			check_basic(value, &a);
		else if (strcmp(a.token, value + 7) != 0 || *a.name || *a.password)
			abort();
		authorization_wipe(&a);
	} else if (err.code != ERR_INVALID || !*err.text) {
		abort();
	}
	free(value);
	return 0;
}
