// SPDX-License-Identifier: Apache-2.0
#include "tap.h"

#include "base/units.h"

#define BAD (-1)

static void bytes_are(const char *text, int64_t want)
{
	int64_t got = BAD;

	if (units_bytes(text, &got) < 0)
		got = BAD;
	IS_INT(got, want, "bytes of \"%s\"", text);
}

static void cpu_is(const char *text, int64_t want)
{
	int64_t got = BAD;

	if (units_cpu(text, &got) < 0)
		got = BAD;
	IS_INT(got, want, "thousandths of \"%s\" cores", text);
}

static void lasts(const char *text, int64_t want)
{
	int64_t got = BAD;

	if (units_duration(text, &got) < 0)
		got = BAD;
	IS_INT(got, want, "milliseconds of \"%s\"", text);
}

static void reading(void)
{
	bytes_are("0", 0);
	bytes_are("512", 512);
	bytes_are("512Mi", 536870912);
	bytes_are("512 MiB", 536870912);
	bytes_are("1.5G", 1500000000);
	bytes_are("1.5Gi", 1610612736);
	bytes_are(".5Ki", 512);
	bytes_are("0.3Ki", 307);
	bytes_are("8388607Ti", 8388607LL << 40);
	bytes_are("8388608Ti", BAD);
	bytes_are("99999999999999999999", BAD);
	bytes_are("1.", BAD);
	bytes_are("", BAD);
	bytes_are("Mi", BAD);
	bytes_are("-1", BAD);
	bytes_are("1m", BAD);
	bytes_are("1 ", BAD);
	bytes_are("1Mi ", BAD);
	bytes_are(" 1", BAD);
	bytes_are("1e3", BAD);
	cpu_is("2", 2000);
	cpu_is("0.5", 500);
	cpu_is("500m", 500);
	cpu_is("0.0015", 1);
	cpu_is("1.5m", 1);
	cpu_is("2cores", BAD);
	lasts("90", 90000);
	lasts("90s", 90000);
	lasts("1.5h", 5400000);
	lasts("1h30m", 5400000);
	lasts("1h 30m", 5400000);
	lasts("1d2h3m4s5ms", 93784005);
	lasts("250ms", 250);
	lasts("2 min", 120000);
	lasts("1w", 604800000);
	lasts("30m1h", BAD);
	lasts("1h1h", BAD);
	lasts("1h30", BAD);
	lasts("", BAD);
	lasts("h", BAD);
	lasts("1y", BAD);
	lasts("-5s", BAD);
	lasts("999999999999w", BAD);
}

static void showing(void)
{
	char s[UNITS_TEXT_MAX];

	IS(units_show_bytes(17, s), "17 B", "small sizes are bytes");
	IS(units_show_bytes(536870912, s), "512 MiB", "whole sizes have no point");
	IS(units_show_bytes(1610612736, s), "1.5 GiB", "others have one digit");
	IS(units_show_bytes(1023, s), "1023 B", "just below the next unit");
	IS(units_show_bytes((1 << 20) - 1, s), "1023 KiB",
	   "rounding down never shows 1024");
	IS(units_show_bytes(INT64_MAX, s), "7.9 EiB", "the greatest number");
	IS(units_show_bytes(INT64_MIN, s), "-8 EiB", "the smallest number");
	IS(units_show_cpu(500, s), "0.5", "half a core");
	IS(units_show_cpu(2000, s), "2", "two cores");
	IS(units_show_cpu(20000, s), "20", "zeros of the whole part stay");
	IS(units_show_cpu(0, s), "0", "no core");
	IS(units_show_cpu(1, s), "0.001", "the smallest share");
	IS(units_show_duration(250, s), "250ms", "below a second");
	IS(units_show_duration(1250, s), "1.250s", "short ones are exact");
	IS(units_show_duration(45999, s), "45s", "seconds");
	IS(units_show_duration(5400000, s), "1h 30m", "two parts");
	IS(units_show_duration(7200000, s), "2h", "a zero part is left out");
	IS(units_show_duration(183600000, s), "2d 3h", "days");
	IS(units_show_duration(INT64_MAX, s), "106751991167d 7h", "the longest");
	IS(units_show_age(90000, s), "90s", "age in seconds");
	IS(units_show_age(3600000, s), "60m", "age in minutes");
	IS(units_show_age(-5, s), "0s", "the future is now");
	IS(units_show_time(0, s), "1970-01-01T00:00:00.000Z", "the epoch");
	IS(units_show_time(951782400042, s), "2000-02-29T00:00:00.042Z",
	   "a leap day of a leap century");
	IS(units_show_time(4107542399999, s), "2100-02-28T23:59:59.999Z",
	   "a century without one");
	IS(units_show_time(4107542400000, s), "2100-03-01T00:00:00.000Z",
	   "the day after it");
	IS(units_show_time(-1, s), "1969-12-31T23:59:59.999Z", "before the epoch");
}

static void round_trips(void)
{
	char s[UNITS_TEXT_MAX];
	uint64_t x = 88172645463325252u;
	int bad = 0;

	for (int i = 0; i < 200000; i++) {
		x ^= x << 13, x ^= x >> 7, x ^= x << 17;
		int64_t v = (int64_t)(x >> (1 + i % 62)), back = BAD;
		if (i % 3 == 0)
			v &= ~INT64_C(0xfffff);
		bad += units_bytes(units_write_bytes(v, s), &back) < 0 || back != v;
		v %= INT64_C(1) << 53;
		if (i % 3 == 1)
			v -= v % 3600000;
		bad += units_duration(units_write_duration(v, s), &back) < 0 || back != v;
		bad += units_cpu(units_show_cpu(v, s), &back) < 0 || back != v;
	}
	IS_INT(bad, 0, "what is written is read back exactly");
	IS(units_write_bytes(536870912, s), "512Mi", "sizes are written with their unit");
	IS(units_write_duration(5400000, s), "90m", "durations too");
	IS(units_write_duration(0, s), "0s", "no time at all");
}

int main(void)
{
	reading();
	showing();
	round_trips();
	return END();
}
