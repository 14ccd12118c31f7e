// SPDX-License-Identifier: Apache-2.0
/* Lines for people: widths in cells, the progress line, which lines of a log are kept. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "cli/event_words.h"
#include "cli/measure.h"
#include "cli/progress.h"
#include "cli/sieve.h"
#include "cli/width.h"
#include "tap.h"

static void widths(void)
{
	static const struct {
		const char *text;
		size_t cells;
	} rows[] = { { "", 0 },
		     { "abc", 3 },
		     { "\u00e9tude", 5 },
		     { "e\u0301tude", 5 }, /* an accent of its own */
		     { "\u8bad\u7ec3", 4 },
		     { "\u30ab\u30bf", 4 },
		     { "\ud55c", 2 },
		     { "\U0001f600", 2 },
		     { "\u2026", 1 },
		     { "\xff\xfe", 2 } };

	for (size_t i = 0; i < COUNT_OF(rows); i++)
		IS_INT((long long)width_of(rows[i].text), (long long)rows[i].cells,
		       "'%s' takes %zu cells", rows[i].text, rows[i].cells);

	static const struct {
		const char *text;
		size_t cells;
		const char *want;
	} cuts[] = { { "abcdef", 6, "abcdef" },
		     { "abcdef", 4, "abc\u2026" },
		     { "abcdef", 1, "\u2026" },
		     { "abcdef", 0, "" },
		     { "\u8bad\u7ec3\u4efb\u52a1", 8, "\u8bad\u7ec3\u4efb\u52a1" },
		     { "\u8bad\u7ec3\u4efb\u52a1", 6, "\u8bad\u7ec3\u2026" },
		     { "\u8bad\u7ec3\u4efb\u52a1", 5, "\u8bad\u7ec3\u2026" } };
	for (size_t i = 0; i < COUNT_OF(cuts); i++) {
		AUTO_BUF struct buf out = { 0 };
		size_t n = width_cut(&out, cuts[i].text, cuts[i].cells);
		IS(buf_str(&out), cuts[i].want, "'%s' cut to %zu", cuts[i].text,
		   cuts[i].cells);
		OK(n == width_of(buf_str(&out)) && n <= cuts[i].cells,
		   "it says what it took");
	}
	static const struct {
		const char *text;
		size_t indent, cells;
		const char *want;
	} wraps[] = {
		{ "ask for --mem 96Mi or more", 0, 0, "ask for --mem 96Mi or more" },
		{ "ask for --mem 96Mi or more", 0, 26, "ask for --mem 96Mi or more" },
		{ "ask for --mem 96Mi or more", 0, 25, "ask for --mem 96Mi or\nmore" },
		{ "ask for --mem 96Mi or more", 3, 24, "ask for --mem 96Mi or\n   more" },
		{ "ask for --mem 96Mi or more", 30, 40, "ask for --mem 96Mi or more" },
		{ "a-word-that-is-longer-than-a-line then", 0, 20,
		  "a-word-that-is-longer-than-a-line\nthen" },
	};
	for (size_t i = 0; i < COUNT_OF(wraps); i++) {
		AUTO_BUF struct buf out = { 0 };
		width_wrap(&out, wraps[i].text, wraps[i].indent, wraps[i].cells);
		IS(buf_str(&out), wraps[i].want, "'%s' at %zu in %zu cells",
		   wraps[i].text, wraps[i].indent, wraps[i].cells);
	}
}

static void progress(void)
{
	static const struct {
		struct progress_view view;
		size_t cells;
		const char *want;
	} rows[] = {
		{ { .job = 7,
		    .state = JOB_QUEUED,
		    .why = "waits for 2 gpu",
		    .position = 3,
		    .elapsed_ms = 12000,
		    .cpu_milli = -1 },
		  80,
		  "job 7 queued 0:12 \u00b7 number 3 in the queue \u00b7 waits for 2 gpu" },
		{ { .job = 7,
		    .state = JOB_RUNNING,
		    .elapsed_ms = 3725000,
		    .cpu_milli = 1940,
		    .memory_bytes = 96 << 20,
		    .memory_limit_bytes = 1 << 30,
		    .last = "epoch 3" },
		  80,
		  "job 7 running 1:02:05 \u00b7 cpu 1.9 \u00b7 memory 96 MiB of 1 GiB \u00b7 epoch 3" },
		{ { .job = 7,
		    .state = JOB_RUNNING,
		    .attempt = 2,
		    .elapsed_ms = 5000,
		    .cpu_milli = -1,
		    .why = "it is running on host" },
		  80,
		  "job 7 running 0:05 \u00b7 attempt 2" },
		{ { .job = 7,
		    .state = JOB_RUNNING,
		    .elapsed_ms = -5,
		    .cpu_milli = -1,
		    .last = "evil\033[2J\n\u8bad\u7ec3\u4efb\u52a1" },
		  34,
		  "job 7 running 0:00 \u00b7 evil?[2J?\u8bad\u2026" },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		AUTO_BUF struct buf out = { 0 };
		progress_words(&rows[i].view, rows[i].cells, &out);
		IS(buf_str(&out), rows[i].want, "progress line %zu", i);
	}
}

static bool keeps(const struct sieve_ask *ask, const char *text, int64_t time_us)
{
	struct follow_line line = { .text = text,
				    .len = strlen(text),
				    .time_us = time_us };
	struct sieve s;
	struct err err;

	if (sieve_init(&s, ask, 1, 1000000, &err) < 0)
		return false;
	bool kept = sieve_keep(&s, &line);
	sieve_fini(&s);
	return kept;
}

static void sieving(void)
{
	struct sieve_ask grep = { .pattern = "loss (0|1)\\.[0-9]+" },
			 any = { .pattern = "LOSS", .any_case = true },
			 errors = { .errors = true }, since = { .since = "10s" },
			 bad = { .pattern = "(" }, when = { .since = "yesterday" };
	struct sieve s;
	struct err err;

	OK(keeps(&grep, "epoch 1 loss 0.5", 1) && !keeps(&grep, "loss 2.5", 1),
	   "--grep is an extended regular expression");
	OK(keeps(&any, "loss", 1), "-i makes capitals equal");
	OK(keeps(&errors, "ValueError: x", 1) && !keeps(&errors, "fine", 1),
	   "--errors leaves errors only");
	OK(keeps(&since, "x", 990000000) && !keeps(&since, "x", 989999000),
	   "--since counts back from now");
	OK(sieve_init(&s, &bad, 1, 0, &err) < 0 && strstr(err.text, "--grep"),
	   "a bad pattern is said");
	sieve_fini(&s);
	OK(sieve_init(&s, &when, 1, 0, &err) < 0 && strstr(err.text, "10m"),
	   "a time that nobody can read is said, with examples");
	sieve_fini(&s);

	static const struct {
		const char *text;
		int64_t ms;
	} times[] = { { "2026-11-15T21:53:17Z", 1794779597000 },
		      { "2026-11-15T21:53Z", 1794779580000 },
		      { "2026-11-15 21:53:17Z", 1794779597000 },
		      { "2026-11-15Z", 1794700800000 },
		      { "21:53Z", 1794779580000 } };
	int64_t ms = 0;
	setenv("TZ", "UTC", 1);
	for (size_t i = 0; i < COUNT_OF(times); i++)
		OK(sieve_time(times[i].text, 1794780000000, &ms) == 0 &&
			   ms == times[i].ms,
		   "the time %s is understood", times[i].text);
	OK(sieve_time("2026-11-15T21:53:17+", 0, &ms) < 0, "and nothing behind it");
}

static void events(void)
{
	static const struct {
		const char *json, *want;
	} rows[] = {
		{ "{\"kind\":\"submitted\",\"body\":{\"by\":\"ada\",\"spec\":{\"name\":\"x\"}}}",
		  "x by ada" },
		{ "{\"kind\":\"exited\",\"body\":{\"attempt\":2,\"task\":1,\"exit\":{\"kind\":\"code\","
		  "\"code\":7}}}",
		  "task 1 of attempt 2: exit code 7" },
		{ "{\"kind\":\"ended\",\"body\":{\"outcome\":\"failed\",\"text\":\"exit code 7\"}}",
		  "failed: exit code 7" },
		{ "{\"kind\":\"placed\",\"body\":{\"attempt\":1,\"places\":[{\"node\":\"a\"},"
		  "{\"node\":\"a\"},{\"node\":\"b\"}]}}",
		  "attempt 1 on a, b" },
		{ "{\"kind\":\"something-new\",\"body\":{\"text\":\"said\"}}", "said" },
		{ "{\"kind\":\"submitted\"}", " by somebody" },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct err err;
		AUTO_BUF struct buf out = { 0 };
		AUTO_DOC struct doc *d =
			doc_parse_json(rows[i].json, strlen(rows[i].json), &err);
		struct wire_event e;
		wire_event_read(doc_root(d), &e);
		event_words(&e, &out);
		IS(buf_str(&out), rows[i].want, "event %zu in words", i);
	}
}

static void meters(void)
{
	struct meter m = { .cpu_milli = 0 };
	struct measure a = { .time_ms = 11000, .cpu_ms = 500, .tasks = 1 },
		       b = { .time_ms = 13000, .cpu_ms = 3500, .tasks = 1 }, none = { 0 };

	IS_INT(meter_cpu_milli(&m, &none, 10000), -1,
	       "what does not answer is not known");
	IS_INT(meter_cpu_milli(&m, &a, 10000), 500, "at first the mean since the start");
	IS_INT(meter_cpu_milli(&m, &a, 10000), 500,
	       "until there is a newer measure, the same");
	IS_INT(meter_cpu_milli(&m, &b, 10000), 1500, "then what was used in between");
	b.tasks = 2;
	b.time_ms = 14000;
	IS_INT(meter_cpu_milli(&m, &b, 10000), 875,
	       "with another number of tasks from the start again");
}

int main(void)
{
	meters();
	widths();
	progress();
	sieving();
	events();
	return END();
}
