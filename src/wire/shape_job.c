// SPDX-License-Identifier: Apache-2.0
/* The shapes of jobs and all that is theirs. */
#include "wire/shape.h"

#define STATES                                                                           \
	"new held queued starting running stopping collecting settling backoff open draining ended"
#define OUTCOMES "succeeded failed stopped"
#define STOPS    "user time-limit policy preempted dependency array"
#define EXITS    "code signal oom stopped unstarted lost"
#define EVENTS                                                                                  \
	"submitted ready placed started exited stop grace-over collected retry requeued ended " \
	"quota user audit priority member extended progress"
#define OPT      WIRE_OPTIONAL
#define TIME     WIRE_INT, WIRE_NULL
#define TIME_OPT WIRE_INT, WIRE_NULL | WIRE_OPTIONAL

/* clang-format off */
static const struct wire_field row[] = {
	{ "id", WIRE_INT, 0, "its number" },
	{ "name", WIRE_TEXT, 0, "as its file says" },
	{ "owner", WIRE_TEXT, 0, "whose it is" },
	{ "group", WIRE_TEXT, 0, "whose group's it is" },
	{ "state", WIRE_TEXT, 0, "where it stands", .words = STATES },
	{ "outcome", WIRE_TEXT, WIRE_NULL, "how it ended; null before", .words = OUTCOMES },
	{ "reason", WIRE_TEXT, WIRE_NULL, "why it ended so" },
	{ "priority", WIRE_INT, 0, "higher ones go first" },
	{ "attempt", WIRE_INT, 0, "how often it was tried; 0: not yet" },
	{ "task_count", WIRE_INT, 0, "how many tasks it has" },
	{ "exit_code", WIRE_INT, 0, "of an ended one: what `yard wait` returns" },
	{ "submitted_ms", TIME, "milliseconds since 1970, as all times" },
	{ "started_ms", TIME, "null: not yet" },
	{ "ended_ms", TIME, "null: not yet" },
	{ "array", WIRE_OBJECT, OPT, "of an array: how its members fare", "members" },
	{ "array_id", WIRE_INT, OPT, "of a member: its array" },
	{ "index", WIRE_INT, OPT, "of a member: which one it is, from 0" },
	{ 0 }
};
static const struct wire_field members[] = {
	{ "count", WIRE_INT, 0, "how many there are" },
	{ "ended", WIRE_INT, 0, "how many have ended" },
	{ "failed", WIRE_INT, 0, "how many of those failed" },
	{ "running", WIRE_INT, 0, "how many run now" },
	{ "made", WIRE_INT, OPT, "how many have been made so far" },
	{ 0 }
};
static const struct wire_field jobs[] = {
	{ "jobs", WIRE_LIST, 0, "newest first", "job_row" },
	{ "next", WIRE_INT, WIRE_NULL, "pass it as `before` for the next page; null: there is none" },
	{ 0 }
};
static const struct wire_field exit_fields[] = {
	{ "kind", WIRE_TEXT, 0, "how it ended", .words = EXITS },
	{ "code", WIRE_INT, 0, "of kind code" },
	{ "signal", WIRE_INT, 0, "of kind signal" },
	{ "peak_bytes", WIRE_INT, 0, "the most memory it had; 0: not known" },
	{ "limit_bytes", WIRE_INT, 0, "of its memory; 0: not known" },
	{ "cpu_ms", WIRE_INT, 0, "time its cores worked" },
	{ "text", WIRE_TEXT, OPT, "detail of what could not be started or was lost" },
	{ "stage", WIRE_TEXT, OPT, "it ended before its command began: in which stage, such as requirements" },
	{ "words", WIRE_TEXT, 0, "all of it as a sentence" },
	{ 0 }
};
static const struct wire_field task[] = {
	{ "rank", WIRE_INT, 0, "its number in the job, from 0" },
	{ "role", WIRE_TEXT, 0, "of which role" },
	{ "index", WIRE_INT, 0, "its number in the role, from 0" },
	{ "state", WIRE_TEXT, 0, "where it stands", .words = "idle starting running over" },
	{ "node", WIRE_TEXT, OPT, "where it runs" },
	{ "slot", WIRE_INT, OPT, "its number on the node" },
	{ "address", WIRE_TEXT, OPT, "its own loopback address" },
	{ "devices", WIRE_MAP, OPT, "device type to the numbers it has", "ints" },
	{ "shares", WIRE_MAP, OPT, "device type to how much of that one device is its", "amount" },
	{ "ports", WIRE_LIST, OPT, "the ports it was given", "int" },
	{ "started_ms", TIME, "null: not yet" },
	{ "ended_ms", TIME, "null: not yet" },
	{ "exit", WIRE_OBJECT, OPT, "once it is over", "exit" },
	{ 0 }
};
static const struct wire_field stop_info[] = {
	{ "kind", WIRE_TEXT, 0, "who or what stopped it", .words = STOPS },
	{ "by", WIRE_TEXT, WIRE_NULL, "the user who did" },
	{ "text", WIRE_TEXT, WIRE_NULL, "the reason they gave" },
	{ "time_ms", TIME, "when" },
	{ "killed", WIRE_BOOL, 0, "the grace period was over" },
	{ "until_ms", WIRE_INT, OPT, "its checkpoints still grew: it has at least until then" },
	{ "for", WIRE_INT, OPT, "of kind preempted: the job that it gives way to" },
	{ 0 }
};
static const struct wire_field preempted[] = {
	{ "count", WIRE_INT, 0, "how often it gave way to another" },
	{ "lost_ms", WIRE_INT, 0, "how long it had run each time, in all" },
	{ "for", WIRE_LIST, 0, "to whom, the latest first; at most four", "int" },
	{ 0 }
};
static const struct wire_field output[] = {
	{ "name", WIRE_TEXT, 0, "as the job file says" },
	{ "path", WIRE_TEXT, WIRE_NULL, "the folder on this machine" },
	{ 0 }
};
static const struct wire_field job[] = {
	{ "id", WIRE_INT, 0, "its number" },
	{ "name", WIRE_TEXT, 0, "as its file says" },
	{ "owner", WIRE_TEXT, 0, "whose it is" },
	{ "group", WIRE_TEXT, 0, "whose group's it is" },
	{ "state", WIRE_TEXT, 0, "where it stands", .words = STATES },
	{ "state_words", WIRE_TEXT, 0, "the same as a sentence" },
	{ "outcome", WIRE_TEXT, WIRE_NULL, "how it ended; null before", .words = OUTCOMES },
	{ "reason", WIRE_TEXT, WIRE_NULL, "why it ended so" },
	{ "exit_code", WIRE_INT, OPT, "once ended: what `yard wait` returns" },
	{ "priority", WIRE_INT, 0, "higher ones go first" },
	{ "attempt", WIRE_INT, 0, "how often it was tried; 0: not yet" },
	{ "failures", WIRE_INT, 0, "how many attempts failed" },
	{ "first_failed", WIRE_INT, OPT, "the rank of the task that failed first" },
	{ "last_seq", WIRE_INT, 0, "of its newest event" },
	{ "submitted_ms", TIME, "milliseconds since 1970, as all times" },
	{ "queued_ms", TIME, "since when it waits for its turn" },
	{ "placed_ms", TIME, "when it got its place" },
	{ "started_ms", TIME, "null: not yet" },
	{ "retry_at_ms", TIME, "when it is tried again" },
	{ "ended_ms", TIME, "null: not yet" },
	{ "stop", WIRE_OBJECT, OPT, "once it was asked to stop", "stop_info" },
	{ "preempted", WIRE_OBJECT, OPT, "once it gave way to another job", "preempted" },
	{ "array", WIRE_OBJECT, OPT, "of an array: how its members fare", "members" },
	{ "array_id", WIRE_INT, OPT, "of a member: its array" },
	{ "index", WIRE_INT, OPT, "of a member: which one it is, from 0" },
	{ "why", WIRE_TEXT, WIRE_NULL, "what it waits for or does now; null once ended" },
	{ "progress", WIRE_TEXT, WIRE_NULL, "what is being brought for it or from it now, and how far; null when nothing is" },
	{ "tasks", WIRE_LIST, 0, "by rank", "task" },
	{ "outputs", WIRE_LIST, 0, "what it keeps", "output" },
	{ "spec", WIRE_OBJECT, 0, "the job file with every default written out", WIRE_JOB_FILE },
	{ 0 }
};
static const struct wire_field submitted[] = {
	{ "id", WIRE_INT, 0, "the job's number" },
	{ "again", WIRE_BOOL, 0, "the idempotency key was known: nothing new was made" },
	{ 0 }
};
static const struct wire_field ahead_job[] = {
	{ "id", WIRE_INT, 0, "its number" },
	{ "name", WIRE_TEXT, 0, "as its file says" },
	{ "owner", WIRE_TEXT, 0, "whose it is" },
	{ "group", WIRE_TEXT, 0, "whose group's it is" },
	{ 0 }
};
static const struct wire_field ends[] = {
	{ "id", WIRE_INT, 0, "a job that runs now" },
	{ "ends_ms", WIRE_INT, 0, "when it will probably end" },
	{ 0 }
};
static const struct wire_field estimate[] = {
	{ "soonest_ms", WIRE_INT, 0, "when it may start, as milliseconds since 1970" },
	{ "likely_ms", TIME, "when it will probably start; null: no telling" },
	{ "latest_ms", TIME, "one in ten starts later; null: no telling" },
	{ "sure", WIRE_INT, 0, "percent: how often such estimates hold" },
	{ "after", WIRE_LIST, 0, "whose ends make the room, of those you may see; the last first", "ends" },
	{ 0 }
};
static const struct wire_field offer[] = {
	{ "text", WIRE_TEXT, 0, "what would start now: \"with 4 gpu instead of 8\"" },
	{ "flags", WIRE_TEXT, 0, "how to ask `yard run` for that; empty: it has no flag for it" },
	{ 0 }
};
#define WHY_FIELDS                                                                                             \
	{ "kind", WIRE_TEXT, WIRE_NULL, "what keeps it; starts: nothing does; null: it does not wait",         \
	  .words = "starts capacity order user-quota group-quota never preempting" },                          \
	{ "reason", WIRE_TEXT, WIRE_NULL, "one sentence of cause" },                                           \
	{ "position", WIRE_INT, WIRE_NULL, "in the queue: 1 is the head; null: it does not wait" },            \
	{ "waiting", WIRE_INT, 0, "how many are in the queue" },                                               \
	{ "ahead_count", WIRE_INT, 0, "jobs that take room before it" },                                       \
	{ "ahead", WIRE_LIST, 0, "the first of them, of those you may see", "ahead_job" },                     \
	{ "freed_by", WIRE_INT, WIRE_NULL, "a job whose end alone would make room" },                          \
	{ "estimate", WIRE_OBJECT, WIRE_NULL, "when it will start; null: no telling", "estimate" },            \
	{ "offers", WIRE_LIST, 0, "what would start now in its place, each tried; the best first", "offer" }
static const struct wire_field dry_run[] = {
	{ "dry_run", WIRE_BOOL, 0, "true: nothing was made" },
	{ "words", WIRE_TEXT, 0, "whether it would start now, or what it would wait for" },
	WHY_FIELDS,
	{ "spec", WIRE_OBJECT, 0, "the job file with every default written out", WIRE_JOB_FILE },
	{ 0 }
};
static const struct wire_field stop[] = {
	{ "reason", WIRE_TEXT, OPT | WIRE_NULL, "shown with the job", .max = 1024 },
	{ "now", WIRE_BOOL, OPT, "without grace: what runs is killed, also of what is being stopped already" },
	{ 0 }
};
static const struct wire_field why[] = {
	{ "id", WIRE_INT, 0, "the job's number" },
	{ "state", WIRE_TEXT, 0, "where it stands", .words = STATES },
	{ "why", WIRE_TEXT, 0, "what it waits for, or why it ended so" },
	WHY_FIELDS,
	{ 0 }
};
static const struct wire_field usage[] = {
	{ "task", WIRE_INT, 0, "its rank" },
	{ "time_ms", WIRE_INT, 0, "when it was measured" },
	{ "cpu_ms", WIRE_INT, 0, "time its cores worked" },
	{ "memory_bytes", WIRE_INT, 0, "now" },
	{ "memory_peak_bytes", WIRE_INT, 0, "the most so far" },
	{ "pids", WIRE_INT, 0, "processes and threads" },
	{ "samples", WIRE_LIST, 0, "since it began: time_ms, cpu_ms, memory_bytes, pids", "ints" },
	{ 0 }
};
static const struct wire_field usage_series[] = {
	{ "task", WIRE_INT, 0, "its rank" },
	{ "attempt", WIRE_INT, 0, "of which attempt" },
	{ "samples", WIRE_LIST, 0, "oldest first: time_ms, cpu_ms, memory_bytes, pids", "ints" },
	{ 0 }
};
static const struct wire_field metric_series[] = {
	{ "name", WIRE_TEXT, 0, "as the job calls it" },
	{ "run", WIRE_TEXT, 0, "the folder of its event files, or the task; . when there is just one" },
	{ "source", WIRE_TEXT, 0, "where it was read", .words = "tensorboard log" },
	{ "count", WIRE_INT, 0, "how many values there were" },
	{ "nan_count", WIRE_INT, 0, "of these: no numbers" },
	{ "min", WIRE_NUMBER, WIRE_NULL, "the least of all; null: none is a number" },
	{ "max", WIRE_NUMBER, WIRE_NULL, "the greatest" },
	{ "last", WIRE_NUMBER, 0, "the last one" },
	{ "last_step", WIRE_INT, 0, "its step" },
	{ "last_time_ms", WIRE_INT, 0, "its time" },
	{ "points", WIRE_LIST, 0, "step, time_ms, value; fewer than there were, with the extremes", "point" },
	{ 0 }
};
static const struct wire_field metric_other[] = {
	{ "name", WIRE_TEXT, 0, "as the job calls it" },
	{ "run", WIRE_TEXT, 0, "the folder of its event files" },
	{ "kind", WIRE_TEXT, 0, "image, histogram, text, audio, hparams, graph, tensor, ..." },
	{ "count", WIRE_INT, 0, "how many there were" },
	{ "last_step", WIRE_INT, 0, "the step of the last one" },
	{ 0 }
};
static const struct wire_field metrics[] = {
	{ "series", WIRE_LIST, 0, "numbers over steps, by run and name", "metric_series" },
	{ "other", WIRE_LIST, 0, "what else was written", "metric_other" },
	{ "problems", WIRE_LIST, 0, "what could not be read, and why", "text" },
	{ 0 }
};
static const struct wire_field job_change[] = {
	{ "priority", WIRE_INT, 0, "from now on", .min = -1000, .max = 1000 },
	{ 0 }
};
static const struct wire_field job_clone[] = {
	{ "name", WIRE_TEXT, OPT, "another name", .min = 1, .max = 128 },
	{ "priority", WIRE_INT, OPT, "another priority", .min = -1000, .max = 1000 },
	{ "env", WIRE_MAP, OPT, "variables to set in every role", "text" },
	{ "hyperparameters", WIRE_MAP, OPT, "hyperparameters to set", "any" },
	{ 0 }
};
static const struct wire_field ask[] = {
	{ "tasks", WIRE_INT, 0, "how many" },
	{ "cpu_milli", WIRE_INT, 0, "thousandths of a core, of all tasks together" },
	{ "memory_bytes", WIRE_INT, 0, "memory" },
	{ "devices", WIRE_MAP, 0, "device type to how many, or to a share of one", "amount" },
	{ 0 }
};
static const struct wire_field waiting[] = {
	{ "position", WIRE_INT, 0, "1 is the head" },
	{ "id", WIRE_INT, WIRE_NULL, "null: a job that is not yours to see" },
	{ "name", WIRE_TEXT, WIRE_NULL, "as its file says" },
	{ "owner", WIRE_TEXT, WIRE_NULL, "whose it is" },
	{ "group", WIRE_TEXT, WIRE_NULL, "whose group's" },
	{ "priority", WIRE_INT, 0, "higher ones go first" },
	{ "ask", WIRE_OBJECT, 0, "what it asks for", "ask" },
	{ "since_ms", WIRE_INT, 0, "when it joined the queue" },
	{ "reason", WIRE_TEXT, WIRE_NULL, "what it waits for" },
	{ 0 }
};
static const struct wire_field estimate_score[] = {
	{ "told", WIRE_INT, 0, "estimates that can be judged, since the daemon began" },
	{ "within", WIRE_INT, 0, "that came between the soonest and the latest told" },
	{ "close", WIRE_INT, 0, "within a fifth of the time told, or a minute" },
	{ "error_ms", WIRE_INT, 0, "how far the last were off, the median" },
	{ 0 }
};
static const struct wire_field queue[] = {
	{ "waiting", WIRE_INT, 0, "how many wait in all" },
	{ "queue", WIRE_LIST, 0, "in order", "waiting" },
	{ "estimates", WIRE_OBJECT, 0, "how good the estimates of starts were", "estimate_score" },
	{ "next", WIRE_INT, WIRE_NULL, "pass it as `from` for the next page; null: there is none" },
	{ 0 }
};
static const struct wire_field event_exit[] = {
	{ "kind", WIRE_TEXT, 0, "how it ended", .words = EXITS },
	{ "code", WIRE_INT, 0, "of kind code" },
	{ "signal", WIRE_INT, 0, "of kind signal" },
	{ "peak", WIRE_INT, 0, "bytes of memory at most" },
	{ "limit", WIRE_INT, 0, "of its memory, in bytes" },
	{ "cpu_ms", WIRE_INT, 0, "time its cores worked" },
	{ "ended", WIRE_INT, OPT, "when, in milliseconds since 1970" },
	{ "text", WIRE_TEXT, OPT, "detail" },
	{ "stage", WIRE_TEXT, OPT, "in which stage before its command" },
	{ 0 }
};
static const struct wire_field event_place[] = {
	{ "node", WIRE_TEXT, 0, "where" },
	{ "slot", WIRE_INT, 0, "its number there" },
	{ "role", WIRE_INT, OPT, "whose task it is, by number; 0" },
	{ "devices", WIRE_MAP, 0, "device type to a mask of numbers", "int" },
	{ "shares", WIRE_MAP, OPT, "device type to thousandths of that one device", "int" },
	{ "ports", WIRE_LIST, OPT, "given to it", "int" },
	{ 0 }
};
static const struct wire_field event_quota[] = {
	{ "cpu", WIRE_INT, 0, "thousandths of a core" },
	{ "memory", WIRE_INT, 0, "bytes" },
	{ "devices", WIRE_MAP, 0, "device type to count", "int" },
	{ 0 }
};
static const struct wire_field event_body[] = {
	{ "attempt", WIRE_INT, OPT, "which attempt" },
	{ "task", WIRE_INT, OPT, "which task, by rank" },
	{ "exit", WIRE_OBJECT, OPT, "how the task ended", "event_exit" },
	{ "stop", WIRE_TEXT, OPT, "what stopped it", .words = STOPS },
	{ "outcome", WIRE_TEXT, OPT, "how it ended", .words = OUTCOMES },
	{ "until", WIRE_INT, OPT, "when it goes on, in milliseconds since 1970" },
	{ "uid", WIRE_INT, OPT, "of the owner on this machine; -1: none" },
	{ "slot", WIRE_INT, OPT, "of a user's range of uids" },
	{ "priority", WIRE_INT, OPT, "the new one" },
	{ "array", WIRE_INT, OPT, "the array it is a member of" },
	{ "member", WIRE_INT, OPT, "the member this is about" },
	{ "index", WIRE_INT, OPT, "the member's number" },
	{ "count", WIRE_INT, OPT, "of a member: how many there are; of an array: how many were made so far" },
	{ "quota", WIRE_OBJECT, OPT, "the limits that were set", "event_quota" },
	{ "jobs", WIRE_INT, OPT, "how many may run; -1: any number" },
	{ "by", WIRE_TEXT, OPT, "who did it" },
	{ "group", WIRE_TEXT, OPT, "for which group" },
	{ "key", WIRE_TEXT, OPT, "the idempotency key" },
	{ "digest", WIRE_TEXT, OPT, "of the body that came with the key" },
	{ "text", WIRE_TEXT, OPT, "in words" },
	{ "scope", WIRE_TEXT, OPT, "user or group; of the audit log: what was done" },
	{ "name", WIRE_TEXT, OPT, "of whom or of what" },
	{ "spec", WIRE_OBJECT, OPT, "what was submitted", WIRE_JOB_FILE },
	{ "places", WIRE_LIST, OPT, "one for each task", "event_place" },
	{ 0 }
};
static const struct wire_field event[] = {
	{ "seq", WIRE_INT, 0, "its number; they only grow" },
	{ "time_ms", WIRE_INT, 0, "when" },
	{ "job", WIRE_INT, 0, "whose; 0: of no job" },
	{ "kind", WIRE_TEXT, 0, "what happened", .words = EVENTS },
	{ "body", WIRE_OBJECT, 0, "what there is to say of it", "event_body" },
	{ 0 }
};
static const struct wire_field events[] = {
	{ "events", WIRE_LIST, 0, "oldest first", "event" },
	{ "next", WIRE_INT, 0, "pass it as `from` for what comes after these" },
	{ 0 }
};

const struct wire_shape wire_shapes_job[] = {
	{ "job_row", "one line of a list of jobs", row },
	{ "members", "the members of an array, counted", members },
	{ "jobs", "a page of jobs", jobs },
	{ "exit", "how a task ended", exit_fields },
	{ "task", "one of a job's tasks", task },
	{ "stop_info", "who stopped a job, and why", stop_info },
	{ "preempted", "how often a job gave way, and what that cost it", preempted },
	{ "output", "a folder that a job keeps", output },
	{ "job", "all about one job", job },
	{ "submitted", "the new job", submitted, "{\"id\":7,\"again\":false}" },
	{ "ahead_job", "a job that is ahead of another", ahead_job },
	{ "ends", "when a job will probably end", ends },
	{ "estimate", "when a job will probably start", estimate },
	{ "offer", "a smaller request that would start now", offer },
	{ "dry_run", "what a submit would do", dry_run },
	{ "stop", "why it is to be stopped", stop, "{\"reason\":\"wrong data\"}", true },
	{ "why", "what a job waits for", why },
	{ "usage", "what a task uses", usage },
	{ "usage_series", "what a task used over time", usage_series },
	{ "metric_series", "one thing a job measured", metric_series },
	{ "metric_other", "what a job wrote beside numbers", metric_other },
	{ "metrics", "what a job measured of itself", metrics },
	{ "job_change", "what to change of a job", job_change, "{\"priority\":5}", true },
	{ "job_clone", "what the new job has otherwise", job_clone, "{\"name\":\"again\"}", true },
	{ "ask", "what a waiting job asks for", ask },
	{ "waiting", "a job in the queue", waiting },
	{ "estimate_score", "how good estimates were", estimate_score },
	{ "queue", "who waits", queue },
	{ "event_exit", "how a task ended", event_exit },
	{ "event_place", "where a task was put", event_place },
	{ "event_quota", "what may be used", event_quota },
	{ "event_body", "what an event tells, by its kind", event_body },
	{ "event", "something that happened", event },
	{ "events", "a page of what happened", events },
	{ 0 }
};
/* clang-format on */
