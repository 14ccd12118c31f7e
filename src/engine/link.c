// SPDX-License-Identifier: Apache-2.0
#include "engine/link.h"

#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"

struct link {
	struct world_stream *stream;
	struct link_events ev;
	struct buf in;
	bool *closed; /* set while frames are given out: tells that loop that the link is gone */
};

static void end(struct link *l)
{
	world_stream_close(l->stream);
	l->stream = NULL;
	l->ev.on_end(l->ev.arg);
}

static void on_data(void *arg, const char *data, size_t len)
{
	struct link *l = arg;
	struct shim_frame f;
	bool closed = false;
	size_t used = 0;
	int64_t n;

	buf_add(&l->in, data, len);
	l->closed = &closed;
	while ((n = shim_frame_get(l->in.data + used, l->in.len - used, &f)) > 0) {
		used += (size_t)n;
		l->ev.on_frame(l->ev.arg, &f);
		if (closed)
			return;
	}
	l->closed = NULL;
	buf_drop(&l->in, used);
	if (n < 0)
		end(l);
}

static void on_end(void *arg, const struct err *err)
{
	(void)err; /* a shim that is gone is told by its folder, not by its socket */
	end(arg);
}

struct link *link_open(struct world *w, int fd, const struct link_events *ev,
		       struct err *err)
{
	static const struct world_stream_events events = { .on_data = on_data,
							   .on_end = on_end };
	struct world_stream *s = world_stream_open(w, fd, err);
	struct link *l;

	if (!s) {
		close(fd);
		return NULL;
	}
	l = mem_alloc(1, sizeof *l);
	l->stream = s;
	l->ev = *ev;
	world_stream_start(s, &events, l);
	return l;
}

void link_send(struct link *l, enum shim_type type, const void *data, size_t len)
{
	AUTO_BUF struct buf out = { 0 };

	if (!l->stream)
		return;
	shim_frame_add(&out, type, data, len);
	world_stream_write(l->stream, out.data, out.len);
}

void link_close(struct link *l)
{
	if (!l)
		return;
	if (l->closed)
		*l->closed = true;
	world_stream_close(l->stream);
	buf_fini(&l->in);
	free(l);
}
