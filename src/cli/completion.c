// SPDX-License-Identifier: Apache-2.0
/* What shells complete: commands, their options, jobs by name; out of the table. */
#include "cli/cli.h"

#include <string.h>

#include "base/doc.h"
#include "base/mem.h"
#include "base/str.h"
#include "cli/man.h"

static const char *second_word(const char *name)
{
	const char *space = strchr(name, ' ');

	return space ? space + 1 : NULL;
}

static bool begins_family(size_t at)
{
	size_t n = strcspn(commands[at]->name, " ");

	for (size_t i = 0; i < at; i++)
		if (strncmp(commands[i]->name, commands[at]->name, n) == 0 &&
		    (commands[i]->name[n] == ' ' || commands[i]->name[n] == '\0'))
			return false;
	return true;
}

/* The first words of all commands, each once, with a space between. */
static void first_words(struct buf *out)
{
	for (size_t i = 0; commands[i]; i++)
		if (begins_family(i))
			buf_printf(out, "%s%.*s", i ? " " : "",
				   (int)strcspn(commands[i]->name, " "),
				   commands[i]->name);
}

static void options(const struct command *c, struct buf *out)
{
	for (size_t i = 0; i < c->count; i++)
		buf_printf(out, "--%s ", c->table[i].name);
	buf_adds(out, "--help");
}

static bool takes_job(const struct command *c)
{
	return strstr(c->operands, "JOB") != NULL;
}

/* The options of c that want a value, as a pattern of `case`. */
static void valued(const struct command *c, struct buf *out)
{
	for (size_t i = 0; i < c->count; i++) {
		if (!c->table[i].value)
			continue;
		buf_printf(out, "%s--%s", out->len ? "|" : "", c->table[i].name);
		if (c->table[i].letter)
			buf_printf(out, "|-%c", c->table[i].letter);
	}
}

static void bash_families(struct buf *out)
{
	for (size_t i = 0; commands[i]; i++) {
		size_t n = strcspn(commands[i]->name, " ");
		if (!second_word(commands[i]->name) || !begins_family(i))
			continue;
		buf_printf(out, "\t\t%.*s) words=\"", (int)n, commands[i]->name);
		for (size_t k = i; commands[k]; k++)
			if (strncmp(commands[k]->name, commands[i]->name, n + 1) == 0)
				buf_printf(out, "%s%s", k > i ? " " : "",
					   second_word(commands[k]->name));
		buf_adds(out, "\" ;;\n");
	}
}

static void bash_command(const struct command *c, struct buf *out)
{
	AUTO_BUF struct buf values = { 0 };

	valued(c, &values);
	if (second_word(c->name))
		buf_printf(out, "\t\"%s\")", c->name);
	else
		buf_printf(out, "\t\"%s\"|\"%s \"*)", c->name, c->name);
	buf_printf(out, " jobs=%d values='%s' words='", takes_job(c), buf_str(&values));
	options(c, out);
	buf_adds(out, "' ;;\n");
}

static void bash(struct buf *out)
{
	buf_adds(
		out,
		"# bash completion of yard, made by `yard completion bash`; to use it now:\n"
		"#   source <(yard completion bash)\n"
		"_yard()\n{\n"
		"\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
		"\tlocal words='' values='' jobs=0\n"
		"\tCOMPREPLY=()\n"
		"\tif ((COMP_CWORD == 1)); then\n\t\twords='");
	first_words(out);
	buf_adds(out,
		 "'\n\t\tmapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
		 "\t\treturn\n\tfi\n"
		 "\tif ((COMP_CWORD == 2)); then\n\t\tcase ${COMP_WORDS[1]} in\n");
	bash_families(out);
	buf_adds(out,
		 "\t\tesac\n\t\tif [[ -n $words ]]; then\n"
		 "\t\t\tmapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
		 "\t\t\treturn\n\t\tfi\n\tfi\n"
		 "\tcase \"${COMP_WORDS[1]} ${COMP_WORDS[2]}\" in\n");
	/* "quota set" before "quota", which would take it for an operand. */
	for (int two = 1; two >= 0; two--)
		for (size_t i = 0; commands[i]; i++)
			if (!second_word(commands[i]->name) == !two)
				bash_command(commands[i], out);
	buf_adds(
		out,
		"\tesac\n"
		"\tif [[ -n $values && \"|$values|\" == *\"|$prev|\"* ]]; then\n"
		"\t\tcompopt -o default 2>/dev/null\n"
		"\telif [[ $cur == -* ]]; then\n"
		"\t\tmapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
		"\telif ((jobs)); then\n"
		"\t\tmapfile -t COMPREPLY < <(compgen -W \"$(yard completion jobs 2>/dev/null)\" -- \"$cur\")\n"
		"\telse\n\t\tcompopt -o default 2>/dev/null\n\tfi\n}\n"
		"complete -F _yard yard\n");
}

/* Inside '...' of zsh and fish, and inside [...] of zsh. */
static void quoted(struct buf *out, const char *text)
{
	for (const char *p = text; *p; p++) {
		if (*p == '\'')
			buf_adds(out, "'\\''");
		else if (strchr("[]:\\", *p))
			buf_printf(out, "\\%c", *p);
		else
			buf_addc(out, *p);
	}
}

static void zsh_option(const struct opt *o, struct buf *out)
{
	buf_printf(out, " \\\n\t\t\t'%s--%s%s[", o->kind == OPT_LIST ? "*" : "", o->name,
		   o->value ? "=" : "");
	quoted(out, o->help);
	buf_adds(out, "]");
	if (o->value) {
		buf_adds(out, ":");
		quoted(out, o->value);
		buf_adds(out, ":_files");
	}
	buf_adds(out, "'");
}

static void zsh_command(const struct command *c, int words, struct buf *out)
{
	buf_printf(out, "\t'%s%s)\n\t\tshift %d words; ((CURRENT -= %d))\n", c->name,
		   words == 2 ? "'" : " '*", words, words);
	buf_adds(out, "\t\t_arguments");
	for (size_t k = 0; k < c->count; k++)
		zsh_option(&c->table[k], out);
	buf_printf(out, " \\\n\t\t\t'--help[show this help]' '*:operand:%s' ;;\n",
		   takes_job(c) ? "_yard_jobs" : "_files");
}

static void zsh(struct buf *out)
{
	buf_adds(
		out,
		"#compdef yard\n"
		"# made by `yard completion zsh`; put it as _yard into a folder of $fpath\n"
		"_yard_jobs() { local -a jobs; jobs=(${(f)\"$(yard completion jobs 2>/dev/null)\"}); compadd -a jobs }\n"
		"_yard() {\n\tlocal -a list\n\tlist=(\n");
	for (size_t i = 0; commands[i]; i++) {
		buf_adds(out, "\t\t'");
		quoted(out, commands[i]->name);
		buf_adds(out, ":");
		quoted(out, commands[i]->summary);
		buf_adds(out, "'\n");
	}
	buf_adds(
		out,
		"\t)\n"
		"\tif ((CURRENT == 2)); then compadd -- ${(u)${list%%:*}%% *}; return; fi\n"
		"\tif ((CURRENT == 3)); then\n"
		"\t\tlocal -a subs\n"
		"\t\tsubs=(${${${(M)list:#$words[2] *}%%:*}#* })\n"
		"\t\tif (($#subs)); then compadd -a subs; return; fi\n\tfi\n"
		"\tcase \"$words[2] $words[3]\" in\n");
	for (int two = 1; two >= 0; two--)
		for (size_t i = 0; commands[i]; i++)
			if (!second_word(commands[i]->name) == !two)
				zsh_command(commands[i], two ? 2 : 1, out);
	buf_adds(out, "\tesac\n}\n_yard \"$@\"\n");
}

static void fish_command(const struct command *c, struct buf *out)
{
	const char *second = second_word(c->name);
	AUTO_BUF struct buf when = { 0 };

	buf_printf(&when, "__fish_seen_subcommand_from %.*s", (int)strcspn(c->name, " "),
		   c->name);
	if (second)
		buf_printf(&when, "; and __fish_seen_subcommand_from %s", second);
	for (size_t i = 0; i < c->count; i++) {
		buf_printf(out, "complete -c yard -n '%s' -l %s%s -d '", buf_str(&when),
			   c->table[i].name, c->table[i].value ? " -r" : "");
		for (const char *p = c->table[i].help; *p; p++)
			buf_printf(out, strchr("'\\", *p) ? "\\%c" : "%c", *p);
		buf_adds(out, "'\n");
	}
	if (takes_job(c))
		buf_printf(
			out,
			"complete -c yard -n '%s' -f -a '(yard completion jobs 2>/dev/null)'\n",
			buf_str(&when));
}

static void fish(struct buf *out)
{
	buf_adds(
		out,
		"# made by `yard completion fish`; for ~/.config/fish/completions/yard.fish\n"
		"complete -c yard -n __fish_use_subcommand -f -a '");
	first_words(out);
	buf_adds(out, "'\ncomplete -c yard -l help -s h -d 'show this help'\n");
	for (size_t i = 0; commands[i]; i++) {
		const char *second = second_word(commands[i]->name);
		if (second)
			buf_printf(
				out,
				"complete -c yard -n '__fish_seen_subcommand_from %.*s' -f -a %s\n",
				(int)strcspn(commands[i]->name, " "), commands[i]->name,
				second);
		fish_command(commands[i], out);
	}
}

/* Numbers and names of the newest jobs.  A shell that completes must not be told why not. */
static void jobs(struct cli *c, struct buf *out)
{
	AUTO_ANSWER struct answer a = { 0 };
	struct err err;

	if (cli_get(c, &a, &err, "/jobs?limit=100") < 0)
		return;
	const struct doc_node *list = doc_get(doc_root(a.doc), "jobs");
	for (const struct doc_node *n = list ? list->first : NULL; n; n = n->next) {
		const char *name = doc_str(n, "name", "");
		buf_printf(out, "%lld\n", (long long)doc_i64(n, "id", 0));
		if (*name)
			buf_printf(out, "%s\n", name);
	}
}

static int run_completion(struct cli *c, const void *args,
			  const struct opts_list *operands)
{
	static const struct {
		const char *word;
		void (*write)(struct buf *out);
	} kinds[] = {
		{ "bash", bash }, { "zsh", zsh }, { "fish", fish }, { "man", man_page }
	};
	AUTO_BUF struct buf out = { 0 };

	(void)args;
	if (str_eq(operands->items[0], "jobs")) {
		jobs(c, &out);
		cli_print(&out);
		return 0;
	}
	for (size_t i = 0; i < COUNT_OF(kinds); i++) {
		if (!str_eq(operands->items[0], kinds[i].word))
			continue;
		kinds[i].write(&out);
		cli_print(&out);
		return 0;
	}
	cli_say_bad(c, "'%s' is not bash, zsh, fish, man or jobs", operands->items[0]);
	return 2;
}

const struct command cmd_completion = {
	.name = "completion",
	.group = COMMAND_YARD,
	.operands = "bash|zsh|fish|man|jobs",
	.summary = "print what a shell needs to complete commands, or the manual page",
	.operands_min = 1,
	.operands_max = 1,
	.run = run_completion,
};
