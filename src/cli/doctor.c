// SPDX-License-Identifier: Apache-2.0
/* yard doctor: what this machine can offer, and what to do about each no. */
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "cli/table.h"
#include "cli/view.h"
#include "cli/width.h"
#include "doctor/doctor.h"
#include "wire/settings.h"

#define SAYS_AT 26 /* cells: behind the mark and what it is about */

struct args {
	bool json;
	const char *state;
};

static const struct opt table[] = {
	{ "json", 0, OPT_FLAG, OPT_INTO(struct args, json), NULL, "as JSON" },
	{ "state", 0, OPT_TEXT, OPT_INTO(struct args, state), "DIR",
	  "look at this folder, where a daemon would keep everything" },
};

static const struct {
	const char *mark;
	enum table_colour colour;
} looks[FINDING_LEVEL_COUNT] = {
	[FINDING_FINE] = { "ok  ", TABLE_GOOD },
	[FINDING_NOTE] = { "note", TABLE_WARN },
	[FINDING_LACK] = { "LACK", TABLE_BAD },
};

static void write_json(const struct finding *f, size_t n, struct buf *out)
{
	struct json j;

	json_init(&j, out);
	json_object(&j, NULL);
	json_array(&j, "findings");
	for (size_t i = 0; i < n; i++) {
		json_object(&j, NULL);
		json_str(&j, "about", f[i].about);
		json_str(&j, "level", finding_level_word(f[i].level));
		json_str(&j, "says", f[i].says);
		json_str(&j, "advice", f[i].advice);
		json_end(&j);
	}
	json_end(&j);
	json_end(&j);
}

static void write_text(const struct cli *c, const struct finding *f, size_t n,
		       struct buf *out)
{
	size_t width = view_width();

	for (size_t i = 0; i < n; i++) {
		const char *begin =
			c->colour_out ? table_colour_code(looks[f[i].level].colour) : "";
		const char *end = c->colour_out ? TABLE_COLOUR_END : "";

		buf_printf(out, "%s%s%s  %-20s", begin, looks[f[i].level].mark, end,
			   f[i].about);
		width_wrap(out, f[i].says, SAYS_AT, width);
		buf_addc(out, '\n');
		if (!f[i].advice[0])
			continue;
		buf_printf(out, "%*s-> ", SAYS_AT, "");
		width_wrap(out, f[i].advice, SAYS_AT + 3, width);
		buf_addc(out, '\n');
	}
}

static void say_sum(const struct cli *c, const struct finding *f, size_t n)
{
	size_t count[FINDING_LEVEL_COUNT] = { 0 };

	for (size_t i = 0; i < n; i++)
		count[f[i].level]++;
	if (count[FINDING_LACK])
		cli_say_bad(c, "%zu thing%s to mend before jobs run as they should",
			    count[FINDING_LACK], count[FINDING_LACK] == 1 ? "" : "s");
	else
		cli_say(c, "jobs can run here; try: yard run -- echo hello");
}

static int run_doctor(struct cli *c, const void *args, const struct opts_list *operands)
{
	const struct args *a = args;
	const struct settings_env env = { .home = getenv("HOME"),
					  .xdg_state_home = getenv("XDG_STATE_HOME"),
					  .uid = geteuid() };
	AUTO_FREE char *usual = settings_state_dir(&env, NULL);
	const struct patient p = { .state = a->state ? a->state : usual ? usual : "/" };
	struct finding found[FINDINGS_MAX];
	AUTO_BUF struct buf out = { 0 };
	bool lack = false;

	(void)operands;
	size_t n = doctor_examine(&p, found, FINDINGS_MAX);
	for (size_t i = 0; i < n; i++)
		lack |= found[i].level == FINDING_LACK;
	if (a->json) {
		write_json(found, n, &out);
		cli_print_json(&out);
	} else {
		write_text(c, found, n, &out);
		cli_print(&out);
		say_sum(c, found, n);
	}
	return lack;
}

const struct command cmd_doctor = {
	.name = "doctor",
	.group = COMMAND_YARD,
	.operands = "",
	.summary = "say what this machine can offer, and what to do about each no",
	.table = table,
	.count = COUNT_OF(table),
	.args_size = sizeof(struct args),
	.run = run_doctor,
};
