// SPDX-License-Identifier: Apache-2.0
/* The manual page yard(1), in man(7), out of the table of commands. */
#include "cli/man.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "wire/outcome.h"

/* Text as roff wants it: no escapes of its own, no requests, hyphens that can be copied. */
static void add_text(struct buf *out, const char *text)
{
	bool line_start = out->len == 0 || out->data[out->len - 1] == '\n';

	for (const char *p = text; *p; p++) {
		if (line_start && (*p == '.' || *p == '\''))
			buf_adds(out, "\\&");
		if (*p == '\\')
			buf_adds(out, "\\e");
		else if (*p == '-')
			buf_adds(out, "\\-");
		else if (*p == '`')
			buf_adds(out, "\\(ga");
		else
			buf_addc(out, *p);
		line_start = *p == '\n';
	}
}

static void add_option(struct buf *out, const struct opt *o)
{
	buf_adds(out, ".TP\n\\fB");
	if (o->letter) {
		const char letter[] = { '-', o->letter, '\0' };
		add_text(out, letter);
		buf_adds(out, "\\fR, \\fB");
	}
	add_text(out, "--");
	add_text(out, o->name);
	buf_adds(out, "\\fR");
	if (o->value) {
		buf_adds(out, " \\fI");
		add_text(out, o->value);
		buf_adds(out, "\\fR");
	}
	buf_addc(out, '\n');
	add_text(out, o->help);
	buf_adds(out, o->kind == OPT_LIST ? " (may be repeated)\n" : "\n");
}

static void add_command(struct buf *out, const struct command *c)
{
	buf_adds(out, ".SS yard ");
	add_text(out, c->name);
	if (*c->operands) {
		buf_addc(out, ' ');
		add_text(out, c->operands);
	}
	buf_addc(out, '\n');
	add_text(out, c->summary);
	buf_adds(out, ".\n");
	for (size_t i = 0; i < c->count; i++)
		add_option(out, &c->table[i]);
}

static void add_exit_codes(struct buf *out)
{
	buf_adds(
		out,
		".SH EXIT STATUS\nOf \\fByard run\\fR and \\fByard wait\\fR the job's own: "
		"that of its first task that failed (128 and the signal that ended it; 137 out of "
		"memory, 124 time limit, 126 not started, 143 stopped). Else:\n");
	for (int code = 0; code < EXIT_CODE_END; code++)
		buf_printf(out, ".TP\n%d\n%s\n", code, wire_exit_words(code));
	buf_printf(out, ".TP\n%d\nleft: the job goes on\n", EXIT_INTERRUPTED);
}

void man_page(struct buf *out)
{
	buf_adds(
		out,
		".\\\" Made by `yard completion man`: change the table of commands, not this.\n"
		".TH YARD 1 \"\" \"Trainyard " YARD_VERSION "\" \"Trainyard\"\n"
		".SH NAME\nyard \\- run training jobs: queued, isolated, logged, kept\n"
		".SH SYNOPSIS\n\\fByard\\fR [\\fB\\-C\\fR \\fICONTEXT\\fR] \\fICOMMAND\\fR [\\fIoptions\\fR] ...\n"
		".SH DESCRIPTION\nTalks to a yard: the one that \\fB\\-C\\fR or "
		"\\fBYARD_SERVER\\fR names, that of the last \\fByard login\\fR, "
		"the machine's own, or a private one that it starts when needed.\n"
		"\\fIJOB\\fR is a job's number or its name. Every command takes \\fB\\-\\-help\\fR.\n"
		".SH COMMANDS\n");
	for (size_t i = 0; commands[i]; i++)
		add_command(out, commands[i]);
	add_exit_codes(out);
	buf_adds(
		out,
		".SH ENVIRONMENT\n"
		".TP\n\\fBYARD_SERVER\\fR\nwhich daemon: unix:///path, https://host:port or http://host:port\n"
		".TP\n\\fBYARD_TOKEN\\fR\nthe token to show it\n"
		".TP\n\\fBYARD_FINGERPRINT\\fR\nthe certificate to trust, as \\fByard login\\fR shows it\n"
		".TP\n\\fBYARD_STATE\\fR, \\fBYARD_SOCKET\\fR\nwhere a private daemon keeps everything, and listens\n"
		".TP\n\\fBNO_COLOR\\fR\nno colours\n"
		".SH FILES\n"
		".TP\n\\fI~/.config/yard/contexts.yaml\\fR\nservers and tokens of \\fByard login\\fR; below "
		"\\fBXDG_CONFIG_HOME\\fR where that is set\n");
}
