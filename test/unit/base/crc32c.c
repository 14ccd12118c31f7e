// SPDX-License-Identifier: Apache-2.0
#include "base/crc32c.h"

#include <stdlib.h>

#include "tap.h"

/* RFC 3720, B.4, and the check value of every catalogue of CRCs. */
static void test_known(void)
{
	uint8_t bytes[32];

	OK(crc32c_add(0, "123456789", 9) == 0xe3069283, "the check value");
	OK(crc32c_add(0, "", 0) == 0, "nothing has 0");
	memset(bytes, 0, sizeof bytes);
	OK(crc32c_add(0, bytes, 32) == 0x8a9136aa, "32 bytes of zero");
	memset(bytes, 0xff, sizeof bytes);
	OK(crc32c_add(0, bytes, 32) == 0x62a8ab43, "32 bytes of ones");
	for (int i = 0; i < 32; i++)
		bytes[i] = (uint8_t)i;
	OK(crc32c_add(0, bytes, 32) == 0x46dd794e, "32 bytes that rise");
	for (int i = 0; i < 32; i++)
		bytes[i] = (uint8_t)(31 - i);
	OK(crc32c_add(0, bytes, 32) == 0x113fdb5c, "32 bytes that fall");
}

static void test_laws(void)
{
	enum { LEN = 7000 };
	uint8_t bytes[LEN];
	int same = 0, tried = 0, parts = 0, joins = 0;
	uint32_t whole;

	srand(7);
	for (int i = 0; i < LEN; i++)
		bytes[i] = (uint8_t)rand();
	whole = crc32c_add(0, bytes, LEN);
	for (size_t from = 0; from < 9; from++)
		for (size_t to = from; to <= LEN; to += to < 64 ? 1 : 61, tried++)
			same += crc32c_add(5, bytes + from, to - from) ==
				crc32c_add_plainly(5, bytes + from, to - from);
	IS_INT(same, tried, "instruction and tables agree at every place and length");
	for (size_t cut = 0; cut <= LEN; cut += 7) {
		uint32_t first = crc32c_add(0, bytes, cut);
		uint32_t second = crc32c_add(0, bytes + cut, LEN - cut);
		parts += crc32c_add(first, bytes + cut, LEN - cut) == whole;
		joins += crc32c_join(first, second, LEN - cut) == whole;
	}
	IS_INT(parts, LEN / 7 + 1, "in two steps it is the same, wherever they meet");
	IS_INT(joins, LEN / 7 + 1, "two halves that were summed apart join to the whole");
}

static void test_long_join(void)
{
	enum { MIB = 1 << 20, COUNT = 5 };
	uint8_t *zero = calloc(1, MIB);
	uint32_t one = crc32c_add(0, zero, MIB), in_a_row = 0, joined = 0;

	for (int i = 0; i < COUNT; i++) {
		in_a_row = crc32c_add(in_a_row, zero, MIB);
		joined = crc32c_join(joined, one, MIB);
	}
	OK(in_a_row == joined, "long parts join as well");
	OK(crc32c_join(crc32c_join(1, 2, 3), 4, 5ull << 40) ==
		   crc32c_join(1, crc32c_join(2, 4, 5ull << 40), 3 + (5ull << 40)),
	   "joining is associative, terabytes included");
	free(zero);
}

int main(void)
{
	test_known();
	test_laws();
	test_long_join();
	return END();
}
