// SPDX-License-Identifier: Apache-2.0
/* Tables read by name; every complaint tells where. */
#include "sim/csv.h"

#include "base/str.h"
#include "tap.h"

static void reads(void)
{
	static const char text[] = "b,a,\"c d\"\r\n"
				   "\n"
				   "1,\"x, \"\"y\"\"\",0.25\r\n"
				   "22,,7";
	struct csv c;
	struct err err;
	int a, cd;
	int64_t n = 0;
	double d = 0;

	OK(csv_init(&c, text, sizeof text - 1, &err) == 0, "a header is read");
	OK(csv_need(&c, "a", &a, &err) == 0 && a == 1, "a column is found by name");
	OK(csv_need(&c, "c d", &cd, &err) == 0 && cd == 2, "a quoted name too");
	OK(csv_next(&c, &err) == 1 && c.line == 3,
	   "empty lines are passed over and counted");
	IS(csv_text(&c, a), "x, \"y\"", "quotes keep commas, two quotes are one");
	OK(csv_double(&c, cd, 1, &d, &err) == 0 && d == 0.25, "a decimal number");
	OK(csv_double(&c, cd, 0.2, &d, &err) < 0, "not over its bound");
	OK(csv_next(&c, &err) == 1 && csv_i64(&c, 0, 0, 99, &n, &err) == 0 && n == 22,
	   "the last line needs no end");
	IS(csv_text(&c, a), "", "an empty field is empty");
	OK(csv_next(&c, &err) == 0 && csv_next(&c, &err) == 0, "then that was all");
	csv_fini(&c);
}

static void complains(const char *text, const char *want)
{
	struct csv c;
	struct err err = { 0 };
	int64_t n;
	int col;

	if (csv_init(&c, text, strlen(text), &err) < 0) {
		IS(err.text, want, "complains: %s", want);
		return;
	}
	bool bad = csv_need(&c, "gpus", &col, &err) < 0;
	for (int rc = 1; !bad && rc > 0;) {
		rc = csv_next(&c, &err);
		bad = rc < 0 || (rc > 0 && csv_i64(&c, col, 1, 8, &n, &err) < 0);
	}
	csv_fini(&c);
	IS(bad ? err.text : "nothing", want, "complains: %s", want);
}

static void decimals(void)
{
	static const struct {
		const char *text;
		double value; /* negative: refused */
	} rows[] = {
		{ "0", 0 },
		{ "7", 7 },
		{ "0.5", 0.5 },
		{ "0.1", 0.1 },
		{ "123.456", 123.456 },
		{ "", -1 },
		{ ".5", -1 },
		{ "5.", -1 },
		{ "1.2.3", -1 },
		{ "-1", -1 },
		{ "1e3", -1 },
		{ " 1", -1 },
		{ "1000000000000000", -1 },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		double v = -1;
		int rc = str_to_double(rows[i].text, 1e18, &v);
		OK(rows[i].value < 0 ? rc < 0 : rc == 0 && v == rows[i].value,
		   "'%s' is %s", rows[i].text,
		   rows[i].value < 0 ? "refused" : "the nearest double");
	}
}

int main(void)
{
	reads();
	decimals();
	complains("", "nothing in it, not even a header");
	complains("id,gpu\n", "no column 'gpus' in the header (is 'gpu' meant?)");
	complains("id,color\n", "no column 'gpus' in the header");
	complains("id,gpus\n1,2\n2,9\n",
		  "line 3, column gpus: '9' is not a whole number from 1 to 8");
	complains("id,gpus\n1,two\n",
		  "line 2, column gpus: 'two' is not a whole number from 1 to 8");
	complains("id,gpus\n1\n", "line 2: 1 fields, the header has 2");
	complains("id,gpus\n1,2,3\n", "line 2: 3 fields, the header has 2");
	complains("id,gpus\n\"1,2\n", "line 2: field 1 has no closing quote");
	complains("id,gpus\n\"1\"x,2\n", "line 2: text behind the quotes of field 1");
	complains("id,gpus\n1,2\n", "nothing");
	return END();
}
