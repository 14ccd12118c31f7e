// SPDX-License-Identifier: Apache-2.0
#include "cli/key.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>

void key_make(char out[KEY_BYTES])
{
	static const char digits[] = "0123456789abcdef";
	uint8_t bytes[(KEY_BYTES - 1) / 2];

	if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
		abort(); /* cannot fail for so few bytes */
	for (int i = 0; i < KEY_BYTES - 1; i++)
		out[i] = digits[bytes[i / 2] >> (i % 2 ? 0 : 4) & 15];
	out[KEY_BYTES - 1] = '\0';
}
