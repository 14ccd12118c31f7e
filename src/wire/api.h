// SPDX-License-Identifier: Apache-2.0
/* api.h - the JSON of /yard/v1, both ways: http writes it, cli reads it.
 *
 * Readers take a parsed answer (base/doc.h) and trust its shape no further than they
 * must: what is absent is zero, "" or NULL; they fail only when there is nothing to
 * show.  Field names are the ones of docs/api.md; adding one is fine, renaming is not.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/doc.h"
#include "base/err.h"
#include "base/json.h"
#include "job/job.h"
#include "job/node.h"

#define WIRE_PREFIX "/yard/v1"

/* One line of a list.  Strings are borrowed (of the store's row or of the doc). */
struct wire_row {
	int64_t id;
	const char *name, *owner, *group, *reason;
	enum job_state state;
	enum outcome outcome;
	int priority, attempt, task_count, exit_code;
	int64_t submitted_ms, started_ms, ended_ms; /* 0: not yet */
	int64_t array, index; /* a member's: of which array; 0: it is none */
	/* An array's; members 0: it is none. */
	int64_t members, members_ended, members_failed, members_running;
};

void wire_row_write(struct json *j, const char *key, const struct wire_row *row);
void wire_row_read(const struct doc_node *map, struct wire_row *out);

/* The whole job and what only the daemon knows beside it. */
struct wire_job {
	struct job *job;
	char **outputs; /* host folders, by spec->outputs; entries may be NULL */
	size_t output_count;
	int exit_code; /* of an ended job: what `yard run` and `yard wait` return */
	char *why;     /* live jobs: what it waits for or does now; else NULL */
};

/* Borrows everything. */
void wire_job_write(struct buf *out, const struct job *j, const char *const *outputs,
		    const char *why);
int wire_job_read(const struct doc_node *map, struct wire_job *out, struct err *err);
void wire_job_fini(struct wire_job *w);

struct wire_node {
	struct node node;
	struct resources used;
	int tasks;
};

void wire_node_write(struct json *j, const char *key, const struct wire_node *n);
void wire_node_read(const struct doc_node *map, struct wire_node *out);

/* {"gpu": 2, "npu": 0.5} */
void wire_devices_write(struct json *j, const char *key, const struct resources *r);
void wire_resources_write(struct json *j, const char *key, const struct resources *r);
void wire_resources_read(const struct doc_node *map, struct resources *out);
/* {"cpu_milli","memory_bytes","devices":{...},"max_running_jobs"}; absent: no limit. */
void wire_quota_write(struct json *j, const char *key, const struct quota *q);
/* Strict, as it reads requests: unknown or wrong fields are ERR_INVALID. */
int wire_quota_read(const struct doc_node *map, struct quota *out, struct err *err);

/* {"seq","time_ms","job","kind", ...the event's own fields in "body"} */
struct wire_event {
	int64_t seq, time_ms, job;
	const char *kind;
	const struct doc_node *body; /* may be NULL */
};

void wire_event_write(struct json *j, const char *key, const struct event *e);
void wire_event_read(const struct doc_node *map, struct wire_event *out);

/* {"error":{"code","message","field","problems":[{"line","column","field","message"}]}} */
/* With one word that says why, for programs. */
void wire_refusal_write(struct buf *out, const struct err *err, const char *reason);
void wire_error_write(struct buf *out, const struct err *err,
		      const struct problems *problems);
/* The body of an answer that is not 2xx.  status: when the body is not ours. */
void wire_error_read(const char *body, size_t len, int status, struct err *out,
		     struct problems *problems);

/* In front of each record of a log in frames: which task and attempt, and where a
 * reader goes on after this record. */
#define WIRE_LOG_HEAD_BYTES 16
#define WIRE_LOG_TYPE       "application/vnd.yard.log"

struct wire_log_head {
	uint32_t rank, attempt;
	uint64_t offset;
};

void wire_log_head_write(const struct wire_log_head *h, uint8_t out[WIRE_LOG_HEAD_BYTES]);
void wire_log_head_read(const uint8_t in[WIRE_LOG_HEAD_BYTES], struct wire_log_head *out);

/* "running", and what that means to a person: one short sentence. */
const char *wire_state_words(enum job_state s);
