// SPDX-License-Identifier: Apache-2.0
/* Laws of the table of commands. */
#include "cli/cli.h"

#include <stdlib.h>

#include "base/str.h"
#include "tap.h"

static bool letters_differ(const struct command *c)
{
	for (size_t i = 0; i < c->count; i++)
		for (size_t k = 0; k < i; k++)
			if (str_eq(c->table[i].name, c->table[k].name) ||
			    (c->table[i].letter &&
			     c->table[i].letter == c->table[k].letter))
				return false;
	return true;
}

static bool fields_fit(const struct command *c)
{
	for (size_t i = 0; i < c->count; i++)
		if (c->table[i].offset >= c->args_size || !c->table[i].help ||
		    !*c->table[i].help ||
		    !c->table[i].value != (c->table[i].kind == OPT_FLAG))
			return false;
	return true;
}

int main(void)
{
	static const char *const promised[] = { "run",     "up",   "down", "submit",
						"ls",      "show", "logs", "stop",
						"wait",    "why",  "exec", "nodes",
						"version", "help" };

	for (size_t i = 0; i < sizeof promised / sizeof *promised; i++) {
		bool found = false;
		for (size_t k = 0; commands[k]; k++)
			found |= str_eq(commands[k]->name, promised[i]);
		OK(found, "there is yard %s", promised[i]);
	}
	for (size_t k = 0; commands[k]; k++) {
		const struct command *c = commands[k];
		OK(c->run && c->summary && *c->summary >= 'a' && *c->summary <= 'z' &&
			   c->operands,
		   "yard %s says what it does", c->name);
		OK(letters_differ(c), "no two options of yard %s are the same", c->name);
		OK(fields_fit(c),
		   "each option of yard %s has a field, a help text and, unless a flag, a value",
		   c->name);
		OK(c->operands_min <= c->operands_max, "yard %s can be called", c->name);
		for (size_t i = 0; i < k; i++)
			if (str_eq(commands[i]->name, c->name))
				OK(false, "%s is there twice", c->name);
	}
	return END();
}
