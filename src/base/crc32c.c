// SPDX-License-Identifier: Apache-2.0
#include "base/crc32c.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#include <nmmintrin.h>
#endif

/* The lowest power in the highest bit, as everywhere here. */
#define POLYNOMIAL 0x82f63b78u
#define ONE        (1u << 31) /* x to the 0 */
#define BYTE       (1u << 23) /* x to the 8: what one more byte multiplies by */
#define RUN        1024       /* bytes that are summed side by side */

/* Of two polynomials, modulo ours. */
static uint32_t times(uint32_t a, uint32_t b)
{
	uint32_t product = 0;

	for (uint32_t power = ONE; power; power >>= 1) {
		if (a & power)
			product ^= b;
		b = b & 1 ? b >> 1 ^ POLYNOMIAL : b >> 1;
	}
	return product;
}

/* What so many bytes of zero multiply by. */
static uint32_t power(uint64_t bytes)
{
	uint32_t shift = ONE;

	for (uint32_t square = BYTE; bytes; bytes >>= 1) {
		if (bytes & 1)
			shift = times(shift, square);
		square = times(square, square);
	}
	return shift;
}

static pthread_once_t once = PTHREAD_ONCE_INIT;
static uint32_t table[8][256];     /* [n]: a byte with n bytes of zero behind it */
static uint32_t run_table[4][256]; /* [n]: byte n of a register, RUN bytes of zero on */
static bool has_instruction;
static atomic_bool is_prepared;

static void prepare(void)
{
#if defined(__x86_64__)
	unsigned a, b, c, d;

	/* Asked once and late: under a hypervisor the question itself takes 10 us. */
	has_instruction = __get_cpuid(1, &a, &b, &c, &d) && (c & bit_SSE4_2);
#endif
	for (uint32_t i = 0; i < 256; i++) {
		uint32_t crc = i;
		for (int k = 0; k < 8; k++)
			crc = crc & 1 ? crc >> 1 ^ POLYNOMIAL : crc >> 1;
		table[0][i] = crc;
	}
	for (int n = 1; n < 8; n++)
		for (int i = 0; i < 256; i++)
			table[n][i] =
				table[n - 1][i] >> 8 ^ table[0][table[n - 1][i] & 0xff];
	uint32_t run = power(RUN);
	for (int n = 0; n < 4; n++)
		for (uint32_t i = 0; i < 256; i++)
			run_table[n][i] = times(run, i << 8 * n);
	atomic_store_explicit(&is_prepared, true, memory_order_release);
}

static uint32_t by_table(uint32_t crc, const uint8_t *p, size_t len)
{
	for (; len >= 8; p += 8, len -= 8)
		crc = table[7][(crc ^ p[0]) & 0xff] ^ table[6][(crc >> 8 ^ p[1]) & 0xff] ^
		      table[5][(crc >> 16 ^ p[2]) & 0xff] ^ table[4][crc >> 24 ^ p[3]] ^
		      table[3][p[4]] ^ table[2][p[5]] ^ table[1][p[6]] ^ table[0][p[7]];
	for (; len; p++, len--)
		crc = crc >> 8 ^ table[0][(crc ^ *p) & 0xff];
	return crc;
}

#if defined(__x86_64__)
/* What RUN bytes of zero behind it make of a register. */
static uint32_t behind_run(uint32_t crc)
{
	return run_table[0][crc & 0xff] ^ run_table[1][crc >> 8 & 0xff] ^
	       run_table[2][crc >> 16 & 0xff] ^ run_table[3][crc >> 24];
}

static uint64_t word_at(const uint8_t *p)
{
	uint64_t word;

	memcpy(&word, p, sizeof word);
	return word;
}

/* Apart from long ones, so that it needs no register of its caller's: event files are made
 * of records of some forty bytes. */
__attribute__((target("sse4.2"), noinline)) static uint32_t
by_instruction_short(uint32_t crc, const uint8_t *p, size_t len)
{
	uint64_t a = crc;

	for (; len >= 8; p += 8, len -= 8)
		a = _mm_crc32_u64(a, word_at(p));
	crc = (uint32_t)a;
	if (len >= 4) {
		uint32_t word;
		memcpy(&word, p, sizeof word);
		crc = _mm_crc32_u32(crc, word);
		p += 4;
		len -= 4;
	}
	for (; len; p++, len--)
		crc = _mm_crc32_u8(crc, *p);
	return crc;
}

/* The instruction takes three cycles, and one can begin in each: three runs side by side are
 * summed apart in the time of one, and joined. */
__attribute__((target("sse4.2"))) static uint32_t
by_instruction(uint32_t crc, const uint8_t *p, size_t len)
{
	uint64_t a = crc;

	if (len < 3 * RUN)
		return by_instruction_short(crc, p, len);
	for (; len >= 3 * RUN; p += 3 * RUN, len -= 3 * RUN) {
		uint64_t b = 0, c = 0;
		for (size_t i = 0; i < RUN; i += 8) {
			a = _mm_crc32_u64(a, word_at(p + i));
			b = _mm_crc32_u64(b, word_at(p + RUN + i));
			c = _mm_crc32_u64(c, word_at(p + 2 * RUN + i));
		}
		a = behind_run((uint32_t)a) ^ b;
		a = behind_run((uint32_t)a) ^ c;
	}
	return by_instruction_short((uint32_t)a, p, len);
}
#else
#define by_instruction by_table
#endif

uint32_t crc32c_add(uint32_t crc, const void *data, size_t len)
{
	/* Of short runs, such as a length, the call of pthread_once() would be most. */
	if (!atomic_load_explicit(&is_prepared, memory_order_acquire))
		pthread_once(&once, prepare);
	return ~(has_instruction ? by_instruction : by_table)(~crc, data, len);
}

uint32_t crc32c_add_plainly(uint32_t crc, const void *data, size_t len)
{
	pthread_once(&once, prepare);
	return ~by_table(~crc, data, len);
}

uint32_t crc32c_join(uint32_t first, uint32_t second, uint64_t second_len)
{
	return times(power(second_len), first) ^ second;
}
