// SPDX-License-Identifier: Apache-2.0
#include "base/units.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

struct unit {
	const char *name;
	int64_t size;
};

static const struct unit byte_units[] = {
	{ "", 1 },
	{ "B", 1 },
	{ "K", 1000 },
	{ "k", 1000 },
	{ "KB", 1000 },
	{ "kB", 1000 },
	{ "M", 1000000 },
	{ "MB", 1000000 },
	{ "G", 1000000000 },
	{ "GB", 1000000000 },
	{ "T", 1000000000000 },
	{ "TB", 1000000000000 },
	{ "P", 1000000000000000 },
	{ "PB", 1000000000000000 },
	{ "Ki", INT64_C(1) << 10 },
	{ "KiB", INT64_C(1) << 10 },
	{ "Mi", INT64_C(1) << 20 },
	{ "MiB", INT64_C(1) << 20 },
	{ "Gi", INT64_C(1) << 30 },
	{ "GiB", INT64_C(1) << 30 },
	{ "Ti", INT64_C(1) << 40 },
	{ "TiB", INT64_C(1) << 40 },
	{ "Pi", INT64_C(1) << 50 },
	{ "PiB", INT64_C(1) << 50 },
};

static const struct unit cpu_units[] = { { "", 1000 }, { "m", 1 } };

#define SECOND 1000
#define MINUTE (60 * SECOND)
#define HOUR   (60 * MINUTE)
#define DAY    (24 * HOUR)

static const struct unit duration_units[] = {
	{ "", SECOND },    { "ms", 1 },     { "s", SECOND },
	{ "sec", SECOND }, { "m", MINUTE }, { "min", MINUTE },
	{ "h", HOUR },     { "d", DAY },    { "w", 7 * DAY },
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Digits beyond the ninth behind the point are dropped: they are below a nanounit. */
#define FRACTION_DIGITS 9

struct decimal {
	int64_t whole, fraction, scale; /* fraction / scale < 1 */
};

/* Reads "12", "12.5" or ".5"; moves *s behind it. */
static int read_decimal(const char **s, struct decimal *d)
{
	const char *p = *s;
	bool any = is_digit(*p);

	*d = (struct decimal){ .scale = 1 };
	for (; is_digit(*p); p++)
		if (__builtin_mul_overflow(d->whole, 10, &d->whole) ||
		    __builtin_add_overflow(d->whole, *p - '0', &d->whole))
			return -1;
	if (*p == '.') {
		p++;
		if (!is_digit(*p))
			return -1;
		any = true;
		for (int i = 0; is_digit(*p); p++, i++) {
			if (i >= FRACTION_DIGITS)
				continue;
			d->fraction = d->fraction * 10 + (*p - '0');
			d->scale *= 10;
		}
	}
	*s = p;
	return any ? 0 : -1;
}

static int times(const struct decimal *d, int64_t unit, int64_t *out)
{
	__extension__ typedef __int128 wide;
	wide v = (wide)d->whole * unit + (wide)d->fraction * unit / d->scale;

	if (v > INT64_MAX)
		return -1;
	*out = (int64_t)v;
	return 0;
}

static const struct unit *find_unit(const struct unit *units, size_t count, const char *s,
				    size_t len)
{
	for (size_t i = 0; i < count; i++)
		if (strlen(units[i].name) == len && memcmp(units[i].name, s, len) == 0)
			return &units[i];
	return NULL;
}

/* One number and one unit, perhaps a space between, nothing else. */
static int read_one(const char *s, const struct unit *units, size_t count, int64_t *out)
{
	const struct unit *u;
	struct decimal d;

	if (read_decimal(&s, &d) < 0)
		return -1;
	if (*s == ' ' && s[1])
		s++;
	u = find_unit(units, count, s, strlen(s));
	return u ? times(&d, u->size, out) : -1;
}

int units_bytes(const char *text, int64_t *bytes)
{
	return read_one(text, byte_units, COUNT_OF(byte_units), bytes);
}

int units_cpu(const char *text, int64_t *milli)
{
	return read_one(text, cpu_units, COUNT_OF(cpu_units), milli);
}

static size_t unit_length(const char *s)
{
	size_t n = 0;

	while ((s[n] >= 'a' && s[n] <= 'z') || (s[n] >= 'A' && s[n] <= 'Z'))
		n++;
	return n;
}

/* Parts must get smaller ("1h30m"), so that a slip such as "30m1h" is not taken. */
int units_duration(const char *text, int64_t *ms)
{
	int64_t total = 0, part = 0, last = INT64_MAX;
	const char *s = text;

	do {
		const struct unit *u;
		struct decimal d;
		size_t n;
		if (read_decimal(&s, &d) < 0)
			return -1;
		if (*s == ' ' && !is_digit(s[1]) && s[1])
			s++;
		n = unit_length(s);
		u = find_unit(duration_units, COUNT_OF(duration_units), s, n);
		if (!u || u->size >= last ||
		    (n == 0 && (*s || s == text || last != INT64_MAX)))
			return -1;
		if (times(&d, u->size, &part) < 0 ||
		    __builtin_add_overflow(total, part, &total))
			return -1;
		last = u->size;
		s += n;
		if (*s == ' ' && s[1])
			s++;
	} while (*s);
	*ms = total;
	return 0;
}

const char *units_show_bytes(int64_t bytes, char out[UNITS_TEXT_MAX])
{
	static const char *const names[] = {
		"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"
	};
	uint64_t v = bytes < 0 ? -(uint64_t)bytes : (uint64_t)bytes, unit = 1, tenths;
	const char *sign = bytes < 0 ? "-" : "";
	size_t i = 0;

	for (; v / unit >= 1024 && i + 1 < COUNT_OF(names); i++)
		unit <<= 10;
	tenths = v % unit / (unit > 10 ? unit / 10 : 1);
	if (unit == 1 || tenths == 0 || v / unit >= 100)
		snprintf(out, UNITS_TEXT_MAX, "%s%" PRIu64 " %s", sign, v / unit,
			 names[i]);
	else
		snprintf(out, UNITS_TEXT_MAX, "%s%" PRIu64 ".%" PRIu64 " %s", sign,
			 v / unit, tenths > 9 ? 9 : tenths, names[i]);
	return out;
}

const char *units_show_cpu(int64_t milli, char out[UNITS_TEXT_MAX])
{
	uint64_t v = milli < 0 ? -(uint64_t)milli : (uint64_t)milli;
	int n = snprintf(out, UNITS_TEXT_MAX, "%s%" PRIu64 ".%03" PRIu64,
			 milli < 0 ? "-" : "", v / 1000, v % 1000);

	while (out[n - 1] == '0')
		out[--n] = 0;
	if (out[n - 1] == '.')
		out[n - 1] = 0;
	return out;
}

const char *units_show_duration(int64_t ms, char out[UNITS_TEXT_MAX])
{
	static const struct unit parts[] = {
		{ "d", DAY }, { "h", HOUR }, { "m", MINUTE }, { "s", SECOND }
	};
	size_t i = 0;

	if (ms < 0)
		ms = 0;
	if (ms < SECOND) {
		snprintf(out, UNITS_TEXT_MAX, "%" PRId64 "ms", ms);
		return out;
	}
	if (ms < 10 * SECOND && ms % SECOND) {
		snprintf(out, UNITS_TEXT_MAX, "%" PRId64 ".%03" PRId64 "s", ms / SECOND,
			 ms % SECOND);
		return out;
	}
	while (ms < parts[i].size)
		i++;
	if (i + 1 < COUNT_OF(parts) && ms % parts[i].size / parts[i + 1].size)
		snprintf(out, UNITS_TEXT_MAX, "%" PRId64 "%s %" PRId64 "%s",
			 ms / parts[i].size, parts[i].name,
			 ms % parts[i].size / parts[i + 1].size, parts[i + 1].name);
	else
		snprintf(out, UNITS_TEXT_MAX, "%" PRId64 "%s", ms / parts[i].size,
			 parts[i].name);
	return out;
}

const char *units_show_age(int64_t ms, char out[UNITS_TEXT_MAX])
{
	/* A unit is used until twice the next one, so that "90s" is not told as "1m". */
	if (ms < 0)
		ms = 0;
	if (ms < 2 * MINUTE)
		snprintf(out, UNITS_TEXT_MAX, "%" PRId64 "s", ms / SECOND);
	else if (ms < 2 * HOUR)
		snprintf(out, UNITS_TEXT_MAX, "%" PRId64 "m", ms / MINUTE);
	else if (ms < 2 * DAY)
		snprintf(out, UNITS_TEXT_MAX, "%" PRId64 "h", ms / HOUR);
	else
		snprintf(out, UNITS_TEXT_MAX, "%" PRId64 "d", ms / DAY);
	return out;
}

const char *units_show_time(int64_t unix_ms, char out[UNITS_TEXT_MAX])
{
	/* Days to a date in years that begin in March: the leap day comes last, so that
	 * lengths of months follow one formula; eras of 400 years are all alike. */
	const int64_t era_days = 146097;
	int64_t days = unix_ms / DAY - (unix_ms % DAY < 0), in_day = unix_ms - days * DAY;
	int64_t z = days + 719468, era = (z >= 0 ? z : z - era_days + 1) / era_days;
	int64_t day_of_era = z - era * era_days;
	int64_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 -
			       day_of_era / 146096) /
			      365;
	int64_t day_of_year =
		day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
	int64_t march = (5 * day_of_year + 2) / 153;
	int64_t day = day_of_year - (153 * march + 2) / 5 + 1;
	int64_t month = march < 10 ? march + 3 : march - 9;
	int64_t year = year_of_era + era * 400 + (month <= 2);

	snprintf(out, UNITS_TEXT_MAX,
		 "%04" PRId64 "-%02" PRId64 "-%02" PRId64 "T%02" PRId64 ":%02" PRId64
		 ":%02" PRId64 ".%03" PRId64 "Z",
		 year, month, day, in_day / HOUR, in_day / MINUTE % 60,
		 in_day / SECOND % 60, in_day % SECOND);
	return out;
}

const char *units_write_bytes(int64_t bytes, char out[UNITS_TEXT_MAX])
{
	static const char *const names[] = { "", "Ki", "Mi", "Gi", "Ti", "Pi" };
	size_t i = 0;

	while (bytes && bytes % 1024 == 0 && i + 1 < COUNT_OF(names)) {
		bytes /= 1024;
		i++;
	}
	snprintf(out, UNITS_TEXT_MAX, "%" PRId64 "%s", bytes, names[i]);
	return out;
}

const char *units_write_duration(int64_t ms, char out[UNITS_TEXT_MAX])
{
	static const struct unit parts[] = {
		{ "d", DAY }, { "h", HOUR }, { "m", MINUTE }, { "s", SECOND }, { "ms", 1 }
	};
	size_t i = 0;

	while (i + 1 < COUNT_OF(parts) && (ms == 0 || ms % parts[i].size))
		i++;
	if (ms == 0)
		i = 3;
	snprintf(out, UNITS_TEXT_MAX, "%" PRId64 "%s", ms / parts[i].size, parts[i].name);
	return out;
}
