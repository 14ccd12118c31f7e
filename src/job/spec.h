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
#include "job/array.h"
#include "job/node.h"
#include "job/pairs.h"
#include "job/problem.h"
#include "job/role.h"
#include "job/secret_use.h"
#include "job/spec_parts.h"

#define SPEC_ROLES_MAX    64
#define SPEC_TASKS_MAX    4096 /* of one job, all roles together */
#define SPEC_NAME_MAX     128
#define SPEC_IMAGE_MAX    512
#define SPEC_BYTES_MAX    (256 << 10) /* of its canonical JSON */
#define SPEC_PRIORITY_MAX 1000        /* from -1000 to 1000, 0 when not given */

struct spec {
	char *name, *group;
	int priority;
	bool preemptible;
	enum level within; /* how near to each other its tasks are wished to be, */
	bool within_must;  /* or must be */
	struct pairs labels;
	struct pairs hyperparameters; /* values are JSON: 0.1, "adam", [1, 2] */
	struct role *roles;
	size_t role_count;
	struct retry retry;
	int64_t time_limit_ms; /* 0: none. Of one attempt */
	int64_t grace_ms;      /* between the stop signal and the kill, */
	int64_t grace_max_ms;  /* up to this while checkpoints are still being written */
	enum spec_contract contract;
	struct requirements requirements;
	struct metric *metrics;
	size_t metric_count;
	struct channel *inputs, *outputs;
	size_t input_count, output_count;
	struct service *services;
	size_t service_count;
	struct dependency *after;
	size_t after_count;
	char *code;                 /* content hash of the snapshot, or a URI, or NULL */
	struct secret_use *secrets; /* that every task gets */
	size_t secret_count;
	struct array array; /* count 0: it is one job */
};

struct spec *spec_create(void); /* every default but those that depend on other fields */
void spec_destroy(struct spec *s);          /* NULL is fine */
struct role *spec_add_role(struct spec *s); /* valid until the next is added */
struct channel *spec_add_input(struct spec *s, const char *name, const char *uri);
struct channel *spec_add_output(struct spec *s, const char *name, const char *uri);
struct service *spec_add_service(struct spec *s, const char *name, const char *role,
				 const char *port);
struct metric *spec_add_metric(struct spec *s, const char *name, const char *pattern);
void spec_add_requirement(struct spec *s, const char *text);
struct secret_use *spec_add_secret(struct spec *s, const char *name);
void spec_add_after(struct spec *s, int64_t job, bool ok);
int spec_task_count(const struct spec *s);
struct resources spec_total(const struct spec *s); /* of all tasks together */

/* Whether code names a snapshot by its hash; else it is a URI. */
bool spec_code_is_hash(const char *code);
/* Whether a channel's uri is a path of this machine: "/x" or "file:". */
bool spec_uri_is_host(const char *uri);
const char *spec_contract_word(enum spec_contract c);
int spec_contract_from_word(const char *word, enum spec_contract *out);

/* PREFIX_NAME for a task's environment: capitals, digits and _, which also stands for each
 * other character (not byte); caller frees. */
char *spec_variable(const char *prefix, const char *name);

/* Fills defaults; adds every problem it finds. */
void spec_check(struct spec *s, struct problems *out);

/* The canonical JSON of a checked spec, and back: what the SUBMITTED event holds. */
void spec_to_json(const struct spec *s, struct buf *out);
struct spec *spec_from_json(const struct doc_node *map, struct err *err);
struct spec *spec_copy(const struct spec *checked, struct err *err); /* by way of it */

void spec_cleanup(struct spec **s);
#define AUTO_SPEC __attribute__((cleanup(spec_cleanup)))
