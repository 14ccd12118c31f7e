// SPDX-License-Identifier: Apache-2.0
#include "main/place.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "who/who.h"

static int make_folders(const char *path, mode_t mode, struct err *err)
{
	AUTO_FREE char *copy = mem_strdup(path);

	for (char *slash = strchr(copy + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(copy, 0755) < 0 && errno != EEXIST)
			return err_sys(err, "make folder %s", copy);
		*slash = '/';
	}
	if (mkdir(copy, mode) < 0 && errno != EEXIST)
		return err_sys(err, "make folder %s", copy);
	return 0;
}

/* A daemon may be started from anywhere and outlives the folder it was started in. */
static char *absolute(const char *path)
{
	AUTO_FREE char *here = *path == '/' ? NULL : getcwd(NULL, 0);

	return here ? str_printf("%s/%s", here, path) : mem_strdup(path);
}

static int find_folders(struct place *p, const struct settings *s, struct err *err)
{
	struct settings_env env = { .home = getenv("HOME"),
				    .xdg_state_home = getenv("XDG_STATE_HOME"),
				    .xdg_runtime_dir = getenv("XDG_RUNTIME_DIR"),
				    .uid = geteuid() };
	mode_t mode =
		env.uid == 0 ? 0711 : 0700; /* root: users reach their own outputs */

	p->state = s->state ? absolute(s->state) : settings_state_dir(&env, err);
	if (!p->state || make_folders(p->state, mode, err) < 0)
		return -1;
	p->socket =
		s->socket ? absolute(s->socket) : settings_socket_path(&env, p->state);
	AUTO_FREE char *copy = mem_strdup(p->socket);
	return make_folders(dirname(copy), env.uid == 0 ? 0755 : 0700, err);
}

/* A daemon that was killed while it started a program leaves a child behind that holds the
 * lock until its exec, a moment later: that is no reason to say that another daemon works. */
static int lock_soon(int fd)
{
	const struct timespec pause = { .tv_nsec = 20 * 1000 * 1000 };

	for (int tries = 0; tries < 50; tries++) {
		if (flock(fd, LOCK_EX | LOCK_NB) == 0)
			return 0;
		nanosleep(&pause, NULL);
	}
	return -1;
}

static int take_lock(struct place *p, struct err *err)
{
	AUTO_FREE char *path = str_printf("%s/lock", p->state);
	char holder[32] = "";

	p->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (p->lock_fd < 0)
		return err_sys(err, "open %s", path);
	if (lock_soon(p->lock_fd) < 0) {
		ssize_t n = read(p->lock_fd, holder, sizeof holder - 1);
		holder[n > 0 ? n : 0] = '\0';
		holder[strcspn(holder, "\n")] = '\0';
		return err_set(
			err, ERR_CONFLICT,
			"another yardd%s%s%s already works in %s; stop it first, or "
			"give --state another folder",
			*holder ? " (process " : "", holder, *holder ? ")" : "",
			p->state);
	}
	if (ftruncate(p->lock_fd, 0) < 0 ||
	    dprintf(p->lock_fd, "%d\n", (int)getpid()) < 0)
		return err_sys(err, "write %s", path);
	return 0;
}

/* Which uids are whose must not change while files belong to them, whatever becomes of
 * /etc/subuid: the first answer is kept. */
static int keep_uid_base(struct place *p, struct err *err)
{
	AUTO_FREE char *path = str_printf("%s/uid-base", p->state);
	AUTO_FREE char *fresh = str_printf("%s.new", path);
	char text[32] = "";

	p->uid_base = -1;
	if (geteuid() != 0)
		return 0;
	AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		ssize_t n = read(fd, text, sizeof text - 1);
		text[n > 0 ? n : 0] = '\0';
		text[strcspn(text, "\n")] = '\0';
		if (str_to_i64(text, WHO_RANGE, UINT32_MAX, &p->uid_base) < 0)
			return err_set(err, ERR_CORRUPT, "%s does not hold a uid", path);
		return 0;
	}
	p->uid_base = who_uid_base("/etc/subuid", err);
	if (p->uid_base < 0)
		return -1;
	fd = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || dprintf(fd, "%lld\n", (long long)p->uid_base) < 0 ||
	    fsync(fd) < 0 || rename(fresh, path) < 0)
		return err_sys(err, "write %s", path);
	return 0;
}

/* The database is nobody else's to read, though the folder may be passed through. */
static int guard_database(struct place *p, struct err *err)
{
	p->database = str_printf("%s/yard.db", p->state);
	AUTO_FD int fd = open(p->database, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	return fd < 0 ? err_sys(err, "open %s", p->database) : 0;
}

/* Beside this executable (a build folder), else in ../libexec/yard (installed). */
static char *find_program(const char *name, struct err *err)
{
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);

	if (n < 0) {
		err_sys(err, "read /proc/self/exe");
		return NULL;
	}
	self[n] = '\0';
	*strrchr(self, '/') = '\0';
	AUTO_FREE char *beside = str_printf("%s/%s", self, name);
	AUTO_FREE char *installed = str_printf("%s/../libexec/yard/%s", self, name);
	if (access(beside, X_OK) == 0)
		return TAKE(beside);
	if (access(installed, X_OK) == 0)
		return TAKE(installed);
	err_set(err, ERR_NOT_FOUND, "the program %s is neither at %s nor at %s", name,
		beside, installed);
	return NULL;
}

int place_open(struct place *p, const struct settings *s, struct err *err)
{
	*p = (struct place){ .lock_fd = -1 };
	p->shim = find_program("yard-shim", err);
	p->unpack = p->shim ? find_program("yard-unpack", err) : NULL;
	p->fetch = p->unpack ? find_program("yard-fetch", err) : NULL;
	if (!p->fetch)
		return -1;
	umask(022);
	if (find_folders(p, s, err) < 0 || take_lock(p, err) < 0 ||
	    keep_uid_base(p, err) < 0)
		return -1;
	return s->restore ? 0 : guard_database(p, err);
}

int place_tell_socket(const struct place *p, struct err *err)
{
	AUTO_FREE char *link = str_printf("%s/socket", p->state);
	AUTO_FREE char *fresh = str_printf("%s/socket.new", p->state);

	unlink(fresh); /* of a daemon that was killed here */
	if (symlink(p->socket, fresh) < 0 || rename(fresh, link) < 0)
		return err_sys(err, "write %s", link);
	return 0;
}

void place_close(struct place *p)
{
	if (p->lock_fd >= 0)
		close(p->lock_fd);
	free(p->state);
	free(p->socket);
	free(p->database);
	free(p->shim);
	free(p->unpack);
	free(p->fetch);
	*p = (struct place){ .lock_fd = -1 };
}
