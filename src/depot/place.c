// SPDX-License-Identifier: Apache-2.0
/* place.c - where on this machine an input comes from, an output goes to, the code is. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "depot/disguise.h"
#include "depot/file.h"
#include "depot/input.h"
#include "depot/layout.h"
#include "depot/op.h"
#include "depot/requirements.h"
#include "depot/tree.h"
#include "remote/uri.h"

#define NOBODY 65534

void place_fini(struct place *p)
{
	bring_cancel(p->bring);
	fetch_cancel(p->send);
	telling_fini(&p->telling);
	volume_place_fini(&p->volume);
	free(p->name);
	free(p->uri);
	free(p->path);
	free(p->base);
}

static int sort_volume(struct files_op *op, struct place *p, const char *path,
		       bool output, struct err *err)
{
	const struct volume_who who = { .name = op->owner, .uid = op->owner_uid };

	p->kind = PLACE_VOLUME;
	if (!op->depot->volume)
		return err_set(err, ERR_UNSUPPORTED, "this yard has no storage");
	if (volume_find(op->depot->volume, &who, path, &p->volume, err) < 0)
		return -1;
	if (p->volume.area == VOLUME_VIRTUAL)
		return err_set(err, ERR_INVALID,
			       "%s holds no files of its own: name one below it",
			       p->volume.path);
	if (p->volume.uid == VOLUME_NO_RANGE)
		return err_set(err, ERR_NOT_FOUND, "%s does not exist", p->volume.path);
	return volume_may(&p->volume, output ? VOLUME_READ | VOLUME_WRITE : VOLUME_READ,
			  err);
}

int place_sort(struct files_op *op, struct place *p, bool output, struct err *err)
{
	const char *path = p->uri ? volume_uri_path(p->uri) : NULL;

	p->op = op;
	if (!p->uri) {
		p->kind = PLACE_OWN;
		return 0;
	}
	if (path)
		return sort_volume(op, p, path, output, err);
	if (!remote_uri_is(p->uri)) {
		p->kind = PLACE_FILE;
		return 0;
	}
	p->kind = PLACE_REMOTE;
	if (output && str_starts(p->uri, "http"))
		return err_set(
			err, ERR_UNSUPPORTED,
			"nothing can be put to a web server: give an oss://, s3:// or hdfs:// "
			"address, or none to keep it with the job");
	return 0;
}

static bool is_folder(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return mem_strdup(slash ? slash + 1 : path);
}

/* As its owner may read it.  Who has no account here has no files here: as -1 they would be
 * read as the daemon may. */
static char *find_file(const struct files_op *op, const struct place *p, struct err *err)
{
	AUTO_FREE char *real = NULL;

	if (op->owner_uid < 0) {
		err_set(err, ERR_DENIED,
			"its owner has no account on this machine, or has never called `yard` "
			"there, and so no files here to read; what lies in the storage (pfs:) "
			"needs none");
		return NULL;
	}
	real = input_resolve(op->depot->volume, p->uri,
			     op->uid_base >= 0 ? op->owner_uid : -1, err);
	return real && input_check_place(real, op->depot->state, op->depot->socket,
					 err) == 0
		       ? TAKE(real)
		       : NULL;
}

static int find_volume(struct place *p, struct err *err)
{
	if (volume_ready(&p->volume, err) < 0)
		return -1;
	p->path = volume_real(&p->volume, err);
	return p->path ? 0 : -1;
}

int place_find_input(struct files_op *op, struct place *p, struct err *err)
{
	if (p->kind == PLACE_REMOTE)
		return 0;
	if (p->kind == PLACE_VOLUME && find_volume(p, err) < 0)
		return -1;
	if (p->kind == PLACE_FILE && !(p->path = find_file(op, p, err)))
		return -1;
	if (!is_folder(p->path)) { /* called as who asked for it calls it */
		AUTO_FREE char *as = base_of(p->uri);
		p->base = *as ? TAKE(as) : base_of(p->path);
	}
	return 0;
}

/* With the job; also what goes elsewhere is kept here until it is there. */
static int make_own(struct files_op *op, struct place *p, struct err *err)
{
	p->path = depot_layout_output(op->depot->state, op->job, p->name);
	if (tree_make(p->path, 0700, err) < 0)
		return -1;
	if (op->uid_base < 0)
		return 0;
	/* Only the folder itself: what an earlier attempt left in it is the owner's already. */
	uid_t uid = (uid_t)op->uid_base;
	if (chmod(p->path, 0700) < 0 || chown(p->path, uid, uid) < 0)
		return err_sys(err, "give it to its owner");
	return op->owner_uid > 0 ? tree_let_read(p->path, (uid_t)op->owner_uid, err) : 0;
}

/* A folder of the owner's; the shim sees to it that nobody else's is written. */
static int make_file(struct files_op *op, struct place *p, struct err *err)
{
	p->path = find_file(op, p, err);
	if (!p->path)
		return err->code == ERR_NOT_FOUND
			       ? err_wrap(err, "an output's folder must be there before")
			       : -1;
	if (!is_folder(p->path))
		return err_set(err, ERR_INVALID, "%s is no folder", p->path);
	return input_may_write(p->path, op->uid_base >= 0 ? op->owner_uid : -1, err);
}

int place_make_output(struct files_op *op, struct place *p, struct err *err)
{
	switch (p->kind) {
	case PLACE_OWN:
	case PLACE_REMOTE:
		return make_own(op, p, err);
	case PLACE_FILE:
		return make_file(op, p, err);
	case PLACE_VOLUME:
		if (volume_ready(&p->volume, err) < 0 ||
		    (*p->volume.rel && file_make_folder(&p->volume, true, err) < 0))
			return -1;
		p->path = volume_real(&p->volume, err);
		if (p->path && !is_folder(p->path))
			return err_set(err, ERR_INVALID, "%s is no folder",
				       p->volume.path);
		return p->path ? 0 : -1;
	}
	return -1;
}

/* ---- code ---- */

static bool is_archive(const char *name)
{
	static const char *const ends[] = { ".tar",     ".tar.gz", ".tgz", ".tar.bz2",
					    ".tbz2",    ".tar.xz", ".txz", ".zip",
					    ".tar.zst", ".tzst" };

	for (size_t i = 0; i < COUNT_OF(ends); i++)
		if (str_ends(name, ends[i]))
			return true;
	return false;
}

/* Root mode: a folder that somebody has is bound as what it is.  Were all of it made the
 * task's, as a copy is, it would read there what its owner may not. */
static void lend(struct files_op *op, const struct place *p)
{
	bool roots_own = p->kind == PLACE_FILE && op->owner_uid == 0;

	op->code = mem_strdup(p->path);
	op->code_lent = op->uid_base >= 0 && p->kind != PLACE_REMOTE && !roots_own;
	op->code_bind.range = p->kind == PLACE_VOLUME ? p->volume.uid : -1;
}

/* With the rights of whose it is, and not by a link that was put there meanwhile. */
static int open_code(const struct files_op *op, const struct place *p, struct err *err)
{
	struct file_info info;

	if (p->kind == PLACE_VOLUME)
		return file_open(&p->volume, &info, err);
	if (p->kind == PLACE_FILE)
		return input_open(p->path, op->uid_base >= 0 ? op->owner_uid : -1,
				  O_RDONLY | O_NONBLOCK, err);
	int fd = open(p->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW); /* the cache's own */
	return fd < 0 ? err_sys(err, "read %s", p->path) : fd;
}

int place_find_code(struct files_op *op, struct err *err)
{
	struct place *p = &op->code_place;

	if (!p->base) {
		lend(op, p);
		return 0;
	}
	AUTO_FD int fd = open_code(op, p, err);
	if (fd < 0)
		return -1;
	struct code_file file = { .fd = fd,
				  .name = is_archive(p->base) ? NULL : p->base,
				  .job = op->job,
				  .unique = op->unique };
	op->code = code_from_file(op->depot, &file, err);
	return op->code ? 0 : -1;
}

/* The way to what is in the storage is the daemon's alone. */
static int read_lent(struct files_op *op, struct err *err)
{
	bool account = op->code_place.kind == PLACE_FILE;
	int64_t range = op->code_bind.range;
	char tree[64];
	struct disguise d;
	AUTO_FD int fd = input_open(op->code, account ? op->owner_uid : -1,
				    O_PATH | O_DIRECTORY, err);

	if (fd < 0)
		return -1;
	snprintf(tree, sizeof tree, "/proc/self/fd/%d", fd);
	if ((account ? disguise_enter(&d, (uid_t)op->owner_uid, err)
		     : disguise_enter_bare(&d, range < 0 ? NOBODY : (uid_t)range, err)) <
	    0)
		return -1;
	int rc = requirements_read(tree, &op->requirements, &op->code_wheels, err);
	disguise_leave(&d);
	return rc;
}

int place_read_requirements(struct files_op *op, struct err *err)
{
	return op->code_lent ? read_lent(op, err)
			     : requirements_read(op->code, &op->requirements,
						 &op->code_wheels, err);
}
