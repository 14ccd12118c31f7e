// SPDX-License-Identifier: Apache-2.0
/* follow.c - tells when a log may have grown: one inotify descriptor for a whole world.
 *
 * A follower watches the attempt's folder; while that is not there it watches the
 * nearest folder above that is, and moves down as folders appear.  The kernel gives
 * the same watch number to all who watch one folder.
 */
#include "stream/stream.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"

#define LOG_EVENTS   (IN_MODIFY | IN_CREATE | IN_MOVED_TO | IN_DELETE_SELF)
#define ABOVE_EVENTS (IN_CREATE | IN_MOVED_TO | IN_DELETE_SELF | IN_ONLYDIR)

struct log_hub {
	struct world *world;
	struct world_watch *watch;
	int fd, users; /* users: followers, who keeps it, and dispatch() while it runs */
	struct map *by_wd;      /* watch number → first of its followers */
	struct log_follow *due; /* followers to be called */
	struct log_hub *next;
};

struct log_follow {
	struct log_hub *hub;
	char *folder;
	world_cb on_more;
	void *arg;
	int wd;     /* -1: none */
	bool above; /* wd is a folder above ours */
	bool is_due;
	struct log_follow *prev, *next; /* of the same wd */
	struct log_follow *due_prev, *due_next;
};

/* A world belongs to the thread that runs it, and so does its hub. */
static _Thread_local struct log_hub *hubs;

static void due_add(struct log_follow *f)
{
	if (f->is_due)
		return;
	f->is_due = true;
	f->due_prev = NULL;
	f->due_next = f->hub->due;
	if (f->due_next)
		f->due_next->due_prev = f;
	f->hub->due = f;
}

static void due_remove(struct log_follow *f)
{
	if (!f->is_due)
		return;
	f->is_due = false;
	if (f->due_next)
		f->due_next->due_prev = f->due_prev;
	if (f->due_prev)
		f->due_prev->due_next = f->due_next;
	else
		f->hub->due = f->due_next;
}

/* `gone`: the kernel has dropped the watch already. */
static void unwatch(struct log_follow *f, bool gone)
{
	if (f->wd < 0)
		return;
	if (f->next)
		f->next->prev = f->prev;
	if (f->prev) {
		f->prev->next = f->next;
	} else if (f->next) {
		map_put(f->hub->by_wd, f->wd, f->next);
	} else {
		map_del(f->hub->by_wd, f->wd);
		if (!gone)
			inotify_rm_watch(f->hub->fd, f->wd);
	}
	f->prev = f->next = NULL;
	f->wd = -1;
}

static void watched(struct log_follow *f, int wd)
{
	f->wd = wd;
	f->next = map_get(f->hub->by_wd, wd);
	if (f->next)
		f->next->prev = f;
	map_put(f->hub->by_wd, wd, f);
}

/* The folder, or the nearest one above that is there.  IN_MASK_ADD: others may watch the
 * same folder for more than we ask. */
static int nearest(const struct log_follow *f, bool *above, struct err *err)
{
	char path[PATH_MAX];
	size_t len = strlen(f->folder);

	if (len == 0 || len >= sizeof path || *f->folder != '/')
		return err_set(err, ERR_INVALID, "'%s' cannot be the folder of a log",
			       f->folder);
	memcpy(path, f->folder, len + 1);
	for (*above = false;; *above = true) {
		uint32_t events = *above ? ABOVE_EVENTS : LOG_EVENTS;
		int wd = inotify_add_watch(f->hub->fd, path, events | IN_MASK_ADD);
		const char *slash = strrchr(path, '/');

		if (wd >= 0)
			return wd;
		if (errno != ENOENT || !path[1])
			return err_sys(err, "follow %s", f->folder);
		path[slash == path ? 1 : slash - path] = '\0';
	}
}

static int rewatch(struct log_follow *f, struct err *err)
{
	bool above = false;
	int last = -1, wd;

	/* A folder made between the look and the watch is never told of: look again until
	 * two looks agree. */
	while ((wd = nearest(f, &above, err)) >= 0 && above && wd != last) {
		if (last >= 0 && last != f->wd && !map_get(f->hub->by_wd, last))
			inotify_rm_watch(f->hub->fd, last);
		last = wd;
	}
	if (last >= 0 && last != wd && last != f->wd && !map_get(f->hub->by_wd, last))
		inotify_rm_watch(f->hub->fd, last);
	if (wd != f->wd) {
		unwatch(f, false);
		if (wd >= 0)
			watched(f, wd);
	}
	f->above = above;
	return wd < 0 ? -1 : 0;
}

/* `name` is of a file in the folder, or "" when it is about the folder itself. */
static void wake(struct log_hub *h, const struct inotify_event *ev, const char *name)
{
	/* A shim makes half a dozen files beside the log: nobody reads on because of those. */
	bool other = *name && !str_starts(name, "log.");
	struct log_follow *next;

	for (struct log_follow *f = map_get(h->by_wd, ev->wd); f; f = next) {
		next = f->next;
		if (!other || f->above)
			due_add(f);
		if (ev->mask & IN_IGNORED)
			unwatch(f, true);
	}
}

static void wake_all(struct log_hub *h)
{
	struct log_follow *f;

	for (size_t it = 0; (f = map_next(h->by_wd, &it));)
		for (; f; f = f->next)
			due_add(f);
}

static void hub_release(struct log_hub *h)
{
	struct log_hub **at = &hubs;

	if (--h->users)
		return;
	while (*at != h)
		at = &(*at)->next;
	*at = h->next;
	world_watch_destroy(h->watch);
	close(h->fd);
	map_destroy(h->by_wd);
	free(h);
}

/* Takes in all that is there, then calls each follower once, however often it was named. */
static void dispatch(void *arg)
{
	struct log_hub *h = arg;
	struct log_follow *f;
	_Alignas(struct inotify_event) char bytes[16 << 10];
	ssize_t n;

	while ((n = read(h->fd, bytes, sizeof bytes)) > 0)
		for (ssize_t at = 0; at < n;) {
			struct inotify_event ev;

			memcpy(&ev, bytes + at, sizeof ev);
			if (ev.mask & IN_Q_OVERFLOW)
				wake_all(h);
			else
				wake(h, &ev, ev.len ? bytes + at + sizeof ev : "");
			at += (ssize_t)(sizeof ev + ev.len);
		}
	h->users++; /* a callback may destroy the last follower */
	while ((f = h->due)) {
		struct err
			ignored; /* a follower without a watch is woken by its user's own timer at worst */

		due_remove(f);
		if (f->above || f->wd < 0)
			rewatch(f, &ignored);
		f->on_more(f->arg);
	}
	hub_release(h);
}

static struct log_hub *hub_of(struct world *w, struct err *err)
{
	struct log_hub *h = hubs;
	int fd;

	while (h && h->world != w)
		h = h->next;
	if (h) {
		h->users++;
		return h;
	}
	fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	if (fd < 0) {
		err_sys(err, "follow logs: make an inotify descriptor");
		return NULL;
	}
	h = mem_alloc(1, sizeof *h);
	h->world = w;
	h->fd = fd;
	h->users = 1;
	h->by_wd = map_create();
	h->watch = world_watch_create(w, fd, dispatch, h);
	h->next = hubs;
	hubs = h;
	return h;
}

struct log_hub *log_hub_keep(struct world *w)
{
	struct err ignored; /* then each follower tries again, and tells */

	return hub_of(w, &ignored);
}

void log_hub_release(struct log_hub *h)
{
	if (h)
		hub_release(h);
}

struct log_follow *log_follow_create(struct world *w, const char *folder,
				     world_cb on_more, void *arg, struct err *err)
{
	struct log_hub *h = hub_of(w, err);
	struct log_follow *f;

	if (!h)
		return NULL;
	f = mem_alloc(1, sizeof *f);
	f->hub = h;
	f->folder = mem_strdup(folder);
	f->on_more = on_more;
	f->arg = arg;
	f->wd = -1;
	if (rewatch(f, err) < 0) {
		log_follow_destroy(f);
		return NULL;
	}
	return f;
}

void log_follow_destroy(struct log_follow *f)
{
	if (!f)
		return;
	due_remove(f);
	unwatch(f, false);
	hub_release(f->hub);
	free(f->folder);
	free(f);
}
