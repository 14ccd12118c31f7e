// SPDX-License-Identifier: Apache-2.0
/* What is brought for a job is told by events that change nothing else. */
#include "base/mem.h"
#include "base/str.h"
#include "job/job.h"
#include "tap.h"

static struct job *a_job(void)
{
	AUTO_SPEC struct spec *s = spec_create();
	struct problems problems = { 0 };
	struct event e = {
		.kind = EV_SUBMITTED, .job = 7, .seq = 1, .by = (char[]){ "ann" }
	};
	struct role *r = spec_add_role(s);

	s->name = mem_strdup("j");
	r->shell_line = mem_strdup("true");
	spec_add_output(s, "model", NULL);
	spec_check(s, &problems);
	problems_fini(&problems);
	e.spec = s;
	return job_create(&e, NULL);
}

static bool tell(struct job *j, struct event e)
{
	static int64_t seq = 1;

	e.job = 7;
	e.seq = ++seq;
	if (!job_legal(j, &e))
		return false;
	job_apply(j, &e);
	return true;
}

static struct event says(int attempt, char *text)
{
	return (struct event){ .kind = EV_PROGRESS, .attempt = attempt, .text = text };
}

int main(void)
{
	struct job *j = a_job();
	struct placement place = { .node = "n" };
	char half[] = "half of it", all[] = "all of it";

	OK(!tell(j, says(0, half)) && !tell(j, says(1, half)),
	   "nothing is brought for one that waits");
	OK(tell(j, (struct event){ .kind = EV_PLACED,
				   .attempt = 1,
				   .places = &place,
				   .place_count = 1 }),
	   "placed");
	OK(!tell(j, says(2, half)), "nor for another attempt");
	OK(tell(j, says(1, half)) && j->state == JOB_STARTING &&
		   str_eq(j->progress, half),
	   "while it starts it is told");
	OK(tell(j, says(1, all)) && str_eq(j->progress, all), "the last word counts");
	AUTO_BUF struct buf body = { 0 };
	struct event e = says(1, all), back;
	event_encode(&e, &body);
	OK(event_decode(EV_PROGRESS, body.data, body.len, &back, NULL) == 0 &&
		   back.attempt == 1 && str_eq(back.text, all),
	   "it is stored and read back");
	event_fini(&back);
	OK(tell(j, (struct event){ .kind = EV_STARTED, .attempt = 1 }) && !j->progress,
	   "and forgotten once the task has begun");
	OK(!tell(j, says(1, half)), "one that runs brings nothing");
	OK(tell(j, (struct event){ .kind = EV_EXITED, .attempt = 1 }) &&
		   j->state == JOB_COLLECTING && tell(j, says(1, half)) && j->progress,
	   "its outputs are brought away when it is over");
	OK(tell(j, (struct event){ .kind = EV_COLLECTED, .attempt = 1 }) &&
		   !j->progress && !tell(j, says(1, half)),
	   "and that ends, too");
	job_destroy(j);
	return END();
}
