// SPDX-License-Identifier: Apache-2.0
#include "tap.h"

#include "base/mem.h"
#include "base/opts.h"

struct args {
	bool detach, quiet;
	const char *name;
	struct opts_list env;
	int64_t gpu, memory, cpu, limit;
};

static const struct opt table[] = {
	{ "detach", 'd', OPT_FLAG, OPT_INTO(struct args, detach), NULL, "do not wait", 0,
	  0 },
	{ "quiet", 'q', OPT_FLAG, OPT_INTO(struct args, quiet), NULL, "say less", 0, 0 },
	{ "name", 'n', OPT_TEXT, OPT_INTO(struct args, name), "NAME", "call it NAME", 0,
	  0 },
	{ "env", 'e', OPT_LIST, OPT_INTO(struct args, env), "K=V", "set a variable", 0,
	  0 },
	{ "gpu", 0, OPT_INT, OPT_INTO(struct args, gpu), "N", "devices", 0, 64 },
	{ "mem", 0, OPT_BYTES, OPT_INTO(struct args, memory), "SIZE", "memory", 0, 0 },
	{ "cpu", 0, OPT_CPU, OPT_INTO(struct args, cpu), "N", "cores", 0, 0 },
	{ "time-limit-of-one-attempt", 0, OPT_DURATION, OPT_INTO(struct args, limit),
	  "TIME", "limit", 0, 0 },
};

static struct args got;
static struct opts_list rest;
static struct err err;

#define PARSE(stop, ...) parse(stop, (char *[]){ __VA_ARGS__, NULL })

static enum opts_result parse(bool stop, char **argv)
{
	struct opts o = { "yard run", "-- COMMAND",    "Run a command.",
			  table,      COUNT_OF(table), stop };
	int argc = 0;

	while (argv[argc])
		argc++;
	opts_list_fini(&got.env);
	opts_list_fini(&rest);
	got = (struct args){ .gpu = -7 };
	err = (struct err){ 0 };
	return opts_parse(&o, argc, argv, &got, &rest, &err);
}

static char a_d[] = "-d", a_dq[] = "-dq", a_n[] = "-n", a_nx[] = "-nx", a_x[] = "x",
	    a_name[] = "--name", a_name_eq[] = "--name=a=b", a_e[] = "-e", a_kv[] = "K=V",
	    a_env[] = "--env=L=W", a_dd[] = "--", a_mem[] = "--mem", a_512[] = "512Mi",
	    a_cpu[] = "--cpu=0.5", a_gpu[] = "--gpu", a_65[] = "65", a_help[] = "--help",
	    a_h[] = "-h", a_naem[] = "--naem", a_zzz[] = "--zzzzzzzz", a_z[] = "-z",
	    a_flag[] = "--detach=1", a_ls[] = "ls", a_l[] = "-l", a_minus[] = "-",
	    a_limit[] = "--time-limit-of-one-attempt=1h30m";

static void forms(void)
{
	OK(PARSE(false, a_d) == OPTS_OK && got.detach && !got.quiet,
	   "a letter sets its flag");
	OK(PARSE(false, a_dq) == OPTS_OK && got.detach && got.quiet,
	   "letters can stand together");
	OK(PARSE(false, a_n, a_x) == OPTS_OK && strcmp(got.name, "x") == 0, "-n VALUE");
	OK(PARSE(false, a_nx) == OPTS_OK && strcmp(got.name, "x") == 0, "-nVALUE");
	OK(PARSE(false, a_name, a_x) == OPTS_OK && strcmp(got.name, "x") == 0,
	   "--name VALUE");
	OK(PARSE(false, a_name_eq) == OPTS_OK && strcmp(got.name, "a=b") == 0,
	   "--name=VALUE, cut at the first =");
	OK(PARSE(false, a_name, a_d) == OPTS_OK && strcmp(got.name, "-d") == 0 &&
		   !got.detach,
	   "a value may begin with a dash");
	OK(PARSE(false, a_e, a_kv, a_env) == OPTS_OK && got.env.count == 2 &&
		   strcmp(got.env.items[1], "L=W") == 0,
	   "a list keeps every value in order");
	OK(PARSE(false, a_mem, a_512, a_cpu, a_limit) == OPTS_OK &&
		   got.memory == 536870912 && got.cpu == 500 && got.limit == 5400000 &&
		   got.gpu == -7,
	   "units are read, what is not given is untouched");
}

static void ends(void)
{
	OK(PARSE(false, a_x, a_d, a_minus) == OPTS_OK && got.detach && rest.count == 2,
	   "operands and options may be mixed; a lone dash is an operand");
	OK(PARSE(false, a_d, a_dd, a_l, a_dd) == OPTS_OK && rest.count == 2 &&
		   strcmp(rest.items[0], "-l") == 0 && strcmp(rest.items[1], "--") == 0,
	   "-- ends the options, once");
	OK(PARSE(true, a_d, a_ls, a_l) == OPTS_OK && rest.count == 2 &&
		   strcmp(rest.items[1], "-l") == 0,
	   "the first operand ends the options where a command follows");
	OK(PARSE(false, a_d, a_help) == OPTS_HELP, "--help");
	OK(PARSE(false, a_h) == OPTS_HELP, "-h");
}

static void refusals(void)
{
	OK(PARSE(false, a_naem) == OPTS_BAD, "an unknown option is refused");
	IS(err.text, "there is no option --naem; did you mean --name?", "with a guess");
	OK(PARSE(false, a_zzz) == OPTS_BAD, "an unknown option without a neighbour");
	IS(err.text, "there is no option --zzzzzzzz; yard run --help lists them all",
	   "points to the help");
	OK(PARSE(false, a_z) == OPTS_BAD && strstr(err.text, "-z"),
	   "an unknown letter: %s", err.text);
	OK(PARSE(false, a_name) == OPTS_BAD && strstr(err.text, "--name needs NAME"),
	   "a missing value: %s", err.text);
	OK(PARSE(false, a_flag) == OPTS_BAD && strstr(err.text, "takes no value"),
	   "a flag with a value: %s", err.text);
	OK(PARSE(false, a_gpu, a_65) == OPTS_BAD, "a number out of range");
	IS(err.text, "--gpu 65: allowed is a whole number from 0 to 64",
	   "says what is allowed");
	OK(PARSE(false, a_mem, a_x) == OPTS_BAD && strstr(err.text, "512Mi"),
	   "a bad size: %s", err.text);
}

static void help(void)
{
	struct opts o = { "yard run", "-- COMMAND",    "Run a command.",
			  table,      COUNT_OF(table), true };
	AUTO_BUF struct buf text = { 0 };

	opts_help(&o, &text);
	OK(strstr(buf_str(&text),
		  "Usage: yard run [options] -- COMMAND\n\nRun a command.\n"),
	   "help begins with the usage");
	OK(strstr(buf_str(&text), "  -n, --name NAME           call it NAME\n"),
	   "a row of the help");
	OK(strstr(buf_str(&text),
		  "      --time-limit-of-one-attempt TIME\n                            limit\n"),
	   "a long option gets a line of its own");
	OK(strstr(buf_str(&text), "set a variable (may be repeated)\n"),
	   "lists say that they are");
}

int main(void)
{
	forms();
	ends();
	refusals();
	help();
	opts_list_fini(&got.env);
	opts_list_fini(&rest);
	return END();
}
