// SPDX-License-Identifier: Apache-2.0
/* process.c - the embedded default: tasks are processes of this machine, each in a sandbox
 * held by a shim of its own. */
#include "engine/process.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "shim/probe.h"

/* Of one turn of the loop, for folders of tasks to be started: a gang may have thousands. */
#define TURN_MS 4

static struct process *cast(struct engine *e)
{
	return (struct process *)e;
}

static void ref_key(const struct task_ref *ref, char out[64])
{
	snprintf(out, 64, "%" PRId64 ".%d.%d", ref->job, ref->task, ref->attempt);
}

static struct attempt *find(const struct process *p, const struct task_ref *ref)
{
	char key[64];

	ref_key(ref, key);
	return map_gets(p->by_ref, key);
}

static struct attempt *learn(struct process *p, const struct task_ref *ref,
			     const char *folder)
{
	struct attempt *a = attempt_create(p, ref, folder);
	char key[64];

	ref_key(ref, key);
	map_puts(p->by_ref, key, a);
	return a;
}

/* The queues. */

void process_enqueue(struct process *p, struct attempt_queue *q, struct attempt *a)
{
	a->queue = q;
	a->queue_next = NULL;
	a->queue_prev = q->last;
	if (q->last)
		q->last->queue_next = a;
	else
		q->first = a;
	q->last = a;
	q->count++;
	process_pump(p);
}

void process_unqueue(struct attempt *a)
{
	struct attempt_queue *q = TAKE(a->queue);

	if (!q)
		return;
	if (a->queue_prev)
		a->queue_prev->queue_next = a->queue_next;
	else
		q->first = a->queue_next;
	if (a->queue_next)
		a->queue_next->queue_prev = a->queue_prev;
	else
		q->last = a->queue_prev;
	q->count--;
}

void process_pump(struct process *p)
{
	world_timer_at(p->pump, world_mono_ms(p->world));
}

static void on_pump(void *arg)
{
	struct process *p = arg;
	int64_t until = world_mono_ms(p->world) + TURN_MS;
	struct spawn_shim shim;
	struct err err;

	while (p->looks.first && world_mono_ms(p->world) < until) {
		struct attempt *a = p->looks.first;

		process_unqueue(a);
		attempt_begin(a);
	}
	if (p->looks.first) { /* the rest in the next turn, and others before it */
		process_pump(p);
		return;
	}
	while (p->starts.first && p->starting < p->starting_max) {
		int got = spawn_take(p->shims, &shim, &err);

		if (got == 0)
			break;
		if (got > 0)
			attempt_send(p->starts.first, &shim);
		else
			attempt_unstarted(p->starts.first, err.text);
	}
	if (!spawn_want(p->shims, p->starts.count))
		process_pump(p);
}

static void sample_at(struct process *p, int64_t ms)
{
	if (world_timer_is_set(p->sampler) && p->sampler_ms <= ms)
		return;
	p->sampler_ms = ms;
	world_timer_at(p->sampler, ms);
}

void process_sample(struct process *p)
{
	sample_at(p, world_mono_ms(p->world) + SAMPLE_EVERY_MS);
}

/* One moment for all that are due by then, whenever they were started. */
static void on_sampler(void *arg)
{
	struct process *p = arg;
	int64_t now = world_mono_ms(p->world), next = INT64_MAX;

	for (struct attempt *a = p->attempts; a; a = a->next) {
		int64_t at = attempt_sample(a);

		next = at < next ? at : next;
	}
	if (next != INT64_MAX)
		sample_at(p, next < now + SAMPLE_EVERY_MS ? now + SAMPLE_EVERY_MS : next);
}

/* The folder and those above it.  They need no fsync of their own: a file system that keeps
 * a mark which was fsync'ed also keeps the folders that lead to it. */
int process_folder(const char *folder, struct err *err)
{
	char path[PATH_MAX];
	size_t len = strlen(folder);

	if (mkdir(folder, 0700) == 0)
		return 1;
	if (errno == EEXIST)
		return 0;
	if (errno != ENOENT || len >= sizeof path)
		return err_sys(err, "make %s", folder);
	memcpy(path, folder, len + 1);
	for (char *at = path + 1; (at = strchr(at, '/')); at++) {
		*at = '\0';
		if (mkdir(path, 0700) < 0 && errno != EEXIST)
			return err_sys(err, "make %s", path);
		*at = '/';
	}
	if (mkdir(folder, 0700) == 0)
		return 1;
	return errno == EEXIST ? 0 : err_sys(err, "make %s", folder);
}

static void process_begin(struct engine *e)
{
	struct process *p = cast(e);

	p->sink.node(p->sink.arg, &p->machine.node);
	process_pump(p);
}

/* The yard asks again about an attempt it already asked about. */
static void retell(struct attempt *a)
{
	struct engine_sink *sink = &a->p->sink;

	if (a->state == ATTEMPT_RUNNING)
		sink->started(sink->arg, &a->ref);
	else if (a->state == ATTEMPT_OVER)
		sink->exited(sink->arg, &a->ref, &a->exit);
}

static void drop(struct process *p, struct attempt *a)
{
	char key[64];

	ref_key(&a->ref, key);
	map_dels(p->by_ref, key);
	a->forgotten = true;
	if (!a->link && !a->pid)
		attempt_destroy(a); /* else when its shim is gone and reaped */
}

/* A new attempt is made only once the end of the last one was recorded. */
static void drop_before(struct process *p, struct task_ref ref)
{
	struct attempt *a;

	ref.attempt--;
	a = find(p, &ref);
	if (a && a->state == ATTEMPT_OVER)
		drop(p, a);
}

static void process_start(struct engine *e, struct bundle *b)
{
	struct process *p = cast(e);
	struct attempt *a = find(p, &b->ref);

	if (a) {
		retell(a);
		bundle_destroy(b);
		return;
	}
	drop_before(p, b->ref);
	a = learn(p, &b->ref, b->folder);
	a->bundle = b;
	process_enqueue(p, &p->looks, a);
}

static void process_adopt(struct engine *e, const struct task_ref *ref,
			  const char *folder)
{
	struct process *p = cast(e);
	struct attempt *a = find(p, ref);

	if (a) {
		retell(a);
		return;
	}
	a = learn(p, ref, folder);
	a->told_started = true;
	attempt_look(a);
}

static void process_stop(struct engine *e, const struct task_ref *ref, const char *notice)
{
	struct attempt *a = find(cast(e), ref);

	if (a)
		attempt_stop(a, notice);
}

static void process_forget(struct engine *e, const struct task_ref *ref,
			   const char *folder)
{
	struct process *p = cast(e);
	struct attempt *a = find(p, ref);
	int dir;

	if (a && a->state != ATTEMPT_OVER)
		return;
	dir = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir >= 0) {
		unlinkat(dir, "sock", 0);
		/* The exit file (or, of a lost one, the mark) stays and says that it was
		 * begun; without either the lock is all there is. */
		if (faccessat(dir, "exit", F_OK, 0) == 0 ||
		    faccessat(dir, "mark", F_OK, 0) == 0)
			unlinkat(dir, "lock", 0);
		close(dir);
	}
	if (a)
		drop(p, a);
}

static struct attempt *find_running(struct engine *e, const struct task_ref *ref,
				    struct err *err)
{
	struct attempt *a = find(cast(e), ref);

	if (a && a->state == ATTEMPT_RUNNING)
		return a;
	err_set(err, ERR_CONFLICT, "the task does not run now");
	return NULL;
}

static int process_exec(struct engine *e, const struct task_ref *ref,
			const char *const *argv, bool tty, struct world_stream **out,
			struct err *err)
{
	const struct attempt *a = find_running(e, ref, err);
	AUTO_BUF struct buf payload = { 0 }, frame = { 0 };
	struct shim_exec exec = { .tty = tty };
	AUTO_FD int fd = -1;

	if (!a)
		return -1;
	for (; *argv; argv++)
		shim_list_add(&exec.argv, *argv);
	shim_exec_encode(&exec, &payload);
	shim_exec_fini(&exec);
	if (payload.len > SHIM_FRAME_MAX)
		return err_set(err, ERR_TOO_LARGE, "the command is longer than %u bytes",
			       SHIM_FRAME_MAX);
	if (shim_connect(a->folder, &fd, err) < 0)
		return -1;
	*out = world_stream_open(a->p->world, fd, err);
	if (!*out)
		return -1;
	(void)TAKE_FD(fd);
	shim_frame_add(&frame, SHIM_EXEC, payload.data, payload.len);
	world_stream_write(*out, frame.data, frame.len);
	return 0;
}

static int process_usage(struct engine *e, const struct task_ref *ref,
			 struct engine_usage *out, struct err *err)
{
	struct attempt *a = find_running(e, ref, err);

	return a ? attempt_usage(a, out, err) : -1;
}

static void process_destroy(struct engine *e)
{
	struct process *p = cast(e);

	while (p->attempts)
		attempt_destroy(p->attempts);
	world_timer_destroy(p->pump);
	world_timer_destroy(p->sampler);
	spawn_pool_destroy(p->shims);
	map_destroy(p->by_ref);
	free(p->state_dir);
	free(p->cache);
	free(p->home);
	free(p);
}

static const struct engine_ops process_ops = {
	.name = "process",
	.begin = process_begin,
	.start = process_start,
	.adopt = process_adopt,
	.stop = process_stop,
	.forget = process_forget,
	.exec = process_exec,
	.usage = process_usage,
	.destroy = process_destroy,
};

struct engine *engine_process_create(struct world *w,
				     const struct engine_process_config *c,
				     const struct engine_sink *sink, struct err *err)
{
	AUTO_FREE char *cache = str_printf("%s/sandbox", c->state_dir);
	struct process *p;

	if (access(c->shim_path, X_OK) < 0) {
		err_sys(err, "%s cannot be run", c->shim_path);
		return NULL;
	}
	if (process_folder(cache, err) < 0)
		return NULL;
	shim_settle();
	p = mem_alloc(1, sizeof *p);
	p->base.ops = &process_ops;
	p->world = w;
	p->sink = *sink;
	machine_discover(c, "/dev", &p->machine);
	/* Of the cores that are there, not of those the yard may give to tasks. */
	p->starting_max = 2 + 2 * machine_cores();
	p->shims = spawn_pool_create(w, c->shim_path, on_pump, p);
	p->state_dir = mem_strdup(c->state_dir);
	p->cache = TAKE(cache);
	p->home = mem_strdup(getenv("HOME"));
	p->by_ref = map_create();
	p->pump = world_timer_create(w, on_pump, p);
	p->sampler = world_timer_create(w, on_sampler, p);
	return &p->base;
}
