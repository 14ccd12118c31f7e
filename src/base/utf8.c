// SPDX-License-Identifier: Apache-2.0
#include "base/utf8.h"

size_t utf8_sequence(const char *s, size_t len)
{
	const uint8_t *b = (const uint8_t *)s;
	uint8_t low = 0x80, high = 0xbf; /* bounds of the second byte */
	size_t n;

	if (b[0] < 0x80)
		return 1;
	if (b[0] >= 0xc2 && b[0] <= 0xdf)
		n = 2;
	else if (b[0] >= 0xe0 && b[0] <= 0xef)
		n = 3;
	else if (b[0] >= 0xf0 && b[0] <= 0xf4)
		n = 4;
	else
		return 0;
	if (b[0] == 0xe0)
		low = 0xa0; /* shorter forms exist below */
	if (b[0] == 0xed)
		high = 0x9f; /* surrogates above */
	if (b[0] == 0xf0)
		low = 0x90;
	if (b[0] == 0xf4)
		high = 0x8f; /* beyond 0x10ffff */
	if (len < n || b[1] < low || b[1] > high)
		return 0;
	for (size_t i = 2; i < n; i++)
		if ((b[i] & 0xc0) != 0x80)
			return 0;
	return n;
}

size_t utf8_write(uint32_t point, char out[4])
{
	if (point < 0x80) {
		out[0] = (char)point;
		return 1;
	}
	if (point < 0x800) {
		out[0] = (char)(0xc0 | point >> 6);
		out[1] = (char)(0x80 | (point & 0x3f));
		return 2;
	}
	if (point < 0x10000) {
		out[0] = (char)(0xe0 | point >> 12);
		out[1] = (char)(0x80 | (point >> 6 & 0x3f));
		out[2] = (char)(0x80 | (point & 0x3f));
		return 3;
	}
	out[0] = (char)(0xf0 | point >> 18);
	out[1] = (char)(0x80 | (point >> 12 & 0x3f));
	out[2] = (char)(0x80 | (point >> 6 & 0x3f));
	out[3] = (char)(0x80 | (point & 0x3f));
	return 4;
}

size_t utf8_count(const char *s)
{
	size_t n = 0;

	for (; *s; s++)
		n += (*s & 0xc0) != 0x80;
	return n;
}
