// SPDX-License-Identifier: Apache-2.0
/* help.h - what people read about the commands; all of it comes out of the table. */
#pragma once

#include "base/buf.h"
#include "base/opts.h"
#include "cli/cli.h"

#define EXIT_USAGE 2

/* What base/opts.h needs to parse and to explain, and the texts made for it. */
struct manual {
	char program[64], summary[200];
	struct opts opts;
};

struct opts *manual_opts(struct manual *m, const struct command *cmd);

void help_command(const struct command *cmd); /* `yard X --help`, to stdout */
void help_overview(void);                     /* `yard help` */
/* Words that name no command: says what was meant, or lists a family.  The exit code. */
int help_unknown(const struct cli *c, int argc, const char *const *argv);
/* Every command with its options as Markdown, for docs/commands.md. */
void help_reference(struct buf *out);
