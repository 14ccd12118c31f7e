// SPDX-License-Identifier: Apache-2.0
/* put.c - the files of a folder are brought elsewhere.
 *
 * What is there already, as long and not older, stays: asked again after a crash it goes on
 * where it was.  Links, pipes and the like are left out, and counted: no link is followed.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "remote/below.h"
#include "remote/remote.h"

#define DEPTH_MAX 64

struct putting {
	struct remote_job *job;
	struct manifest here, there;
	_Atomic int64_t bytes, files;
};

/* Folders still to be read, by their names below the top. */
struct walk {
	char **folders;
	size_t count, cap;
};

static void push(struct walk *w, char *name)
{
	mem_grow(&w->folders, &w->cap, w->count, sizeof *w->folders);
	w->folders[w->count++] = name;
}

static int note(struct putting *p, struct walk *w, char *name, const struct stat *st,
		struct err *err)
{
	struct manifest_entry e = { .name = name,
				    .size = st->st_size,
				    .mtime_ms = (int64_t)st->st_mtim.tv_sec * 1000 +
						st->st_mtim.tv_nsec / 1000000,
				    .version = (char[]){ "" } };
	int depth = 0;

	for (const char *s = name; *s; s++)
		depth += *s == '/';
	if (S_ISDIR(st->st_mode) && depth < DEPTH_MAX) {
		push(w, str_printf("%s/", name));
		return 0;
	}
	return S_ISREG(st->st_mode) ? manifest_add(&p->here, &e, err) : 0;
}

static int read_folder(struct putting *p, struct walk *w, const char *folder,
		       struct err *err)
{
	AUTO_FREE char *way = mem_strndup(folder, strlen(folder) - (*folder ? 1 : 0));
	int fd = openat(p->job->folder, *way ? way : ".",
			O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *d;
	struct stat st;
	int rc = 0;

	if (!dir)
		return err_sys(err, "read the folder \"%.200s\"", way);
	while (rc == 0 && (d = readdir(dir))) {
		if (str_eq(d->d_name, ".") || str_eq(d->d_name, ".."))
			continue;
		AUTO_FREE char *name = str_printf("%s%s", folder, d->d_name);
		if (fstatat(fd, d->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0)
			rc = note(p, w, name, &st, err);
	}
	closedir(dir);
	return rc;
}

static int list_here(struct putting *p, struct err *err)
{
	struct walk w = { 0 };
	int rc = 0;

	push(&w, mem_strdup(""));
	while (rc == 0 && w.count > 0) {
		AUTO_FREE char *folder = w.folders[--w.count];
		rc = read_folder(p, &w, folder, err);
	}
	while (w.count > 0)
		free(w.folders[--w.count]);
	free(w.folders);
	return rc;
}

/* An account that may write but not list sends everything. */
static void list_there(struct putting *p)
{
	const struct remote *r = p->job->remote;
	struct net *n = net_create();
	struct err ignored;

	if (r->ops->list(r, n, &p->there, &ignored) < 0 ||
	    manifest_finish(&p->there, &ignored) < 0)
		manifest_fini(&p->there);
	net_destroy(n);
}

static int by_name(const void *a, const void *b)
{
	const struct manifest_entry *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static bool is_there(const struct putting *p, const struct manifest_entry *e)
{
	const struct manifest_entry *t =
		p->there.count
			? bsearch(e, p->there.entries, p->there.count, sizeof *e, by_name)
			: NULL;

	/* Clocks of servers tell whole seconds. */
	return t && t->size == e->size && t->mtime_ms / 1000 > e->mtime_ms / 1000;
}

static int put_one(void *arg, struct net *n, size_t at, struct err *err)
{
	struct putting *p = arg;
	const struct manifest_entry *e = &p->here.entries[at];
	const struct remote *r = p->job->remote;
	struct stat st;

	if (!is_there(p, e)) {
		AUTO_FD int fd = below_open(p->job->folder, e->name, err);
		if (fd < 0)
			return err->code == ERR_UNSUPPORTED ? 0 : -1;
		if (fstat(fd, &st) < 0)
			return err_sys(err, "read \"%.200s\"", e->name);
		struct remote_put one = { e->name, fd, st.st_size };
		if (r->ops->put(r, n, &one, err) < 0)
			return -1;
	}
	p->bytes += e->size;
	p->files++;
	return 0;
}

int remote_put_all(struct remote_job *j, int64_t *files, struct err *err)
{
	struct putting p = { .job = j };
	int rc = -1;

	if (!j->remote->ops->put)
		return err_set(err, ERR_UNSUPPORTED, "%s: nothing can be put there",
			       j->remote->show);
	if (list_here(&p, err) == 0 && manifest_finish(&p.here, err) == 0) {
		if (p.here.count)
			list_there(&p);
		struct remote_work w = { .piece = put_one,
					 .arg = &p,
					 .count = p.here.count,
					 .total = p.here.bytes,
					 .bytes = &p.bytes,
					 .says = j->says };
		rc = remote_work(&w, err);
		*files = p.files;
		j->manifest->bytes = p.bytes;
	}
	manifest_fini(&p.here);
	manifest_fini(&p.there);
	return rc;
}
