// SPDX-License-Identifier: Apache-2.0
/* world_uv.c - the real world: loop, clock, timers, pool, watches, signals. */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "world/uv_impl.h"

static int64_t clock_ms(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int64_t uvw_now_ms(struct world *w)
{
	(void)w;
	return clock_ms(CLOCK_REALTIME);
}

static int64_t uvw_mono_ms(struct world *w)
{
	(void)w;
	return clock_ms(CLOCK_MONOTONIC);
}

static uint64_t uvw_random(struct world *w)
{
	uint64_t r = 0;

	(void)w;
	/* Up to 256 bytes come whole once the kernel's pool is seeded. */
	while (getrandom(&r, sizeof r, 0) != (ssize_t)sizeof r)
		assert(errno == EINTR);
	return r;
}

static uint64_t uvw_tie(struct world *w)
{
	return uv_world_of(w)->next_tie++;
}

/* Timers that a callback sets for now wait for the next turn, so that streams get theirs. */
static void on_timer(uv_timer_t *t)
{
	struct uv_world *u = t->data;
	int64_t now = clock_ms(CLOCK_MONOTONIC);
	uint64_t limit = u->next_tie;
	struct world_timer *first;

	while ((first = world_timers_first(&u->base)) && first->due_ms <= now &&
	       first->tie < limit)
		world_timers_fire(&u->base);
	u->base.ops->timers_changed(&u->base);
}

static void uvw_timers_changed(struct world *w)
{
	struct uv_world *u = uv_world_of(w);
	struct world_timer *first = world_timers_first(w);
	int64_t wait;

	/* Most timers are put off before they are due: to look once too early is cheaper than
	 * to set the loop's own each time. */
	if (!first ||
	    (uv_is_active((uv_handle_t *)&u->timer) && u->armed_ms <= first->due_ms))
		return;
	u->armed_ms = first->due_ms;
	/* The loop's idea of now may be old, and uv counts from that. */
	uv_update_time(&u->loop);
	wait = first->due_ms - clock_ms(CLOCK_MONOTONIC);
	uv_timer_start(&u->timer, on_timer, wait > 0 ? (uint64_t)wait : 0, 0);
}

static void on_idle(uv_idle_t *idle)
{
	struct uv_world *u = idle->data;

	for (size_t n = u->base.later_count; n > 0; n--)
		world_later_fire(&u->base);
	if (!u->base.later_count)
		uv_idle_stop(idle);
}

static void uvw_later_added(struct world *w)
{
	if (!uv_world_of(w)->closing)
		uv_idle_start(&uv_world_of(w)->idle, on_idle);
}

struct uv_job {
	uv_work_t req;
	struct uv_world *world;
	world_cb work, done;
	void *arg;
};

static void on_pool(uv_work_t *req)
{
	struct uv_job *j = req->data;

	j->work(j->arg);
}

static void on_pool_done(uv_work_t *req, int status)
{
	struct uv_job *j = req->data;
	world_cb done = j->done;
	void *arg = j->arg;

	(void)status; /* only a cancelled work has one, and nobody cancels */
	j->world->works--;
	free(j);
	done(arg);
}

static void uvw_work(struct world *w, world_cb work, world_cb done, void *arg)
{
	struct uv_job *j = mem_alloc(1, sizeof *j);

	*j = (struct uv_job){
		.world = uv_world_of(w), .work = work, .done = done, .arg = arg
	};
	j->req.data = j;
	j->world->works++;
	uv_queue_work(&j->world->loop, &j->req, on_pool, on_pool_done);
}

struct uv_watch {
	struct world_watch base;
	uv_poll_t poll;
	world_cb cb;
	void *arg;
};

static void on_handle_closed(uv_handle_t *h)
{
	free(h->data);
}

static void on_readable(uv_poll_t *poll, int status, int events)
{
	struct uv_watch *t = poll->data;

	(void)events;
	/* libuv stops a watch at an error condition; the caller looks at the fd and ends it. */
	if (status < 0)
		uv_poll_start(poll, UV_READABLE, on_readable);
	t->cb(t->arg);
}

static struct world_watch *uvw_watch_create(struct world *w, int fd, world_cb cb,
					    void *arg)
{
	struct uv_watch *t = mem_alloc(1, sizeof *t);

	*t = (struct uv_watch){ .base.world = w, .cb = cb, .arg = arg };
	t->poll.data = t;
	if (uv_poll_init(&uv_world_of(w)->loop, &t->poll, fd) < 0) {
		free(t);
		return NULL;
	}
	uv_poll_start(&t->poll, UV_READABLE, on_readable);
	return &t->base;
}

static void uvw_watch_destroy(struct world_watch *watch)
{
	struct uv_watch *t = (struct uv_watch *)watch;

	uv_close((uv_handle_t *)&t->poll, on_handle_closed);
}

struct uv_sig {
	struct world_signal base;
	uv_signal_t handle;
	world_cb cb;
	void *arg;
};

static void on_signal(uv_signal_t *h, int signum)
{
	struct uv_sig *s = h->data;

	(void)signum;
	s->cb(s->arg);
}

static struct world_signal *uvw_signal_create(struct world *w, int signum, world_cb cb,
					      void *arg)
{
	struct uv_sig *s = mem_alloc(1, sizeof *s);

	*s = (struct uv_sig){ .base.world = w, .cb = cb, .arg = arg };
	s->handle.data = s;
	uv_signal_init(&uv_world_of(w)->loop, &s->handle);
	uv_signal_start(&s->handle, on_signal, signum);
	return &s->base;
}

static void uvw_signal_destroy(struct world_signal *sig)
{
	struct uv_sig *s = (struct uv_sig *)sig;

	uv_close((uv_handle_t *)&s->handle, on_handle_closed);
}

static void uvw_stop(struct world *w)
{
	uv_world_of(w)->stopping = true;
	uv_stop(&uv_world_of(w)->loop);
}

static void uvw_run(struct world *w)
{
	struct uv_world *u = uv_world_of(w);

	while (!u->stopping)
		uv_run(&u->loop, UV_RUN_DEFAULT);
	u->stopping = false;
}

static void uvw_destroy(struct world *w)
{
	struct uv_world *u = uv_world_of(w);
	int rc;

	u->closing = true;
	uv_idle_stop(&u->idle);
	while (u->works || u->lanes)
		uv_run(&u->loop, UV_RUN_ONCE);
	uv_close((uv_handle_t *)&u->alive, NULL);
	uv_close((uv_handle_t *)&u->timer, NULL);
	uv_close((uv_handle_t *)&u->idle, NULL);
	uv_run(&u->loop, UV_RUN_NOWAIT);
	rc = uv_loop_close(&u->loop);
	assert(rc == 0 && "a stream, listener, watch or signal outlives its world");
	(void)rc;
	if (u->spare_fd >= 0)
		close(u->spare_fd);
	free(u->scratch);
	world_fini(w);
	free(u);
}

static const struct world_ops ops = {
	.destroy = uvw_destroy,
	.run = uvw_run,
	.stop = uvw_stop,
	.now_ms = uvw_now_ms,
	.mono_ms = uvw_mono_ms,
	.random = uvw_random,
	.tie = uvw_tie,
	.timers_changed = uvw_timers_changed,
	.later_added = uvw_later_added,
	.work = uvw_work,
	.lane_create = uv_lane_create,
	.lane_work = uv_lane_work,
	.lane_destroy = uv_lane_destroy,
	.watch_create = uvw_watch_create,
	.watch_destroy = uvw_watch_destroy,
	.signal_create = uvw_signal_create,
	.signal_destroy = uvw_signal_destroy,
	.listen_unix = uv_listen_unix,
	.listen_tcp = uv_listen_tcp,
	.listener_port = uv_listener_port,
	.listener_close = uv_listener_close,
	.stream_open = uv_stream_open,
	.connect_unix = uv_connect_unix,
	.connect_tcp = uv_connect_tcp,
	.stream_start = uv_stream_start,
	.stream_pause = uv_stream_pause,
	.stream_write = uv_stream_write,
	.stream_pending = uv_stream_pending,
	.stream_lend = uv_stream_lend,
	.stream_await = uv_stream_await,
	.stream_shutdown = uv_stream_shutdown,
	.stream_peer = uv_stream_peer,
	.stream_close = uv_stream_close,
};

struct world *world_uv_create(struct err *err)
{
	struct uv_world *u = mem_alloc(1, sizeof *u);
	int rc;

	u->base.ops = &ops;
	rc = uv_loop_init(&u->loop);
	if (rc < 0) {
		free(u);
		err_set(err, ERR_IO, "cannot make an event loop: %s", uv_strerror(rc));
		return NULL;
	}
	uv_async_init(&u->loop, &u->alive, NULL);
	uv_timer_init(&u->loop, &u->timer);
	uv_idle_init(&u->loop, &u->idle);
	u->timer.data = u;
	u->idle.data = u;
	u->scratch = mem_alloc(1, UV_SCRATCH_BYTES);
	u->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	signal(SIGPIPE, SIG_IGN);
	return &u->base;
}
