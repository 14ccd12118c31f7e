// SPDX-License-Identifier: Apache-2.0
/* laws.h - what is true of every store; memory.c and sqlite.c run it on each. */
#pragma once

#include "bench.h"
#include "lists.h"
#include "store/docs.h"

static void law_empty(struct bench *b)
{
	struct store_counters n = { 0 };
	struct seen s = { 0 };
	struct err err = { 0 };
	int64_t job;
	char digest[65];

	OK(store_boot(b->s, see_event, &s, &n, &err) == 0 && s.count == 0,
	   "a new store is empty");
	OK(n.next_seq == 1 && n.next_job == 1, "numbers begin at 1");
	OK(store_find_key(b->s, "ann", "k", &job, digest, &err) < 0 &&
		   err.code == ERR_NOT_FOUND,
	   "no key: %s", err.text);
	OK(store_find_name(b->s, "ann", "train", &job, &err) < 0 &&
		   err.code == ERR_NOT_FOUND,
	   "no name: %s", err.text);
	OK(store_row(b->s, 1, see_row, &s, &err) < 0 && err.code == ERR_NOT_FOUND,
	   "no row: %s", err.text);
	b->seq = 1;
}

static void law_commit(struct bench *b)
{
	struct store_batch *batch = store_batch_create();
	struct store_row row = a_row(1, "ann", JOB_QUEUED);
	struct told t = { 0 };
	struct seen s = { 0 };

	add_job(b, batch, &row, "key-1");
	IS_INT((long long)store_batch_count(batch), 1, "a batch counts its events");
	store_commit(b->s, batch, on_told, &t);
	OK(!t.yes, "done() is not called from inside store_commit()");
	OK(spin_until(b->w, &t.yes) && t.err.code == ERR_NONE,
	   "it is called when all is durable");
	OK(store_row(b->s, 1, see_row, &s, NULL) == 0 && s.count == 1,
	   "the row is there");
	IS_INT(count_events(b, 1), 1, "and the event");
	OK(commit(b, store_batch_create()) == ERR_NONE, "a batch of nothing is fine");
	seen_fini(&s);
}

static void see_whole_event(void *arg, const struct event *e)
{
	struct buf *out = arg;

	buf_printf(out, "%lld %lld %lld %s ", (long long)e->seq, (long long)e->time_ms,
		   (long long)e->job, event_kind_word(e->kind));
	event_encode(e, out);
	buf_addc(out, '\n');
}

static struct spec *a_spec(const char *name, const char *line)
{
	struct spec *spec = spec_create();
	struct problems problems = { 0 };

	spec->name = mem_strdup(name);
	role_set_shell(spec_add_role(spec), line);
	spec_check(spec, &problems);
	problems_fini(&problems);
	return spec;
}

/* Every kind comes back as it went in. */
static void law_round_trip(struct bench *b)
{
	struct store_batch *batch = store_batch_create();
	struct store_row row = a_row(2, "ann", JOB_RUNNING);
	AUTO_BUF struct buf in = { 0 };
	AUTO_BUF struct buf out = { 0 };
	struct placement place = {
		.node = "here", .slot = 3, .ports = { 4000 }, .port_count = 1
	};
	AUTO_SPEC struct spec *spec = a_spec("train", "echo 'a' \"b\" \\ \t größe ☃");

	for (enum event_kind k = 0; k < EVENT_KIND_COUNT; k++) {
		struct event e = an_event(b, k == EV_QUOTA || k == EV_USER ? 0 : 2, k);
		e.uid = k == EV_SUBMITTED || k == EV_USER ? 7 : -1;
		e.quota.max_running_jobs = -1;
		e.attempt = 1;
		e.by = (char *)(uintptr_t) "bob";
		e.text = (char *)(uintptr_t) "why \"not\"";
		e.scope = (char *)(uintptr_t)(k == EV_QUOTA ? "user" : NULL);
		e.name =
			(char *)(uintptr_t)(k == EV_QUOTA || k == EV_USER ? "bob" : NULL);
		e.spec = k == EV_SUBMITTED ? spec : NULL;
		e.places = k == EV_PLACED ? &place : NULL;
		e.place_count = k == EV_PLACED;
		store_batch_event(batch, &e);
		see_whole_event(&in, &e);
	}
	store_batch_row(batch, &row);
	OK(commit(b, batch) == ERR_NONE, "events of every kind are stored");
	OK(store_events(b->s, 0, b->seq - EVENT_KIND_COUNT, 100, see_whole_event, &out,
			NULL) == 0,
	   "and read");
	IS(buf_str(&out), buf_str(&in), "as they were");
}

static void law_spans(struct bench *b)
{
	struct seen s = { 0 };

	OK(store_events(b->s, 2, 0, 3, see_event, &s, NULL) == 0 && s.count == 3,
	   "at most so many events as asked");
	IS(buf_str(&s.kinds), "submitted:2 ready:2 placed:2 ",
	   "the first ones, of that job only");
	seen_fini(&s);
	OK(store_events(b->s, 2, 4, 2, see_event, &s, NULL) == 0 && s.count == 2 &&
		   s.seqs[0] == 4,
	   "from a seq on, that one included");
	seen_fini(&s);
	OK(store_events(b->s, 0, 0, 100, see_event, &s, NULL) == 0 && !s.disorder &&
		   s.seqs[0] == 1 && s.count == (int)b->seq - 1,
	   "job 0 means all of them, in order");
	seen_fini(&s);
	OK(store_events(b->s, 999, 0, 100, see_event, &s, NULL) == 0 && s.count == 0,
	   "a job that is not there has none");
	OK(store_events(b->s, 0, 0, 0, see_event, &s, NULL) == 0 && s.count == 1,
	   "a limit below 1 is 1");
	seen_fini(&s);
}

static void law_boot(struct bench *b)
{
	struct store_batch *batch = store_batch_create();
	struct store_row live = a_row(10, "ann", JOB_RUNNING),
			 over = a_row(11, "ann", JOB_RUNNING);
	struct event quota = an_event(b, 0, EV_QUOTA), user = an_event(b, 0, EV_USER);
	struct event ended, started;
	struct store_counters n = { 0 };
	struct seen s = { 0 };

	add_job(b, batch, &live, NULL);
	add_job(b, batch, &over, "same-key");
	quota.scope = (char *)(uintptr_t) "user";
	user.name = quota.name = (char *)(uintptr_t) "bob"; /* replaces the one before */
	store_batch_event(batch, &quota);
	store_batch_event(batch, &user);
	quota.seq = b->seq++;
	quota.scope = (char *)(uintptr_t) "group"; /* another thing of the same name */
	store_batch_event(batch, &quota);
	ended = an_event(b, 11, EV_ENDED);
	started = an_event(b, 10, EV_STARTED);
	over.state = JOB_ENDED;
	over.outcome = OUTCOME_SUCCEEDED;
	store_batch_event(batch, &ended);
	store_batch_event(batch, &started);
	store_batch_row(batch, &over);
	OK(commit(b, batch) == ERR_NONE, "a mixed batch");
	for (int again = 0; again < 2; again++) {
		OK(store_boot(b->s, see_event, &s, &n, NULL) == 0, "boots");
		OK(strstr(buf_str(&s.kinds),
			  "quota:0 user:0 quota:0 submitted:1 submitted:2 ") ==
			   buf_str(&s.kinds),
		   "boot gives the last word on quotas and users, then the live jobs");
		OK(strstr(buf_str(&s.kinds), "submitted:10 started:10 ") &&
			   !strstr(buf_str(&s.kinds), ":11"),
		   "not of jobs that ended");
		OK(n.next_seq == b->seq && n.next_job == 12,
		   "numbers go on behind the last");
		seen_fini(&s);
		reopen(b);
	}
}

static void law_conflicts(struct bench *b)
{
	struct store_batch *batch = store_batch_create();
	struct store_row row = a_row(20, "ann", JOB_QUEUED);
	struct event twice = { .seq = 1, .time_ms = 5, .job = 20, .kind = EV_READY };
	struct err err = { 0 };
	struct seen s = { 0 };
	int64_t seq = b->seq, job = 0;
	char digest[65];

	add_job(b, batch, &row, "fresh");
	store_batch_event(batch, &twice);
	OK(commit(b, batch) == ERR_CONFLICT,
	   "a seq that is there already fails the commit");
	OK(store_row(b->s, 20, see_row, &s, &err) < 0 && count_events(b, 20) == 0 &&
		   store_find_key(b->s, "ann", "fresh", &job, digest, &err) < 0,
	   "whole: nothing of the batch is there");
	b->seq = seq;
	batch = store_batch_create();
	add_job(b, batch, &row, "key-1");
	OK(commit(b, batch) == ERR_CONFLICT, "an owner's key is used once");
	b->seq = seq;
	batch = store_batch_create();
	row.owner = "bob";
	add_job(b, batch, &row, "key-1");
	OK(commit(b, batch) == ERR_NONE,
	   "another owner has keys of their own; the store goes on");
	OK(store_find_key(b->s, "bob", "key-1", &job, digest, &err) == 0 && job == 20,
	   "and finds them");
	IS(digest, "d1g357", "with the digest of what was asked");
	OK(store_find_key(b->s, "ann", "key-1", &job, digest, &err) == 0 && job == 1,
	   "each owner their own");
	seen_fini(&s);
}

static void keep_row(void *arg, const struct store_row *row)
{
	struct buf *out = arg;

	buf_printf(out, "%lld %s %s %s '%s' %s %s %d %d %d %d %lld %lld %lld",
		   (long long)row->id, row->name, row->owner, row->group, row->reason,
		   job_state_word(row->state), outcome_word(row->outcome), row->priority,
		   row->attempt, row->task_count, row->exit_code,
		   (long long)row->submitted_ms, (long long)row->started_ms,
		   (long long)row->ended_ms);
}

/* ---- documents ---- */

static void keep_doc(void *arg, const char *kind, const char *name, const char *body)
{
	buf_printf(arg, "%s/%s=%s\n", kind, name, body);
}

static struct store_batch *audited(struct bench *b, const char *action)
{
	struct store_batch *batch = store_batch_create();
	struct event e = an_event(b, 0, EV_AUDIT);

	e.by = (char *)(uintptr_t) "root";
	e.scope = (char *)(uintptr_t)action;
	e.name = (char *)(uintptr_t) "ann";
	store_batch_event(batch, &e);
	return batch;
}

static void keep_audit(void *arg, const struct event *e)
{
	buf_printf(arg, "%s ", e->kind == EV_AUDIT ? e->scope : "quota");
}

static void law_docs(struct bench *b)
{
	AUTO_BUF struct buf got = { 0 };
	AUTO_BUF struct buf log = { 0 };
	struct store_batch *batch = audited(b, "one");
	struct event twice = { .seq = 1, .time_ms = 5, .kind = EV_AUDIT };
	int64_t seq;

	store_batch_doc(batch, "user", "bob", "{\"größe\":1}");
	store_batch_doc(batch, "user", "ann", "first");
	store_batch_doc(batch, "user", "ann", "last");
	store_batch_doc(batch, "token", "ann", "");
	store_batch_doc(batch, "user", "gone", "there");
	store_batch_doc(batch, "user", "gone", NULL);
	OK(commit(b, batch) == ERR_NONE && store_docs(b->s, keep_doc, &got, NULL) == 0,
	   "documents are stored");
	IS(buf_str(&got), "token/ann=\nuser/ann=last\nuser/bob={\"größe\":1}\n",
	   "by kind and name, the last word of each");
	batch = audited(b, "two");
	store_batch_doc(batch, "user", "ann", NULL);
	store_batch_doc(batch, "user", "nobody", NULL);
	store_batch_doc(batch, "group", "lab", "g");
	OK(commit(b, batch) == ERR_NONE, "one is removed, one that was not there too");
	seq = b->seq;
	batch = audited(b, "three");
	store_batch_doc(batch, "user", "bob", NULL);
	store_batch_doc(batch, "user", "eve", "e");
	store_batch_event(batch, &twice);
	OK(commit(b, batch) == ERR_CONFLICT, "a batch fails");
	b->seq = seq;
	reopen(b);
	buf_clear(&got);
	store_docs(b->s, keep_doc, &got, NULL);
	IS(buf_str(&got), "group/lab=g\ntoken/ann=\nuser/bob={\"größe\":1}\n",
	   "whole: its documents are as before, also for who opens it again");
	store_audit(b->s, 0, 2, keep_audit, &log, NULL);
	IS(buf_str(&log), "two one ", "the audit log is read newest first");
	buf_clear(&log);
	store_audit(b->s, seq - 1, 1, keep_audit, &log, NULL);
	IS(buf_str(&log), "one ", "and further back");
	/* Later laws count from an empty place. */
	batch = audited(b, "four");
	store_batch_doc(batch, "group", "lab", NULL);
	store_batch_doc(batch, "token", "ann", NULL);
	OK(commit(b, batch) == ERR_NONE, "they are removed");
}

static void law_rows(struct bench *b)
{
	struct store_batch *batch = store_batch_create();
	struct store_row row = a_row(30, "ann", JOB_QUEUED);
	AUTO_BUF struct buf got = { 0 };
	int64_t job = 0;

	row.priority = 5;
	row.task_count = 3;
	add_job(b, batch, &row, NULL);
	row.state = JOB_RUNNING;
	row.attempt = 2;
	row.started_ms = 2000;
	store_batch_row(batch, &row);
	OK(commit(b, batch) == ERR_NONE && store_row(b->s, 30, keep_row, &got, NULL) == 0,
	   "a row is there");
	IS(buf_str(&got), "30 train ann default '' running none 5 2 3 0 1000 2000 0",
	   "as it was last put in the batch");
	batch = store_batch_create();
	row.state = JOB_ENDED;
	row.outcome = OUTCOME_FAILED;
	row.reason = "exit code 7";
	row.exit_code = 7;
	row.ended_ms = 3000;
	store_batch_row(batch, &row);
	OK(commit(b, batch) == ERR_NONE, "its end is stored");
	buf_clear(&got);
	store_row(b->s, 30, keep_row, &got, NULL);
	IS(buf_str(&got),
	   "30 train ann default 'exit code 7' ended failed 5 2 3 7 1000 2000 3000",
	   "with all that is known at the end");
	OK(store_find_name(b->s, "ann", "train", &job, NULL) == 0 && job == 30,
	   "a name finds the newest of it");
	OK(store_find_name(b->s, "bob", "train", &job, NULL) == 0 && job == 20,
	   "of that owner");
}

/* ---- order, and the end ---- */

struct chain {
	struct bench *b;
	int done, wrong;
	int64_t job;
	bool over;
};

static void chain_next(struct chain *c);

static void on_chain(void *arg, const struct err *err)
{
	struct chain *c = arg;
	struct seen s = { 0 };

	c->wrong += err != NULL || store_row(c->b->s, c->job, see_row, &s, NULL) < 0;
	seen_fini(&s);
	c->over = ++c->done == 50;
	if (!c->over)
		chain_next(c);
}

static void chain_next(struct chain *c)
{
	struct store_batch *batch = store_batch_create();
	struct store_row row = a_row(++c->job, "eve", JOB_QUEUED);

	add_job(c->b, batch, &row, NULL);
	store_commit(c->b->s, batch, on_chain, c);
}

static void law_chain(struct bench *b)
{
	struct chain c = { .b = b, .job = 5000 };

	chain_next(&c);
	OK(spin_until(b->w, &c.over) && !c.wrong,
	   "a commit may follow from the done() of the last; each is there when it is told");
}

static void law_destroyed(struct bench *b)
{
	int wrong = 0;

	for (int i = 0; i < 30; i++) {
		struct store_batch *batch = store_batch_create();
		struct told t = { 0 };
		int64_t seq = b->seq, job = 6000 + i;
		struct store_row row = a_row(job, "eve", JOB_QUEUED);
		struct store_counters n;
		struct event more;
		struct seen s = { 0 };
		int there;

		add_job(b, batch, &row, NULL);
		more = an_event(b, job, EV_READY);
		store_batch_event(batch, &more);
		store_commit(b->s, batch, on_told, &t);
		if (i % 3 == 1)
			spin(b->w, 1);
		store_destroy(b->s);
		b->s = b->open(b);
		spin(b->w, 30);
		store_boot(b->s, see_event, &s, &n, NULL);
		seen_fini(&s);
		there = count_events(b, job);
		wrong += there != 0 && there != 2;
		wrong += (there == 2) != (store_row(b->s, job, see_row, &s, NULL) == 0);
		wrong += t.yes && there != 2;
		seen_fini(&s);
		b->seq = n.next_seq;
		wrong += b->seq != seq && b->seq != seq + 2;
	}
	IS_INT(wrong, 0,
	       "a commit that a destroyed store had under way is there whole or not at all");
}

static void law_row_of(void)
{
	AUTO_SPEC struct spec *spec = a_spec("n", "true");
	struct event e = { .seq = 1, .time_ms = 77, .job = 9, .kind = EV_SUBMITTED };
	struct job *j;
	struct store_row row;

	spec->priority = 4;
	e.spec = spec;
	e.by = (char *)(uintptr_t) "ann";
	j = job_create(&e, NULL);
	store_row_of(j, &row);
	OK(row.id == 9 && str_eq(row.name, "n") && str_eq(row.owner, "ann") &&
		   str_eq(row.reason, "") && row.priority == 4 && row.state == j->state &&
		   row.task_count == 1 && row.submitted_ms == 77 &&
		   row.outcome == OUTCOME_NONE,
	   "a row is made of a job");
	job_destroy(j);
}

static void store_laws(struct bench *b)
{
	law_row_of();
	law_empty(b);
	law_commit(b);
	law_round_trip(b);
	law_spans(b);
	law_boot(b);
	law_conflicts(b);
	law_docs(b);
	law_rows(b);
	law_lists(b);
	law_chain(b);
	reopen(b);
	law_destroyed(b);
	law_scan(b);
	law_forget(b);
}
