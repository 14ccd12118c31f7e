// SPDX-License-Identifier: Apache-2.0
/* passwd.c - `yard user passwd`: another password, one's own or somebody's. */
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "cli/ask.h"
#include "cli/people.h"

struct passwd_args {
	bool password_stdin, none;
};

/* clang-format off */
static const struct opt passwd_table[] = {
	{ "password-stdin", 0, OPT_FLAG, OPT_INTO(struct passwd_args, password_stdin), NULL, "the new password is the first line of stdin; the old one, where it is needed, the second" },
	{ "none", 0, OPT_FLAG, OPT_INTO(struct passwd_args, none), NULL, "no password any more: they come by the unix socket only" },
};
/* clang-format on */

struct passwd {
	const char *target;
	char *now, *old; /* now NULL: none any more; old NULL: not given */
};

static int send_change(struct cli *c, const struct passwd *p, struct err *err)
{
	struct buf body = { 0 };
	struct json j;

	json_init(&j, &body);
	json_object(&j, NULL);
	json_str(&j, "password", p->now);
	if (p->old)
		json_str(&j, "old", p->old);
	json_end(&j);
	int rc = people_send(c, "PATCH", p->target, &body, NULL, err);
	explicit_bzero(body.data, body.len);
	buf_fini(&body);
	return rc;
}

/* Which user: the one named, or oneself.  needs_old: as the server will ask for it. */
static char *whose(struct cli *c, const struct opts_list *operands, bool *needs_old,
		   struct err *err)
{
	AUTO_ANSWER struct answer me = { 0 };
	AUTO_ANSWER struct answer user = { 0 };

	if (cli_get(c, &me, err, "/me") < 0)
		return NULL;
	const struct doc_node *root = doc_root(me.doc);
	const char *own = doc_str(root, "name", "");
	const char *name = operands->count ? operands->items[0] : own;
	bool master = str_eq(doc_str(root, "role", ""), "admin") &&
		      str_eq(doc_str(root, "by", ""), "peer");
	AUTO_FREE char *target = people_target("users", name, "");
	if (cli_get(c, &user, err, "%s", target) < 0)
		return NULL;
	*needs_old = str_eq(name, own) && !master &&
		     doc_bool(doc_root(user.doc), "password", false);
	return mem_strdup(name);
}

static int ask(const struct passwd_args *a, const char *name, bool needs_old,
	       struct passwd *p, struct err *err)
{
	AUTO_FREE char *question = str_printf("new password for %s", name);

	if (needs_old && !a->password_stdin &&
	    !(p->old = ask_password("old password", err)))
		return -1;
	if (!a->none) {
		p->now = a->password_stdin ? ask_stdin(err)
					   : ask_new_password(question, err);
		if (!p->now)
			return -1;
	}
	if (needs_old && a->password_stdin)
		p->old = ask_stdin(err);
	return needs_old && !p->old ? -1 : 0;
}

static int run_passwd(struct cli *c, const void *args, const struct opts_list *operands)
{
	const struct passwd_args *a = args;
	struct err err = { 0 };
	bool needs_old = false;
	AUTO_FREE char *name = whose(c, operands, &needs_old, &err);

	if (!name)
		return cli_fail(c, &err);
	AUTO_FREE char *target = people_target("users", name, "");
	struct passwd p = { .target = target };
	int rc = ask(a, name, needs_old, &p, &err);
	if (rc == 0)
		rc = send_change(c, &p, &err);
	ask_forget(p.now);
	ask_forget(p.old);
	if (rc < 0)
		return cli_fail(c, &err);
	cli_say(c, a->none ? "%s has no password any more" : "%s has a new password",
		name);
	return 0;
}

const struct command cmd_user_passwd = {
	.name = "user passwd",
	.group = COMMAND_PEOPLE,
	.operands = "[NAME]",
	.summary = "change a password: yours, or as an admin somebody's",
	.table = passwd_table,
	.count = COUNT_OF(passwd_table),
	.args_size = sizeof(struct passwd_args),
	.operands_max = 1,
	.run = run_passwd,
};
