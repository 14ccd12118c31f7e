// SPDX-License-Identifier: Apache-2.0
#include <sys/resource.h>

#include "base/mem.h"
#include "shim/hold.h"

static void write_log(struct hold *h, enum log_stream stream, const char *data,
		      size_t len)
{
	while (len > 0) {
		size_t n = len < LOGFRAME_DATA_MAX ? len : LOGFRAME_DATA_MAX;

		log_write(&h->log, stream, data, n);
		data += n;
		len -= n;
	}
}

static void to_stdout(void *arg, const char *data, size_t len)
{
	write_log(arg, LOG_STDOUT, data, len);
}

static void to_stderr(void *arg, const char *data, size_t len)
{
	write_log(arg, LOG_STDERR, data, len);
}

void output_init(struct hold *h)
{
	const struct shim_secrets *s = &h->task.secrets;
	/* What was just read of the task's output is no vault.  1, not 0: that alone also keeps
	 * a dump from a program that the kernel would hand it to. */
	const struct rlimit none = { 1, 1 };
	AUTO_FREE struct mask_value *values = NULL;

	if (s->count == 0)
		return;
	setrlimit(RLIMIT_CORE, &none);
	values = mem_alloc(s->count, sizeof *values);
	for (size_t i = 0; i < s->count; i++)
		values[i] = (struct mask_value){ s->items[i].value, s->items[i].len };
	h->mask = mask_create(values, s->count);
	if (!h->mask)
		return;
	h->masked[0] = mask_stream_create(h->mask, to_stdout, h);
	h->masked[1] = mask_stream_create(h->mask, to_stderr, h);
}

void output_write(struct hold *h, enum log_stream stream, const char *data, size_t len)
{
	if (h->mask)
		mask_feed(h->masked[stream == LOG_STDERR], data, len);
	else
		log_write(&h->log, stream, data, len);
}

void output_end(struct hold *h)
{
	for (size_t i = 0; h->mask && i < COUNT_OF(h->masked); i++)
		mask_end(h->masked[i]);
}

void output_fini(struct hold *h)
{
	for (size_t i = 0; i < COUNT_OF(h->masked); i++)
		mask_stream_destroy(TAKE(h->masked[i]));
	mask_destroy(TAKE(h->mask));
}
