// SPDX-License-Identifier: Apache-2.0
#include "depot/input.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "depot/disguise.h"
#include "depot/volume.h"
#include "remote/uri.h"

static char *path_of(const char *uri, struct err *err)
{
	const char *colon = strstr(uri, "://");
	char *path = NULL;

	if (uri[0] == '/')
		return mem_strdup(uri);
	if (!colon && !str_starts(uri, "file:/")) {
		err_set(err, ERR_INVALID,
			"\"%s\" is no address: give an absolute path of this machine, or pfs:, "
			"file:, nas:, oss:, s3:, hdfs: or http: and what follows",
			uri);
		return NULL;
	}
	if (!str_starts(uri, "file:/")) {
		err_set(err, ERR_UNSUPPORTED,
			"%.*s:// is none of pfs, file, nas, oss, s3, hdfs, webhdfs, http and https",
			(int)(colon - uri), uri);
		return NULL;
	}
	const char *rest = uri + strlen("file:");
	if (str_starts(rest, "//"))
		rest += strlen("//");
	if (str_starts(rest, "localhost/"))
		rest += strlen("localhost");
	if (rest[0] == '/')
		path = remote_unescape(rest, false);
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

/* As that user sees it. */
static char *resolve_as(const char *path, int64_t uid, struct err *err)
{
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

/* nas://NAME/path: below that folder, and links on the way do not lead out of it. */
static char *resolve_nas(const struct volume *v, const char *uri, int64_t uid,
			 struct err *err)
{
	const char *rest = uri + strlen("nas://");
	AUTO_FREE char *name = mem_strndup(rest, strcspn(rest, "/"));
	const char *root = v ? volume_nas(v, name) : NULL;

	if (!root) {
		err_set(err, ERR_NOT_FOUND,
			"there is no NAS called '%s': an admin names it by the setting nas",
			name);
		return NULL;
	}
	AUTO_FREE char *path = str_printf("%s%s", root, rest + strlen(name));
	AUTO_FREE char *real = resolve_as(path, uid, err);
	AUTO_FREE char *top = real ? realpath(root, NULL) : NULL;
	if (!real)
		return NULL;
	if (!top || !str_starts(real, top) ||
	    (real[strlen(top)] && real[strlen(top)] != '/' && !str_eq(top, "/"))) {
		err_set(err, ERR_DENIED, "%s leads out of the NAS '%s'", uri, name);
		return NULL;
	}
	return TAKE(real);
}

char *input_resolve(const struct volume *volume, const char *uri, int64_t uid,
		    struct err *err)
{
	if (str_starts(uri, "nas://"))
		return resolve_nas(volume, uri, uid, err);
	AUTO_FREE char *path = path_of(uri, err);
	AUTO_FREE char *real = path ? resolve_as(path, uid, err) : NULL;
	if (!real || (volume && volume_check_file_root(volume, real, err) < 0))
		return NULL;
	return TAKE(real);
}

static int open_plain(const char *real, int flags, struct err *err)
{
	struct open_how how = { .flags = (uint64_t)(unsigned)(flags | O_CLOEXEC),
				.resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS };
	int fd = (int)syscall(SYS_openat2, AT_FDCWD, real, &how, sizeof how);

	if (fd < 0 && errno == ELOOP)
		return err_set(err, ERR_DENIED, "%s leads elsewhere by now", real);
	if (fd < 0 && errno == EACCES)
		return err_set(err, ERR_DENIED, "%s is not readable", real);
	return fd < 0 ? err_sys(err, "open %s", real) : fd;
}

int input_open(const char *real, int64_t uid, int flags, struct err *err)
{
	struct disguise d;

	if (uid < 0 || uid == (int64_t)geteuid())
		return open_plain(real, flags, err);
	if (disguise_enter(&d, (uid_t)uid, err) < 0)
		return -1;
	int fd = open_plain(real, flags, err);
	disguise_leave(&d);
	return fd;
}

int input_may_write(const char *path, int64_t uid, struct err *err)
{
	const int need = W_OK | X_OK;
	struct disguise d;

	if (uid < 0 || uid == (int64_t)geteuid())
		return faccessat(AT_FDCWD, path, need, AT_EACCESS) < 0
			       ? err_set(err, ERR_DENIED, "%s is not writable", path)
			       : 0;
	if (disguise_enter(&d, (uid_t)uid, err) < 0)
		return -1;
	int rc = faccessat(AT_FDCWD, path, need, AT_EACCESS);
	disguise_leave(&d);
	return rc < 0 ? err_set(err, ERR_DENIED,
				"%s is not writable by uid %lld, whose job "
				"this is",
				path, (long long)uid)
		      : 0;
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
