// SPDX-License-Identifier: Apache-2.0
/* The first byte chooses what the rest is read as.  What is accepted must come out the same
 * when it is written and read again. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "shim/message.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void check(bool law)
{
	if (!law)
		abort();
}

static void task(const char *data, size_t len)
{
	AUTO_BUF struct buf once = { 0 };
	AUTO_BUF struct buf twice = { 0 };
	struct shim_task t;
	struct err err;

	if (shim_task_decode(data, len, &t, &err) < 0)
		return;
	shim_task_encode(&t, &once);
	shim_task_fini(&t);
	check(shim_task_decode(once.data, once.len, &t, &err) == 0);
	shim_task_encode(&t, &twice);
	shim_task_fini(&t);
	check(once.len == twice.len && memcmp(once.data, twice.data, once.len) == 0);
}

static void exec(const char *data, size_t len)
{
	AUTO_BUF struct buf b = { 0 };
	struct shim_exec e;
	struct err err;

	if (shim_exec_decode(data, len, &e, &err) < 0)
		return;
	shim_exec_encode(&e, &b);
	shim_exec_fini(&e);
	check(shim_exec_decode(b.data, b.len, &e, &err) == 0);
	shim_exec_fini(&e);
}

static void frames(const char *data, size_t len)
{
	struct shim_frame f;
	int64_t used;

	while ((used = shim_frame_get(data, len, &f)) > 0) {
		check((size_t)used <= len && f.data >= data &&
		      f.data + f.len <= data + len);
		data += used;
		len -= (size_t)used;
	}
}

static void records(const char *data, size_t len)
{
	AUTO_BUF struct buf b = { 0 };
	struct shim_exit e;
	struct shim_mark m;
	struct shim_usage u;
	struct err err;

	if (shim_exit_decode(data, len, &e, &err) == 0) {
		shim_exit_encode(&e, &b);
		check(shim_exit_decode(b.data, b.len, &e, &err) == 0);
	}
	shim_mark_decode(data, len, &m, &err);
	shim_usage_decode(data, len, &u, &err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	if (len == 0)
		return 0;
	/* A copy of exactly this length, so that a step too far is seen. */
	AUTO_FREE char *text = mem_dup(data + 1, len - 1);
	static void (*const kinds[])(const char *, size_t) = { task, exec, frames,
							       records };

	kinds[data[0] % COUNT_OF(kinds)](text, len - 1);
	return 0;
}
