// SPDX-License-Identifier: Apache-2.0
/* secret.c - `yard secret set|ls|rm`: values go in, and only names come out. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sodium.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/units.h"
#include "base/vault.h"
#include "cli/ask.h"
#include "cli/cli.h"
#include "cli/view.h"
#include "codec/url.h"

#define SHORT 8 /* shorter ones are easily guessed, and not or hardly masked */

/* Whose: a group's, a user's (an admin's business), or one's own. */
struct whose {
	const char *group, *user;
};

#define WHOSE(type)                                                                      \
	{ "group",  'g',                                                                 \
	  OPT_TEXT, OPT_INTO(type, whose.group),                                         \
	  "GROUP",  "a group's, for all its members" },                                  \
	{                                                                                \
		"user", 'u', OPT_TEXT, OPT_INTO(type, whose.user), "USER",               \
			"another user's (for admins)"                                    \
	}

struct set_args {
	struct whose whose;
	const char *file;
};
struct ls_args {
	struct whose whose;
	bool json;
};
struct rm_args {
	struct whose whose;
};

/* clang-format off */
static const struct opt set_table[] = {
	WHOSE(struct set_args),
	{ "from-file", 'f', OPT_TEXT, OPT_INTO(struct set_args, file), "FILE",
	  "take the bytes of this file; else stdin, or you are asked" },
};
static const struct opt ls_table[] = {
	WHOSE(struct ls_args),
	{ "json", 0, OPT_FLAG, OPT_INTO(struct ls_args, json), NULL, "as JSON" },
};
static const struct opt rm_table[] = {
	WHOSE(struct rm_args),
};
/* clang-format on */

static int own_name(struct cli *c, struct buf *out, struct err *err)
{
	AUTO_ANSWER struct answer a = { 0 };

	if (cli_get(c, &a, err, "/me") < 0)
		return -1;
	url_encode(out, doc_str(doc_root(a.doc), "name", ""));
	return 0;
}

/* "/secrets/group/vision", with "/NAME" when there is one. */
static int target_of(struct cli *c, const struct whose *w, const char *name,
		     struct buf *out, struct err *err)
{
	if (w->group && w->user)
		return err_set(err, ERR_INVALID,
			       "--group and --user: a secret is of one of them");
	buf_printf(out, "/secrets/%s/", w->group ? "group" : "user");
	if (w->group || w->user)
		url_encode(out, w->group ? w->group : w->user);
	else if (own_name(c, out, err) < 0)
		return -1;
	if (name) {
		buf_addc(out, '/');
		url_encode(out, name);
	}
	return 0;
}

static struct vault *read_all(int fd, const char *what, struct err *err)
{
	struct vault *v = vault_create(SECRET_VALUE_MAX + 1);
	size_t len = 0;
	ssize_t n = 1;

	while (len < vault_len(v) && n != 0) {
		n = read(fd, vault_data(v) + len, vault_len(v) - len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			break;
		len += (size_t)n;
	}
	if (n < 0)
		err_sys(err, "read %s", what);
	else if (len > SECRET_VALUE_MAX)
		err_set(err, ERR_TOO_LARGE, "%s is larger than 64 KiB", what);
	vault_cut(v, len);
	if (n >= 0 && len <= SECRET_VALUE_MAX)
		return v;
	vault_unref(v);
	return NULL;
}

static struct vault *ask(const char *name, struct err *err)
{
	AUTO_FREE char *question = str_printf("Value of %s: ", name);
	char *text = ask_new_password(question, err);
	struct vault *v = text ? vault_copy(text, strlen(text)) : NULL;

	ask_forget(text);
	return v;
}

/* A file counts as it is; of what is piped the last line's end does not. */
static struct vault *read_value(const char *file, const char *name, struct err *err)
{
	if (file && !str_eq(file, "-")) {
		AUTO_FD int fd = open(file, O_RDONLY | O_CLOEXEC);
		if (fd < 0) {
			err_sys(err, "open %s", file);
			return NULL;
		}
		return read_all(fd, file, err);
	}
	if (isatty(STDIN_FILENO))
		return ask(name, err);
	struct vault *v = read_all(STDIN_FILENO, "stdin", err);
	if (v && vault_len(v) && vault_data(v)[vault_len(v) - 1] == '\n')
		vault_cut(v, vault_len(v) - 1);
	return v;
}

/* {"base64":"..."}: any bytes, and nothing to be escaped. */
static struct vault *write_body(const struct vault *value)
{
	static const char head[] = "{\"base64\":\"", tail[] = "\"}";
	size_t text = sodium_base64_ENCODED_LEN(vault_len(value),
						sodium_base64_VARIANT_ORIGINAL);
	struct vault *v = vault_create(strlen(head) + text + strlen(tail));
	char *at = vault_data(v);

	memcpy(at, head, strlen(head));
	sodium_bin2base64(at + strlen(head), text, (unsigned char *)vault_data(value),
			  vault_len(value), sodium_base64_VARIANT_ORIGINAL);
	memcpy(at + strlen(head) + text - 1, tail, strlen(tail));
	vault_cut(v, strlen(head) + text - 1 + strlen(tail));
	return v;
}

static int run_set(struct cli *c, const void *args, const struct opts_list *operands)
{
	const struct set_args *a = args;
	const char *name = operands->items[0];
	AUTO_BUF struct buf target = { 0 };
	AUTO_ANSWER struct answer answer = { 0 };
	struct err err;

	if (!secret_name_ok(name)) {
		err_set(&err, ERR_INVALID,
			"'%s' is not a secret's name: " SECRET_NAME_RULE, name);
		return cli_fail(c, &err);
	}
	AUTO_VAULT struct vault *value = read_value(a->file, name, &err);
	if (!value || target_of(c, &a->whose, name, &target, &err) < 0)
		return cli_fail(c, &err);
	AUTO_VAULT struct vault *body = write_body(value);
	struct request r = { .method = "PUT",
			     .target = buf_str(&target),
			     .body = vault_data(body),
			     .body_len = vault_len(body) };
	if (client_call(c->client, &r, &answer, &err) < 0)
		return cli_fail(c, &err);
	if (vault_len(value) < SHORT)
		cli_hint(c, "%s is short: in logs it may not be masked", name);
	return 0;
}

static void add_rows(struct table *t, const struct doc_node *list)
{
	char time[UNITS_TEXT_MAX];

	for (const struct doc_node *n = list ? list->first : NULL; n; n = n->next) {
		table_cell(t, TABLE_PLAIN, "%s", doc_str(n, "name", ""));
		table_cell(t, TABLE_PLAIN, "%s/%s", doc_str(n, "scope", ""),
			   doc_str(n, "owner", ""));
		table_cell(t, TABLE_PLAIN, "%s",
			   units_show_time(doc_i64(n, "set_ms", 0), time));
		table_cell(t, TABLE_PLAIN, "%s", doc_str(n, "by", ""));
	}
}

static int run_ls(struct cli *c, const void *args, const struct opts_list *operands)
{
	static const char *const heads[] = { "NAME", "OF", "SET", "BY" };
	const struct ls_args *a = args;
	AUTO_BUF struct buf target = { 0 };
	AUTO_ANSWER struct answer answer = { 0 };
	struct err err;

	(void)operands;
	if (!a->whose.group && !a->whose.user)
		buf_adds(&target, "/secrets");
	else if (target_of(c, &a->whose, NULL, &target, &err) < 0)
		return cli_fail(c, &err);
	if (cli_get(c, &answer, &err, "%s", buf_str(&target)) < 0)
		return cli_fail(c, &err);
	if (a->json) {
		cli_print_json(&answer.body);
		return 0;
	}
	const struct doc_node *list = doc_get(doc_root(answer.doc), "secrets");
	if (!list || !list->count) {
		cli_hint(c, "no secrets; `yard secret set NAME` makes one");
		return 0;
	}
	struct table *t = table_create(heads, COUNT_OF(heads));
	add_rows(t, list);
	view_print(c, t);
	table_destroy(t);
	return 0;
}

static int run_rm(struct cli *c, const void *args, const struct opts_list *operands)
{
	const struct rm_args *a = args;
	struct err err;
	int code = 0;

	for (size_t i = 0; i < operands->count; i++) {
		AUTO_BUF struct buf target = { 0 };
		AUTO_ANSWER struct answer answer = { 0 };
		if (target_of(c, &a->whose, operands->items[i], &target, &err) < 0)
			return cli_fail(c, &err);
		struct request r = { .method = "DELETE", .target = buf_str(&target) };
		if (client_call(c->client, &r, &answer, &err) < 0)
			code = cli_fail(c, &err);
	}
	return code;
}

const struct command cmd_secret_set = {
	.name = "secret set",
	.group = COMMAND_PEOPLE,
	.operands = "NAME",
	.summary = "keep a value that jobs may use by name; it never comes back",
	.table = set_table,
	.count = COUNT_OF(set_table),
	.args_size = sizeof(struct set_args),
	.starts = true,
	.operands_min = 1,
	.operands_max = 1,
	.run = run_set,
};

const struct command cmd_secret_ls = {
	.name = "secret ls",
	.group = COMMAND_PEOPLE,
	.operands = "",
	.summary = "list the names of secrets: yours and your groups'",
	.table = ls_table,
	.count = COUNT_OF(ls_table),
	.args_size = sizeof(struct ls_args),
	.run = run_ls,
};

const struct command cmd_secret_rm = {
	.name = "secret rm",
	.group = COMMAND_PEOPLE,
	.operands = "NAME...",
	.summary = "remove secrets; jobs that need them fail when they start",
	.table = rm_table,
	.count = COUNT_OF(rm_table),
	.args_size = sizeof(struct rm_args),
	.operands_min = 1,
	.operands_max = SIZE_MAX,
	.run = run_rm,
};
