// SPDX-License-Identifier: Apache-2.0
#include "cli/outcome.h"

#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "base/units.h"

#define POLL_MS 60000

int outcome_wait(struct cli *c, const char *job, int64_t timeout_ms, struct wire_job *out,
		 struct err *err)
{
	int64_t until = timeout_ms < 0 ? INT64_MAX : cli_now_ms() + timeout_ms;
	AUTO_FREE char *target = cli_job_target(job, "/wait");

	for (;;) {
		AUTO_ANSWER struct answer a = { 0 };
		int64_t left = until - cli_now_ms();
		if (left < 0)
			left = 0;
		if (cli_get(c, &a, err, "%s?timeout_ms=%" PRId64, target,
			    left < POLL_MS ? left : POLL_MS) < 0)
			return -1;
		if (a.status == 200)
			return wire_job_read(doc_root(a.doc), out, err) < 0 ? -1 : 1;
		if (left == 0)
			return 0;
	}
}

static void advise_memory(const struct cli *c, const struct task_exit *e)
{
	char text[UNITS_TEXT_MAX];

	int64_t size = 64 << 20;
	/* A round size: at least half as much again as it had or wanted. */
	int64_t wanted = e->peak_bytes > e->limit_bytes ? e->peak_bytes : e->limit_bytes;
	while (size < wanted + wanted / 2 && size < INT64_MAX / 2)
		size *= 2;
	if (e->limit_bytes > 0)
		cli_hint(c, "try more memory: --mem %s", units_write_bytes(size, text));
	else
		cli_hint(c, "try more memory with --mem");
}

/* One thing to try, by how the first task failed. */
static void advise(const struct cli *c, const struct job *j)
{
	int rank = j->first_failed;

	for (size_t i = 0; rank < 0 && i < j->task_count; i++)
		if (j->tasks[i].state == TASK_OVER && !exit_ok(&j->tasks[i].exit))
			rank = (int)i;
	const struct task_exit *e = rank >= 0 ? &j->tasks[rank].exit : NULL;
	if (j->stop == STOP_TIME_LIMIT)
		cli_hint(c, "try a longer --time-limit");
	else if (j->stop == STOP_USER)
		return;
	else if (e && e->kind == EXIT_OOM)
		advise_memory(c, e);
	else if (e && ((e->kind == EXIT_CODE && e->code == 127) ||
		       (e->kind == EXIT_UNSTARTED && strstr(e->text, "cannot run"))))
		cli_hint(
			c,
			"the command was not found: is it installed here, and not left out by .gitignore?");
	else if (e && e->kind == EXIT_CODE && e->code == 126)
		cli_hint(
			c,
			"the command could not be executed: is it marked executable (chmod +x)?");
	else if (e && e->kind == EXIT_LOST)
		cli_hint(
			c,
			"nobody knows how it ended; run it again, or let it be retried: --retry 1");
	cli_hint(c,
		 "`yard show %" PRId64 "` tells more, `yard logs %" PRId64
		 "` has its output",
		 j->id, j->id);
}

int outcome_tell(const struct cli *c, const struct wire_job *w)
{
	const struct job *j = w->job;

	for (size_t i = 0; i < w->output_count; i++)
		if (w->outputs[i])
			cli_hint(c, "output %s is in %s", j->spec->outputs[i].name,
				 w->outputs[i]);
	if (j->outcome == OUTCOME_SUCCEEDED)
		return 0;
	cli_say(c, "job %" PRId64 " (%s) %s%s%s", j->id, j->spec->name,
		j->outcome == OUTCOME_STOPPED ? "was stopped" : "failed",
		j->reason ? ": " : "", j->reason ? j->reason : "");
	advise(c, j);
	return w->exit_code ? w->exit_code : 1;
}
