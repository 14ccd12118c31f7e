// SPDX-License-Identifier: Apache-2.0
#include "shim/frame.h"

#include "shim/bytes.h"

void shim_frame_add(struct buf *out, enum shim_type type, const void *data, size_t len)
{
	buf_addc(out, (char)type);
	buf_add(out, "\0\0", 3);
	put_u32(out, (uint32_t)len);
	if (len > 0)
		buf_add(out, data, len);
}

int64_t shim_frame_get(const char *data, size_t len, struct shim_frame *out)
{
	uint32_t n;

	if (len < SHIM_HEADER_BYTES)
		return 0;
	n = get_u32(data + 4);
	if (data[1] || data[2] || data[3] || data[0] <= 0 || data[0] > SHIM_EXEC_EXIT ||
	    n > (data[0] == SHIM_BUNDLE ? SHIM_BUNDLE_MAX : SHIM_FRAME_MAX))
		return -1;
	if (len - SHIM_HEADER_BYTES < n)
		return 0;
	*out = (struct shim_frame){ (enum shim_type)data[0], data + SHIM_HEADER_BYTES,
				    n };
	return SHIM_HEADER_BYTES + (int64_t)n;
}
