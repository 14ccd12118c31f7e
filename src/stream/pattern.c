// SPDX-License-Identifier: Apache-2.0
#include "stream/pattern.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "base/mem.h"

#define STEPS_MAX    20000 /* ways that are tried from one place of a line */
#define DEPTH_MAX    500   /* within each other, where there is no machine code */
#define HEAP_KIB_MAX 1024
#define STRIKES_MAX  20 /* lines on which it may give up */
/* What it may cost before it is given up on: usual ones take less than a microsecond a line. */
#define COST_NS      500000000
#define COST_LINE_NS 20000

struct pattern {
	pcre2_code *code;
	pcre2_match_data *match;
	pcre2_match_context *limits;
	int64_t lines, cost_ns;
	int strikes;
	bool off;
};

static int64_t now_ns(void)
{
	/* What a match costs is measured where it runs; it decides only whether to go on. */
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static pcre2_code *compile(const char *text, struct err *err)
{
	uint32_t options = PCRE2_UTF | PCRE2_MATCH_INVALID_UTF | PCRE2_NEVER_BACKSLASH_C;
	PCRE2_SIZE where = 0;
	int code = 0;
	pcre2_code *re = pcre2_compile((PCRE2_SPTR)text, PCRE2_ZERO_TERMINATED, options,
				       &code, &where, NULL);
	char why[200] = "";
	uint32_t groups = 0;

	if (!re) {
		pcre2_get_error_message(code, (PCRE2_UCHAR *)why, sizeof why);
		err_set(err, ERR_INVALID,
			"not a regular expression: %s, at character %zu", why,
			(size_t)where + 1);
		return NULL;
	}
	pcre2_pattern_info(re, PCRE2_INFO_CAPTURECOUNT, &groups);
	if (groups == 1)
		return re;
	err_set(err, ERR_INVALID,
		"has %" PRIu32
		" groups; one is needed, around the number: loss=([0-9.]+)",
		groups);
	pcre2_code_free(re);
	return NULL;
}

struct pattern *pattern_create(const char *text, struct err *err)
{
	pcre2_code *code = compile(text, err);

	if (!code)
		return NULL;
	struct pattern *p = mem_alloc(1, sizeof *p);
	p->code = code;
	pcre2_jit_compile(code,
			  PCRE2_JIT_COMPLETE); /* without it it is slower, no more */
	p->match = pcre2_match_data_create_from_pattern(code, NULL);
	p->limits = pcre2_match_context_create(NULL);
	if (!p->match || !p->limits)
		abort(); /* out of memory ends the process, as in mem.h */
	pcre2_set_match_limit(p->limits, STEPS_MAX);
	pcre2_set_depth_limit(p->limits, DEPTH_MAX);
	pcre2_set_heap_limit(p->limits, HEAP_KIB_MAX);
	return p;
}

void pattern_destroy(struct pattern *p)
{
	if (!p)
		return;
	pcre2_match_context_free(p->limits);
	pcre2_match_data_free(p->match);
	pcre2_code_free(p->code);
	free(p);
}

static int give_up(struct pattern *p, struct err *err)
{
	p->off = true;
	if (p->strikes > STRIKES_MAX)
		return err_set(
			err, ERR_TOO_LARGE,
			"the pattern has too many ways to match: it gave up on %d of %" PRId64
			" lines and is looked for no further",
			p->strikes, p->lines);
	return err_set(err, ERR_TOO_LARGE,
		       "the pattern is too slow: %" PRId64 " ms on %" PRId64
		       " lines; it is looked for no further",
		       p->cost_ns / 1000000, p->lines);
}

/* One match from `at` on; gives the place behind it, or -1: no more. */
static int64_t match_once(struct pattern *p, const char *line, size_t len, size_t at,
			  pattern_found found, void *arg)
{
	int got = pcre2_match(p->code, (PCRE2_SPTR)line, len, at, PCRE2_NO_UTF_CHECK,
			      p->match, p->limits);
	const PCRE2_SIZE *ends = pcre2_get_ovector_pointer(p->match);

	if (got < 0) {
		p->strikes += got != PCRE2_ERROR_NOMATCH;
		return -1;
	}
	bool taken = got == 2 && ends[2] != PCRE2_UNSET && ends[3] >= ends[2];
	found(arg, taken ? line + ends[2] : line, taken ? ends[3] - ends[2] : 0);
	if (ends[1] > at)
		return (int64_t)ends[1];
	return at < len ? (int64_t)at + 1 : -1; /* of nothing: go on behind it */
}

int pattern_search(struct pattern *p, const char *line, size_t len, pattern_found found,
		   void *arg, struct err *err)
{
	int64_t at = 0, started = now_ns();

	if (p->off)
		return 0;
	if (len > PATTERN_LINE_MAX)
		len = PATTERN_LINE_MAX;
	do
		at = match_once(p, line, len, (size_t)at, found, arg);
	while (at >= 0 && at < (int64_t)len);
	p->lines++;
	p->cost_ns += now_ns() - started;
	if (p->strikes > STRIKES_MAX || p->cost_ns > COST_NS + p->lines * COST_LINE_NS)
		return give_up(p, err);
	return 0;
}

int64_t pattern_cost_ns(const struct pattern *p)
{
	return p->cost_ns;
}

void pattern_check(const struct spec *s, struct problems *out)
{
	struct err err;
	char field[48];

	for (size_t i = 0; i < s->metric_count; i++) {
		pcre2_code *code = compile(s->metrics[i].pattern, &err);
		snprintf(field, sizeof field, "metrics[%zu].pattern", i);
		if (!code)
			problems_add(out, 0, 0, field, "%s", err.text);
		pcre2_code_free(code);
	}
}
