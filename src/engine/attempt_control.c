// SPDX-License-Identifier: Apache-2.0
/* attempt_control.c - what is asked of a shim while its task runs: to stop it, and what it
 * uses. */
#include <string.h>

#include "base/mem.h"
#include "engine/attempt_parts.h"
#include "stream/usage.h"

#define USAGE_FRESH_MS  500
#define QUIET_DOUBLINGS 4 /* from 5 s to 80 s */
#define QUIET_CPU_MS    5 /* between two samples: less is as good as asleep */
#define QUIET_BYTES     (1 << 20)

static int64_t now(const struct attempt *a)
{
	return world_mono_ms(a->p->world);
}

/* A task that sleeps is let sleep: each sample like the last one doubles the pause. */
static int64_t quiet_pause(const struct attempt *a, int doublings)
{
	return a->sample_every_ms
	       << (doublings < QUIET_DOUBLINGS ? doublings : QUIET_DOUBLINGS);
}

static void mind_quiet(struct attempt *a, const struct shim_usage *u)
{
	int64_t grown = u->memory_bytes - a->usage.memory_bytes;

	if (a->usage_ms && u->cpu_ms - a->usage.cpu_ms <= QUIET_CPU_MS &&
	    u->pids == a->usage.pids && grown <= QUIET_BYTES && grown >= -QUIET_BYTES) {
		/* Who looks often sees little change, and that says nothing. */
		a->sample_quiet += a->sample_quiet < QUIET_DOUBLINGS &&
				   now(a) - a->usage_ms >= SAMPLE_EVERY_MS;
	} else {
		a->sample_quiet = 0;
		process_sample(a->p);
	}
	a->sample_at_ms = now(a) + quiet_pause(a, a->sample_quiet);
}

static void keep_usage(struct attempt *a, const struct shim_usage *u)
{
	struct usage_sample sample = { u->time_ms, u->cpu_ms, u->memory_bytes, u->pids };
	struct err ignored; /* a full disk costs samples, nothing else */

	mind_quiet(a, u);
	a->usage = (struct engine_usage){ u->time_ms, u->cpu_ms, u->memory_bytes,
					  u->memory_peak_bytes, (int)u->pids };
	a->usage_ms = now(a);
	a->usage_asked = false;
	if (usage_append(a->folder, &sample, &ignored) > 0)
		a->sample_every_ms *= 2;
}

static void on_control_frame(void *arg, const struct shim_frame *f)
{
	struct attempt *a = arg;
	struct shim_usage u;
	struct err err;

	/* OK and ERROR tell nothing that the task's end would not: what counts is the exit. */
	if (f->type == SHIM_USAGE && shim_usage_decode(f->data, f->len, &u, &err) == 0)
		keep_usage(a, &u);
	/* A task that runs for days costs one descriptor, not two. */
	if (f->type == SHIM_USAGE && a->stop == ATTEMPT_STOP_NONE)
		link_close(TAKE(a->control));
}

static void on_control_end(void *arg)
{
	struct attempt *a = arg;

	link_close(TAKE(a->control));
	a->usage_asked = false;
	a->stop_sent =
		ATTEMPT_STOP_NONE; /* asked again below, should the shim still live */
	if (a->state == ATTEMPT_RUNNING && a->stop != ATTEMPT_STOP_NONE)
		attempt_pause(a, LOOK_PAUSE_MS);
}

static bool open_control(struct attempt *a)
{
	const struct link_events ev = { a, on_control_frame, on_control_end };

	if (!a->control)
		a->control = attempt_connect(a, &ev);
	return a->control != NULL;
}

/* Carries the wish to stop to the shim; comes back by timer until the task is over. */
void attempt_send_stop(struct attempt *a)
{
	if (a->state != ATTEMPT_RUNNING || a->stop == ATTEMPT_STOP_NONE ||
	    a->stop == a->stop_sent)
		return;
	if (!open_control(a)) {
		attempt_pause(a, LOOK_PAUSE_MS << (a->tries < 6 ? a->tries++ : 6));
		return;
	}
	if (a->stop == ATTEMPT_STOP_KILL)
		link_send(a->control, SHIM_KILL, NULL, 0);
	else
		link_send(a->control, SHIM_TERM, a->notice, strlen(a->notice));
	a->stop_sent = a->stop;
	if (a->stop == ATTEMPT_STOP_KILL)
		attempt_pause(a, KILL_WITHIN_MS);
}

int attempt_usage(struct attempt *a, struct engine_usage *out, struct err *err)
{
	bool stale = !a->usage_ms || now(a) - a->usage_ms > USAGE_FRESH_MS;

	/* Asked beside the loop's work; whoever asks next gets the answer. */
	if (stale && !a->usage_asked && open_control(a)) {
		link_send(a->control, SHIM_USAGE, NULL, 0);
		a->usage_asked = true;
	}
	if (!a->usage_ms)
		return err_set(err, ERR_BUSY, "it is being measured: ask again");
	*out = a->usage;
	return 0;
}

int64_t attempt_sample(struct attempt *a)
{
	if (a->state != ATTEMPT_RUNNING)
		return INT64_MAX;
	if (now(a) >= a->sample_at_ms) {
		/* Sooner, should the answer say that it does something. */
		a->sample_at_ms = now(a) + quiet_pause(a, a->sample_quiet + 1);
		if (open_control(a))
			link_send(a->control, SHIM_USAGE, NULL, 0);
	}
	return a->sample_at_ms;
}
