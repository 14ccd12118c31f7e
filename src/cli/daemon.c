// SPDX-License-Identifier: Apache-2.0
/* daemon.c - `yard up` and `yard down`: the private daemon by hand. */
#include <unistd.h>

#include "base/mem.h"
#include "cli/cli.h"

static int run_up(struct cli *c, const void *args, const struct opts_list *operands)
{
	struct err err;
	int fd = server_connect(&c->server, NULL);

	(void)args, (void)operands;
	if (fd >= 0) {
		close(fd);
		AUTO_FREE char *url = server_url(&c->server);
		cli_say(c, "a daemon answers already at %s", url);
		return 0;
	}
	if (!c->server.state) {
		err_set(&err, ERR_CONFLICT,
			"%s names somebody else's daemon; `yard -C local up` starts your own",
			c->server.named ? c->server.named : "this machine");
		return cli_fail(c, &err);
	}
	if (server_start(&c->server, &err) < 0)
		return cli_fail(c, &err);
	cli_say(c, "the daemon is up: socket %s, state in %s", c->server.socket,
		c->server.state);
	return 0;
}

const struct command cmd_up = {
	.name = "up",
	.group = COMMAND_YARD,
	.operands = "",
	.summary = "start a daemon of your own",
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
