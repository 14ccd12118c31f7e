// SPDX-License-Identifier: Apache-2.0
#include "shim/record.h"

#include "base/mem.h"
#include "tap.h"

static void test_exit(void)
{
	int lost = 0, cut = 0;

	for (enum shim_exit_kind k = 0; k < SHIM_EXIT_COUNT; k++) {
		AUTO_BUF struct buf b = { 0 };
		struct shim_exit in = { .kind = k,
					.code = 7,
					.signal = 9,
					.peak_bytes = INT64_MAX,
					.limit_bytes = 1,
					.cpu_ms = 12,
					.ended_ms = -1 };
		struct shim_exit out;
		struct err err = { 0 };

		snprintf(in.text, sizeof in.text, "two lines\nof text, end\n");
		shim_exit_encode(&in, &b);
		lost += shim_exit_decode(b.data, b.len, &out, &err) < 0 ||
			out.kind != k || out.code != 7 || out.signal != 9 ||
			out.peak_bytes != INT64_MAX || out.limit_bytes != 1 ||
			out.cpu_ms != 12 || out.ended_ms != -1 ||
			strcmp(out.text, "two lines of text, end ") != 0;
		for (size_t n = 0; n < b.len; n++)
			cut += shim_exit_decode(b.data, n, &out, &err) == 0;
	}
	IS_INT(lost, 0,
	       "an exit of each kind reads back as it was written, its text as one line");
	IS_INT(cut, 0, "a cut exit record is never taken for a whole one");
}

static void test_stage(void)
{
	static const char old[] =
		"exit\nkind code\ncode 3\nsignal 0\npeak_bytes 1\nlimit_bytes 2\ncpu_ms 4\n"
		"ended_ms 5\ntext \nend\n";
	struct shim_exit in = { .kind = SHIM_CODE, .code = 1, .stage = "requirements" };
	struct shim_exit out;
	AUTO_BUF struct buf b = { 0 };
	AUTO_BUF struct buf plain = { 0 };
	struct err err = { 0 };
	int cut = 0;

	shim_exit_encode(&in, &b);
	OK(shim_exit_decode(b.data, b.len, &out, &err) == 0 &&
		   strcmp(out.stage, "requirements") == 0 && out.code == 1,
	   "in which stage it ended is kept");
	for (size_t n = 0; n < b.len; n++)
		cut += shim_exit_decode(b.data, n, &out, &err) == 0;
	IS_INT(cut, 0, "also then no part is taken for the whole");
	OK(shim_exit_decode(old, sizeof old - 1, &out, &err) == 0 && !out.stage[0] &&
		   out.code == 3 && out.ended_ms == 5,
	   "a record of a shim that knew no stages is read");
	in.stage[0] = 0;
	shim_exit_encode(&in, &plain);
	OK(!strstr(buf_str(&plain), "stage"), "and without a stage it is written so");
}

static void test_longest(void)
{
	AUTO_BUF struct buf b = { 0 };
	struct shim_exit in = { .kind = SHIM_UNSTARTED }, out;
	struct err err = { 0 };

	memset(in.text, 'x', sizeof in.text - 1);
	shim_exit_encode(&in, &b);
	OK(shim_exit_decode(b.data, b.len, &out, &err) == 0 &&
		   strcmp(in.text, out.text) == 0,
	   "the longest text fits");
}

static void test_mark(void)
{
	AUTO_BUF struct buf b = { 0 };
	AUTO_BUF struct buf u = { 0 };
	struct shim_mark in = { .boot = "e75507ef", .pid = 17, .start = 99 }, out;
	struct shim_usage usage = { 1, 2, 3, 4, 5 }, back;
	struct err err = { 0 };

	shim_mark_encode(&in, &b);
	OK(shim_mark_decode(b.data, b.len, &out, &err) == 0 && out.pid == 17 &&
		   out.start == 99 && strcmp(out.boot, "e75507ef") == 0 &&
		   out.cgroup[0] == 0,
	   "a mark reads back, an empty member too");
	OK(shim_exit_decode(b.data, b.len, &(struct shim_exit){ 0 }, &err) < 0,
	   "a mark is no exit");
	shim_usage_encode(&usage, &u);
	OK(shim_usage_decode(u.data, u.len, &back, &err) == 0 &&
		   memcmp(&usage, &back, sizeof back) == 0,
	   "usage reads back");
}

static void test_nonsense(void)
{
	static const char *const bad[] = {
		"",
		"exit\n",
		"exit\nkind what\n",
		"mark\nboot x\npid y\nstart 1\ncgroup \nend\n",
		"mark\nboot x\npid 1\nstart 1\ncgroup \nend\nmore\n",
		"mark\nboot xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\npid 1\nstart 1\ncgroup \nend\n",
	};
	struct shim_mark m;
	struct shim_exit e;
	struct err err = { 0 };
	int taken = 0;

	for (size_t i = 0; i < COUNT_OF(bad); i++)
		taken += shim_mark_decode(bad[i], strlen(bad[i]), &m, &err) == 0 ||
			 shim_exit_decode(bad[i], strlen(bad[i]), &e, &err) == 0;
	IS_INT(taken, 0, "nonsense is refused");
}

int main(void)
{
	test_exit();
	test_stage();
	test_longest();
	test_mark();
	test_nonsense();
	return END();
}
