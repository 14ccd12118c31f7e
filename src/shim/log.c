// SPDX-License-Identifier: Apache-2.0
#include "shim/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"

#define LIMIT_DEFAULT     (1ll << 30)
#define SEGMENT_BYTES_MIN (64ll << 10)
#define SEGMENT_BYTES_MAX (128ll << 20)

void log_init(struct log *l, int dir, int64_t limit)
{
	int64_t segment;

	*l = (struct log){ .dir = dir,
			   .fd = -1,
			   .limit = limit > 0 ? limit : LIMIT_DEFAULT };
	segment = l->limit / LOG_SEGMENTS;
	if (segment < SEGMENT_BYTES_MIN)
		segment = SEGMENT_BYTES_MIN;
	if (segment > SEGMENT_BYTES_MAX)
		segment = SEGMENT_BYTES_MAX;
	l->segment_limit = segment;
}

static void segment_name(uint64_t start, char name[32])
{
	snprintf(name, 32, "log.%020llu", (unsigned long long)start);
}

static void remove_oldest(struct log *l)
{
	char name[32];

	segment_name(l->starts[0], name);
	unlinkat(l->dir, name, 0);
	l->count--;
	memmove(l->starts, l->starts + 1, (size_t)l->count * sizeof l->starts[0]);
}

static int segment_begin(struct log *l)
{
	char name[32];

	if (l->fd >= 0)
		close(l->fd);
	if (l->count == (int)COUNT_OF(l->starts))
		remove_oldest(l);
	segment_name(l->offset, name);
	l->fd = openat(l->dir, name, O_WRONLY | O_CREAT | O_CLOEXEC | O_APPEND, 0600);
	if (l->fd < 0)
		return -1;
	l->segment_start = l->offset;
	/* A segment that took no byte is begun again under the same name. */
	if (l->count == 0 || l->starts[l->count - 1] != l->offset)
		l->starts[l->count++] = l->offset;
	return 0;
}

static int make_room(struct log *l, size_t len)
{
	int64_t used = (int64_t)(l->offset - l->segment_start);

	if (l->fd < 0 || (used > 0 && used + (int64_t)len > l->segment_limit)) {
		if (segment_begin(l) < 0)
			return -1;
	}
	while (l->count > 1 && (int64_t)(l->offset + len - l->starts[0]) > l->limit)
		remove_oldest(l);
	return 0;
}

static int64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static int record_write(struct log *l, enum log_stream stream, const char *data,
			size_t len)
{
	struct logframe f = { stream, (uint32_t)len, now_us() };
	uint8_t head[LOGFRAME_BYTES];
	struct iovec part[2] = { { head, sizeof head },
				 { (void *)(uintptr_t)data, len } };
	size_t whole = sizeof head + len;
	ssize_t n;

	if (make_room(l, whole) < 0)
		return -1;
	logframe_write(&f, head);
	do
		n = writev(l->fd, part, 2);
	while (n < 0 && errno == EINTR);
	if (n == (ssize_t)whole) {
		l->offset += whole;
		return 0;
	}
	if (n >=
	    0) { /* cut by a full disk: take it back, so that what follows is still a record */
		errno = ENOSPC;
		if (ftruncate(l->fd, (off_t)(l->offset - l->segment_start)) < 0) {
			/* Readers stop at the cut record, so this segment ends here. */
			l->offset += (uint64_t)n;
			close(l->fd);
			l->fd = -1;
		}
	}
	return -1;
}

/* True: what was lost is told. */
static bool tell_dropped(struct log *l)
{
	char text[128];
	int n;

	if (l->dropped == 0)
		return true;
	n = snprintf(text, sizeof text, "%llu bytes of output lost: %s\n",
		     (unsigned long long)l->dropped, strerror(l->error));
	if (record_write(l, LOG_NOTE, text, (size_t)n) < 0)
		return false;
	l->dropped = 0;
	return true;
}

/* A note fits where the data behind it does not: takes the note back, or a nearly full disk
 * would be filled with notes. */
static void untell(struct log *l, uint64_t offset, uint64_t lost)
{
	if (lost == 0 || l->fd < 0 || l->segment_start > offset ||
	    ftruncate(l->fd, (off_t)(offset - l->segment_start)) < 0)
		return;
	l->offset = offset;
	l->dropped = lost;
}

void log_write(struct log *l, enum log_stream stream, const char *data, size_t len)
{
	uint64_t offset = l->offset, lost = l->dropped;

	if (len == 0)
		return;
	if (tell_dropped(l)) {
		if (record_write(l, stream, data, len) == 0)
			return;
		l->error = errno;
		untell(l, offset, lost);
	} else {
		l->error = errno;
	}
	l->dropped += len;
}

void log_note(struct log *l, const char *fmt, ...)
{
	char text[512];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(text, sizeof text - 1, fmt, ap);
	va_end(ap);
	if (n > (int)sizeof text - 2)
		n = (int)sizeof text - 2;
	text[n] = '\n';
	if (tell_dropped(l))
		record_write(l, LOG_NOTE, text, (size_t)n + 1);
}

void log_fini(struct log *l)
{
	tell_dropped(l);
	if (l->fd >= 0)
		close(l->fd);
	l->fd = -1;
}

bool log_give_way(struct log *l)
{
	if (l->count == 0)
		return false;
	remove_oldest(l);
	return true;
}
