// SPDX-License-Identifier: Apache-2.0
/* daemon.c - `yard up` and `yard down`: the private daemon by hand. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "cli/cli.h"

struct up_args {
	const char *listen;
};

static const struct opt up_table[] = {
	{ "listen", 0, OPT_TEXT, OPT_INTO(struct up_args, listen), "ADDR:PORT",
	  "also listen here by TCP; port 0 takes a free one" },
};

/* "ready unix:///... https://host:port code CODE": who may come by TCP, and how. */
static void tell_doors(const struct cli *c, char *told)
{
	char *url = strstr(told, " http"), *code = strstr(told, " code ");

	told[strcspn(told, "\n")] = '\0';
	if (!url)
		return;
	if (code) {
		*code = '\0';
		code += strlen(" code ");
	}
	cli_say(c, "it listens on%s", url);
	if (code)
		cli_say(c,
			"nobody can log in there yet; be its first admin: yard login%s --code %s",
			url, code);
}

static int run_up(struct cli *c, const void *args, const struct opts_list *operands)
{
	const struct up_args *a = args;
	AUTO_FREE char *told = NULL;
	struct err err;
	int fd = server_connect(&c->server, NULL);

	(void)operands;
	if (fd >= 0) {
		close(fd);
		AUTO_FREE char *url = server_url(&c->server);
		if (a->listen) {
			err_set(&err, ERR_CONFLICT,
				"--listen: a daemon answers already at %s; it takes this when it starts",
				url);
			return cli_fail(c, &err);
		}
		cli_say(c, "a daemon answers already at %s", url);
		return 0;
	}
	if (!c->server.state) {
		err_set(&err, ERR_CONFLICT,
			"%s names somebody else's daemon; `yard -C local up` starts your own",
			c->server.named ? c->server.named : "this machine");
		return cli_fail(c, &err);
	}
	if (a->listen)
		setenv("YARD_LISTEN", a->listen, 1);
	if (server_start(&c->server, &told, &err) < 0)
		return cli_fail(c, &err);
	cli_say(c, "the daemon is up: socket %s, state in %s", c->server.socket,
		c->server.state);
	if (told)
		tell_doors(c, told);
	return 0;
}

const struct command cmd_up = {
	.name = "up",
	.group = COMMAND_YARD,
	.operands = "",
	.summary = "start a daemon of your own",
	.table = up_table,
	.count = COUNT_OF(up_table),
	.args_size = sizeof(struct up_args),
	.run = run_up,
};

static int run_down(struct cli *c, const void *args, const struct opts_list *operands)
{
	struct err err;
	int fd = server_connect(&c->server, NULL);

	(void)args, (void)operands;
	if (fd < 0) {
		cli_say(c, "no daemon is up");
		return 0;
	}
	close(fd);
	if (server_stop(&c->server, &err) < 0)
		return cli_fail(c, &err);
	cli_say(c,
		"the daemon is down; tasks that run go on, and the next `yard up` finds them");
	return 0;
}

const struct command cmd_down = {
	.name = "down",
	.group = COMMAND_YARD,
	.operands = "",
	.summary = "end the daemon; tasks go on",
	.run = run_down,
};
