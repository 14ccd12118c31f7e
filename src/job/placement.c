// SPDX-License-Identifier: Apache-2.0
#include "job/placement.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"

/* 127.1.0.1, 127.1.0.2, ...: the last part is never 0 or 255, which some resolvers and
 * people take for a network or a broadcast address. */
void placement_address(int slot, char out[16])
{
	const unsigned hosts = 254, nets = 256, blocks = 255;
	unsigned s = (unsigned)slot % (hosts * nets * blocks);

	AUTO_FREE char *text =
		str_printf("127.%u.%u.%u", (s / hosts / nets % blocks + 1) & 0xff,
			   (s / hosts % nets) & 0xff, (s % hosts + 1) & 0xff);

	memcpy(out, text, strlen(text) + 1);
}
