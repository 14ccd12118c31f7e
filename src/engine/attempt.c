// SPDX-License-Identifier: Apache-2.0
/* attempt.c - one attempt of a task, from start() to its exit; the states are in process.h. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "engine/attempt_parts.h"
#include "shim/probe.h"

#define PAUSE_MS_MAX    500
#define START_WITHIN_MS 60000

struct sweep {                   /* of what a killed shim left behind */
	struct attempt *attempt; /* NULL: the engine has gone meanwhile */
	struct shim_mark mark;
	char lost[128];
};

static void on_timer(void *arg);

static int64_t now(const struct attempt *a)
{
	return world_mono_ms(a->p->world);
}

void attempt_pause(struct attempt *a, int64_t ms)
{
	if (!a->timer)
		a->timer = world_timer_create(a->p->world, on_timer, a);
	world_timer_at(a->timer, now(a) + ms);
}

struct attempt *attempt_create(struct process *p, const struct task_ref *ref,
			       const char *folder)
{
	struct attempt *a = mem_alloc(1, sizeof *a);

	a->p = p;
	a->ref = *ref;
	a->folder = mem_strdup(folder);
	a->pidfd = -1;
	a->sample_every_ms = SAMPLE_EVERY_MS;
	a->next = p->attempts;
	if (a->next)
		a->next->prev = a;
	p->attempts = a;
	return a;
}

void attempt_destroy(struct attempt *a)
{
	process_unqueue(a);
	if (a->prev)
		a->prev->next = a->next;
	else
		a->p->attempts = a->next;
	if (a->next)
		a->next->prev = a->prev;
	link_close(a->link);
	link_close(a->control);
	world_watch_destroy(a->reaper);
	if (a->pidfd >= 0)
		close(a->pidfd);
	world_timer_destroy(a->timer);
	if (a->sweep)
		a->sweep->attempt = NULL;
	bundle_destroy(a->bundle);
	free(a->folder);
	free(a->notice);
	free(a);
}

/* Every change of state passes here, so that the count of starts under way is right. */
static void enter(struct attempt *a, enum attempt_state state)
{
	bool was = a->state == ATTEMPT_STARTING, is = state == ATTEMPT_STARTING;

	process_unqueue(a);
	a->state = state;
	a->p->starting += is - was;
	if (was && !is)
		process_pump(a->p);
}

static void finish(struct attempt *a)
{
	if (a->state == ATTEMPT_OVER)
		return;
	enter(a, ATTEMPT_OVER);
	if (a->timer)
		world_timer_stop(a->timer);
	link_close(TAKE(a->control));
	bundle_destroy(TAKE(a->bundle));
	a->p->sink.exited(a->p->sink.arg, &a->ref, &a->exit);
}

/* A shim of an earlier daemon may still have the bundle to read.  A folder that we made
 * ourselves was never told to anybody else. */
static bool fence(struct attempt *a, const char *why)
{
	struct err err;
	int rc = -1;

	if (a->fresh)
		return true;
	if (process_folder(a->folder, &err) >= 0)
		rc = shim_fence(a->folder, why, &err);
	if (rc <=
	    0) { /* it has begun after all, or the disk is full: nothing is sure yet */
		enter(a, ATTEMPT_LOOKING);
		attempt_pause(a, rc == 0 ? LOOK_PAUSE_MS : PAUSE_MS_MAX);
	}
	return rc > 0;
}

void attempt_unstarted(struct attempt *a, const char *why)
{
	if (!fence(a, why))
		return;
	convert_unstarted(why, &a->exit);
	finish(a);
}

static void tell_started(struct attempt *a)
{
	enter(a, ATTEMPT_RUNNING);
	if (a->timer)
		world_timer_stop(a->timer);
	a->tries = 0;
	a->sample_at_ms = now(a) + a->sample_every_ms;
	process_sample(a->p);
	if (!a->told_started)
		a->p->sink.started(a->p->sink.arg, &a->ref);
	a->told_started = true;
}

/* Reaping: only once its socket has ended, so that a task in the middle of its life costs
 * no descriptor for it. */

static bool reap(struct attempt *a)
{
	if (a->pid > 0 && waitpid(a->pid, &a->status, WNOHANG) != 0)
		a->pid = 0;
	return !a->pid;
}

/* Ours until it is reaped: its pid cannot be somebody else's. */
static void kill_child(const struct attempt *a)
{
	if (a->pid > 0)
		kill(a->pid, SIGKILL);
}

static void child_gone(struct attempt *a)
{
	world_watch_destroy(TAKE(a->reaper));
	if (a->pidfd >= 0)
		close(TAKE_FD(a->pidfd));
	if (a->forgotten)
		attempt_destroy(a);
	else if (a->state != ATTEMPT_OVER)
		attempt_look(a);
}

static void on_child(void *arg)
{
	struct attempt *a = arg;

	if (reap(a))
		child_gone(a);
}

static void on_link_end(void *arg)
{
	struct attempt *a = arg;

	link_close(TAKE(a->link));
	if (!reap(a)) {
		a->pidfd = (int)syscall(SYS_pidfd_open, a->pid, 0);
		a->reaper = a->pidfd < 0 ? NULL
					 : world_watch_create(a->p->world, a->pidfd,
							      on_child, a);
		if (a->reaper)
			return;
	}
	child_gone(a);
}

struct link *attempt_connect(struct attempt *a, const struct link_events *ev)
{
	struct err err;
	int fd;

	if (shim_connect(a->folder, &fd, &err) < 0)
		return NULL;
	return link_open(a->p->world, fd, ev, &err);
}

/* The shim did not do as it was told: with it goes all it holds, and the folder tells. */
static void kill_shim(struct attempt *a)
{
	struct shim_probe probe;
	struct err err;

	a->kill_by_ms = now(a) + KILL_WITHIN_MS;
	a->shim_killed = true;
	if (a->pid > 0) {
		kill_child(a);
	} else if (shim_probe(a->folder, &probe, &err) == 0 && probe.pidfd >= 0) {
		syscall(SYS_pidfd_send_signal, probe.pidfd, SIGKILL, NULL, 0);
		close(probe.pidfd);
	} else {
		shim_kill(a->folder);
	}
}

void attempt_stop(struct attempt *a, const char *notice)
{
	bool kill = !notice;

	if (notice && !a->notice)
		a->notice = mem_strdup(notice);
	if (kill || a->stop == ATTEMPT_STOP_NONE)
		a->stop = kill ? ATTEMPT_STOP_KILL : ATTEMPT_STOP_TERM;
	if (kill && !a->kill_by_ms)
		a->kill_by_ms = now(a) + KILL_WITHIN_MS;
	switch (a->state) {
	case ATTEMPT_QUEUED:
		attempt_unstarted(a, "stopped before it was started");
		break;
	case ATTEMPT_STARTING: /* sent as soon as it has started */
		if (kill)
			attempt_pause(a, KILL_WITHIN_MS);
		break;
	case ATTEMPT_RUNNING:
		attempt_send_stop(a);
		break;
	case ATTEMPT_LOOKING:
	case ATTEMPT_OVER:
		break;
	}
}

static void on_timer(void *arg)
{
	struct attempt *a = arg;

	if (a->state == ATTEMPT_STARTING && a->stop == ATTEMPT_STOP_NONE) {
		/* A disk that hangs must not keep other tasks from starting for ever. */
		snprintf(a->refused, sizeof a->refused, "it had not started after %d s",
			 START_WITHIN_MS / 1000);
		kill_child(a);
		return;
	}
	if (a->kill_by_ms && now(a) >= a->kill_by_ms) {
		kill_shim(a);
		attempt_pause(a, a->state == ATTEMPT_LOOKING ? LOOK_PAUSE_MS
							     : KILL_WITHIN_MS);
		return;
	}
	if (a->state == ATTEMPT_LOOKING)
		attempt_look(a);
	else
		attempt_send_stop(a);
}

/* What the shim says over its own socket, or to one who watches. */
static void on_frame(void *arg, const struct shim_frame *f)
{
	struct attempt *a = arg;
	struct shim_exit exit;
	struct err err;

	if (a->state == ATTEMPT_OVER)
		return;
	if (f->type == SHIM_STARTED) {
		tell_started(a);
		attempt_send_stop(a);
	} else if (f->type == SHIM_EXITED &&
		   shim_exit_decode(f->data, f->len, &exit, &err) == 0) {
		convert_exit(&exit, &a->exit);
		finish(a);
	} else if (f->type ==
		   SHIM_REFUSED) { /* it ends then, and the folder tells the rest */
		snprintf(a->refused, sizeof a->refused, "%.*s", (int)f->len, f->data);
	}
}

static int send_secrets(int fd, const struct bundle *b, struct err *err)
{
	AUTO_VAULT struct vault *v = convert_secrets(b);

	return v ? shim_secrets_send(fd, v, err) : 0;
}

void attempt_send(struct attempt *a, const struct spawn_shim *shim)
{
	const struct link_events ev = { a, on_frame, on_link_end };
	struct process *p = a->p;
	struct convert_context c = { &p->machine, p->cache, p->state_dir, p->home };
	AUTO_BUF struct buf encoded = { 0 };
	struct shim_task task;
	struct err err;

	a->pid = shim->pid;
	a->spawned = true;
	enter(a, ATTEMPT_STARTING);
	convert_bundle(&c, a->bundle, &task);
	shim_task_encode(&task, &encoded);
	shim_task_fini(&task);
	/* Before the stream is opened: the descriptor goes with the first bytes of the socket. */
	bool sent = send_secrets(shim->fd, a->bundle, &err) == 0;
	bundle_destroy(TAKE(a->bundle));
	a->link = sent ? link_open(p->world, shim->fd, &ev, &err) : NULL;
	if (!sent)
		close(shim->fd);
	if (a->link && encoded.len <= SHIM_BUNDLE_MAX) {
		link_send(a->link, SHIM_BUNDLE, encoded.data, encoded.len);
		attempt_pause(a, START_WITHIN_MS);
		return;
	}
	snprintf(a->refused, sizeof a->refused, "%.150s",
		 a->link ? "its variables, files and arguments are too large together"
			 : err.text);
	on_link_end(a); /* without a bundle the shim ends */
}

static void look_again(struct attempt *a)
{
	int64_t ms = LOOK_PAUSE_MS << (a->tries < 7 ? a->tries++ : 7);

	attempt_pause(a, ms < PAUSE_MS_MAX ? ms : PAUSE_MS_MAX);
}

/* It holds the lock and leaves no mark.  One that hangs there has begun nothing: it goes. */
static void wait_for_mark(struct attempt *a)
{
	if (!a->busy_since_ms)
		a->busy_since_ms = now(a);
	if (now(a) - a->busy_since_ms > START_WITHIN_MS) {
		shim_kill(a->folder);
		a->busy_since_ms = now(a);
	}
	look_again(a);
}

/* A live shim that is not, or no longer, linked to us. */
static void watch_live(struct attempt *a)
{
	const struct link_events ev = { a, on_frame, on_link_end };

	a->link = attempt_connect(a, &ev);
	if (!a->link) {
		look_again(a);
		return;
	}
	link_send(a->link, SHIM_WATCH, NULL, 0);
	tell_started(a);
	attempt_send_stop(a);
}

/* Nobody began it, or the one who was to begin it died of something before he could. */
static void nothing_there(struct attempt *a)
{
	char why[160];

	if (a->bundle && a->stop == ATTEMPT_STOP_NONE) {
		enter(a, ATTEMPT_QUEUED);
		process_enqueue(a->p, &a->p->starts, a);
	} else if (a->bundle || (!a->spawned && a->stop != ATTEMPT_STOP_NONE)) {
		attempt_unstarted(a, "stopped before it was started");
	} else if (a->refused[0]) {
		attempt_unstarted(a, a->refused);
	} else if (a->spawned) {
		snprintf(
			why, sizeof why,
			WIFSIGNALED(a->status)
				? "the process that was to hold it was killed by signal %d"
				: "the process that was to hold it ended with code %d",
			WIFSIGNALED(a->status) ? WTERMSIG(a->status)
					       : WEXITSTATUS(a->status));
		attempt_unstarted(a, why);
	} else {
		attempt_unstarted(a, "the daemon ended before it was started");
	}
}

/* Nothing may run after we say that it ended, so what it left behind goes first; off the
 * loop, for the kernel may take half a second to let go of it. */

static void sweep_work(void *arg)
{
	shim_sweep(&((struct sweep *)arg)->mark);
}

static void sweep_done(void *arg)
{
	struct sweep *s = arg;
	struct attempt *a = s->attempt;

	if (a) {
		a->sweep = NULL;
		convert_lost(a->refused[0] ? a->refused : s->lost, &a->exit);
		if (a->shim_killed)
			a->exit = (struct task_exit){ .kind = EXIT_STOPPED,
						      .signal = SIGKILL };
		finish(a);
	}
	free(s);
}

static void sweep_up(struct attempt *a, const struct shim_probe *probe)
{
	struct sweep *s = mem_alloc(1, sizeof *s);

	s->attempt = a;
	s->mark = probe->mark;
	memcpy(s->lost, probe->lost, sizeof s->lost);
	a->sweep = s;
	world_work(a->p->world, sweep_work, sweep_done, s);
}

void attempt_begin(struct attempt *a)
{
	struct err err;
	int made = process_folder(a->folder, &err);

	a->fresh = made != 0; /* a folder that is not there was told to nobody either */
	if (made < 0)
		attempt_unstarted(a, err.text);
	else if (made > 0)
		nothing_there(a);
	else
		attempt_look(a);
}

void attempt_look(struct attempt *a)
{
	struct shim_probe probe;
	struct err err;

	if (a->sweep)
		return; /* it is over; the end is told when it is swept up */
	enter(a, ATTEMPT_LOOKING);
	if (shim_probe(a->folder, &probe, &err) < 0) {
		convert_lost(err.text, &a->exit);
		finish(a);
		return;
	}
	if (probe.pidfd >= 0)
		close(probe.pidfd);
	if (probe.state != SHIM_BUSY)
		a->busy_since_ms = 0;
	switch (probe.state) {
	case SHIM_NONE:
		nothing_there(a);
		break;
	case SHIM_BUSY:
		wait_for_mark(a);
		break;
	case SHIM_ALIVE:
		watch_live(a);
		break;
	case SHIM_OVER:
		convert_exit(&probe.exit, &a->exit);
		finish(a);
		break;
	case SHIM_VANISHED:
		sweep_up(a, &probe);
		break;
	}
}
