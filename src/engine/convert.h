// SPDX-License-Identifier: Apache-2.0
/* convert.h - between the plain data of job/ and the shim's messages. */
#pragma once

#include "engine/node.h"
#include "job/bundle.h"
#include "job/exit.h"
#include "shim/message.h"

struct convert_context {
	const struct machine *machine;
	const char *cache;     /* shared by the sandboxes, or NULL */
	const char *state_dir; /* never shown to a task */
	const char *home;      /* private mode: of the daemon's user, or NULL */
};

/* The task is the caller's to shim_task_fini(). */
void convert_bundle(const struct convert_context *c, const struct bundle *b,
		    struct shim_task *out);
/* Its secrets as the shim takes them, apart from the task; NULL: it has none. */
struct vault *convert_secrets(const struct bundle *b);
void convert_exit(const struct shim_exit *in, struct task_exit *out);
void convert_lost(const char *why, struct task_exit *out);
void convert_unstarted(const char *why, struct task_exit *out);
