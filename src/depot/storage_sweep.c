// SPDX-License-Identifier: Apache-2.0
/* storage_sweep.c - what nobody will come back for.
 *
 * Two rounds: threads find which homes and shares there are, the loop says whose they are,
 * threads look into the storage's own folder of each.
 */
#include <dirent.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "depot/file.h"
#include "depot/storage_impl.h"
#include "depot/volume_path.h"
#include "depot/volume_setup.h"

#define SWEPT_AT_ONCE 1000 /* of one area's own folder */

struct sweep {
	struct storage *storage;
	char **paths; /* of areas: "/pfs/local/home/ann" */
	size_t count, cap;
	struct volume_place *places;
	size_t place_count;
};

static void sweep_free(struct sweep *w)
{
	for (size_t i = 0; i < w->count; i++)
		free(w->paths[i]);
	for (size_t i = 0; i < w->place_count; i++)
		volume_place_fini(&w->places[i]);
	free(w->paths);
	free(w->places);
	free(w);
}

static void add(struct sweep *w, char *path)
{
	mem_grow(&w->paths, &w->cap, w->count, sizeof *w->paths);
	w->paths[w->count++] = path;
}

static void find_kind(struct sweep *w, const char *kind)
{
	const struct volume *v = w->storage->volume;
	AUTO_FREE char *folder = str_printf("%s/%s", volume_root(v), kind);
	DIR *dir = opendir(folder);
	const struct dirent *e;

	while (dir && (e = readdir(dir)))
		if (e->d_name[0] != '.')
			add(w,
			    str_printf("/pfs/%s/%s/%s", volume_dc(v), kind, e->d_name));
	if (dir)
		closedir(dir);
}

static void find_work(void *arg)
{
	struct sweep *w = arg;

	find_kind(w, "home");
	find_kind(w, "group");
	add(w, str_printf("/pfs/%s/public", volume_dc(w->storage->volume)));
}

static bool is_litter(const struct storage *s, const char *name)
{
	if (str_starts(name, "upload-"))
		return !upload_known(s->uploads, name + strlen("upload-"));
	return str_starts(name, "trash-");
}

/* What somebody is removing just now is removed by two: the second finds less to do. */
static void sweep_area(const struct storage *s, const struct volume_place *p)
{
	struct volume_place own = *p;
	char folder[] = VOLUME_OWN_FOLDER;
	struct file_page page = { 0 };

	own.rel = folder;
	own.make = false;
	if (file_list(&own, NULL, SWEPT_AT_ONCE, &page, NULL) < 0)
		return;
	for (size_t i = 0; i < page.count; i++) {
		const char *name = page.entries[i].name;
		AUTO_FREE char *rel = str_printf("%s/%s", folder, name);
		own.rel = rel;
		if (is_litter(s, name))
			file_remove(&own, true, NULL, NULL);
	}
	file_page_fini(&page);
}

static void sweep_work(void *arg)
{
	struct sweep *w = arg;

	for (size_t i = 0; i < w->place_count; i++)
		sweep_area(w->storage, &w->places[i]);
}

static void swept(void *arg)
{
	sweep_free(arg);
}

static int find_as_admin(const struct storage *s, const char *path,
			 struct volume_place *out)
{
	static const struct volume_who admin = { .name = "", .admin = true, .uid = -1 };

	return volume_find(s->volume, &admin, path, out, NULL);
}

static void found(void *arg)
{
	struct sweep *w = arg;
	struct storage *s = w->storage;

	if (!s->upkeep) {
		sweep_free(w);
		return;
	}
	w->places = mem_alloc(w->count + 1, sizeof *w->places);
	for (size_t i = 0; i < w->count; i++)
		if (find_as_admin(s, w->paths[i], &w->places[w->place_count]) == 0)
			w->place_count++;
	world_lane_work(s->upkeep, sweep_work, swept, w);
}

struct expiry {
	struct storage *storage;
	struct volume_place place;
	char id[UPLOAD_ID_BYTES];
};

static void expire_work(void *arg)
{
	struct expiry *e = arg;
	int64_t size;

	if (upload_cancel(e->storage->uploads, &e->place, e->id, &size, NULL) == 0)
		usage_settle(e->storage->usage, &e->place, 0, -size);
	else
		upload_abandon(e->storage->uploads, e->id);
}

static void expire_next(struct storage *s);

static void expired(void *arg)
{
	struct expiry *e = arg;
	struct storage *s = e->storage;

	volume_place_fini(&e->place);
	free(e);
	if (s->upkeep)
		expire_next(s);
}

static void expire_next(struct storage *s)
{
	struct expiry *e = mem_alloc(1, sizeof *e);
	char *path;

	e->storage = s;
	while ((path = upload_expired(s->uploads, world_now_ms(s->world), e->id))) {
		int rc = find_as_admin(s, path, &e->place);
		free(path);
		if (rc == 0) {
			world_lane_work(s->upkeep, expire_work, expired, e);
			return;
		}
		upload_abandon(s->uploads, e->id);
	}
	free(e);
}

void storage_sweep(struct storage *s)
{
	if (!s || !s->upkeep)
		return;
	expire_next(s);
	struct sweep *w = mem_alloc(1, sizeof *w);
	w->storage = s;
	world_lane_work(s->upkeep, find_work, found, w);
}
