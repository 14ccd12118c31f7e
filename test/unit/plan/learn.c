// SPDX-License-Identifier: Apache-2.0
/* Run times: what is said of known distributions, and of a month of a real cluster. */
#include "plan/learn.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/mem.h"
#include "plan/spread.h"
#include "tap.h"

#define MINUTE 60000
#define HOUR   (60 * MINUTE)

static uint64_t seed = 1;

static double uniform(void)
{
	uint64_t x = seed += 0x9e3779b97f4a7c15ULL;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
	return (double)((x ^ (x >> 31)) >> 11) / 9007199254740992.0;
}

/* By von Neumann's way, which needs no logarithm. */
static int64_t exponential(double mean)
{
	for (int whole = 0;; whole++) {
		double first = uniform(), last = first, next;
		int falls = 1;
		while ((next = uniform()) < last) {
			last = next;
			falls++;
		}
		if (falls % 2)
			return (int64_t)(mean * (whole + first));
	}
}

static bool near(int64_t got, double want, double part)
{
	double off = (double)got - want;
	bool ok = off <= want * part && -off <= want * part;

	if (!ok)
		printf("# got %lld, want %.0f\n", (long long)got, want);
	return ok;
}

static void test_steps(void)
{
	bool inside = true, narrow = true;

	for (int64_t ms = 0; ms < INT64_C(1) << SPREAD_LAST; ms += 1 + ms / 100) {
		int at = spread_step(ms);
		int64_t from = spread_floor(at), to = spread_floor(at + 1);
		inside &= from <= ms && ms < to && at >= 0 && at < SPREAD_COUNT;
		narrow &= at == 0 || to - from <= from / 8;
	}
	OK(inside, "every duration lies in its step");
	OK(narrow, "and a step is an eighth wide at most");
	IS_INT(spread_step(INT64_MAX), SPREAD_COUNT - 1, "however long it is");
}

static void test_known(void)
{
	struct learn *l = learn_create();
	struct learn_who even = { "ada", "red", "even", 1000 },
			 decay = { "bo", "red", "decay", 2000 },
			 same = { "cy", "red", "same", 4000 };
	struct guess g;

	learn_guess(l, &even, &g);
	OK(g.count == 0 && g.likely_ms == 0, "who knows nothing says nothing");
	for (int i = 0; i < 400; i++) {
		learn_note(l, &even, (int64_t)(uniform() * 10 * HOUR));
		learn_note(l, &decay, exponential(HOUR));
		learn_note(l, &same, 20 * MINUTE);
	}
	learn_guess(l, &even, &g);
	OK(near(g.low_ms, HOUR, 0.2) && near(g.likely_ms, 5 * HOUR, 0.1) &&
		   near(g.high_ms, 9 * HOUR, 0.05) && near(g.mean_ms, 5 * HOUR, 0.1),
	   "the quantiles of evenly spread run times");
	IS_INT(g.count, 400, "and of how many it is known");
	IS_INT(learn_seen(l), 1200, "of all that ended");
	learn_guess(l, &decay, &g);
	OK(near(g.low_ms, 0.105 * HOUR, 0.3) && near(g.likely_ms, 0.693 * HOUR, 0.12) &&
		   near(g.high_ms, 2.303 * HOUR, 0.12),
	   "the quantiles of exponential ones");
	learn_left(l, &decay, 2 * HOUR, &g);
	OK(near(g.likely_ms, 0.693 * HOUR, 0.35), "which have no memory");
	learn_left(l, &even, 5 * HOUR, &g);
	OK(near(g.likely_ms, 2.5 * HOUR, 0.15),
	   "half of what is left of evenly spread ones");
	learn_guess(l, &same, &g);
	OK(near(g.low_ms, 20 * MINUTE, 0.125) && near(g.high_ms, 20 * MINUTE, 0.125),
	   "jobs that always run as long are known to a step");
	learn_left(l, &same, 15 * MINUTE, &g);
	OK(near(g.likely_ms, 5 * MINUTE, 0.4), "and so is what is left of them");
	learn_left(l, &same, 5000 * (int64_t)HOUR, &g);
	OK(g.likely_ms == 5000 * (int64_t)HOUR && g.low_ms < g.likely_ms &&
		   g.high_ms > g.likely_ms,
	   "one that ran longer than any is said to run as long again");
	learn_destroy(l);
}

static void test_keys(void)
{
	struct learn *l = learn_create();
	struct learn_who long_one = { "ada", "red", "train.py", 8000 },
			 short_one = { "ada", "red", "eval.py", 8000 },
			 other = { "bo", "red", "new.py", 8000 },
			 far = { "eve", "blue", "new.py", 1000 };
	struct guess g;

	for (int i = 0; i < 50; i++) {
		learn_note(l, &long_one, 10 * HOUR);
		learn_note(l, &short_one, MINUTE);
	}
	learn_guess(l, &long_one, &g);
	OK(near(g.likely_ms, 10 * HOUR, 0.125), "the nearest key decides");
	learn_guess(l, &short_one, &g);
	OK(near(g.likely_ms, MINUTE, 0.125), "for each command");
	long_one.device_milli = 1000;
	learn_guess(l, &long_one, &g);
	OK(near(g.likely_ms, 10 * HOUR, 0.125), "with other devices too");
	learn_guess(l, &other, &g);
	OK(g.count == 100 && g.low_ms <= 68000 && g.high_ms >= 9 * HOUR,
	   "a new one is like its group's");
	learn_note(l, &other, 2 * HOUR);
	learn_guess(l, &other, &g);
	OK(g.low_ms <= 68000 && g.high_ms >= 9 * HOUR, "one observation moves little");
	for (int i = 0; i < 12; i++)
		learn_note(l, &other, 2 * HOUR);
	learn_guess(l, &other, &g);
	OK(near(g.likely_ms, 2 * HOUR, 0.125), "a dozen decide");
	learn_guess(l, &far, &g);
	OK(g.count > 0 && g.likely_ms > 0, "of a stranger what is known of all is said");
	learn_guess(l, &(struct learn_who){ .device_milli = 1 }, &g);
	OK(g.count > 0, "of who is not named, too");
	learn_destroy(l);
}

static void test_bounds(void)
{
	struct learn *l = learn_create();
	struct learn_who w = { "ada", "red", NULL, 1000 };
	struct guess g;
	char command[32];

	w.command = command;
	for (int i = 0; i < 20000; i++) {
		snprintf(command, sizeof command, "command-%d", i);
		learn_note(l, &w, i < 19999 ? HOUR : MINUTE);
	}
	for (int i = 0; i < 20; i++)
		learn_note(l, &w, MINUTE);
	learn_guess(l, &w, &g);
	OK(near(g.likely_ms, MINUTE, 0.125), "of many commands the newest are known");
	strcpy(command, "command-0");
	learn_guess(l, &w, &g);
	OK(near(g.likely_ms, HOUR, 0.125) && g.count > 1000,
	   "the oldest are forgotten, and what all did is said");
	for (int i = 0; i < 3000; i++)
		learn_note(l, &w, MINUTE);
	learn_guess(l, &w, &g);
	OK(near(g.high_ms, MINUTE, 0.13), "what was long ago fades");
	learn_destroy(l);
}

static void test_score(void)
{
	struct learn *l = learn_create();
	struct learn_score s;

	IS_INT(learn_sure(l, 80), 80, "before anything is scored: what should be");
	learn_scored(l, 10 * MINUTE, 5 * MINUTE, 11 * MINUTE, 20 * MINUTE);
	learn_scored(l, 30 * MINUTE, 5 * MINUTE, 10 * MINUTE, 20 * MINUTE);
	learn_scored(l, 100, 0, 0, 0);
	learn_score(l, &s);
	OK(s.told == 3 && s.within == 1 && s.close == 2,
	   "held, missed, and a moment off");
	IS_INT(s.error_ms, MINUTE, "the median error");
	for (int i = 0; i < 5000; i++)
		learn_scored(l, i % 2 ? 1000 : 10, 500, 1000, 2000);
	OK(learn_sure(l, 80) >= 49 && learn_sure(l, 80) <= 51,
	   "how sure one may be follows what came");
	learn_destroy(l);
}

static void prints(const char *const *argv, const char *want)
{
	AUTO_BUF struct buf b = { 0 };

	learn_fingerprint(argv, &b);
	IS(buf_str(&b), want, "fingerprint of %s...", argv[0]);
}

static void test_fingerprint(void)
{
	AUTO_BUF struct buf a = { 0 }, b = { 0 }, c = { 0 };
	char text[2][600];

	prints((const char *[]){ "python", "train.py", "--lr", "1e-4", "--seed=7", NULL },
	       "python train.py --lr # --seed=#");
	prints((const char *[]){ "python train.py  --lr 0.1\t--seed=12", NULL },
	       "python train.py --lr # --seed=#");
	prints((const char *[]){ "sh", "-c", "tar xf /data/2026-11-16/part-0017.tar",
				 NULL },
	       "sh -c tar xf /data/#/part-#.tar");
	prints((const char *[]){ "./a.out", "3f9c2ab77e01", "deadbeef", "resnet50",
				 NULL },
	       "./a.out # deadbeef resnet#");
	prints((const char *[]){ "CUDA_VISIBLE_DEVICES=0,1,2", "facade", NULL },
	       "CUDA_VISIBLE_DEVICES=# facade");
	prints((const char *[]){ NULL }, "");
	memset(text, 'x', sizeof text);
	text[0][599] = text[1][599] = '\0';
	text[1][500] = 'y';
	learn_fingerprint((const char *[]){ text[0], NULL }, &a);
	learn_fingerprint((const char *[]){ text[1], NULL }, &b);
	learn_fingerprint((const char *[]){ text[0], NULL }, &c);
	OK(a.len < 160 && strcmp(a.data, b.data) != 0 && strcmp(a.data, c.data) == 0,
	   "long ones are short, and still differ where they differ");
}

struct trace_job {
	int64_t submit_ms, ran_ms;
	int gpus;
	char group[16];
};

static int by_end(const void *a, const void *b)
{
	const struct trace_job *x = *(struct trace_job *const *)a,
			       *y = *(struct trace_job *const *)b;
	int64_t p = x->submit_ms + x->ran_ms, q = y->submit_ms + y->ran_ms;

	return (p > q) - (p < q);
}

static FILE *open_trace(void)
{
	const char *root = getenv("YARD_TRACES");
	AUTO_BUF struct buf path = { 0 };

	if (!root)
		root = getenv("YARD_TRACES_DEFAULT"); /* beside the project */
	buf_printf(&path, "%s/philly/philly_2017-10.csv",
		   root ? root : "../shared/traces");
	return fopen(buf_str(&path), "re");
}

static size_t read_trace(FILE *f, struct trace_job **out)
{
	size_t count = 0, cap = 0;
	char line[256];

	*out = NULL;
	while (fgets(line, sizeof line, f)) {
		long long submit, ran;
		struct trace_job j = { 0 };
		/* NOLINTNEXTLINE(cert-err34-c): a line that is none is left out */
		if (sscanf(line, "%*d,%lld,%lld,%d,%15[^,\n]", &submit, &ran, &j.gpus,
			   j.group) != 4)
			continue;
		j.submit_ms = submit * 1000;
		j.ran_ms = ran * 1000;
		mem_grow(out, &cap, count, sizeof **out);
		(*out)[count++] = j;
	}
	return count;
}

/* A month of a cluster, each job foretold from those that had ended before it came. */
static void test_philly(void)
{
	FILE *f = open_trace();
	struct learn *l = learn_create();
	struct trace_job *jobs, **ends;
	size_t count, end = 0, told = 0, below[3] = { 0 };

	if (!f) {
		SKIP("the Philly trace is not there (YARD_TRACES)");
		learn_destroy(l);
		return;
	}
	count = read_trace(f, &jobs);
	fclose(f);
	ends = mem_alloc(count, sizeof(struct trace_job *));
	for (size_t i = 0; i < count; i++)
		ends[i] = &jobs[i];
	qsort(ends, count, sizeof *ends, by_end);
	for (size_t i = 0; i < count; i++) {
		struct learn_who who = { NULL, jobs[i].group, NULL, jobs[i].gpus * 1000 };
		struct guess g;
		for (; end < count &&
		       ends[end]->submit_ms + ends[end]->ran_ms <= jobs[i].submit_ms;
		     end++) {
			struct learn_who past = { NULL, ends[end]->group, NULL,
						  ends[end]->gpus * 1000 };
			learn_note(l, &past, ends[end]->ran_ms);
		}
		learn_guess(l, &who, &g);
		if (!g.count)
			continue;
		told++;
		below[0] += jobs[i].ran_ms <= g.low_ms;
		below[1] += jobs[i].ran_ms <= g.likely_ms;
		below[2] += jobs[i].ran_ms <= g.high_ms;
	}
	printf("# %zu of %zu foretold; below the 10 %% mark %.1f %%, 50 %%: %.1f %%, 90 %%: %.1f %%\n",
	       told, count, 100.0 * (double)below[0] / (double)told,
	       100.0 * (double)below[1] / (double)told,
	       100.0 * (double)below[2] / (double)told);
	OK(told * 100 > count * 99 && below[0] * 100 > told * 7 &&
		   below[0] * 100 < told * 13,
	   "one in ten ends before the 10 %% mark");
	OK(below[1] * 100 > told * 45 && below[1] * 100 < told * 55,
	   "half before the 50 %% mark");
	OK(below[2] * 100 > told * 85 && below[2] * 100 < told * 95,
	   "nine in ten before the 90 %% mark");
	free(ends);
	free(jobs);
	learn_destroy(l);
}

int main(void)
{
	test_steps();
	test_known();
	test_keys();
	test_bounds();
	test_score();
	test_fingerprint();
	test_philly();
	return END();
}
