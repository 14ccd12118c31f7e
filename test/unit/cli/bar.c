// SPDX-License-Identifier: Apache-2.0
#include "cli/bar.h"

#include "base/str.h"
#include "cli/width.h"
#include "tap.h"

static void test_words(void)
{
	struct bar_view v = { .files = 4211,
			      .files_all = 10000,
			      .bytes = 512ll << 20,
			      .bytes_all = 1200ll << 20,
			      .rate = 85ll << 20,
			      .left_ms = 8100,
			      .idle_ms = 0 };
	struct buf out = { 0 };

	bar_words(&v, 77, &out);
	IS(buf_str(&out),
	   "[#####        ] 42%  4,211/10,000 files  512 MiB/1.1 GiB  85 MiB/s  0:09 left",
	   "80 columns hold everything");
	buf_clear(&out);
	bar_words(&v, 37, &out);
	IS(buf_str(&out), "[####      ] 42%  85 MiB/s  0:09 left",
	   "40 columns hold rate and time");
	buf_clear(&out);
	bar_words(&v, 4, &out);
	IS(buf_str(&out), " 42%", "four hold the percentage");
	v.counting = true;
	buf_clear(&out);
	bar_words(&v, 77, &out);
	OK(strstr(buf_str(&out), "4,211/10,000+ files") && !strstr(buf_str(&out), "left"),
	   "while it counts there may be more, and no end is foretold: %s",
	   buf_str(&out));
	v.counting = false;
	v.idle_ms = 7000;
	buf_clear(&out);
	bar_words(&v, 77, &out);
	OK(strstr(buf_str(&out), "no answer for 7 s") != NULL,
	   "a yard that is silent is told");
	buf_fini(&out);
}

static void test_fits(void)
{
	int wrong = 0, lines = 0;

	for (int64_t n = 1; n < INT64_MAX / 8; n *= 7)
		for (size_t cells = 4; cells < 200; cells++, lines++) {
			struct bar_view v = { n / 3, n, n / 2, n, n, n, n % 5000, n % 2 };
			struct buf out = { 0 };
			bar_words(&v, cells, &out);
			wrong += out.len == 0 || width_of(buf_str(&out)) > cells;
			buf_fini(&out);
		}
	OK(lines > 4000 && wrong == 0,
	   "whatever the numbers, the line fits (%d of %d do not)", wrong, lines);
}

static void test_percent(void)
{
	struct bar_view v = {
		.files = 9, .files_all = 10, .bytes = 100, .bytes_all = 100
	};
	struct buf out = { 0 };

	bar_words(&v, 4, &out);
	IS(buf_str(&out), " 99%", "it is not done before the last file is");
	v.files = 10;
	buf_clear(&out);
	bar_words(&v, 4, &out);
	IS(buf_str(&out), "100%", "then it is");
	v = (struct bar_view){ .files = 5, .files_all = 10 };
	buf_clear(&out);
	bar_words(&v, 4, &out);
	IS(buf_str(&out), " 50%", "empty files count as well");
	buf_fini(&out);
}

static void test_pace(void)
{
	struct pace p = { 0 };
	struct bar_view v = { .files_all = 1, .bytes_all = 100000 };

	for (int64_t ms = 0; ms <= 60000; ms += 100)
		pace_add(&p, ms, ms, 0); /* 1000 bytes a second */
	v.bytes = 60000;
	pace_tell(&p, 60000, &v);
	IS_INT(v.rate, 1000, "a steady rate is told as it is");
	IS_INT(v.left_ms, 40000, "and how long the rest takes");
	IS_INT(v.idle_ms, 0, "it moves");
	for (int64_t ms = 60100; ms <= 75000; ms += 100)
		pace_add(&p, ms, 60000, 0);
	pace_tell(&p, 75000, &v);
	IS_INT(v.rate, 0, "ten seconds without a byte: no rate");
	IS_INT(v.left_ms, -1, "no end is foretold");
	IS_INT(v.idle_ms, 15000, "and it is known since when");
}

static void test_small_files(void)
{
	struct pace p = { 0 };
	/* A large file was first: the bytes are through, 500 small ones are left. */
	struct bar_view v = { .files_all = 1000, .bytes_all = 1000000, .bytes = 999000 };

	for (int64_t ms = 0; ms <= 5000; ms += 100)
		pace_add(&p, ms, 990000 + ms * 9 / 5, ms / 10);
	v.files = 500;
	pace_tell(&p, 5000, &v);
	IS_INT(v.left_ms, 5000, "small files are foretold by their number");
	struct pace fresh = { 0 };
	pace_tell(&fresh, 5, &v);
	IS_INT(v.left_ms, -1, "nothing is foretold at the start");
}

static void test_count(void)
{
	static const struct {
		int64_t n;
		const char *words;
	} rows[] = { { 0, "0 files" },
		     { 1, "1 file" },
		     { 999, "999 files" },
		     { 1000, "1,000 files" },
		     { 1234567, "1,234,567 files" } };

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct buf out = { 0 };
		bar_files(rows[i].n, &out);
		IS(buf_str(&out), rows[i].words, "%s", rows[i].words);
		buf_fini(&out);
	}
}

int main(void)
{
	test_words();
	test_fits();
	test_percent();
	test_pace();
	test_small_files();
	test_count();
	return END();
}
