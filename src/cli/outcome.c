// SPDX-License-Identifier: Apache-2.0
#include "cli/outcome.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/mem.h"
#include "cli/follow.h"
#include "cli/verdict.h"

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

static bool look_at(void *arg, const struct follow_line *line)
{
	blame_line(arg, line->text, line->len);
	return false;
}

void outcome_blame(struct cli *c, const struct wire_job *w, struct blame *out)
{
	char job[24], attempt[16];
	struct err ignored; /* its log may be gone: then nothing is said of it */

	*out = (struct blame){ 0 };
	int rank = verdict_rank(w->job);
	if (rank < 0 || w->job->attempt < 1)
		return;
	snprintf(job, sizeof job, "%" PRId64, w->job->id);
	snprintf(attempt, sizeof attempt, "%d", w->job->attempt);
	struct follow f = { .job = job,
			    .names = w->job,
			    .rank = rank,
			    .attempt = attempt,
			    .tail = OUTCOME_LOOK_LINES,
			    .keep = look_at,
			    .keep_arg = out,
			    .other = -1 };
	if (follow_log(c, &f, &ignored) < 0)
		client_drop(c->client);
}

int outcome_tell(struct cli *c, const struct wire_job *w)
{
	const struct job *j = w->job;
	struct blame blame;
	struct verdict v;

	for (size_t i = 0; i < w->output_count; i++)
		if (w->outputs[i])
			cli_hint(c, "output %s is in %s", j->spec->outputs[i].name,
				 w->outputs[i]);
	if (j->outcome == OUTCOME_SUCCEEDED)
		return 0;
	outcome_blame(c, w, &blame);
	verdict_make(j, &(struct verdict_log){ blame.first, blame.last }, &v);
	cli_say_bad(c, "%s", v.what);
	if (v.error)
		cli_say(c, "%s", v.error);
	if (v.meaning)
		cli_say(c, "%s", v.meaning);
	cli_hint(c, "next: %s", v.next);
	verdict_fini(&v);
	blame_fini(&blame);
	return w->exit_code ? w->exit_code : 1;
}
