// SPDX-License-Identifier: Apache-2.0
/* login.c - `yard login` and `yard logout`: a token for a password, kept in a context. */
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/units.h"
#include "cli/ask.h"
#include "cli/cli.h"
#include "cli/contexts.h"
#include "cli/link.h"
#include "tls/certificate.h"
#include "wire/settings.h"

struct login_args {
	const char *user, *code, *name, *fingerprint, *life;
	bool password_stdin, insecure_trust, insecure_http;
};

/* clang-format off */
static const struct opt login_table[] = {
	{ "user", 'u', OPT_TEXT, OPT_INTO(struct login_args, user), "NAME", "who you are there; asked for if not given" },
	{ "password-stdin", 0, OPT_FLAG, OPT_INTO(struct login_args, password_stdin), NULL, "the password is the first line of stdin" },
	{ "code", 0, OPT_TEXT, OPT_INTO(struct login_args, code), "CODE", "the code a new yard shows at its start: makes you its first admin" },
	{ "name", 'n', OPT_TEXT, OPT_INTO(struct login_args, name), "CONTEXT", "what to call it here; the host if not given" },
	{ "life", 0, OPT_TEXT, OPT_INTO(struct login_args, life), "TIME", "how long the token holds, such as 12h or 30d; the yard's usual time if not given" },
	{ "fingerprint", 0, OPT_TEXT, OPT_INTO(struct login_args, fingerprint), "SHA256:...", "trust exactly the certificate with this fingerprint" },
	{ "insecure-trust", 0, OPT_FLAG, OPT_INTO(struct login_args, insecure_trust), NULL, "trust whatever certificate it shows now, without asking" },
	{ "insecure-http", 0, OPT_FLAG, OPT_INTO(struct login_args, insecure_http), NULL, "send the password unencrypted to another machine" },
};
/* clang-format on */

struct login {
	struct cli *cli;
	const struct login_args *args;
	struct server server;
	char *name; /* of the context */
	char *user, *password;
	const char *token; /* borrowed from the answer */
};

static int may_talk(const struct login *l, struct err *err)
{
	AUTO_FREE char *url = server_url(&l->server);

	if (l->server.tls || server_stays_here(&l->server) || l->args->insecure_http)
		return 0;
	return err_set(
		err, ERR_DENIED,
		"%s is not encrypted: anybody between could read the password; use "
		"https:// (or --insecure-http if you know better)",
		url);
}

/* What to call it: as it was called before, as asked, or by its host; the port is added
 * where another server has that name. */
static int find_name(struct login *l, const struct contexts *known, const char *url,
		     struct err *err)
{
	const struct context *before = contexts_of_server(known, url), *taken;
	const char *host = l->server.host ? l->server.host : "socket";

	if (l->args->name)
		l->name = mem_strdup(l->args->name);
	else if (before)
		l->name = mem_strdup(before->name);
	else if (contexts_find(known, host) || context_name_check(host, NULL) < 0)
		l->name = server_authority(&l->server);
	else
		l->name = mem_strdup(host);
	taken = contexts_find(known, l->name);
	if (taken && !str_eq(taken->server, url))
		return err_set(
			err, ERR_CONFLICT,
			"context %s is %s: take another --name, or `yard context rm "
			"%s` first",
			taken->name, taken->server, taken->name);
	return context_name_check(l->name, err);
}

/* The certificate that was trusted before, if any. */
static int find_pin(struct login *l, const struct context *x, struct err *err)
{
	char pin[TLS_FINGERPRINT_BYTES];

	if (!x || !x->fingerprint || l->server.pin)
		return 0;
	if (tls_fingerprint_read(x->fingerprint, pin, err) < 0)
		return err_wrap(err, "context %s", x->name);
	l->server.pin = mem_strdup(pin);
	return 0;
}

/* Which server: the one given, else the one this would talk to anyway. */
static int find_server(struct login *l, const char *url, struct err *err)
{
	AUTO_CONTEXTS struct contexts known = { .items = NULL };

	if (contexts_load(&known, err) < 0)
		return -1;
	if (url && server_parse(&l->server, url, err) < 0)
		return -1;
	if (!url && server_find(&l->server, l->cli->context, err) < 0)
		return -1;
	if (!url && !l->server.named)
		return err_set(err, ERR_INVALID,
			       "which server? yard login https://host:port");
	AUTO_FREE char *full = server_url(&l->server);
	free(TAKE(l->server.token)); /* an old one must not speak for a new login */
	if (find_name(l, &known, full, err) < 0)
		return -1;
	return find_pin(l, contexts_of_server(&known, full), err);
}

static int accept_shown(struct login *l, const char *shown, struct err *err)
{
	AUTO_FREE char *host = server_authority(&l->server);

	if (!l->args->insecure_trust) {
		cli_say(l->cli,
			"no authority vouches for the certificate of %s. It is\n  %s",
			host, shown);
		cli_say(l->cli,
			"compare it with what yardd wrote to its log when it started");
		int yes = ask_yes("trust it from now on? (yes/no)", err);
		if (yes < 0)
			return err_set(err, ERR_DENIED,
				       "the certificate of %s is not known: give "
				       "--fingerprint %s if that is the right one",
				       host, shown);
		if (!yes)
			return err_set(err, ERR_DENIED, "the certificate is not trusted");
	}
	free(l->server.pin);
	l->server.pin = mem_strdup(shown);
	return 0;
}

/* After it a handshake works, so nothing secret is asked for in vain. */
static int settle_trust(struct login *l, struct err *err)
{
	AUTO_FREE char *shown = NULL;
	char pin[TLS_FINGERPRINT_BYTES];

	if (l->args->fingerprint) {
		if (tls_fingerprint_read(l->args->fingerprint, pin, err) < 0)
			return err_wrap(err, "--fingerprint");
		free(l->server.pin);
		l->server.pin = mem_strdup(pin);
	}
	struct link *link = link_open(&l->server, &shown, err);
	bool known = l->server.pin != NULL;
	if (!link && shown && !known) {
		if (accept_shown(l, shown, err) < 0)
			return -1;
		link = link_open(&l->server, NULL, err);
	} else if (!link && shown && !l->args->fingerprint) {
		AUTO_FREE char *host = server_authority(&l->server);
		return err_set(err, ERR_DENIED,
			       "THE CERTIFICATE OF %s CHANGED\n  was %s\n  is  %s\n"
			       "Somebody may be listening in. If its admin says that it "
			       "has a new one: yard login --fingerprint with that",
			       host, l->server.pin, shown);
	}
	bool open = link != NULL;
	link_close(link);
	return open ? 0 : -1;
}

static int ask_who(struct login *l, struct err *err)
{
	const char *me = getenv("USER");
	bool first = l->args->code != NULL;

	l->user = l->args->user ? mem_strdup(l->args->user)
				: ask_line(first ? "your name there" : "user",
					   me && *me ? me : NULL, err);
	if (!l->user)
		return -1;
	if (l->args->password_stdin)
		l->password = ask_stdin(err);
	else if (first)
		l->password = ask_new_password("a password for it", err);
	else
		l->password = ask_password("password", err);
	return l->password ? 0 : -1;
}

static void login_body(const struct login *l, struct buf *out)
{
	char host[256] = "";
	AUTO_BUF struct buf label = { 0 };
	struct json j;

	gethostname(host, sizeof host - 1);
	buf_printf(&label, "yard login%s%s", *host ? " on " : "", host);
	json_init(&j, out);
	json_object(&j, NULL);
	if (l->args->code)
		json_str(&j, "code", l->args->code);
	json_str(&j, l->args->code ? "name" : "user", l->user);
	json_str(&j, "password", l->password);
	if (!l->args->code) {
		json_str(&j, "label", label.data);
		if (l->args->life)
			json_str(&j, "life", l->args->life);
	}
	json_end(&j);
}

static int store_login(struct contexts *c, void *arg, struct err *err)
{
	struct login *l = arg;
	AUTO_FREE char *url = server_url(&l->server);
	AUTO_FREE char *token = mem_strdup(l->token);
	struct context x = { l->name, url, l->user, token, l->server.pin };

	(void)err;
	contexts_put(c, &x);
	free(c->current);
	c->current = mem_strdup(l->name);
	return 0;
}

static int log_in(struct login *l, struct err *err)
{
	AUTO_BUF struct buf body = { 0 };
	AUTO_ANSWER struct answer a = { 0 };

	login_body(l, &body);
	struct request r = { .method = "POST",
			     .target = l->args->code ? "/login/first" : "/login",
			     .body = body.data,
			     .body_len = body.len };
	l->cli->client = client_create(&l->server, false, NULL);
	int rc = client_call(l->cli->client, &r, &a, err);
	explicit_bzero(body.data, body.len);
	if (rc < 0)
		return -1;
	l->token = doc_str(a.doc ? doc_root(a.doc) : NULL, "token", NULL);
	if (!l->token)
		return err_set(err, ERR_CORRUPT, "the server's answer has no token");
	if (contexts_change(store_login, l, err) < 0)
		return -1;
	AUTO_FREE char *url = server_url(&l->server);
	int64_t expires = doc_i64(doc_root(a.doc), "expires_ms", 0);
	char when[UNITS_TEXT_MAX];
	cli_say(l->cli, "logged in to %s as %s; context %s is now the current one", url,
		doc_str(doc_root(a.doc), "user", l->user), l->name);
	if (expires > 0)
		cli_hint(l->cli, "the token holds until %s",
			 units_show_time(expires, when));
	return 0;
}

static int run_login(struct cli *c, const void *args, const struct opts_list *operands)
{
	struct login l = { .cli = c, .args = args };
	struct err err = { 0 };
	int code = 0;

	if (find_server(&l, operands->count ? operands->items[0] : NULL, &err) < 0 ||
	    may_talk(&l, &err) < 0 || settle_trust(&l, &err) < 0 ||
	    ask_who(&l, &err) < 0 || log_in(&l, &err) < 0)
		code = cli_fail(c, &err);
	client_destroy(TAKE(c->client));
	server_fini(&l.server);
	ask_forget(l.password);
	free(l.user);
	free(l.name);
	return code;
}

const struct command cmd_login = {
	.name = "login",
	.group = COMMAND_PEOPLE,
	.operands = "[URL]",
	.summary = "get a token from a server, and keep it under a name",
	.table = login_table,
	.count = COUNT_OF(login_table),
	.args_size = sizeof(struct login_args),
	.operands_max = 1,
	.alone = true,
	.run = run_login,
};

struct logout_args {
	bool forget;
};

/* clang-format off */
static const struct opt logout_table[] = {
	{ "forget", 0, OPT_FLAG, OPT_INTO(struct logout_args, forget), NULL, "forget the token also when the server cannot be told" },
};
/* clang-format on */

static int forget_token(struct contexts *c, void *arg, struct err *err)
{
	struct context *x = contexts_get(c, arg, err);

	if (!x)
		return -1;
	free(x->token);
	x->token = NULL;
	return 0;
}

static int run_logout(struct cli *c, const void *args, const struct opts_list *operands)
{
	const struct logout_args *a = args;
	struct request r = { .method = "POST", .target = "/logout" };
	AUTO_ANSWER struct answer answer = { 0 };
	struct err err = { 0 };

	(void)operands;
	if (!c->server.token) {
		cli_say(c, "there is nothing to log out of");
		return 0;
	}
	int rc = client_call(c->client, &r, &answer, &err);
	/* A token the server does not know is as good as revoked. */
	if (rc < 0 && err.code != ERR_UNKNOWN_CALLER) {
		if (!a->forget)
			return cli_fail(c, &err);
		cli_say(c, "the server was not told: %s", err.text);
	}
	if (!c->server.context) {
		cli_say(c, "the token of %s is revoked", SETTINGS_TOKEN_ENV);
		return 0;
	}
	if (contexts_change(forget_token, c->server.context, &err) < 0)
		return cli_fail(c, &err);
	cli_say(c, "logged out of context %s; `yard login` comes back to it",
		c->server.context);
	return 0;
}

const struct command cmd_logout = {
	.name = "logout",
	.group = COMMAND_PEOPLE,
	.operands = "",
	.summary = "revoke the token and forget it",
	.table = logout_table,
	.count = COUNT_OF(logout_table),
	.args_size = sizeof(struct logout_args),
	.run = run_logout,
};
