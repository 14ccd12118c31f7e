// SPDX-License-Identifier: Apache-2.0
#include "base/logframe.h"

static void put_le(uint8_t *out, uint64_t v, int bytes)
{
	for (int i = 0; i < bytes; i++)
		out[i] = (uint8_t)(v >> (8 * i));
}

static uint64_t get_le(const uint8_t *in, int bytes)
{
	uint64_t v = 0;

	for (int i = 0; i < bytes; i++)
		v |= (uint64_t)in[i] << (8 * i);
	return v;
}

void logframe_write(const struct logframe *f, uint8_t out[LOGFRAME_BYTES])
{
	out[0] = LOGFRAME_MAGIC;
	out[1] = (uint8_t)f->stream;
	put_le(out + 2, 0, 2);
	put_le(out + 4, f->len, 4);
	put_le(out + 8, (uint64_t)f->time_us, 8);
}

int logframe_read(const uint8_t in[LOGFRAME_BYTES], struct logframe *out)
{
	uint64_t len = get_le(in + 4, 4);

	if (in[0] != LOGFRAME_MAGIC || in[1] < LOG_STDOUT || in[1] > LOG_NOTE || in[2] ||
	    in[3] || len > LOGFRAME_DATA_MAX)
		return -1;
	out->stream = (enum log_stream)in[1];
	out->len = (uint32_t)len;
	out->time_us = (int64_t)get_le(in + 8, 8);
	return 0;
}
