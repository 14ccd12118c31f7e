// SPDX-License-Identifier: Apache-2.0
/* Patterns: what they find, what is refused at submit, and that none costs without bound. */
#include "stream/pattern.h"

#include <stdlib.h>
#include <time.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/str.h"
#include "tap.h"

static void note(void *arg, const char *text, size_t len)
{
	struct buf *out = arg;

	if (out->len)
		buf_addc(out, '|');
	buf_add(out, text, len);
}

/* What a pattern finds in a line, joined by '|'. */
static const char *find(const char *pattern, const char *line, struct buf *out)
{
	struct err err;
	struct pattern *p = pattern_create(pattern, &err);

	buf_clear(out);
	if (!p)
		return "(refused)";
	if (pattern_search(p, line, strlen(line), note, out, &err) < 0)
		buf_adds(out, "(given up)");
	pattern_destroy(p);
	return buf_str(out);
}

static void finds(void)
{
	AUTO_BUF struct buf out = { 0 };

	IS(find("loss=([0-9.]+)", "step 3 loss=0.25 acc=0.5", &out), "0.25", "a number");
	IS(find("(?:loss|acc)=([0-9.]+)", "loss=0.25 acc=0.5", &out), "0.25|0.5",
	   "every match of a line");
	IS(find("(?P<v>-?\\d+e-\\d+)", "lr -1e-3", &out), "-1e-3", "a group with a name");
	IS(find("Verlust\xc3\x9f: (\\S+)", "Verlust\xc3\x9f: 1", &out), "1", "UTF-8");
	IS(find("loss=(\\S+)", "\xff\xfe loss=7 \xff", &out), "7",
	   "bytes that are no UTF-8");
	IS(find("(\\d*)", "a1", &out), "1", "matches of nothing end");
	IS(find("loss=(\\d+)?;", "loss=;", &out), "", "a group that took no part");
	IS(find("^loss (\\d+)$", "loss 5", &out), "5", "anchors");
	IS(find("^a(\\d)", "x a1", &out), "", "an anchor is the line's, not the place's");
}

static void refuses(void)
{
	static const char *const bad[] = { "loss=([0-9", "loss",
					   "(a)(b)",     "(?<n>a)(?<n>b)",
					   "(*)",        "((a{1,65535}){1,65535})",
					   "(\\C)" };
	struct err err;

	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		struct pattern *p = pattern_create(bad[i], &err);
		OK(!p && err.code == ERR_INVALID && *err.text, "refused: %s (%s)", bad[i],
		   p ? "no" : err.text);
		pattern_destroy(p);
	}
	struct spec *s = spec_create();
	struct problems found = { 0 };
	spec_add_metric(s, "good", "a=(\\d)");
	spec_add_metric(s, "bad", "a=(\\d");
	pattern_check(s, &found);
	OK(found.count == 1 && str_eq(found.items[0].field, "metrics[1].pattern"),
	   "the problem names its field");
	problems_fini(&found);
	spec_destroy(s);
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Thousands of lines, each of which would take for ever. */
static void bounded(const char *pattern, const char *repeated, const char *end)
{
	AUTO_BUF struct buf line = { 0 }, out = { 0 };
	struct err err = { 0 };
	struct pattern *p = pattern_create(pattern, &err);
	double started = seconds();
	int given_up = 0;

	while (line.len < 3000)
		buf_adds(&line, repeated);
	buf_adds(&line, end);
	for (int i = 0; p && i < 5000; i++)
		given_up +=
			pattern_search(p, buf_str(&line), line.len, note, &out, &err) < 0;
	pattern_destroy(p);
	double took = seconds() - started;
	OK(p && given_up == 1 && err.code == ERR_TOO_LARGE,
	   "%s is given up on once, in words: %s", pattern, err.text);
	OK(took < 20, "5000 lines cost no more than %.1f s", took);
}

/* What people write is not taken for such, also on long lines. */
static void usual(const char *pattern)
{
	AUTO_BUF struct buf line = { 0 }, out = { 0 };
	struct err err;
	struct pattern *p = pattern_create(pattern, &err);
	int bad = 0;

	while (line.len < 3900)
		buf_adds(&line, "loss is 5, ");
	for (int i = 0; p && i < 2000; i++) {
		buf_cut(&line, 3900);
		if (i % 2)
			buf_adds(&line, " loss: 0.25 end");
		bad += pattern_search(p, buf_str(&line), line.len, note, &out, &err) < 0;
	}
	pattern_destroy(p);
	OK(p && !bad && out.len == 5 * 1000 - 1, "%s is not given up on", pattern);
}

int main(void)
{
	usual(".*loss: ([0-9.]+).*");
	usual("loss: ([0-9.]+)");
	usual("^.*\\bloss: +(-?\\d+(?:\\.\\d+)?)");
	usual("(?i)LOSS\\s*[:=]\\s*([-+.\\deE]+)");
	finds();
	refuses();
	bounded("(a+)+b", "a", "cb");
	bounded("(?:a|aa)+(x)", "a", "cx");
	bounded("(*NO_JIT)(?:a*)*(b)", "a", "cb");
	bounded("(?:.*,){12}(\\d)", "a,", "b");
	return END();
}
