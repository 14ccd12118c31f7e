// SPDX-License-Identifier: Apache-2.0
#include "engine/homes.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/str.h"

struct homes {
	const char *home, *hidden;
	size_t first; /* of out's mounts: what stands before is not ours */
	struct shim_task *out;
	enum shim_mount_kind kind;
};

/* Whether `path` is `top` or lies in it. */
static bool inside(const char *path, const char *top)
{
	size_t len = strlen(top);

	return strncmp(path, top, len) == 0 && (path[len] == '/' || path[len] == '\0');
}

static bool has(const char *folder, const char *name)
{
	char path[PATH_MAX];
	struct stat st;
	int len = snprintf(path, sizeof path, "%s/%s", folder, name);

	return len > 0 && (size_t)len < sizeof path && stat(path, &st) == 0;
}

static bool mounted(const struct homes *h, const char *path)
{
	for (size_t i = h->first; i < h->out->mount_count; i++)
		if (inside(path, h->out->mounts[i].target))
			return true;
	return false;
}

static void add(struct homes *h, const char *path)
{
	struct stat st;

	if (!inside(path, h->home) || str_eq(path, h->home) || strstr(path, "/../") ||
	    str_ends(path, "/..") || stat(path, &st) < 0 || !S_ISDIR(st.st_mode) ||
	    mounted(h, path))
		return;
	if (inside(h->hidden, path) || inside(path, h->hidden))
		return;
	shim_task_mount(h->out, h->kind, path, path);
}

/* Cuts the last part off; false: nothing is left. */
static bool up(char *path)
{
	char *slash = strrchr(path, '/');

	if (!slash || slash == path)
		return false;
	*slash = '\0';
	return true;
}

/* A virtual environment's python is a link into the installation it was made with. */
static void add_python(struct homes *h, const char *bin)
{
	char link[PATH_MAX], real[PATH_MAX];
	int len = snprintf(link, sizeof link, "%s/python3", bin);

	if (len < 0 || (size_t)len >= sizeof link || !realpath(link, real) ||
	    !inside(real, h->home))
		return;
	if (up(real) && str_ends(real, "/bin") && up(real))
		add(h, real);
}

/* One folder of PATH.  Of a tool that brings its own tree (…/env/bin, pyenv's shims) the
 * tree goes along; ~/.local is shared by everybody, so there only bin and lib do. */
static void add_path(struct homes *h, const char *folder, size_t len)
{
	char path[PATH_MAX], tree[PATH_MAX], lib[PATH_MAX + 8];

	if (len == 0 || len >= sizeof path)
		return;
	memcpy(path, folder, len);
	path[len] = '\0';
	while (len > 1 && path[len - 1] == '/')
		path[--len] = '\0';
	if (!inside(path, h->home))
		return;
	add_python(h, path);
	memcpy(tree, path, len + 1);
	if ((str_ends(path, "/bin") || str_ends(path, "/shims")) && up(tree)) {
		if (str_ends(tree, "/.local")) {
			snprintf(lib, sizeof lib, "%s/lib", tree);
			add(h, lib);
		} else if (has(tree, "pyvenv.cfg") || has(tree, "conda-meta") ||
			   has(tree, "lib") || has(tree, "versions")) {
			add(h, tree);
		}
	}
	add(h, path); /* nothing more when its tree is there already */
}

static const char *variable(const struct bundle *b, const char *key)
{
	for (size_t i = 0; i < b->env.count; i++)
		if (str_eq(b->env.items[i].key, key))
			return b->env.items[i].value;
	return "";
}

/* Where pip looks in a home, the first that is there. */
static void add_pip(const struct homes *h, const char *target)
{
	static const char *const names[] = { ".config/pip/pip.conf", ".pip/pip.conf" };

	for (size_t i = 0; i < COUNT_OF(names); i++) {
		AUTO_FREE char *path = str_printf("%s/%s", h->home, names[i]);

		if (!has(h->home, names[i]))
			continue;
		shim_task_mount(h->out, SHIM_BIND_RO, target, path);
		return;
	}
}

void homes_mount(const char *home, const char *hidden, const struct bundle *b,
		 struct shim_task *out)
{
	static const char *const whole[] = { "VIRTUAL_ENV", "CONDA_PREFIX" };
	struct homes h = { home, hidden, out->mount_count, out,
			   b->pip_config ? SHIM_SCRATCH : SHIM_BIND_RO };

	for (size_t i = 0; i < COUNT_OF(whole); i++) {
		const char *tree = variable(b, whole[i]);
		char bin[PATH_MAX];
		int len = snprintf(bin, sizeof bin, "%s/bin", tree);

		if (!inside(tree, home) || len < 0 || (size_t)len >= sizeof bin)
			continue;
		add(&h, tree);
		add_python(&h, bin);
	}
	for (const char *at = variable(b, "PATH"); *at;) {
		size_t len = strcspn(at, ":");

		add_path(&h, at, len);
		at += len + (at[len] == ':');
	}
	if (b->pip_config)
		add_pip(&h, b->pip_config);
}
