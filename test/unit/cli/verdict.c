// SPDX-License-Identifier: Apache-2.0
/* The last lines about a job that failed: each cause has its meaning and one next step. */
#include "cli/verdict.h"

#include <signal.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "tap.h"

#define MIB (1LL << 20)

struct given {
	struct task_exit exit;
	enum stop_kind stop;
	int64_t time_limit_ms;
	const char *error;
};

static void judge(const struct given *g, int tasks, struct verdict *out)
{
	struct role role = { .name = (char[]){ "worker" },
			     .count = tasks,
			     .each = { .memory_bytes = 64 * MIB } };
	struct dependency after = { .job = 5, .ok = true };
	struct spec spec = { .name = (char[]){ "train" },
			     .roles = &role,
			     .role_count = 1,
			     .time_limit_ms = g->time_limit_ms,
			     .after = &after,
			     .after_count = g->stop == STOP_DEPENDENCY };
	struct task list[4] = { 0 };
	struct job j = { .id = 7,
			 .spec = &spec,
			 .tasks = list,
			 .task_count = (size_t)tasks,
			 .attempt = 1,
			 .state = JOB_ENDED,
			 .outcome = g->stop == STOP_USER || g->stop == STOP_DEPENDENCY
					    ? OUTCOME_STOPPED
					    : OUTCOME_FAILED,
			 .stop = g->stop,
			 .first_failed = -1,
			 .reason = (char[]){ "the reason" } };

	for (int i = 0; i < tasks; i++)
		list[i] = (struct task){ .index = i,
					 .state = TASK_OVER,
					 .exit = { .kind = EXIT_STOPPED },
					 .ended_ms = 100 };
	list[tasks - 1].exit = g->exit;
	list[tasks - 1].ended_ms = 50;
	verdict_make(&j, &(struct verdict_log){ g->error, "the last line" }, out);
}

/* clang-format off */
static const struct {
	const char *law;
	struct given given;
	const char *meaning, *next; /* meaning: part of it; NULL: nothing needs to be said */
} rows[] = {
	{ "a code without an error in the log points to the log's end",
	  { .exit = { .kind = EXIT_CODE, .code = 3 } }, NULL, "yard logs --tail 50 7" },
	{ "with an error, to the errors",
	  { .exit = { .kind = EXIT_CODE, .code = 3 }, .error = "ValueError: x" }, NULL, "yard logs --errors 7" },
	{ "127: not found",
	  { .exit = { .kind = EXIT_CODE, .code = 127 } }, "not found", "yard show 7" },
	{ "126: not executable",
	  { .exit = { .kind = EXIT_CODE, .code = 126 } }, "chmod +x", "yard show 7" },
	{ "139 is a shell's word for SIGSEGV",
	  { .exit = { .kind = EXIT_CODE, .code = 139 } }, "SIGSEGV", "yard logs --tail 50 7" },
	{ "a signal in words",
	  { .exit = { .kind = EXIT_SIGNAL, .signal = SIGSEGV } }, "not its own", "yard logs --tail 50 7" },
	{ "a bus error thinks of shared memory",
	  { .exit = { .kind = EXIT_SIGNAL, .signal = SIGBUS } }, "/dev/shm", "yard logs --tail 50 7" },
	{ "out of memory: half as much again as the limit",
	  { .exit = { .kind = EXIT_OOM, .peak_bytes = 64 * MIB, .limit_bytes = 64 * MIB } },
	  "its limit of 64 MiB: ask for --mem 96Mi or more", "yard clone 7 --mem 96Mi" },
	{ "or as the peak, where that is known to be higher",
	  { .exit = { .kind = EXIT_OOM, .peak_bytes = 400 * MIB, .limit_bytes = 64 * MIB } },
	  "its limit of 64 MiB: ask for --mem 640Mi or more", "yard clone 7 --mem 640Mi" },
	{ "or as it asked for, where nothing is known",
	  { .exit = { .kind = EXIT_OOM } }, "more memory", "yard clone 7 --mem 96Mi" },
	{ "a time limit is doubled",
	  { .stop = STOP_TIME_LIMIT, .time_limit_ms = 90000, .exit = { .kind = EXIT_STOPPED } },
	  "more time", "yard clone 7 --time-limit 3m" },
	{ "who stopped it may want it again",
	  { .stop = STOP_USER, .exit = { .kind = EXIT_STOPPED } }, NULL, "yard clone 7" },
	{ "a stop stands above what the task made of it",
	  { .stop = STOP_USER, .exit = { .kind = EXIT_SIGNAL, .signal = SIGTERM } }, NULL, "yard clone 7" },
	{ "a dependency is shown",
	  { .stop = STOP_DEPENDENCY, .exit = { .kind = EXIT_STOPPED } }, "never ran", "yard show 5" },
	{ "what was lost can be retried",
	  { .exit = { .kind = EXIT_LOST, .text = "rebooted" } }, "nobody knows", "yard clone 7 --retry 1" },
	{ "what never started is looked at",
	  { .exit = { .kind = EXIT_UNSTARTED, .text = "no mount" } }, "nothing of it ran", "yard show 7" },
};
/* clang-format on */

static void several_tasks(void)
{
	struct given g = { .exit = { .kind = EXIT_CODE, .code = 1 },
			   .error = "  Boom: x" };
	struct verdict v;

	judge(&g, 3, &v);
	IS(v.what, "job 7 (train) failed: the reason", "what failed, and the reason");
	IS(v.error, "first error of worker-2: Boom: x",
	   "of several tasks the one that failed by itself, and first, is told");
	IS(v.next, "yard logs --errors --task 2 7", "and it is the one to look at");
	verdict_fini(&v);
	g.error = NULL;
	judge(&g, 1, &v);
	IS(v.error, "last line: the last line", "without an error the last line is told");
	verdict_fini(&v);
	g = (struct given){ .stop = STOP_USER, .exit = { .kind = EXIT_STOPPED } };
	judge(&g, 1, &v);
	OK(!v.error, "of a job that was stopped no line is blamed");
	verdict_fini(&v);
}

int main(void)
{
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct verdict v;
		judge(&rows[i].given, 1, &v);
		IS(v.next, rows[i].next, "%s", rows[i].law);
		if (!OK(rows[i].meaning ? v.meaning && strstr(v.meaning, rows[i].meaning)
					: !v.meaning,
			"%s: its meaning", rows[i].law))
			printf("# got '%s'\n", v.meaning ? v.meaning : "(none)");
		verdict_fini(&v);
	}
	several_tasks();
	bool more = true;
	for (int64_t b = 1; b < INT64_MAX / 8; b *= 2) {
		int64_t m = verdict_more_memory(b + b / 3);
		more &= m >= (b + b / 3) + (b + b / 3) / 2 && m % (1 << 20) == 0 &&
			(b < 64 * MIB || m <= 2 * (b + b / 3));
	}
	OK(more, "more memory is at least half as much again, round, and at most double");
	OK(verdict_more_memory(INT64_MAX) == INT64_MAX, "and never overflows");
	return END();
}
