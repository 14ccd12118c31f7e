// SPDX-License-Identifier: Apache-2.0
#include "depot/input.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "depot/disguise.h"

static int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* %41 becomes A.  NULL: not an escape, or a NUL byte. */
static char *unescape(const char *s)
{
	char *out = mem_alloc(1, strlen(s) + 1), *p = out;

	for (; *s; s++) {
		if (*s != '%') {
			*p++ = *s;
			continue;
		}
		int high = hex_value(s[1]), low = high < 0 ? -1 : hex_value(s[2]);
		if (low < 0 || (high == 0 && low == 0)) {
			free(out);
			return NULL;
		}
		*p++ = (char)(high * 16 + low);
		s += 2;
	}
	*p = '\0';
	return out;
}

static char *path_of(const char *uri, struct err *err)
{
	const char *colon = strstr(uri, "://");
	char *path = NULL;

	if (uri[0] == '/')
		return mem_strdup(uri);
	if (!colon) {
		err_set(err, ERR_INVALID,
			"\"%s\" is no input: give an absolute path or file:///path", uri);
		return NULL;
	}
	if (!str_starts(uri, "file://")) {
		err_set(err, ERR_UNSUPPORTED,
			"inputs by %.*s:// come with storage and are not there yet: give an absolute "
			"path or file:///path on this machine",
			(int)(colon - uri), uri);
		return NULL;
	}
	const char *rest = uri + strlen("file://");
	if (str_starts(rest, "localhost/"))
		rest += strlen("localhost");
	if (rest[0] == '/')
		path = unescape(rest);
	if (!path)
		err_set(err, ERR_INVALID,
			"\"%s\" is no file URI: write file:///absolute/path", uri);
	return path;
}

static char *resolve(const char *path, struct err *err)
{
	struct stat st;
	AUTO_FREE char *real = realpath(path, NULL);

	if (!real || stat(real, &st) < 0) {
		if (errno == ENOENT || errno == ENOTDIR)
			err_set(err, ERR_NOT_FOUND, "%s does not exist", path);
		else if (errno == EACCES)
			err_set(err, ERR_DENIED, "%s is not readable", path);
		else
			err_sys(err, "%s", path);
		return NULL;
	}
	if (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode)) {
		err_set(err, ERR_INVALID, "%s is neither a file nor a folder", path);
		return NULL;
	}
	int need = S_ISDIR(st.st_mode) ? R_OK | X_OK : R_OK;
	if (faccessat(AT_FDCWD, real, need, AT_EACCESS) < 0) {
		err_set(err, ERR_DENIED, "%s is not readable", path);
		return NULL;
	}
	return TAKE(real);
}

char *input_resolve(const char *uri, int64_t uid, struct err *err)
{
	AUTO_FREE char *path = path_of(uri, err);
	if (!path)
		return NULL;
	if (uid < 0 || uid == (int64_t)geteuid())
		return resolve(path, err);

	struct disguise d;
	if (disguise_enter(&d, (uid_t)uid, err) < 0)
		return NULL;
	struct err why = { .code = ERR_NONE };
	char *real = resolve(path, &why);
	disguise_leave(&d);
	if (!real && why.code == ERR_DENIED)
		err_set(err, ERR_DENIED, "%s by uid %lld, whose job this is", why.text,
			(long long)uid);
	else if (!real && err)
		*err = why;
	return real;
}

/* The part of `path` behind the ancestor that is the folder `upper` (by what it is, not by
 * its name: a bind mount has several); NULL: it does not lie in there. */
static const char *below(const char *path, const char *upper)
{
	AUTO_FREE char *walk = mem_strdup(path);
	struct stat at, want;

	assert(path && upper);
	if (stat(upper, &want) < 0)
		return NULL;
	for (size_t n = strlen(walk); n > 0;) {
		walk[n] = '\0';
		if (stat(walk, &at) == 0 && at.st_dev == want.st_dev &&
		    at.st_ino == want.st_ino)
			return path + n + strspn(path + n, "/");
		while (n > 0 && walk[n - 1] != '/')
			n--;
		while (n > 0 && walk[n - 1] == '/')
			n--;
	}
	return stat("/", &at) == 0 && at.st_dev == want.st_dev && at.st_ino == want.st_ino
		       ? path + 1
		       : NULL;
}

/* jobs/<n>/<id>/output/<name>...: what a job kept is the next one's input. */
static bool is_output(const char *rest)
{
	static const char digits[] = "0123456789";

	if (!str_starts(rest, "jobs/"))
		return false;
	rest += strlen("jobs/");
	for (int i = 0; i < 2; i++) {
		size_t n = strspn(rest, digits);
		if (n == 0 || rest[n] != '/')
			return false;
		rest += n + 1;
	}
	return str_starts(rest, "output/") && rest[strlen("output/")];
}

int input_check_place(const char *path, const char *state, const char *socket,
		      struct err *err)
{
	const char *rest = below(path, state);

	if (rest && !is_output(rest))
		return err_set(
			err, ERR_DENIED,
			"%s lies in the daemon's own state (%s): a task may be given "
			"of it only what a job put out",
			path, state);
	if (!rest && below(state, path))
		return err_set(
			err, ERR_DENIED,
			"%s holds the daemon's own state (%s): name the folder that is "
			"needed",
			path, state);
	if (socket && below(socket, path))
		return err_set(
			err, ERR_DENIED,
			"%s holds the daemon's socket (%s): name the folder that is "
			"needed",
			path, socket);
	return 0;
}
