// SPDX-License-Identifier: Apache-2.0
/* The two tables.  A rule set or a reader is one row here and one file of its own. */
#include "base/str.h"
#include "sim/parts.h"

const char *const sim_duration_names[SIM_DURATIONS_COUNT] = {
	[SIM_LEARNED] = "learned",
	[SIM_KNOWN] = "known",
	[SIM_UNKNOWN] = "unknown",
};

/* clang-format off */
const struct sim_rules *const sim_rule_sets[] = {
	&sim_native,
	&sim_muri,
	&sim_openb,
	NULL,
};

const struct sim_reader *const sim_readers[] = {
	&sim_read_muri,
	&sim_read_openb,
	&sim_read_csv,
	&sim_read_philly,
	&sim_read_swf,
	NULL,
};
/* clang-format on */

const struct sim_rules *sim_rules_find(const char *name, struct err *err)
{
	const char *names[8];
	const char *near;
	size_t count = 0;

	for (; sim_rule_sets[count]; count++) {
		names[count] = sim_rule_sets[count]->name;
		if (str_eq(names[count], name))
			return sim_rule_sets[count];
	}
	near = str_guess(name, names, count);
	err_set(err, ERR_INVALID, "there are no rules called '%s'%s%s%s", name,
		near ? "; did you mean '" : "; there are native, openb and muri",
		near ? near : "", near ? "'?" : "");
	return NULL;
}
