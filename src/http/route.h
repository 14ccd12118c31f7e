// SPDX-License-Identifier: Apache-2.0
/* route.h - what may be asked, by whom, and who answers: one row each. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "http/internal.h"

enum route_rule {
	RULE_PUBLIC,
	RULE_ANY,
	RULE_SEE,
	RULE_TOUCH,
	RULE_ADMIN,
	ROUTE_RULE_COUNT
};
enum route_body { ROUTE_NO_BODY, ROUTE_BODY, ROUTE_STREAM };

struct route {
	const char *method,
		*pattern; /* ":job" is a job's id or name, other ":x" any segment */
	enum route_rule rule;
	enum route_body takes;
	int64_t body_max;
	void (*handle)(struct exchange *ex);
	const char *help;
};

extern const struct route routes[];
extern const size_t route_count;
/* Fills route, params, query and job; -1 with err (and *status when not the class's own). */
int route_find(struct exchange *ex, int *status, struct err *err);

/* A query parameter; -1 with err when it is there and wrong. */
int query_i64(const struct exchange *ex, const char *name, int64_t min, int64_t max,
	      int64_t *value, struct err *err);
int query_bool(const struct exchange *ex, const char *name, bool *value, struct err *err);

void handle_version(struct exchange *ex);
void handle_health(struct exchange *ex);
void handle_schema(struct exchange *ex);
void handle_submit(struct exchange *ex);
void handle_list(struct exchange *ex);
void handle_show(struct exchange *ex);
void handle_stop(struct exchange *ex);
void handle_wait(struct exchange *ex);
void handle_why(struct exchange *ex);
void handle_events(struct exchange *ex);
void handle_usage(struct exchange *ex);
void handle_logs(struct exchange *ex);
void handle_exec(struct exchange *ex);
void handle_nodes(struct exchange *ex);
void handle_code_has(struct exchange *ex);
void handle_code_put(struct exchange *ex);
void handle_quota_get(struct exchange *ex);
void handle_quota_put(struct exchange *ex);
void handle_backup(struct exchange *ex);
