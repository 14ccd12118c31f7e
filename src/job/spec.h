// SPDX-License-Identifier: Apache-2.0
/* spec.h - what a person asked for: the one native form every dialect becomes.
 *
 * Plain data, owned by whoever holds the pointer.  spec_check() fills defaults and
 * reports every problem at once; a spec that passed it is never changed again.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/doc.h"
#include "base/err.h"
#include "job/resources.h"

#define SPEC_ROLES_MAX    64
#define SPEC_TASKS_MAX    4096 /* of one job, all roles together */
#define SPEC_NAME_MAX     128
#define SPEC_PRIORITY_MAX 1000 /* from -1000 to 1000, 0 when not given */
#define SPEC_ALL          (-1) /* completion: all tasks; retry: no bound */

struct pair {
	char *key, *value;
};

struct pairs {
	struct pair *items;
	size_t count, cap;
};

struct port_ask {
	char *name;
	int count; /* at least 1 */
	int fixed; /* 0: any free one; else this very number, on the task's own address */
};

struct role {
	char *name; /* "main" when the file has just one command */
	int count;
	char **argv; /* what is executed: { "sh", "-c", line } for a shell line */
	size_t argc;
	char *shell_line; /* as written, or NULL when argv was given */
	char *image;      /* "host" */
	struct resources each; /* of one task */
	int64_t shm_bytes;
	struct pairs env;
	struct port_ask *ports;
	size_t port_count;
	int fail_after;    /* failed tasks that end the job as failed; SPEC_ALL: only when all did */
	int succeed_after; /* succeeded tasks that end the job as succeeded; SPEC_ALL: when all did */
};

struct channel {
	char *name, *uri; /* an output's uri may be NULL: the job's own storage */
};

struct service {
	char *name, *role, *port; /* a named port of a role's first task, told to every task */
};

struct dependency {
	int64_t job;
	bool ok; /* after-ok: only if it succeeded; else after: once it ended anyhow */
};

struct retry {
	int max; /* further attempts after the first; SPEC_ALL: no bound */
	int64_t backoff_ms, backoff_max_ms; /* doubled every time, up to max */
};

struct spec {
	char *name, *group;
	int priority;
	bool preemptible;
	struct pairs labels, hyperparameters;
	struct role *roles;
	size_t role_count;
	struct retry retry;
	int64_t time_limit_ms; /* 0: none. Of one attempt */
	int64_t grace_ms;      /* between the stop signal and the kill */
	struct channel *inputs, *outputs;
	size_t input_count, output_count;
	struct service *services;
	size_t service_count;
	struct dependency *after;
	size_t after_count;
	char *code; /* content hash of the snapshot, or NULL */
};

struct spec *spec_create(void);
void spec_destroy(struct spec *s); /* NULL is fine */
struct role *spec_add_role(struct spec *s);
int spec_task_count(const struct spec *s);
struct resources spec_total(const struct spec *s); /* of all tasks together */

void pairs_set(struct pairs *p, const char *key, const char *value);
const char *pairs_get(const struct pairs *p, const char *key); /* NULL: absent */

/* One problem of a spec or a file; line 0 when there is no file behind it. */
struct problem {
	int line, column;
	char *field; /* "roles[0].resources.cpu" */
	char *text;  /* what is wrong and what is allowed */
};

struct problems {
	struct problem *items;
	size_t count, cap;
};

void problems_add(struct problems *p, int line, int column, const char *field, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));
void problems_fini(struct problems *p);
/* Becomes one ERR_INVALID: the first problem and how many more. 0 when there are none. */
int problems_err(const struct problems *p, struct err *err);

/* Fills defaults; adds every problem it finds. */
void spec_check(struct spec *s, struct problems *out);

/* The canonical JSON of a checked spec, and back: what the SUBMITTED event holds. */
void spec_to_json(const struct spec *s, struct buf *out);
struct spec *spec_from_json(const struct doc_node *map, struct err *err);

void spec_cleanup(struct spec **s);
#define AUTO_SPEC __attribute__((cleanup(spec_cleanup)))
