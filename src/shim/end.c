// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "shim/folder.h"
#include "shim/hold.h"

static int64_t clock_ms(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

int64_t hold_mono_ms(void)
{
	return clock_ms(CLOCK_MONOTONIC);
}

int64_t hold_wall_ms(void)
{
	return clock_ms(CLOCK_REALTIME);
}

void hold_kill(struct hold *h)
{
	cgroup_unthrottle(&h->cgroup);
	/* The end of pid 1 is the end of every process in its namespace. */
	if (h->pidfd >= 0)
		syscall(SYS_pidfd_send_signal, h->pidfd, SIGKILL, NULL, 0);
}

void hold_usage(struct hold *h, struct shim_usage *out)
{
	struct watch_sum sum = { 0 };
	int64_t memory = cgroup_memory(&h->cgroup), cpu = cgroup_cpu_ms(&h->cgroup);
	int64_t peak = cgroup_memory_peak(&h->cgroup);

	if (h->proc >= 0)
		watch_sum(h->proc, &sum);
	if (sum.memory_bytes > h->watch.peak_bytes)
		h->watch.peak_bytes = sum.memory_bytes;
	*out = (struct shim_usage){
		.time_ms = hold_wall_ms(),
		.cpu_ms = cpu >= 0 ? cpu : sum.cpu_ms,
		.memory_bytes = memory >= 0 ? memory : sum.memory_bytes,
		.memory_peak_bytes = peak >= 0 ? peak : h->watch.peak_bytes,
		.pids = sum.pids,
	};
}

/* Init is gone: its status, and what it and all it reaped used. */
static int collect(struct hold *h, struct rusage *used)
{
	int status = 0;

	while (wait4(h->init, &status, 0, used) < 0) {
		if (errno != EINTR)
			return 0;
	}
	return status;
}

static int64_t cpu_of(const struct rusage *u)
{
	return (int64_t)(u->ru_utime.tv_sec + u->ru_stime.tv_sec) * 1000 +
	       (u->ru_utime.tv_usec + u->ru_stime.tv_usec) / 1000;
}

static enum shim_exit_kind kind_of(const struct hold *h, int status)
{
	bool well = WIFEXITED(status) && WEXITSTATUS(status) == 0;

	if (h->over_memory)
		return SHIM_OOM;
	if (h->stop_asked)
		return SHIM_STOPPED;
	if (!well && cgroup_oom_kills(&h->cgroup) > 0)
		return SHIM_OOM;
	return WIFSIGNALED(status) ? SHIM_SIGNAL : SHIM_CODE;
}

static void describe(struct hold *h, struct shim_exit *e)
{
	struct rusage used = { 0 };
	int own = collect(h, &used), status = h->has_status ? h->status : own;
	int64_t cpu = cgroup_cpu_ms(&h->cgroup), peak = cgroup_memory_peak(&h->cgroup);

	e->kind = kind_of(h, status);
	e->code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
	e->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	e->cpu_ms = cpu >= 0 ? cpu : cpu_of(&used);
	if (peak < 0)
		peak = h->watch.peak_bytes > used.ru_maxrss * 1024
			       ? h->watch.peak_bytes
			       : used.ru_maxrss * 1024;
	e->peak_bytes = peak;
	e->limit_bytes = h->task.memory_bytes;
	snprintf(e->text, sizeof e->text, "%s", h->how);
	if (h->stage >= 0 && (size_t)h->stage < h->task.stage_count)
		snprintf(e->stage, sizeof e->stage, "%s", h->task.stages[h->stage].name);
}

static void unstarted(struct hold *h, struct shim_exit *e)
{
	hold_kill(h);
	if (h->init > 0)
		collect(h, &(struct rusage){ 0 });
	e->kind = h->stop_asked ? SHIM_STOPPED : SHIM_UNSTARTED;
	snprintf(e->text, sizeof e->text, "%.255s", h->failure.text);
}

static bool tell_daemon(const struct hold *h, const struct buf *frame)
{
	size_t done = 0;

	while (done < frame->len) {
		ssize_t n = send(h->daemon, frame->data + done, frame->len - done,
				 MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false; /* it died; the folder tells its successor */
		done += (size_t)n;
	}
	return true;
}

static bool daemon_lives(const struct hold *h)
{
	char byte;

	return recv(h->daemon, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && errno == EAGAIN;
}

/* A full disk must not lose how a task ended: the log's oldest part gives way. */
static int put_exit(struct hold *h, const struct buf *b, struct err *err)
{
	int fd = -1;

	for (int i = 0; i < 100 && (fd = folder_put(h->dir, "exit", b, err)) < 0; i++) {
		if (!log_give_way(&h->log))
			nanosleep(&(struct timespec){ 0, 100 * 1000000L }, NULL);
	}
	return fd;
}

void hold_end(struct hold *h)
{
	AUTO_BUF struct buf record = { 0 };
	AUTO_BUF struct buf frame = { 0 };
	struct shim_exit e = { .ended_ms = hold_wall_ms() };
	struct err err = { 0 };
	bool heard;
	int fd;

	if (h->started)
		describe(h, &e);
	else
		unstarted(h, &e);
	if (e.kind == SHIM_OOM)
		log_note(&h->log, "out of memory: used %lld of %lld bytes",
			 (long long)e.peak_bytes, (long long)e.limit_bytes);
	log_fini(&h->log);
	shim_exit_encode(&e, &record);
	fd = put_exit(h, &record, &err);
	/* Told before it is durable and before the groups are gone, which together take some
	 * ms: who is told keeps it himself, and who comes later finds the whole file. */
	shim_frame_add(&frame, SHIM_EXITED, record.data, record.len);
	heard = tell_daemon(h, &frame);
	control_tell_exit(h, &frame);
	control_close(h);
	cgroup_remove(&h->cgroup);
	/* A daemon that heard of it and lives has by now recorded it, or is about to: then a
	 * power failure finds that record, or an end that nobody was told of (LOST). */
	if (fd >= 0 && heard && daemon_lives(h))
		close(fd);
	else if (fd >= 0)
		folder_sync(h->dir, fd, &err);
}
