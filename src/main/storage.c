// SPDX-License-Identifier: Apache-2.0
#include "main/storage.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "depot/storage.h"
#include "depot/volume_setup.h"
#include "main/daemon.h"
#include "yard/range.h"

static bool in_group(void *arg, const char *user, const char *group)
{
	const struct daemon *d = arg;
	const struct who_user *u = who_user(d->who, user);

	for (size_t i = 0; u && !u->disabled && i < u->group_count; i++)
		if (str_eq(u->groups[i], group))
			return true;
	return false;
}

static bool is_group(void *arg, const char *group)
{
	const struct daemon *d = arg;

	return who_group(d->who, group) != NULL;
}

static int64_t range(void *arg, enum volume_area area, const char *name)
{
	const struct daemon *d = arg;

	return yard_range(d->yard, area == VOLUME_GROUP, name);
}

struct owner {
	char name[NAME_MAX_BYTES], group[NAME_MAX_BYTES];
};

static void take_owner(struct owner *o, const char *name, const char *group)
{
	memcpy(o->name, name, strnlen(name, NAME_MAX_BYTES - 1));
	memcpy(o->group, group, strnlen(group, NAME_MAX_BYTES - 1));
}

static void row_owner(void *arg, const struct store_row *row)
{
	take_owner(arg, row->owner, row->group);
}

/* One that its job will keep here. */
static bool will_put_out(const struct job *live, const char *name)
{
	const struct spec *s = live ? live->spec : NULL;

	for (size_t i = 0; s && i < s->output_count; i++)
		if (!s->outputs[i].uri && str_eq(s->outputs[i].name, name))
			return true;
	return false;
}

static int output(void *arg, const struct volume_who *who, int64_t job, const char *name,
		  struct volume_output *out, struct err *err)
{
	struct daemon *d = arg;
	const struct job *live = yard_live(d->yard, job);
	struct owner o = { 0 };

	if (live)
		take_owner(&o, live->owner, live->group);
	else
		store_row(yard_store(d->yard), job, row_owner, &o, NULL);
	bool own = *o.name && str_eq(who->name, o.name);
	bool see = *o.name &&
		   (own || who->admin || who->sees_all ||
		    (!str_eq(o.group, GROUP_DEFAULT) && in_group(d, who->name, o.group)));
	if (!see)
		return err_set(err, ERR_NOT_FOUND, "path: there is no job %lld",
			       (long long)job);
	out->rights = VOLUME_READ | (own || who->admin ? VOLUME_REMOVE : 0);
	int64_t uid = yard_range(d->yard, false, o.name);
	out->uid = d->place.uid_base < 0 ? -1 : uid < 0 ? VOLUME_NO_RANGE : uid;
	out->folder = d->depot->ops->output_folder(d->depot, job, name);
	out->make = will_put_out(live, name);
	return 0;
}

/* Calls each() for the groups of a user that share. */
static void groups(void *arg, const char *user,
		   void (*each)(void *each_arg, const char *group), void *each_arg)
{
	const struct daemon *d = arg;
	const struct who_user *u = who_user(d->who, user);

	for (size_t i = 0; u && !u->disabled && i < u->group_count; i++)
		if (!str_eq(u->groups[i], GROUP_DEFAULT))
			each(each_arg, u->groups[i]);
}

/* NAME=/folder.  No name of a folder that tasks have of the system. */
static int add_root(struct daemon *d, const struct volume_config *like, const char *text,
		    struct err *err)
{
	struct shelf_root *r = &d->roots[d->shelf.root_count];
	const char *eq = strchr(text, '=');
	struct volume_config c = { .ranges = like->ranges, .outside = like->outside };

	if (!eq || eq[1] != '/' || !str_starts(text, "mnt") || eq - text < 4 ||
	    strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-") != (size_t)(eq - text))
		return err_set(err, ERR_INVALID,
			       "mnt-root: '%s' is not mntNAME=/folder, such as "
			       "mnt2=/srv/storage2",
			       text);
	char *name = mem_strndup(text, (size_t)(eq - text));
	r->name = name;
	c.root = eq + 1;
	c.dc = name;
	r->volume = volume_create(&c, err);
	d->shelf.root_count++;
	return r->volume ? 0 : err_wrap(err, "mnt-root %s", name);
}

void storage_fini(struct daemon *d)
{
	for (size_t i = 0; i < d->shelf.root_count; i++) {
		free((void *)(uintptr_t)d->roots[i].name);
		volume_destroy(d->roots[i].volume);
	}
	free(d->roots);
	volume_destroy(d->volume);
}

/* What tasks see of it. */
static int open_shelf(struct daemon *d, const struct volume_config *c, struct err *err)
{
	const struct opts_list *more = &d->settings.mnt_roots;

	d->roots = mem_alloc(more->count + 1, sizeof *d->roots);
	d->shelf = (struct shelf_config){
		.volume = d->volume, .roots = d->roots, .groups = groups, .arg = d
	};
	for (size_t i = 0; i < more->count; i++)
		if (add_root(d, c, more->items[i], err) < 0)
			return -1;
	return 0;
}

int storage_open(struct daemon *d, struct err *err)
{
	const struct settings *s = &d->settings;
	AUTO_FREE char *root = str_printf("%s/pfs", d->place.state);
	struct volume_config c = {
		.root = s->storage_root ? s->storage_root : root,
		.dc = s->storage_dc,
		.quota_bytes = s->storage_quota_bytes,
		.nas = s->nas.items,
		.nas_count = s->nas.count,
		.file_roots = s->file_roots.items,
		.file_root_count = s->file_roots.count,
		.ranges = d->place.uid_base >= 0,
		.outside = { .in_group = in_group,
			     .is_group = is_group,
			     .range = range,
			     .output = output,
			     .arg = d },
	};

	d->volume = volume_create(&c, err);
	if (!d->volume || open_shelf(d, &c, err) < 0)
		return -1;
	d->storage = storage_create(d->world, d->volume, d->place.state, err);
	return d->storage ? 0 : -1;
}
