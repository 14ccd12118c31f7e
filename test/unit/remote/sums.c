// SPDX-License-Identifier: Apache-2.0
/* CRC-64 and HMAC-SHA1 beside published values. */
#include "base/mem.h"
#include "remote/crc64.h"
#include "remote/sha1.h"
#include "tap.h"

static void crc64(void)
{
	char all[1000];

	OK(crc64_add(0, "123456789", 9) == 0x995dc9bbdf1939faULL,
	   "the check value of CRC-64/XZ");
	OK(crc64_add(0, "", 0) == 0, "of nothing it is nothing");
	for (size_t i = 0; i < sizeof all; i++)
		all[i] = (char)(i * 7);
	uint64_t whole = crc64_add(0, all, sizeof all);
	int bad = 0;
	for (size_t cut = 0; cut <= sizeof all; cut++)
		bad += crc64_add(crc64_add(0, all, cut), all + cut, sizeof all - cut) !=
		       whole;
	OK(bad == 0, "in two pieces, cut anywhere, it is the same");
}

static void is_mac(const char *key, const char *text, const char *want, const char *law)
{
	uint8_t mac[SHA1_BYTES];
	char hex[SHA1_BYTES * 2 + 1];

	sha1_hmac(key, text, mac);
	for (int i = 0; i < SHA1_BYTES; i++)
		snprintf(hex + i * 2, 3, "%02x", mac[i]);
	IS(hex, want, "%s", law);
}

int main(void)
{
	char longer[81];

	crc64();
	/* RFC 2202 */
	is_mac("Jefe", "what do ya want for nothing?",
	       "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79", "RFC 2202, case 2");
	memset(longer, 0xaa, 80);
	longer[80] = '\0';
	is_mac(longer, "Test Using Larger Than Block-Size Key - Hash Key First",
	       "aa4ae5e15272d00e95705637ce8a3b55ed402112", "case 6: a long key");
	is_mac(longer,
	       "Test Using Larger Than Block-Size Key and Larger Than One Block-Size Data",
	       "e8e99d0f45237d786d6bbaa7965c7808bbff1a91", "case 7: a long text too");
	return END();
}
