// SPDX-License-Identifier: Apache-2.0
#include "sim/sniff.h"

#include "base/units.h"

bool sniff_columns(const char *text, size_t len, const char *const *names)
{
	struct csv c;
	struct err err;
	bool all = true;

	if (csv_init(&c, text, len, &err) < 0)
		return false;
	for (; *names && all; names++)
		all = csv_find(&c, *names) >= 0;
	csv_fini(&c);
	return all;
}

int sniff_time(const struct csv *c, int column, int64_t fallback, int64_t *ms,
	       struct err *err)
{
	const char *text = csv_text(c, column);

	*ms = fallback;
	if (!*text)
		return 0;
	if (units_duration(text, ms) < 0 || *ms > SIM_TIME_MAX_MS)
		return csv_fault(c, column, err,
				 "'%s' is not a time such as 90 (seconds), 12.5 or 1h30m",
				 text);
	return 0;
}
