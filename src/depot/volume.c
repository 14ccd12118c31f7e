// SPDX-License-Identifier: Apache-2.0
#include "depot/volume.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "depot/open.h"
#include "depot/tree.h"
#include "depot/volume_path.h"
#include "depot/volume_setup.h"

#define DC_DEFAULT   "local"
#define PASSAGE_MODE 0711 /* root mode: tasks pass through on the way to what is theirs */

struct nas {
	char *name, *folder;
};

struct volume {
	char *root, *dc;
	int64_t quota_bytes;
	bool ranges;
	struct nas *nas;
	size_t nas_count;
	char **file_roots;
	size_t file_root_count;
	struct volume_outside outside;
};

const char *volume_dc(const struct volume *v)
{
	return v->dc;
}

const char *volume_root(const struct volume *v)
{
	return v->root;
}

int64_t volume_quota(const struct volume *v)
{
	return v->quota_bytes;
}

const char *volume_nas(const struct volume *v, const char *name)
{
	for (size_t i = 0; i < v->nas_count; i++)
		if (str_eq(v->nas[i].name, name))
			return v->nas[i].folder;
	return NULL;
}

int volume_check_file_root(const struct volume *v, const char *real, struct err *err)
{
	for (size_t i = 0; i < v->file_root_count; i++) {
		size_t n = strlen(v->file_roots[i]);
		if (str_starts(real, v->file_roots[i]) &&
		    (real[n] == '/' || real[n] == '\0' || v->file_roots[i][n - 1] == '/'))
			return 0;
	}
	if (!v->file_root_count)
		return 0;
	return err_set(
		err, ERR_DENIED,
		"%s lies in none of the folders that the setting file-roots allows",
		real);
}

const char *volume_uri_path(const char *uri)
{
	const char *path = str_starts(uri, "pfs:")    ? uri + strlen("pfs:")
			   : str_starts(uri, "yard:") ? uri + strlen("yard:")
						      : NULL;

	if (path && str_starts(path, "///"))
		path += 2;
	return path;
}

void volume_place_fini(struct volume_place *p)
{
	free(p->folder);
	free(p->rel);
	free(p->path);
	*p = (struct volume_place){ 0 };
}

void volume_place_copy(const struct volume_place *from, struct volume_place *to)
{
	*to = *from;
	to->folder = mem_strdup(from->folder);
	to->rel = mem_strdup(from->rel);
	to->path = mem_strdup(from->path);
}

static unsigned rights_of(const struct volume_who *who, bool theirs)
{
	if (theirs || who->admin)
		return VOLUME_READ | VOLUME_WRITE | VOLUME_REMOVE;
	return who->sees_all ? VOLUME_READ : 0;
}

static int64_t range_of(const struct volume *v, enum volume_area area, const char *name)
{
	if (!v->ranges)
		return -1;
	int64_t uid = v->outside.range(v->outside.arg, area, name);
	return uid < 0 ? VOLUME_NO_RANGE : uid;
}

static int find_home(const struct volume *v, const struct volume_who *who,
		     struct volume_place *p, struct err *err)
{
	bool own = str_eq(p->name, who->name);

	p->rights = rights_of(who, own);
	if (!p->rights)
		return err_set(err, ERR_NOT_FOUND,
			       "path: there is no home of '%s' that you may see",
			       p->name);
	p->make = own;
	p->host_uid = own ? who->uid : -1;
	p->uid = range_of(v, VOLUME_HOME, p->name);
	p->folder = str_printf("%s/home/%s", v->root, p->name);
	return 0;
}

static int find_group(const struct volume *v, const struct volume_who *who,
		      struct volume_place *p, struct err *err)
{
	bool member = !str_eq(p->name, GROUP_DEFAULT) &&
		      v->outside.in_group(v->outside.arg, who->name, p->name);

	if (member || v->outside.is_group(v->outside.arg, p->name))
		p->rights = rights_of(who, member);
	if (!p->rights)
		return err_set(err, ERR_NOT_FOUND,
			       "path: there is no share of a group '%s' that you are in",
			       p->name);
	p->make = true;
	p->uid = range_of(v, VOLUME_GROUP, p->name);
	p->folder = str_printf("%s/group/%s", v->root, p->name);
	return 0;
}

static int find_output(const struct volume *v, const struct volume_who *who,
		       struct volume_place *p, struct err *err)
{
	struct volume_output out = { .uid = -1 };

	if (v->outside.output(v->outside.arg, who, p->job, p->name, &out, err) < 0)
		return -1;
	p->rights = out.rights;
	p->uid = out.uid;
	p->folder = out.folder;
	p->make = out.make;
	return 0;
}

static int find_area(const struct volume *v, const struct volume_who *who,
		     struct volume_place *p, struct err *err)
{
	switch (p->area) {
	case VOLUME_HOME:
		return find_home(v, who, p, err);
	case VOLUME_GROUP:
		return find_group(v, who, p, err);
	case VOLUME_OUTPUT:
		return find_output(v, who, p, err);
	case VOLUME_PUBLIC:
		p->rights = rights_of(who, false) | VOLUME_READ;
		p->folder = str_printf("%s/public", v->root);
		return 0;
	case VOLUME_VIRTUAL:
	case VOLUME_AREA_COUNT:
		break;
	}
	p->rights = VOLUME_READ;
	return 0;
}

int volume_find(const struct volume *v, const struct volume_who *who, const char *path,
		struct volume_place *out, struct err *err)
{
	AUTO_FREE struct volume_text *t = mem_alloc(1, sizeof *t);

	*out = (struct volume_place){ .uid = -1, .host_uid = -1 };
	if (volume_path_read(path, v->dc, who->name, t, err) < 0)
		return -1;
	out->area = t->area;
	out->which = t->which;
	out->job = t->job;
	memcpy(out->name, t->name, sizeof out->name);
	if (find_area(v, who, out, err) < 0) {
		volume_place_fini(out);
		return -1;
	}
	out->rel = mem_strdup(t->rel);
	out->path = volume_path_write(t, v->dc);
	return 0;
}

int volume_may(const struct volume_place *p, unsigned rights, struct err *err)
{
	if ((p->rights & rights) == rights && p->area != VOLUME_VIRTUAL)
		return 0;
	if (p->area == VOLUME_VIRTUAL)
		return err_set(err, ERR_DENIED,
			       "path: %s only lists what is below it; name a folder in "
			       "there",
			       p->path);
	return err_set(err, ERR_DENIED, "path: you may read %s, not change it%s", p->path,
		       p->area == VOLUME_PUBLIC   ? "; an administrator may"
		       : p->area == VOLUME_OUTPUT ? ": it is what a job put out"
						  : "");
}

/* Made closed and given away afterwards: at no moment is it anybody else's. */
static int give(const struct volume_place *p, bool made, struct err *err)
{
	struct stat st;
	AUTO_FD int fd = open(p->folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &st) < 0)
		return err_sys(err, "open %s", p->folder);
	if (p->uid < 0)
		return 0;
	/* A crash between making and giving leaves it root's, and empty. */
	if ((made || st.st_uid == 0) && fchown(fd, (uid_t)p->uid, (gid_t)p->uid) < 0)
		return err_sys(err, "give %s to its owner", p->folder);
	if (!made && st.st_uid != 0 && st.st_uid != (uid_t)p->uid)
		return err_set(err, ERR_CONFLICT,
			       "%s belongs to uid %u, and %s has the uids from %lld on: "
			       "an administrator must set that right (chown -R)",
			       p->folder, st.st_uid, p->name, (long long)p->uid);
	return p->host_uid > 0 ? tree_let_read(p->folder, (uid_t)p->host_uid, err) : 0;
}

int volume_ready(const struct volume_place *p, struct err *err)
{
	AUTO_FREE char *above =
		mem_strndup(p->folder, (size_t)(strrchr(p->folder, '/') - p->folder));

	if (p->area == VOLUME_PUBLIC || (p->area == VOLUME_OUTPUT && !p->make))
		return 0;
	if (p->uid == VOLUME_NO_RANGE || !p->make)
		return access(p->folder, F_OK) == 0 ? 0
						    : err_set(err, ERR_NOT_FOUND,
							      "%s is not there: nothing "
							      "was ever put there",
							      p->path);
	if (p->area == VOLUME_OUTPUT && tree_make(above, 0700, err) < 0)
		return -1;
	bool made = mkdir(p->folder, 0700) == 0;
	if (!made && errno != EEXIST)
		return err_sys(err, "make folder %s", p->folder);
	if (give(p, made, err) < 0)
		return -1;
	return made ? tree_sync_folder(above, err) : 0;
}

int volume_open(const struct volume_place *p, struct err *err)
{
	AUTO_FD int root = open_area(p, err);

	return root < 0 ? -1 : open_beneath(root, p, O_PATH, err);
}

char *volume_real(const struct volume_place *p, struct err *err)
{
	AUTO_FD int fd = volume_open(p, err);
	char name[64], real[VOLUME_PATH_MAX * 2];

	if (fd < 0)
		return NULL;
	snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
	ssize_t n = readlink(name, real, sizeof real - 1);
	if (n < 0 || n == (ssize_t)sizeof real - 1) {
		err_sys(err, "find %s on this machine", p->path);
		return NULL;
	}
	return mem_strndup(real, (size_t)n);
}

static int add_nas(struct volume *v, const char *text, struct err *err)
{
	const char *eq = strchr(text, '=');
	AUTO_FREE char *name = eq ? mem_strndup(text, (size_t)(eq - text)) : NULL;
	struct stat st;

	if (!eq || eq == text || eq[1] != '/' || strchr(name, '/'))
		return err_set(err, ERR_INVALID,
			       "nas: '%s' is not NAME=/folder, such as data=/mnt/nas1",
			       text);
	AUTO_FREE char *folder = realpath(eq + 1, NULL);
	if (!folder || stat(folder, &st) < 0 || !S_ISDIR(st.st_mode))
		return err_set(err, ERR_NOT_FOUND,
			       "nas: %s is no folder of this machine: mount it first, or "
			       "correct the setting",
			       eq + 1);
	if (volume_nas(v, name))
		return err_set(err, ERR_INVALID, "nas: '%s' is given twice", name);
	v->nas[v->nas_count++] = (struct nas){ TAKE(name), TAKE(folder) };
	return 0;
}

static int add_file_root(struct volume *v, const char *text, struct err *err)
{
	char *real = *text == '/' ? realpath(text, NULL) : NULL;

	if (!real)
		return err_set(err, ERR_INVALID,
			       "file-roots: %s is no folder of this machine", text);
	v->file_roots[v->file_root_count++] = real;
	return 0;
}

static int make_tree(struct volume *v, const char *root, struct err *err)
{
	const struct {
		const char *name;
		mode_t mode;
	} folders[] = { { "home", v->ranges ? PASSAGE_MODE : 0700 },
			{ "group", v->ranges ? PASSAGE_MODE : 0700 },
			{ "public", 0755 } };

	if (*root != '/')
		return err_set(err, ERR_INVALID, "'%s' is not an absolute path", root);
	if (tree_make(root, v->ranges ? PASSAGE_MODE : 0700, err) < 0)
		return -1;
	v->root = realpath(root, NULL);
	if (!v->root)
		return err_sys(err, "%s", root);
	for (size_t i = 0; i < COUNT_OF(folders); i++) {
		AUTO_FREE char *path = str_printf("%s/%s", v->root, folders[i].name);
		if (mkdir(path, folders[i].mode) < 0 && errno != EEXIST)
			return err_sys(err, "make folder %s", path);
		if (access(path, W_OK | X_OK) < 0 || chmod(path, folders[i].mode) < 0)
			return err_sys(err, "the daemon may not use %s", path);
	}
	return open_supported(v->root, err);
}

static int fill(struct volume *v, const struct volume_config *c, struct err *err)
{
	v->nas = mem_alloc(c->nas_count + 1, sizeof *v->nas);
	v->file_roots = mem_alloc(c->file_root_count + 1, sizeof *v->file_roots);
	for (size_t i = 0; i < c->nas_count; i++)
		if (add_nas(v, c->nas[i], err) < 0)
			return -1;
	for (size_t i = 0; i < c->file_root_count; i++)
		if (add_file_root(v, c->file_roots[i], err) < 0)
			return -1;
	if (!*v->dc || strchr(v->dc, '/') || strlen(v->dc) >= NAME_MAX_BYTES ||
	    *v->dc == '.' || str_eq(v->dc, "public"))
		return err_set(err, ERR_INVALID,
			       "storage-dc: '%s' cannot be the name of a folder in /pfs",
			       v->dc);
	return make_tree(v, c->root, err) < 0
		       ? err_wrap(err, "storage-root: give a folder that the daemon may "
				       "use, on a disk that is mounted")
		       : 0;
}

struct volume *volume_create(const struct volume_config *c, struct err *err)
{
	struct volume *v = mem_alloc(1, sizeof *v);

	v->dc = mem_strdup(c->dc ? c->dc : DC_DEFAULT);
	v->quota_bytes = c->quota_bytes;
	v->ranges = c->ranges;
	v->outside = c->outside;
	if (fill(v, c, err) == 0)
		return v;
	volume_destroy(v);
	return NULL;
}

void volume_destroy(struct volume *v)
{
	if (!v)
		return;
	for (size_t i = 0; i < v->nas_count; i++) {
		free(v->nas[i].name);
		free(v->nas[i].folder);
	}
	for (size_t i = 0; i < v->file_root_count; i++)
		free(v->file_roots[i]);
	free(v->nas);
	free(v->file_roots);
	free(v->root);
	free(v->dc);
	free(v);
}
