// SPDX-License-Identifier: Apache-2.0
#include "yard/shelf.h"

#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "depot/volume_setup.h"
#include "world/log.h"
#include "yard/internal.h"
#include "yard/range.h"

/* A disk of the network that hangs keeps no job from starting for longer. */
#define PATIENCE_MS 20000

/* One folder of the tree, and where a task of somebody finds it. */
struct spot {
	struct volume_place place;
	char *target, *alias; /* alias: a second name, or NULL */
	struct err err;       /* why it could not be made ready */
	bool failed;
};

struct spots {
	struct spot *items;
	size_t count, cap;
};

/* What was found out of a folder, and until when that may be believed. */
struct known {
	int64_t until_ms;
	char *why; /* not there; NULL: it is */
};

struct waiter {
	world_cb done;
	void *arg;
	struct waiter *next;
};

enum making_state {
	MAKING_SOON,   /* its timer begins it */
	MAKING_RANGES, /* it waits for the store */
	MAKING_DISK,   /* it is in the lane; its timer says who waited too long */
};

/* The folders of one owner on their way.  It outlives the shelf when a disk is slow. */
struct making {
	enum making_state state;
	struct shelf *shelf; /* NULL: nobody waits any more */
	char *owner;
	int64_t owner_uid;
	struct spots spots;
	size_t at; /* the next that may need a range */
	struct waiter *waiters;
	struct world_timer *timer;
	bool late; /* who waited went on without */
};

struct shelf {
	struct yard *yard;
	struct world *world;
	struct shelf_config config;
	struct world_lane *lane;
	struct map *known;   /* host folder → struct known */
	struct map *makings; /* owner → struct making */
};

static void spots_fini(struct spots *s)
{
	for (size_t i = 0; i < s->count; i++) {
		volume_place_fini(&s->items[i].place);
		free(s->items[i].target);
		free(s->items[i].alias);
	}
	free(s->items);
	*s = (struct spots){ 0 };
}
#define AUTO_SPOTS __attribute__((cleanup(spots_fini)))

/* Whose folders are looked for, and where. */
struct finder {
	struct volume *volume;
	const char *root; /* of a further one: its name; NULL: the tree itself */
	const struct volume_who *who;
	struct spots *out;
};

static void add_spot(const struct finder *f, char *path, char *target, char *alias)
{
	AUTO_FREE char *from = path, *to = target, *also = alias;
	struct spot s = { 0 };
	struct err ignored; /* a name that can be no folder's */

	if (volume_find(f->volume, f->who, path, &s.place, &ignored) < 0)
		return;
	s.target = to ? TAKE(to) : mem_strdup(s.place.path);
	s.alias = TAKE(also);
	mem_grow(&f->out->items, &f->out->cap, f->out->count, sizeof *f->out->items);
	f->out->items[f->out->count++] = s;
}

static void add_group(void *arg, const char *group)
{
	const struct finder *f = arg;

	add_spot(f, str_printf("/pfs/%s/group/%s", volume_dc(f->volume), group),
		 f->root ? str_printf("/%s/share/%s", f->root, group) : NULL,
		 f->root ? NULL : str_printf("/mnt/share/%s", group));
}

static void find_in(const struct shelf *s, struct finder *f)
{
	const char *owner = f->who->name;

	add_spot(f, str_printf("/pfs/%s/home/%s", volume_dc(f->volume), owner),
		 f->root ? str_printf("/%s/user/%s", f->root, owner) : NULL,
		 f->root ? NULL : str_printf("/mnt/user/%s", owner));
	if (!f->root)
		add_spot(f, mem_strdup("/pfs/public"), NULL, mem_strdup("/pfs/public"));
	s->config.groups(s->config.arg, owner, add_group, f);
}

static void find_spots(const struct shelf *s, const char *owner, int64_t owner_uid,
		       struct spots *out)
{
	const struct volume_who who = { .name = owner, .uid = owner_uid };
	struct finder f = { s->config.volume, NULL, &who, out };

	find_in(s, &f);
	for (size_t i = 0; i < s->config.root_count; i++) {
		f.volume = s->config.roots[i].volume;
		f.root = s->config.roots[i].name;
		find_in(s, &f);
	}
}

static bool is_known(const struct shelf *s, const struct spot *spot, int64_t now_ms)
{
	const struct known *k = map_gets(s->known, spot->place.folder);

	return spot->place.area == VOLUME_PUBLIC || (k && k->until_ms > now_ms);
}

static void note_known(struct shelf *s, const struct spot *spot)
{
	struct known *k = map_gets(s->known, spot->place.folder);

	if (!k) {
		k = mem_alloc(1, sizeof *k);
		map_puts(s->known, spot->place.folder, k);
	}
	free(k->why);
	k->why = spot->failed ? mem_strdup(spot->err.text) : NULL;
	k->until_ms = world_mono_ms(s->world) + SHELF_FRESH_MS;
	if (spot->failed)
		world_log(s->world, LEVEL_WARN, "storage: %s cannot be used: %s",
			  spot->place.path, spot->err.text);
}

/* Making ready: ranges of uids first, for folders belong to them; then the disk. */

static void answer_waiters(struct making *m)
{
	struct waiter *w;

	while ((w = m->waiters)) {
		m->waiters = w->next;
		w->done(w->arg);
		free(w);
	}
}

static void making_free(struct making *m)
{
	for (struct waiter *w; (w = m->waiters);) {
		m->waiters = w->next;
		free(w);
	}
	world_timer_destroy(m->timer);
	spots_fini(&m->spots);
	free(m->owner);
	free(m);
}

static void make_work(void *arg)
{
	struct making *m = arg;

	for (size_t i = 0; i < m->spots.count; i++) {
		struct spot *s = &m->spots.items[i];
		s->failed = volume_ready(&s->place, &s->err) < 0;
	}
}

static void made(void *arg)
{
	struct making *m = arg;
	struct shelf *s = m->shelf;

	if (s) {
		for (size_t i = 0; i < m->spots.count; i++)
			note_known(s, &m->spots.items[i]);
		map_dels(s->makings, m->owner);
		answer_waiters(m);
	}
	making_free(m);
}

static void give_ranges(struct making *m);

static void ranged(void *arg, int64_t job, bool again, const struct err *err)
{
	struct making *m = arg;

	(void)job, (void)again, (void)err; /* without one its folder is not made */
	give_ranges(m);
}

static void give_ranges(struct making *m)
{
	struct shelf *s = m->shelf;

	while (m->at < m->spots.count) {
		const struct volume_place *p = &m->spots.items[m->at++].place;

		if (p->uid != VOLUME_NO_RANGE)
			continue;
		yard_range_make(s->yard, p->area == VOLUME_GROUP, p->name, ranged, m);
		return;
	}
	spots_fini(&m->spots);
	find_spots(s, m->owner, m->owner_uid, &m->spots);
	m->state = MAKING_DISK;
	world_timer_at(m->timer, world_mono_ms(s->world) + PATIENCE_MS);
	world_lane_work(s->lane, make_work, made, m);
}

static void on_timer(void *arg)
{
	struct making *m = arg;

	if (m->state == MAKING_SOON) {
		m->state = MAKING_RANGES;
		find_spots(m->shelf, m->owner, m->owner_uid, &m->spots);
		give_ranges(m);
		return;
	}
	m->late = true;
	world_log(m->shelf->world, LEVEL_WARN,
		  "storage: the folders of %s have not been made ready for %d s: its "
		  "tasks start without",
		  m->owner, PATIENCE_MS / 1000);
	answer_waiters(m);
}

static struct making *making_of(struct shelf *s, const char *owner, int64_t owner_uid)
{
	struct making *m = map_gets(s->makings, owner);

	if (m)
		return m;
	m = mem_alloc(1, sizeof *m);
	m->shelf = s;
	m->owner = mem_strdup(owner);
	m->owner_uid = owner_uid;
	m->timer = world_timer_create(s->world, on_timer, m);
	map_puts(s->makings, owner, m);
	/* Not at once: at boot who is in which group, and whose uids are whose, is not told yet. */
	world_timer_at(m->timer, world_mono_ms(s->world));
	return m;
}

/* All that an owner has is known to be there, or known not to be. */
static bool all_known(const struct shelf *s, const char *owner, int64_t owner_uid)
{
	AUTO_SPOTS struct spots spots = { 0 };
	int64_t now = world_mono_ms(s->world);

	if (s->yard->booting)
		return false;
	find_spots(s, owner, owner_uid, &spots);
	for (size_t i = 0; i < spots.count; i++)
		if (!is_known(s, &spots.items[i], now))
			return false;
	return true;
}

bool shelf_ready(struct shelf *s, const char *owner, int64_t owner_uid, world_cb done,
		 void *arg)
{
	struct making *m;
	struct waiter *w;

	if (!s->config.volume || all_known(s, owner, owner_uid))
		return true;
	m = making_of(s, owner, owner_uid);
	if (m->late)
		return true;
	w = mem_alloc(1, sizeof *w);
	*w = (struct waiter){ done, arg, m->waiters };
	m->waiters = w;
	return false;
}

static void list_folder(struct shelf_list *l, struct contract_folder f)
{
	mem_grow(&l->items, &l->cap, l->count, sizeof *l->items);
	f.target = mem_strdup(f.target);
	f.source = mem_strdup(f.source);
	l->items[l->count++] = f;
}

static void list_missing(struct shelf_list *l, const struct spot *spot, const char *why)
{
	mem_grow(&l->missing, &l->missing_cap, l->missing_count, sizeof *l->missing);
	l->missing[l->missing_count++] =
		str_printf("storage: %s is not there: %s", spot->target, why);
}

static void list_spot(const struct shelf *s, const struct spot *spot,
		      struct shelf_list *out)
{
	const struct known *k = map_gets(s->known, spot->place.folder);
	bool public = spot->place.area == VOLUME_PUBLIC;
	bool shared = spot->place.area == VOLUME_GROUP;

	if (!public && (!k || k->why)) {
		list_missing(out, spot, k ? k->why : "its disk does not answer");
		return;
	}
	list_folder(out, (struct contract_folder){
				 .kind = public ? MOUNT_OURS_RO : MOUNT_BIND_RW,
				 .target = spot->target,
				 .source = spot->place.folder,
				 .range = shared ? spot->place.uid : -1 });
	if (spot->alias && !str_eq(spot->alias, spot->target))
		list_folder(out, (struct contract_folder){ .kind = MOUNT_LINK,
							   .target = spot->alias,
							   .source = spot->target,
							   .range = -1 });
}

void shelf_list(struct shelf *s, const char *owner, int64_t owner_uid,
		struct shelf_list *out)
{
	AUTO_SPOTS struct spots spots = { 0 };

	*out = (struct shelf_list){ 0 };
	if (!s->config.volume)
		return;
	find_spots(s, owner, owner_uid, &spots);
	for (size_t i = 0; i < spots.count; i++)
		list_spot(s, &spots.items[i], out);
}

void shelf_list_fini(struct shelf_list *l)
{
	for (size_t i = 0; i < l->count; i++) {
		free((void *)(uintptr_t)l->items[i].target);
		free((void *)(uintptr_t)l->items[i].source);
	}
	for (size_t i = 0; i < l->missing_count; i++)
		free(l->missing[i]);
	free(l->items);
	free(l->missing);
}

struct shelf *shelf_create(struct yard *y)
{
	struct shelf *s = mem_alloc(1, sizeof *s);

	s->yard = y;
	s->world = y->world;
	if (y->config.shelf)
		s->config = *y->config.shelf;
	s->known = map_create();
	s->makings = map_create();
	if (s->config.volume)
		s->lane = world_lane_create(y->world, 1);
	return s;
}

void shelf_destroy(struct shelf *s)
{
	struct making *m;
	struct known *k;

	if (!s)
		return;
	for (size_t it = 0; (m = map_next(s->makings, &it));) {
		if (m->state != MAKING_DISK) {
			making_free(m);
			continue;
		}
		m->shelf = NULL; /* freed when the disk answers */
		world_timer_destroy(TAKE(m->timer));
	}
	for (size_t it = 0; (k = map_next(s->known, &it));) {
		free(k->why);
		free(k);
	}
	map_destroy(s->makings);
	map_destroy(s->known);
	world_lane_destroy(s->lane);
	free(s);
}
