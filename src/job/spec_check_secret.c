// SPDX-License-Identifier: Apache-2.0
/* The check of the secrets a job names.  Whether they exist is asked where they are kept. */
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "job/spec_check.h"
#include "job/spec_default.h"

/* Folders of the host, where a secret would reach a disk, and what the kernel fills. */
static const char *const closed[] = { "/ml/output", "/ml/input", "/proc", "/sys",
				      "/dev" };

static bool below(const char *path, const char *folder)
{
	size_t n = strlen(folder);

	return strncmp(path, folder, n) == 0 && (path[n] == '/' || !path[n]);
}

static bool is_plain_path(const char *path)
{
	size_t n = strlen(path);

	if (path[0] != '/' || n < 2 || path[n - 1] == '/' || strstr(path, "//"))
		return false;
	for (const char *p = path; (p = strstr(p, "/.")); p += 2)
		if (!p[2] || p[2] == '/' || (p[2] == '.' && (!p[3] || p[3] == '/')))
			return false;
	return true;
}

static void check_file(struct check *c, const struct secret_use *u)
{
	if (!is_plain_path(u->file))
		check_bad(
			c, "file",
			"\"%s\": allowed is the absolute path of a file, without \"..\"",
			u->file);
	for (size_t i = 0; i < COUNT_OF(closed); i++)
		if (below(u->file, closed[i]))
			check_bad(c, "file", "\"%s\": a secret cannot be placed below %s",
				  u->file, closed[i]);
	check_text(c, "file", u->file);
	if (u->mode < 0 || u->mode > 0777)
		check_bad(c, "mode", "out of range; allowed is 0000 to 0777");
}

static void check_variable(struct check *c, const struct spec *s,
			   const struct secret_use *u)
{
	if (!*u->env || strchr(u->env, '=') || strlen(u->env) > SPEC_NAME_MAX ||
	    !check_is_utf8(u->env))
		check_bad(c, "env",
			  "not a variable's name; allowed are 1 to %d bytes without '='",
			  SPEC_NAME_MAX);
	else if (str_starts(u->env, "YARD_"))
		check_bad(c, "env",
			  "variables that begin with YARD_ are set by the yard itself");
	for (size_t i = 0; i < s->role_count; i++)
		if (pairs_get(&s->roles[i].env, u->env))
			check_bad(c, "env", "\"%s\" is in the env of the role \"%s\" too",
				  u->env, s->roles[i].name ? s->roles[i].name : "main");
}

static void check_twice(struct check *c, const struct secret_use *list, size_t at)
{
	for (size_t i = 0; i < at; i++) {
		if (list[at].env && str_eq(list[i].env, list[at].env))
			check_bad(c, "env", "\"%s\" is set twice", list[at].env);
		if (list[at].file && list[i].file &&
		    (below(list[i].file, list[at].file) ||
		     below(list[at].file, list[i].file)))
			check_bad(c, "file", "\"%s\" and \"%s\" cannot both be files",
				  list[i].file, list[at].file);
	}
}

void check_secrets(struct check *c, const struct spec *s)
{
	enum secret_scope scope;
	const char *owner;

	check_count(c, "secrets", s->secret_count, SECRET_USES_MAX);
	for (size_t i = 0; i < s->secret_count && i < SECRET_USES_MAX; i++) {
		const struct secret_use *u = &s->secrets[i];
		size_t at = check_enter(c, "secrets[%zu]", i);

		if (!u->name || !secret_name_ok(u->name))
			check_bad(
				c, "name",
				"\"%s\" is not a secret's name; allowed are " SECRET_NAME_RULE,
				u->name ? u->name : "");
		if (!u->env == !u->file)
			check_bad(
				c, "",
				"say where it goes: either env: VARIABLE or file: PATH");
		if (u->env)
			check_variable(c, s, u);
		if (u->file)
			check_file(c, u);
		if (u->from && secret_from_read(u->from, &scope, &owner) < 0)
			check_bad(c, "from", "\"%s\": allowed is group/NAME or user/NAME",
				  u->from);
		check_twice(c, s->secrets, i);
		check_leave(c, at);
	}
}
