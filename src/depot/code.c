// SPDX-License-Identifier: Apache-2.0
/* code.c - code snapshots, by content.
 *
 * An upload grows in a file without a name, so a crash leaves nothing behind.  At its end
 * the pool checks the hash, has yard-unpack write the tree in a folder of its own, makes that
 * durable and renames it to code/<hash>: a snapshot is there whole or not at all, and of two
 * uploads of the same hash the second to finish finds it done.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/units.h"
#include "depot/files.h"
#include "depot/layout.h"
#include "depot/snapshot.h"
#include "depot/tree.h"
#include "pack/folder.h"

/* Root mode: whom yard-unpack becomes.  Afterwards the tree is given to root. */
#define UNPACK_UID  65534
#define ARCHIVE_FD  3
#define TARGET_FD   4
#define SAYS_MAX    512 /* bytes of yard-unpack's one line */
#define CHUNK_BYTES (256 << 10)
#define ROOM_PART   20                  /* of the disk stays free, but not more than */
#define ROOM_BYTES  (INT64_C(1) << 30)  /* that */
#define ROOM_EVERY  (INT64_C(16) << 20) /* bytes after which one looks again */

struct depot_upload {
	struct depot_files *depot;
	char hash[PACK_HASH_HEX];
	int fd;
	char *sender;          /* principal_key() */
	int64_t bytes, looked; /* looked: `bytes` when the disk's room was last seen */
	uint64_t unique;       /* names the folder it is unpacked in */
	depot_collected done;
	void *arg;
	bool failed;
	struct err err;
};

static bool is_there(const struct depot_files *d, const char *hash)
{
	AUTO_FREE char *folder = depot_layout_code(d->state, hash);
	AUTO_FREE char *tree = str_printf("%s/tree", folder);

	return access(tree, F_OK) == 0;
}

static char *mark_of(const struct depot_files *d, const char *hash, const char *sender)
{
	AUTO_FREE char *folder = depot_layout_code(d->state, hash);

	return str_printf("%s/users/%s", folder, sender);
}

int depot_code_has(struct depot *base, const char *hash, const char *sender)
{
	struct depot_files *d = depot_files_of(base);

	if (!pack_hash_valid(hash))
		return 0;
	AUTO_FREE char *mark = mark_of(d, hash, sender);
	if (!is_there(d, hash) || access(mark, F_OK) < 0)
		return 0;
	code_touch(d, hash);
	return 1;
}

void code_touch(const struct depot_files *d, const char *hash)
{
	AUTO_FREE char *folder = depot_layout_code(d->state, hash);

	utimensat(AT_FDCWD, folder, NULL, 0);
}

/* Remembers that this user has all of it; a mark that a crash takes means one more upload. */
static int mark_user(const struct depot_upload *u, struct err *err)
{
	AUTO_FREE char *mark = mark_of(u->depot, u->hash, u->sender);
	AUTO_FREE char *folder = mem_strndup(mark, (size_t)(strrchr(mark, '/') - mark));

	if (mkdir(folder, 0700) < 0 && errno != EEXIST)
		return err_sys(err, "make folder %s", folder);
	AUTO_FD int fd = open(mark, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		return err_sys(err, "make %s", mark);
	code_touch(u->depot, u->hash);
	return 0;
}

/* Jobs, logs and the database need the last of a disk more than another snapshot does. */
static int check_room(const struct depot_files *d, struct err *err)
{
	char text[UNITS_TEXT_MAX];
	struct statvfs fs;

	if (statvfs(d->state, &fs) < 0)
		return err_sys(err, "look at the disk of %s", d->state);
	int64_t free = (int64_t)(fs.f_bavail * fs.f_frsize),
		floor = (int64_t)(fs.f_blocks * fs.f_frsize) / ROOM_PART;
	if (free >= (floor < ROOM_BYTES ? floor : ROOM_BYTES))
		return 0;
	return err_set(
		err, ERR_IO,
		"the disk that holds %s is nearly full (%s are left): no code is taken "
		"until there is more room",
		d->state, units_show_bytes(free, text));
}

static int nameless_file(const char *folder, struct err *err)
{
	int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd >= 0)
		return fd;
	/* A file system that cannot: a name for a moment. */
	AUTO_FREE char *path = str_printf("%s/archive-XXXXXX", folder);
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		return err_sys(err, "make a file in %s", folder);
	unlink(path);
	return fd;
}

struct depot_upload *depot_code_begin(struct depot *base, const char *hash,
				      const char *sender, struct err *err)
{
	struct depot_files *d = depot_files_of(base);
	AUTO_FREE char *folder = str_printf("%s/upload", d->state);

	if (!pack_hash_valid(hash)) {
		err_set(err, ERR_INVALID,
			"a code hash is 64 lower-case hex digits, not \"%.80s\"", hash);
		return NULL;
	}
	int fd = check_room(d, err) < 0 ? -1 : nameless_file(folder, err);
	if (fd < 0)
		return NULL;
	struct depot_upload *u = mem_alloc(1, sizeof *u);
	u->depot = d;
	u->fd = fd;
	u->sender = mem_strdup(sender);
	d->uploads++;
	u->unique = world_random(d->world);
	memcpy(u->hash, hash, sizeof u->hash);
	d->refs++;
	return u;
}

int depot_code_write(struct depot_upload *u, const void *data, size_t len,
		     struct err *err)
{
	const char *p = data;

	char text[UNITS_TEXT_MAX];

	if ((int64_t)len > u->depot->code_bytes_max - u->bytes)
		return err_set(
			err, ERR_TOO_LARGE,
			"a code snapshot may have %s; leave data out of it by .gitignore "
			"or .yardignore, and give it as an input",
			units_show_bytes(u->depot->code_bytes_max, text));
	if (u->bytes - u->looked >= ROOM_EVERY) {
		u->looked = u->bytes;
		if (check_room(u->depot, err) < 0)
			return -1;
	}
	while (len > 0) {
		ssize_t n = write(u->fd, p, len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && (errno == ENOSPC || errno == EDQUOT))
			return err_set(
				err, ERR_IO,
				"the disk that holds %s is full: make room there, then try again",
				u->depot->state);
		if (n < 0)
			return err_sys(err, "keep the code snapshot");
		p += n;
		len -= (size_t)n;
		u->bytes += n;
	}
	return 0;
}

void depot_code_abort(struct depot_upload *u)
{
	close(u->fd);
	u->depot->uploads--;
	depot_files_unref(u->depot);
	free(u->sender);
	free(u);
}

static int check_hash(const struct depot_upload *u, struct err *err)
{
	AUTO_FREE char *chunk = mem_alloc(1, CHUNK_BYTES);
	struct pack_hash *h = pack_hash_create();
	char found[PACK_HASH_HEX];
	ssize_t n;

	for (int64_t at = 0; (n = pread(u->fd, chunk, CHUNK_BYTES, at)) > 0; at += n)
		pack_hash_add(h, chunk, (size_t)n);
	pack_hash_finish(h, found);
	if (n < 0)
		return err_sys(err, "read the code snapshot back");
	if (strcmp(found, u->hash) != 0)
		return err_set(
			err, ERR_INVALID,
			"what was sent has another hash (%.12s) than was said (%.12s): the folder "
			"changed while it was read, or bytes were lost; send it again",
			found, u->hash);
	return 0;
}

/* Descriptors for the child, at its numbers and nothing else.  The pool's threads block
 * signals; the child must not. */
static int spawn_unpack(const struct depot_upload *u, int target, int says, pid_t *pid)
{
	char entries[24], bytes[24], uid[24];
	snprintf(entries, sizeof entries, "%d", PACK_FILES_MAX);
	snprintf(bytes, sizeof bytes, "%lld", (long long)PACK_BYTES_MAX);
	snprintf(uid, sizeof uid, "%d", geteuid() == 0 ? UNPACK_UID : -1);
	char *const argv[] = { (char[]){ "yard-unpack" },
			       (char[]){ "3" },
			       (char[]){ "4" },
			       uid,
			       entries,
			       bytes,
			       NULL };
	char *const env[] = { NULL };
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t none, all;

	sigemptyset(&none);
	sigfillset(&all);
	posix_spawn_file_actions_init(&files);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &all);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&files, 0, 1);
	posix_spawn_file_actions_adddup2(&files, says, 2);
	posix_spawn_file_actions_adddup2(&files, u->fd, ARCHIVE_FD);
	posix_spawn_file_actions_adddup2(&files, target, TARGET_FD);
	int rc = posix_spawn(pid, u->depot->unpack, &files, &attr, argv, env);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&attr);
	return rc;
}

/* What the child said, and how it ended. */
static int hear_unpack(pid_t pid, int says, struct err *err)
{
	char line[SAYS_MAX] = "";
	size_t used = 0;
	ssize_t n;
	int status;

	while ((n = read(says, line + used, sizeof line - 1 - used)) > 0 ||
	       (n < 0 && errno == EINTR))
		used += n > 0 ? (size_t)n : 0;
	line[used] = '\0';
	line[strcspn(line, "\n")] = '\0';
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return err_sys(err, "wait for yard-unpack");
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	if (WIFEXITED(status) && WEXITSTATUS(status) > 1 &&
	    WEXITSTATUS(status) <= ERR_CODE_END)
		return err_set(err, (enum err_code)(WEXITSTATUS(status) - 1), "%s", line);
	return err_set(err, ERR_INTERNAL, "yard-unpack ended by %s %d: %s",
		       WIFSIGNALED(status) ? "signal" : "exit code",
		       WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status),
		       line);
}

static int unpack_into(const struct depot_upload *u, const char *tree, struct err *err)
{
	int says[2];
	pid_t pid;

	if (lseek(u->fd, 0, SEEK_SET) < 0)
		return err_sys(err, "read the code snapshot back");
	AUTO_FD int archive =
		u->fd > TARGET_FD ? -1 : fcntl(u->fd, F_DUPFD_CLOEXEC, TARGET_FD + 1);
	struct depot_upload moved = *u;
	if (archive >= 0)
		moved.fd = archive;
	int low = open(tree, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	/* Above the numbers they get in the child, or one dup2 would overwrite another. */
	AUTO_FD int target = low < 0 ? -1 : fcntl(low, F_DUPFD_CLOEXEC, TARGET_FD + 1);
	if (low >= 0)
		close(low);
	if (target < 0 || pipe2(says, O_CLOEXEC) < 0)
		return err_sys(err, "open %s", tree);
	AUTO_FD int hear = says[0];
	int say = fcntl(says[1], F_DUPFD_CLOEXEC, TARGET_FD + 1);
	close(says[1]);
	int rc = spawn_unpack(&moved, target, say, &pid);
	close(say);
	if (rc != 0)
		return err_set(err, ERR_IO, "start %s: %s", u->depot->unpack,
			       strerror(rc));
	return hear_unpack(pid, hear, err);
}

static int store_tree(const struct depot_upload *u, const char *work, struct err *err)
{
	AUTO_FREE char *tree = str_printf("%s/tree", work);
	AUTO_FREE char *code = str_printf("%s/code", u->depot->state);
	AUTO_FREE char *final = depot_layout_code(u->depot->state, u->hash);
	bool root = geteuid() == 0;

	if (tree_make(tree, root ? 0711 : 0700, err) < 0)
		return -1;
	if (root && chown(tree, UNPACK_UID, UNPACK_UID) < 0)
		return err_sys(err, "give %s to yard-unpack", tree);
	if (unpack_into(u, tree, err) < 0)
		return -1;
	/* Nobody's processes must not change what many jobs read. */
	if (root && tree_own(tree, 0, 0, err) < 0)
		return -1;
	if (tree_sync(work, NULL, err) < 0)
		return -1;
	if (rename(work, final) < 0 && errno != EEXIST && errno != ENOTEMPTY)
		return err_sys(err, "put the code snapshot in place");
	return tree_sync_folder(code, err);
}

static void finish_work(void *arg)
{
	struct depot_upload *u = arg;
	AUTO_FREE char *work =
		str_printf("%s/upload/%016" PRIx64, u->depot->state, u->unique);
	struct err ignored;

	u->failed = check_hash(u, &u->err) < 0 ||
		    (!is_there(u->depot, u->hash) && store_tree(u, work, &u->err) < 0) ||
		    mark_user(u, &u->err) < 0;
	tree_delete(work,
		    &ignored); /* there only after a failure, or when another was first */
}

static void finish_answer(void *arg)
{
	struct depot_upload *u = arg;

	if (!u->depot->gone)
		u->done(u->arg, u->failed ? &u->err : NULL);
	depot_code_abort(u);
}

void depot_code_finish(struct depot_upload *u, depot_collected done, void *arg)
{
	u->done = done;
	u->arg = arg;
	world_lane_work(u->depot->unpacks, finish_work, finish_answer, u);
}

/* ---- code by an address ---- */

static int too_large(const struct depot_files *d, struct err *err)
{
	return err_set(err, ERR_TOO_LARGE,
		       "code is an archive or a file of at most %lld bytes (the setting "
		       "code-limit)",
		       (long long)d->code_bytes_max);
}

/* A file by itself is another thing than an archive with the same bytes. */
static int hash_file(const struct depot_files *d, const struct code_file *f,
		     char hash[PACK_HASH_HEX], struct err *err)
{
	AUTO_FREE char *chunk = mem_alloc(1, CHUNK_BYTES);
	struct pack_hash *h = pack_hash_create();
	int64_t at = 0;
	ssize_t n = 0;

	if (f->name)
		pack_hash_add(h, f->name, strlen(f->name) + 1);
	for (; at <= d->code_bytes_max && (n = pread(f->fd, chunk, CHUNK_BYTES, at)) > 0;
	     at += n)
		pack_hash_add(h, chunk, (size_t)n);
	pack_hash_finish(h, hash);
	if (at > d->code_bytes_max) /* it grew meanwhile */
		return too_large(d, err);
	return n < 0 ? err_sys(err, "read the code") : 0;
}

static int copy_bytes(const struct depot_files *d, int from, int to, struct err *err)
{
	AUTO_FREE char *chunk = mem_alloc(1, CHUNK_BYTES);
	ssize_t n;

	for (int64_t at = 0; (n = pread(from, chunk, CHUNK_BYTES, at)) > 0; at += n) {
		if (at + n > d->code_bytes_max)
			return too_large(d, err);
		if (pwrite(to, chunk, (size_t)n, at) != n)
			return err_sys(err, "write the code");
	}
	return n < 0 ? err_sys(err, "read the code") : 0;
}

/* The tree of one file. */
static int store_file(struct depot_files *d, const struct code_file *f, const char *hash,
		      const char *work, struct err *err)
{
	AUTO_FREE char *tree = str_printf("%s/tree", work);
	AUTO_FREE char *code = str_printf("%s/code", d->state);
	AUTO_FREE char *final = depot_layout_code(d->state, hash);
	AUTO_FREE char *path = str_printf("%s/%s", tree, f->name);

	if (tree_make(tree, geteuid() == 0 ? 0711 : 0700, err) < 0)
		return -1;
	AUTO_FD int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
	if (fd < 0)
		return err_sys(err, "make %s", path);
	if (copy_bytes(d, f->fd, fd, err) < 0 || tree_sync(work, NULL, err) < 0)
		return -1;
	if (rename(work, final) < 0 && errno != EEXIST && errno != ENOTEMPTY)
		return err_sys(err, "put the code in place");
	return tree_sync_folder(code, err);
}

/* Its owner may write to it at any time, and what is kept under a hash is given to all who
 * have code of that hash: so it is taken of a copy that nobody else has. */
static int store_copy(struct depot_files *d, const struct code_file *f,
		      struct depot_upload *u, const char *work, struct err *err)
{
	AUTO_FREE char *folder = str_printf("%s/upload", d->state);
	AUTO_FD int fd = nameless_file(folder, err);
	struct code_file own = *f;

	own.fd = u->fd = fd;
	if (fd < 0 || copy_bytes(d, f->fd, fd, err) < 0 ||
	    hash_file(d, &own, u->hash, err) < 0)
		return -1;
	if (is_there(d, u->hash))
		return 0;
	return own.name ? store_file(d, &own, u->hash, work, err)
			: store_tree(u, work, err);
}

/* For whom it is bound: kept as long as that job has not ended. */
static int mark_job(const struct depot_files *d, const char *hash, int64_t job,
		    struct err *err)
{
	AUTO_FREE char *folder = depot_layout_code(d->state, hash);
	AUTO_FREE char *jobs = str_printf("%s/jobs", folder);
	AUTO_FREE char *mark = str_printf("%s/%" PRId64, jobs, job);

	if (mkdir(jobs, 0700) < 0 && errno != EEXIST)
		return err_sys(err, "make folder %s", jobs);
	AUTO_FD int fd = open(mark, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		return err_sys(err, "make %s", mark);
	code_touch(d, hash);
	return 0;
}

char *code_from_file(struct depot_files *d, const struct code_file *f, struct err *err)
{
	AUTO_FREE char *work = str_printf("%s/upload/%016" PRIx64, d->state, f->unique);
	struct depot_upload u = { .depot = d };
	struct stat st;
	struct err ignored;
	int rc = 0;

	if (fstat(f->fd, &st) < 0 || !S_ISREG(st.st_mode) ||
	    st.st_size > d->code_bytes_max) {
		too_large(d, err);
		return NULL;
	}
	if (hash_file(d, f, u.hash, err) < 0 || check_room(d, err) < 0)
		return NULL;
	if (!is_there(d, u.hash))
		rc = store_copy(d, f, &u, work, err);
	tree_delete(work, &ignored);
	if (rc < 0 || mark_job(d, u.hash, f->job, err) < 0)
		return NULL;
	AUTO_FREE char *folder = depot_layout_code(d->state, u.hash);
	return str_printf("%s/tree", folder);
}

bool code_has_jobs(const struct depot_files *d, const char *hash)
{
	const struct depot_outside *o = &d->base.outside;
	AUTO_FREE char *folder = depot_layout_code(d->state, hash);
	AUTO_FREE char *jobs = str_printf("%s/jobs", folder);
	DIR *dir = o->live ? opendir(jobs) : NULL;
	const struct dirent *e;
	bool any = false;
	int64_t job;

	while (dir && !any && (e = readdir(dir)))
		any = str_to_i64(e->d_name, 1, INT64_MAX, &job) == 0 &&
		      o->live(o->arg, job);
	if (dir)
		closedir(dir);
	return any;
}
