// SPDX-License-Identifier: Apache-2.0
#include "job/placement.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"

#define HOSTS  254u
#define NETS   256u
#define BLOCKS 255u
#define PARTS  8u /* of a block: so many yards share the second number */

/* 127.1.0.1, 127.1.0.2, ...: the last part is never 0 or 255, which some resolvers and
 * people take for a network or a broadcast address. */
void placement_address(int slot, char out[16])
{
	unsigned s = (unsigned)slot % (HOSTS * NETS * BLOCKS);

	AUTO_FREE char *text =
		str_printf("127.%u.%u.%u", (s / HOSTS / NETS % BLOCKS + 1) & 0xff,
			   (s / HOSTS % NETS) & 0xff, (s % HOSTS + 1) & 0xff);

	memcpy(out, text, strlen(text) + 1);
}

int placement_block(const char *identity)
{
	uint32_t hash = 2166136261u; /* FNV-1a */

	if (!identity)
		return 0;
	for (; *identity; identity++)
		hash = (hash ^ (unsigned char)*identity) * 16777619u;
	return (int)(hash % (BLOCKS * PARTS) * (HOSTS * NETS / PARTS));
}
