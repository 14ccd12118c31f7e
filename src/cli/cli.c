// SPDX-License-Identifier: Apache-2.0
#include "cli/cli.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "cli/help.h"
#include "cli/plain.h"
#include "cli/table.h"
#include "codec/url.h"
#include "wire/outcome.h"

int64_t cli_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

void cli_write(int fd, const void *data, size_t len)
{
	const char *p = data;

	while (len > 0) {
		ssize_t n = write(fd, p, len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			_exit(1); /* nobody reads any more, or the disk is full: nothing left to say it to */
		p += n;
		len -= (size_t)n;
	}
}

void cli_print(const struct buf *text)
{
	cli_write(STDOUT_FILENO, buf_str(text), text->len);
}

void cli_print_json(const struct buf *json)
{
	AUTO_BUF struct buf out = { 0 };

	plain_json(&out, json);
	if (!out.len || out.data[out.len - 1] != '\n')
		buf_addc(&out, '\n');
	cli_print(&out);
}

static __attribute__((format(printf, 3, 0))) void
say(const struct cli *c, enum table_colour colour, const char *fmt, va_list ap)
{
	AUTO_BUF struct buf out = { 0 }, words = { 0 };

	buf_vprintf(&words, fmt, ap);
	AUTO_FREE char *text = buf_take(&words);
	plain_text(text, "\n\t"); /* much of it is what other people wrote */
	if (c->colour_err)
		buf_adds(&out, table_colour_code(colour));
	buf_printf(&out, "yard: %s", text);
	if (c->colour_err && colour != TABLE_PLAIN)
		buf_adds(&out, TABLE_COLOUR_END);
	buf_addc(&out, '\n');
	cli_write(STDERR_FILENO, out.data, out.len);
}

void cli_say(const struct cli *c, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(c, TABLE_PLAIN, fmt, ap);
	va_end(ap);
}

void cli_hint(const struct cli *c, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(c, TABLE_DIM, fmt, ap);
	va_end(ap);
}

void cli_say_bad(const struct cli *c, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(c, TABLE_BAD, fmt, ap);
	va_end(ap);
}

int cli_fail(const struct cli *c, const struct err *err)
{
	cli_say_bad(c, "%s", err->text);
	if (err->code == ERR_UNKNOWN_CALLER && c->server.host)
		cli_hint(c, "`yard login` gets a token");
	if (c->client && client_unreachable(c->client))
		return EXIT_UNREACHABLE;
	int code = wire_exit_code(err->code);
	return code ? code : 1;
}

int cli_get(struct cli *c, struct answer *out, struct err *err, const char *fmt, ...)
{
	AUTO_BUF struct buf target = { 0 };
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(&target, fmt, ap);
	va_end(ap);
	struct request r = { .method = "GET", .target = buf_str(&target) };
	if (client_call(c->client, &r, out, err) < 0)
		return -1;
	return out->doc ? 0 : err_set(err, ERR_CORRUPT, "the server's answer is no JSON");
}

char *cli_job_target(const char *job, const char *tail)
{
	struct buf out = { 0 };

	buf_adds(&out, "/jobs/");
	url_encode(&out, job);
	buf_adds(&out, tail);
	return buf_take(&out);
}

int cli_get_job(struct cli *c, const char *job, struct wire_job *out, struct err *err)
{
	AUTO_ANSWER struct answer a = { 0 };
	AUTO_FREE char *target = cli_job_target(job, "");

	if (cli_get(c, &a, err, "%s", target) < 0)
		return -1;
	return wire_job_read(doc_root(a.doc), out, err);
}

char *cli_task_name(const struct job *j, int rank)
{
	const struct task *t = &j->tasks[rank];
	const struct role *r = &j->spec->roles[t->role];

	return r->count == 1 ? mem_strdup(r->name)
			     : str_printf("%s-%d", r->name, t->index);
}

int cli_task_rank(const struct job *j, const char *text, struct err *err)
{
	int64_t rank;

	if (str_to_i64(text, 0, (int64_t)j->task_count - 1, &rank) == 0)
		return (int)rank;
	for (int i = 0; i < (int)j->task_count; i++) {
		AUTO_FREE char *name = cli_task_name(j, i);
		AUTO_FREE char *full =
			str_printf("%s-%d", j->spec->roles[j->tasks[i].role].name,
				   j->tasks[i].index);
		if (str_eq(name, text) || str_eq(full, text))
			return i;
	}
	AUTO_FREE char *last = cli_task_name(j, (int)j->task_count - 1);
	return err_set(err, ERR_NOT_FOUND,
		       "job %lld has no task %s; its tasks are 0 to %zu, the last is %s",
		       (long long)j->id, text, j->task_count - 1, last);
}

static void started(const struct server *s)
{
	struct cli c = { .client = NULL };

	cli_say(&c, "started a daemon of your own (state in %s; `yard down` ends it)",
		s->state);
}

static int bad_operands(const struct cli *c, const struct command *cmd, size_t count)
{
	if (count < cmd->operands_min)
		cli_say_bad(c, "something is missing: yard %s %s", cmd->name,
			    cmd->operands);
	else
		cli_say_bad(c, "too much is given: yard %s %s", cmd->name, cmd->operands);
	cli_hint(c, "`yard %s --help` tells more", cmd->name);
	return EXIT_USAGE;
}

static int with_server(struct cli *c, const struct command *cmd, const void *args,
		       const struct opts_list *operands)
{
	struct err err;

	if (cmd == &cmd_help || cmd->alone)
		return cmd->run(c, args, operands);
	if (server_find(&c->server, c->context, &err) < 0)
		return cli_fail(c, &err);
	c->client = client_create(&c->server, cmd->starts, started);
	int code = cmd->run(c, args, operands);
	client_destroy(TAKE(c->client));
	server_fini(&c->server);
	return code;
}

static int run_command(struct cli *c, const struct command *cmd, int argc, char **argv)
{
	AUTO_FREE char *args = mem_alloc(1, cmd->args_size + 1);
	AUTO_OPTS_LIST struct opts_list operands = { 0 };
	struct manual m = { .program = "" };
	struct err err;
	int code = EXIT_USAGE;

	enum opts_result got =
		opts_parse(manual_opts(&m, cmd), argc, argv, args, &operands, &err);
	if (got == OPTS_HELP) {
		help_command(cmd);
		code = 0;
	} else if (got == OPTS_BAD) {
		cli_say_bad(c, "%s", err.text);
	} else if (operands.count < cmd->operands_min ||
		   operands.count > cmd->operands_max) {
		code = bad_operands(c, cmd, operands.count);
	} else {
		code = with_server(c, cmd, args, &operands);
	}
	for (size_t i = 0; i < cmd->count; i++)
		if (cmd->table[i].kind == OPT_LIST)
			opts_list_fini((
				struct opts_list *)(void *)(args + cmd->table[i].offset));
	return code;
}

int cli_colour(struct cli *c, const char *when, struct err *err)
{
	if (!when || str_eq(when, "auto"))
		return 0; /* as cli_main() found it */
	if (!str_eq(when, "always") && !str_eq(when, "never"))
		return err_set(err, ERR_INVALID,
			       "--color '%s': allowed is always, never or auto", when);
	c->colour_out = c->colour_err = str_eq(when, "always");
	return 0;
}

/* What stands before the command: -C NAME, --context NAME, --context=NAME. */
static int take_context(struct cli *c, int *argc, char ***argv)
{
	const char *first = *argc > 1 ? (*argv)[1] : "";
	bool word = str_eq(first, "-C") || str_eq(first, "--context");
	int used = word ? 2 : 1;

	if (!word && !str_starts(first, "--context="))
		return 0;
	c->context = word ? (*argc > 2 ? (*argv)[2] : "") : strchr(first, '=') + 1;
	if (!*c->context) {
		cli_say_bad(c, "%s: the name of a context is missing", first);
		return -1;
	}
	*argc -= used;
	*argv += used;
	return 0;
}

int cli_main(int argc, char **argv)
{
	bool colours = !getenv("NO_COLOR") && !str_eq(getenv("TERM"), "dumb");
	struct cli c = { .colour_out = colours && isatty(STDOUT_FILENO),
			 .colour_err = colours && isatty(STDERR_FILENO) };
	const struct command *cmd;
	int used;

	if (take_context(&c, &argc, &argv) < 0)
		return EXIT_USAGE;
	if (argc < 2 || str_eq(argv[1], "--help") || str_eq(argv[1], "-h")) {
		help_overview();
		return argc < 2 ? EXIT_USAGE : 0;
	}
	if (str_eq(argv[1], "--version"))
		return run_command(&c, &cmd_version, argc - 2, argv + 2);
	cmd = command_find(argc - 1, (const char *const *)argv + 1, &used);
	if (!cmd)
		return help_unknown(&c, argc - 1, (const char *const *)argv + 1);
	return run_command(&c, cmd, argc - 1 - used, argv + 1 + used);
}
