// SPDX-License-Identifier: Apache-2.0
/* Jobs: submit, look, stop; their history, use and output. */
#include "http/route.h"

#include "http/handlers.h"
#include "http/limits.h"
#include "http/metric_cache.h"
#include "job/spec.h"
#include "stream/series.h"
#include "wire/api.h"

#define FROM_PLACE "[0-9]{1,9}:[1-9][0-9]{0,8}:[0-9]{1,18}"

/* clang-format off */
static const struct param submit_params[] = {
	{ "dry_run", PARAM_BOOL, .help = "only check it, and say what would happen now" },
	{ 0 }
};
static const struct param submit_headers[] = {
	{ "Idempotency-Key", PARAM_TEXT, 1, IDEMPOTENCY_KEY_MAX, .pattern = "^[!-~]+$",
		.help = "the same key and body give the same job; another body is a conflict" },
	{ 0 }
};
static const struct param list_params[] = {
	{ "state", PARAM_WORD, .words = "live ended all held queued starting running stopping collecting settling backoff open draining",
		.help = "which of them; all" },
	{ "outcome", PARAM_WORD, .words = "succeeded failed stopped", .help = "how they ended" },
	{ "owner", PARAM_TEXT, .help = "jobs of this user" },
	{ "group", PARAM_TEXT, .help = "jobs of this group" },
	{ "name", PARAM_TEXT, .help = "jobs of this name" },
	{ "search", PARAM_TEXT, 1, SPEC_NAME_MAX, .help = "jobs with this in their name, in small letters or capitals" },
	{ "label", PARAM_TEXT, 1, 1024, .pattern = "^[^=]+=", .help = "jobs with this label, as KEY=VALUE" },
	{ "array", PARAM_INT, 1, INT64_MAX, .help = "the members of this array, which no other list has" },
	{ "before", PARAM_INT, 1, INT64_MAX, .help = "what the page before gave as `next`" },
	{ "limit", PARAM_INT, 1, LIST_MAX, .help = "how many a page has at most; 50" },
	{ 0 }
};
static const struct param wait_params[] = {
	{ "timeout_ms", PARAM_INT, 0, INT64_MAX, .help = "answer with 202 after this long, at most ten minutes" },
	{ 0 }
};
static const struct param events_params[] = {
	{ "from", PARAM_INT, 0, INT64_MAX, .help = "those with this seq or a higher one" },
	{ "limit", PARAM_INT, 1, EVENTS_MAX, .help = "how many a page has at most; 1000" },
	{ "follow", PARAM_BOOL, .help = "go on as things happen: server-sent events" },
	{ 0 }
};
static const struct param events_headers[] = {
	{ "Last-Event-ID", PARAM_TEXT, 1, 20, .pattern = "^[0-9]+$", .help = "of a stream: go on behind this event" },
	{ 0 }
};
static const struct param series_params[] = {
	{ "task", PARAM_INT, 0, SPEC_TASKS_MAX, .help = "the task's rank; 0" },
	{ "attempt", PARAM_INT, 1, INT32_MAX, .help = "of which attempt; the last" },
	{ "from_ms", PARAM_INT, 0, INT64_MAX, .help = "samples of this moment or later" },
	{ 0 }
};
static const struct param metrics_params[] = {
	{ "name", PARAM_LIST, 0, METRIC_NAMES_MAX, .help = "series of this name, in which * is any run of characters; several times for several; all" },
	{ "points", PARAM_INT, 0, SERIES_POINTS_MAX, .help = "how many points a series has at most; 500" },
	{ "wait_ms", PARAM_INT, 0, METRIC_WAIT_MS, .help = "how long to read before what was read by then is told; 20000" },
	{ "output", PARAM_TEXT, 1, SPEC_NAME_MAX, .help = "the output that holds event files; those named logs and tensorboard" },
	{ 0 }
};
static const struct param usage_params[] = {
	{ "task", PARAM_INT, 0, SPEC_TASKS_MAX, .help = "the task's rank; 0" },
	{ 0 }
};
static const struct param logs_params[] = {
	{ "task", PARAM_INT, 0, SPEC_TASKS_MAX, "all", .help = "one task's by its rank, or all" },
	{ "attempt", PARAM_INT, 1, INT32_MAX, "last all", .help = "of one attempt, the last one and later ones, or all; last" },
	{ "follow", PARAM_BOOL, .help = "go on until the job has ended" },
	{ "since_ms", PARAM_INT, 0, INT64_MAX / 1000, .help = "only what was written at this moment or later" },
	{ "tail", PARAM_INT, 0, INT32_MAX, .help = "only the last lines, so many of each task" },
	{ "from", PARAM_TEXT, 0, FROM_TEXT_MAX, .pattern = "^(" FROM_PLACE "(," FROM_PLACE ")*)?$",
		.help = "RANK:ATTEMPT:OFFSET,...: go on exactly there" },
	{ "format", PARAM_WORD, .words = "text frames", .help = "plain text, or records with their place; text" },
	{ 0 }
};
static const struct param exec_params[] = {
	{ "task", PARAM_INT, 0, SPEC_TASKS_MAX, .help = "the task's rank; 0" },
	{ "tty", PARAM_BOOL, .help = "with a terminal" },
	{ "arg", PARAM_LIST, 0, EXEC_ARGS_MAX, .needed = true, .help = "the command and its arguments, one by one" },
	{ 0 }
};
static const struct param exec_headers[] = {
	{ "Connection", PARAM_WORD, .words = "Upgrade", .needed = true, .help = "this connection becomes the command's" },
	{ "Upgrade", PARAM_WORD, .words = "yard-exec", .needed = true, .help = "frames as in shim/message.h" },
	{ 0 }
};

const struct route routes_jobs[] = {
	{ "POST", "/jobs", "submit_job", RULE_MEMBER, handle_submit, "submit a job file",
		.params = submit_params, .headers = submit_headers,
		.takes = ROUTE_BODY, .body_max = BODY_SPEC, .body = "job_file", .body_types = ROUTE_YAML "|" ROUTE_JSON,
		.answer = "submitted", .status = 201, .also = 200, .also_answer = "submitted|dry_run",
		.errors = ROUTE_ERR(ERR_CONFLICT) | ROUTE_ERR(ERR_QUOTA) | ROUTE_ERR(ERR_UNSUPPORTED) | ROUTE_ERR(ERR_DENIED) },
	{ "GET", "/jobs", "list_jobs", RULE_ANY, handle_list, "list jobs, newest first",
		.params = list_params, .answer = "jobs", .errors = ROUTE_ERR(ERR_DENIED) },
	{ "GET", "/jobs/:job", "show_job", RULE_SEE, handle_show, "everything about one job",
		.answer = "job" },
	{ "POST", "/jobs/:job/stop", "stop_job", RULE_TOUCH, handle_stop, "stop it; stopping what has ended is fine",
		.takes = ROUTE_BODY, .body_max = BODY_SMALL, .body = "stop", .body_optional = true, .answer = "job" },
	{ "PATCH", "/jobs/:job", "change_job", RULE_TOUCH, handle_change, "change its priority",
		.takes = ROUTE_BODY, .body_max = BODY_SMALL, .body = "job_change", .answer = "job",
		.errors = ROUTE_ERR(ERR_CONFLICT) | ROUTE_ERR(ERR_DENIED) },
	{ "DELETE", "/jobs/:job", "delete_job", RULE_TOUCH, handle_delete, "delete an ended job with its history, logs and outputs",
		.status = 204, .errors = ROUTE_ERR(ERR_CONFLICT) | ROUTE_ERR(ERR_BUSY) },
	{ "POST", "/jobs/:job/clone", "clone_job", RULE_TOUCH, handle_clone, "submit it again, with changes",
		.headers = submit_headers,
		.takes = ROUTE_BODY, .body_max = BODY_SMALL, .body = "job_clone", .body_optional = true,
		.answer = "submitted", .status = 201, .also = 200,
		.errors = ROUTE_ERR(ERR_CONFLICT) | ROUTE_ERR(ERR_QUOTA) | ROUTE_ERR(ERR_DENIED) },
	{ "GET", "/jobs/:job/wait", "wait_job", RULE_SEE, handle_wait, "answer when it has ended: 200; or 202 after a while",
		.params = wait_params, .answer = "job", .also = 202 },
	{ "GET", "/jobs/:job/why", "why_job", RULE_SEE, handle_why, "what it waits for, in words",
		.answer = "why" },
	{ "GET", "/jobs/:job/events", "job_events", RULE_SEE, handle_events, "its history",
		.params = events_params, .headers = events_headers, .answer = "events|text/event-stream" },
	{ "GET", "/events", "events", RULE_ANY, handle_events, "what happened to all jobs one may see; to an admin everything",
		.params = events_params, .headers = events_headers, .answer = "events|text/event-stream" },
	{ "GET", "/jobs/:job/usage", "job_usage", RULE_SEE, handle_usage, "what a running task uses",
		.params = usage_params, .answer = "usage",
		.errors = ROUTE_ERR(ERR_CONFLICT) | ROUTE_ERR(ERR_BUSY) | ROUTE_ERR(ERR_UNSUPPORTED) },
	{ "GET", "/jobs/:job/usage/series", "job_usage_series", RULE_SEE, handle_usage_series, "what a task used over time, also after its end",
		.params = series_params, .answer = "usage_series" },
	{ "GET", "/jobs/:job/metrics", "job_metrics", RULE_SEE, handle_job_metrics, "what it measured of itself, from event files and by patterns of its output",
		.params = metrics_params, .answer = "metrics", .errors = ROUTE_ERR(ERR_CONFLICT) },
	{ "GET", "/jobs/:job/logs", "job_logs", RULE_SEE, handle_logs, "its output, all of it or as it comes",
		.params = logs_params, .answer = ROUTE_TEXT "|" WIRE_LOG_TYPE },
	{ "POST", "/jobs/:job/exec", "exec_job", RULE_OWN, handle_exec, "run a further command in a running task",
		.params = exec_params, .headers = exec_headers, .status = 101,
		.errors = ROUTE_ERR(ERR_CONFLICT) | ROUTE_ERR(ERR_UNSUPPORTED) | ROUTE_ERR(ERR_TOO_LARGE) },
	{ 0 }
};
/* clang-format on */
