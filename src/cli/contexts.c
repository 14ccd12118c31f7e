// SPDX-License-Identifier: Apache-2.0
#include "cli/contexts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/doc.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"

#define FILE_BYTES_MAX (1 << 20)
#define GUESSES_MAX    64

static char *folder_path(struct err *err)
{
	const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");

	if (config && config[0] == '/')
		return str_printf("%s/yard", config);
	if (home && home[0] == '/')
		return str_printf("%s/.config/yard", home);
	err_set(err, ERR_INVALID, "no place for contexts: HOME is not set");
	return NULL;
}

static void context_fini(struct context *x)
{
	free(x->name);
	free(x->server);
	free(x->user);
	free(x->token);
	free(x->fingerprint);
	*x = (struct context){ .name = NULL };
}

void contexts_fini(struct contexts *c)
{
	for (size_t i = 0; i < c->count; i++)
		context_fini(&c->items[i]);
	free(c->items);
	free(c->current);
	*c = (struct contexts){ .items = NULL };
}

struct context *contexts_find(const struct contexts *c, const char *name)
{
	for (size_t i = 0; i < c->count; i++)
		if (str_eq(c->items[i].name, name))
			return &c->items[i];
	return NULL;
}

struct context *contexts_get(const struct contexts *c, const char *name, struct err *err)
{
	struct context *x = contexts_find(c, name);
	const char *names[GUESSES_MAX];
	size_t n = 0;

	if (x)
		return x;
	for (; n < c->count && n < GUESSES_MAX; n++)
		names[n] = c->items[n].name;
	const char *guess = str_guess(name, names, n);
	if (guess)
		err_set(err, ERR_NOT_FOUND,
			"there is no context '%s'; did you mean '%s'?", name, guess);
	else
		err_set(err, ERR_NOT_FOUND,
			"there is no context '%s'; `yard context ls` lists them", name);
	return NULL;
}

struct context *contexts_of_server(const struct contexts *c, const char *url)
{
	for (size_t i = 0; i < c->count; i++)
		if (str_eq(c->items[i].server, url))
			return &c->items[i];
	return NULL;
}

struct context *contexts_put(struct contexts *c, const struct context *of)
{
	struct context copy = { mem_strdup(of->name), mem_strdup(of->server),
				mem_strdup(of->user), mem_strdup(of->token),
				mem_strdup(of->fingerprint) };
	struct context *x = contexts_find(c, of->name);

	if (x) {
		context_fini(x);
	} else {
		mem_grow(&c->items, &c->cap, c->count, sizeof *c->items);
		x = &c->items[c->count++];
	}
	*x = copy;
	return x;
}

void contexts_remove(struct contexts *c, const char *name)
{
	struct context *x = contexts_find(c, name);

	if (!x)
		return;
	if (str_eq(c->current, name))
		free(TAKE(c->current));
	context_fini(x);
	size_t at = (size_t)(x - c->items);
	memmove(x, x + 1, (c->count - at - 1) * sizeof *x);
	c->count--;
}

int context_name_check(const char *name, struct err *err)
{
	size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				"0123456789._@:-");

	if (n == 0 || name[n] || n > CONTEXT_NAME_MAX || name[0] == '-')
		return err_set(err, ERR_INVALID,
			       "'%s' is no name of a context: at most %d letters, digits "
			       "and ._@:-",
			       name, CONTEXT_NAME_MAX);
	if (str_eq(name, CONTEXT_LOCAL))
		return err_set(err, ERR_INVALID,
			       "'" CONTEXT_LOCAL "' means the yard of this machine; "
			       "take another name");
	return 0;
}

static int check_file(int fd, const char *path, struct err *err)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return err_sys(err, "look at %s", path);
	if (!S_ISREG(st.st_mode) || st.st_size > FILE_BYTES_MAX)
		return err_set(err, ERR_INVALID, "%s is not a file of contexts", path);
	if (st.st_uid != geteuid() && st.st_uid != 0)
		return err_set(err, ERR_DENIED, "%s belongs to somebody else", path);
	if (st.st_mode & 0077)
		return err_set(err, ERR_DENIED,
			       "%s holds tokens and is open to others (mode %04o): "
			       "chmod 600 it",
			       path, st.st_mode & 07777);
	return 0;
}

static int read_file(const char *path, struct buf *out, struct err *err)
{
	AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char chunk[4096];
	ssize_t n;

	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0)
		return err_sys(err, "open %s", path);
	if (check_file(fd, path, err) < 0)
		return -1;
	while ((n = read(fd, chunk, sizeof chunk)) > 0 && out->len <= FILE_BYTES_MAX)
		buf_add(out, chunk, (size_t)n);
	return n < 0 ? err_sys(err, "read %s", path) : 0;
}

static int take_context(struct contexts *c, const struct doc_node *n, struct err *err)
{
	struct context borrowed = {
		/* contexts_put() copies */
		(char *)(uintptr_t)doc_str(n, "name", NULL),
		(char *)(uintptr_t)doc_str(n, "server", NULL),
		(char *)(uintptr_t)doc_str(n, "user", NULL),
		(char *)(uintptr_t)doc_str(n, "token", NULL),
		(char *)(uintptr_t)doc_str(n, "fingerprint", NULL),
	};

	if (!borrowed.name || !borrowed.server)
		return err_set(err, ERR_INVALID,
			       "line %d: a context has a name and a server", n->line);
	if (context_name_check(borrowed.name, err) < 0)
		return err_wrap(err, "line %d", n->line);
	contexts_put(c, &borrowed);
	return 0;
}

static int load_from(const char *path, struct contexts *out, struct err *err)
{
	AUTO_BUF struct buf text = { 0 };

	*out = (struct contexts){ .items = NULL };
	if (read_file(path, &text, err) < 0)
		return -1;
	if (text.len == 0)
		return 0;
	AUTO_DOC struct doc *doc = doc_parse_yaml(text.data, text.len, err);
	if (!doc)
		return err_wrap(err, "%s", path);
	const struct doc_node *list = doc_get(doc_root(doc), "contexts");
	for (const struct doc_node *n = list ? list->first : NULL; n; n = n->next)
		if (take_context(out, n, err) < 0) {
			contexts_fini(out);
			return err_wrap(err, "%s", path);
		}
	const char *current = doc_str(doc_root(doc), "current", NULL);
	if (contexts_find(out, current))
		out->current = mem_strdup(current);
	return 0;
}

int contexts_load(struct contexts *out, struct err *err)
{
	AUTO_FREE char *folder = folder_path(NULL);
	AUTO_FREE char *path = folder ? str_printf("%s/contexts.yaml", folder) : NULL;

	*out = (struct contexts){ .items = NULL };
	return path ? load_from(path, out, err) : 0;
}

/* A JSON string is one of YAML too. */
static void put_field(struct buf *out, const char *name, const char *value)
{
	struct json j;

	if (!value)
		return;
	buf_printf(out, "%s: ", name);
	json_init(&j, out);
	json_str(&j, NULL, value);
	buf_addc(out, '\n');
}

static void write_text(const struct contexts *c, struct buf *out)
{
	buf_adds(out, "# Written by `yard login` and `yard context`. It holds tokens: "
		      "keep it to yourself.\n");
	put_field(out, "current", c->current);
	buf_adds(out, c->count ? "contexts:\n" : "contexts: []\n");
	for (size_t i = 0; i < c->count; i++) {
		const struct context *x = &c->items[i];
		put_field(out, "  - name", x->name);
		put_field(out, "    server", x->server);
		put_field(out, "    user", x->user);
		put_field(out, "    token", x->token);
		put_field(out, "    fingerprint", x->fingerprint);
	}
}

static int save_to(const char *path, const struct contexts *c, struct err *err)
{
	AUTO_BUF struct buf text = { 0 };
	AUTO_FREE char *fresh = str_printf("%s.new", path);

	write_text(c, &text);
	unlink(fresh); /* of one who was killed here; never somebody else's, opened */
	AUTO_FD int fd = open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return err_sys(err, "make %s", fresh);
	for (size_t at = 0; at < text.len;) {
		ssize_t n = write(fd, text.data + at, text.len - at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_sys(err, "write %s", fresh);
		at += (size_t)n;
	}
	if (fsync(fd) < 0 || rename(fresh, path) < 0)
		return err_sys(err, "write %s", path);
	return 0;
}

static int make_folder(char *path, struct err *err)
{
	for (char *s = strchr(path + 1, '/'); s; s = strchr(s + 1, '/')) {
		*s = '\0';
		int rc = mkdir(path, 0700);
		*s = '/';
		if (rc < 0 && errno != EEXIST)
			return err_sys(err, "make the folders of %s", path);
	}
	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return err_sys(err, "make folder %s", path);
	return 0;
}

int contexts_change(int (*change)(struct contexts *c, void *arg, struct err *err),
		    void *arg, struct err *err)
{
	AUTO_FREE char *folder = folder_path(err);
	AUTO_CONTEXTS struct contexts c = { .items = NULL };

	if (!folder || make_folder(folder, err) < 0)
		return -1;
	AUTO_FREE char *path = str_printf("%s/contexts.yaml", folder);
	AUTO_FREE char *lock = str_printf("%s/contexts.lock", folder);
	AUTO_FD int fd = open(lock, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || flock(fd, LOCK_EX) < 0)
		return err_sys(err, "lock %s", lock);
	if (load_from(path, &c, err) < 0 || change(&c, arg, err) < 0)
		return -1;
	return save_to(path, &c, err);
}
