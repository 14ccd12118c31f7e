// SPDX-License-Identifier: Apache-2.0
#include "cli/sieve.h"

#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/units.h"

/* The text in one of the forms, or -1.  day: what a form without a date means. */
static int read_form(const char *text, const char *form, const struct tm *day,
		     int64_t *ms)
{
	struct tm t = *day;

	t.tm_hour = t.tm_min = t.tm_sec = 0;
	const char *end = strptime(text, form, &t);
	if (!end)
		return -1;
	bool utc = str_eq(end, "Z");
	if (*end && !utc)
		return -1;
	t.tm_isdst = -1;
	time_t at = utc ? timegm(&t) : mktime(&t);
	if (at == (time_t)-1)
		return -1;
	*ms = (int64_t)at * 1000;
	return 0;
}

int sieve_time(const char *text, int64_t now_ms, int64_t *ms)
{
	static const char *const forms[] = { "%Y-%m-%dT%H:%M:%S",
					     "%Y-%m-%d %H:%M:%S",
					     "%Y-%m-%dT%H:%M",
					     "%Y-%m-%d %H:%M",
					     "%Y-%m-%d",
					     "%H:%M:%S",
					     "%H:%M" };
	time_t now = (time_t)(now_ms / 1000);
	struct tm day;
	int64_t ago;

	if (units_duration(text, &ago) == 0) {
		*ms = now_ms - ago;
		return 0;
	}
	if (!localtime_r(&now, &day))
		return -1;
	for (size_t i = 0; i < COUNT_OF(forms); i++)
		if (read_form(text, forms[i], &day, ms) == 0)
			return 0;
	return -1;
}

int sieve_init(struct sieve *s, const struct sieve_ask *ask, size_t tasks, int64_t now_ms,
	       struct err *err)
{
	char why[128];
	int64_t since = 0;

	*s = (struct sieve){ .errors = ask->errors, .count = tasks };
	if (ask->since && sieve_time(ask->since, now_ms, &since) < 0)
		return err_set(
			err, ERR_INVALID,
			"--since '%s': allowed is a time ago such as 10m or 1h30m, or a "
			"time such as 14:05 or 2026-11-15T14:05",
			ask->since);
	s->since_us = since * 1000;
	if (ask->pattern) {
		int rc = regcomp(&s->pattern, ask->pattern,
				 REG_EXTENDED | REG_NOSUB |
					 (ask->any_case ? REG_ICASE : 0));
		if (rc != 0) {
			regerror(rc, &s->pattern, why, sizeof why);
			return err_set(err, ERR_INVALID, "--grep '%s': %s", ask->pattern,
				       why);
		}
		s->grep = true;
	}
	s->blames = mem_alloc(tasks + 1, sizeof *s->blames);
	return 0;
}

void sieve_fini(struct sieve *s)
{
	if (s->grep)
		regfree(&s->pattern);
	for (size_t i = 0; s->blames && i < s->count; i++)
		blame_fini(&s->blames[i]);
	free(s->blames);
	*s = (struct sieve){ 0 };
}

bool sieve_used(const struct sieve *s)
{
	return s->grep || s->errors || s->since_us;
}

bool sieve_keep(void *sieve, const struct follow_line *line)
{
	struct sieve *s = sieve;
	enum blame_class means = BLAME_NONE;

	/* Every line is looked at: a traceback may begin before the time that was asked. */
	if (s->errors && (size_t)line->rank < s->count)
		means = blame_line(&s->blames[line->rank], line->text, line->len);
	if (s->errors && means == BLAME_NONE)
		return false;
	if (line->time_us < s->since_us)
		return false;
	return !s->grep || regexec(&s->pattern, line->text, 0, NULL, 0) == 0;
}
