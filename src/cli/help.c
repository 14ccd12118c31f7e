// SPDX-License-Identifier: Apache-2.0
#include "cli/help.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

#define NAME_COLUMN   17
#define COMMANDS_MOST 128

static const char *const headings[COMMAND_GROUP_COUNT] = {
	[COMMAND_JOBS] = "Jobs",
	[COMMAND_FILES] = "Files",
	[COMMAND_PEOPLE] = "People",
	[COMMAND_YARD] = "The yard",
};

struct opts *manual_opts(struct manual *m, const struct command *cmd)
{
	snprintf(m->program, sizeof m->program, "yard %s", cmd->name);
	snprintf(m->summary, sizeof m->summary, "%c%s.", toupper(cmd->summary[0]),
		 cmd->summary + 1);
	m->opts = (struct opts){ .program = m->program,
				 .operands = cmd->operands,
				 .summary = m->summary,
				 .table = cmd->table,
				 .count = cmd->count,
				 .stop_at_first = cmd->stop_at_first };
	return &m->opts;
}

/* Of "user add": how long "user" is; 0: of no family. */
static size_t family_of(const char *name)
{
	const char *space = strchr(name, ' ');

	return space ? (size_t)(space - name) : 0;
}

/* The commands of the family that word names, as a list; false: it names none. */
static bool list_family(const char *word, struct buf *out)
{
	size_t n = strlen(word), before = out->len;

	for (size_t i = 0; commands[i]; i++)
		if (family_of(commands[i]->name) == n &&
		    memcmp(commands[i]->name, word, n) == 0)
			buf_printf(out, "  yard %-19s%s\n", commands[i]->name,
				   commands[i]->summary);
	return out->len > before;
}

void help_command(const struct command *cmd)
{
	AUTO_BUF struct buf out = { 0 }, family = { 0 };
	struct manual m = { .program = "" };

	opts_help(manual_opts(&m, cmd), &out);
	if (list_family(cmd->name, &family))
		buf_printf(&out, "\nAlso:\n%s", buf_str(&family));
	cli_print(&out);
}

void help_reference(struct buf *out)
{
	struct manual m = { .program = "" };

	for (size_t i = 0; commands[i]; i++) {
		buf_printf(out, "### yard %s\n\n```text\n", commands[i]->name);
		opts_help(manual_opts(&m, commands[i]), out);
		buf_adds(out, "```\n\n");
	}
}

static bool same_family(size_t a, size_t b)
{
	size_t n = family_of(commands[a]->name);

	return n && n == family_of(commands[b]->name) &&
	       memcmp(commands[a]->name, commands[b]->name, n) == 0;
}

/* A family is one line: its name, and what can be done with it. */
static void overview_family(size_t first, struct buf *out)
{
	size_t n = family_of(commands[first]->name);

	buf_printf(out, "  %-*.*s", NAME_COLUMN - 2, (int)n, commands[first]->name);
	for (size_t i = first; commands[i]; i++)
		if (same_family(first, i))
			buf_printf(out, "%s%s", i == first ? "" : ", ",
				   commands[i]->name + n + 1);
	buf_addc(out, '\n');
}

static bool is_first_of_family(size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (same_family(i, at))
			return false;
	return true;
}

/* Whether the family's name is a command too ("quota" beside "quota set"): that one is
 * listed, and its --help tells of the others. */
static bool has_head(size_t at)
{
	size_t n = family_of(commands[at]->name);

	for (size_t i = 0; commands[i]; i++)
		if (strlen(commands[i]->name) == n &&
		    memcmp(commands[i]->name, commands[at]->name, n) == 0)
			return true;
	return false;
}

static void overview_group(enum command_group group, struct buf *out)
{
	buf_printf(out, "\n%s:\n", headings[group]);
	for (size_t i = 0; commands[i]; i++) {
		if (commands[i]->group != group)
			continue;
		if (!family_of(commands[i]->name))
			buf_printf(out, "  %-*s%s\n", NAME_COLUMN - 2, commands[i]->name,
				   commands[i]->summary);
		else if (is_first_of_family(i) && !has_head(i))
			overview_family(i, out);
	}
}

void help_overview(void)
{
	AUTO_BUF struct buf out = { 0 };

	buf_adds(
		&out,
		"Usage: yard [-C CONTEXT] COMMAND [options] ...\n\n"
		"Runs jobs: queued, isolated, logged, kept. `yard run -- COMMAND` needs no set-up.\n");
	for (int g = 0; g < COMMAND_GROUP_COUNT; g++)
		overview_group((enum command_group)g, &out);
	buf_adds(
		&out,
		"\n`yard COMMAND --help` tells more. JOB is a job's number or its name.\n"
		"`yard -C CONTEXT COMMAND` or YARD_SERVER (unix:///path, https://host:port) names\n"
		"another daemon; `yard login` makes a context.\n");
	cli_print(&out);
}

static void guess_command(const struct cli *c, const char *name)
{
	const char *names[COMMANDS_MOST];
	size_t n = 0;

	for (; n < COMMANDS_MOST && commands[n]; n++)
		names[n] = commands[n]->name;
	const char *guess = str_guess(name, names, n);
	if (guess)
		cli_say_bad(c, "there is no command '%s'; did you mean '%s'?", name,
			    guess);
	else
		cli_say_bad(c, "there is no command '%s'; `yard help` lists them", name);
}

int help_unknown(const struct cli *c, int argc, const char *const *argv)
{
	AUTO_BUF struct buf family = { 0 };
	bool asked = argc > 1 && (str_eq(argv[1], "--help") || str_eq(argv[1], "-h"));

	if (!list_family(argv[0], &family)) {
		guess_command(c, argv[0]);
		return EXIT_USAGE;
	}
	if (argc > 1 && !asked) {
		AUTO_FREE char *name = str_printf("%s %s", argv[0], argv[1]);
		guess_command(c, name);
		return EXIT_USAGE;
	}
	cli_print(&family);
	return asked ? 0 : EXIT_USAGE;
}

static int run_help(struct cli *c, const void *args, const struct opts_list *operands)
{
	int used;

	(void)args;
	if (operands->count == 0) {
		help_overview();
		return 0;
	}
	const struct command *cmd =
		command_find((int)operands->count, operands->items, &used);
	if (cmd) {
		help_command(cmd);
		return 0;
	}
	const char *const family[] = { operands->items[0], "--help" };
	return operands->count == 1
		       ? help_unknown(c, 2, family)
		       : help_unknown(c, (int)operands->count, operands->items);
}

const struct command cmd_help = {
	.name = "help",
	.group = COMMAND_YARD,
	.operands = "[COMMAND]",
	.summary = "tell about a command",
	.operands_max = 2,
	.run = run_help,
};
