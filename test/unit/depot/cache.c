// SPDX-License-Identifier: Apache-2.0
/* The cache's folders and its room: what a boot finds, what goes first, what never goes. */
#include "depot/cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "depot/cache_disk.h"
#include "depot/cache_impl.h"
#include "depot/depot.h"
#include "depot/files.h"
#include "depot/tree.h"
#include "tap.h"
#include "world/world.h"

static char home[] = "/tmp/yard-cache-XXXXXX";
static char *root;
static struct world *world;
static struct depot *depot;
static int64_t alive; /* the one live job */

static bool is_live(void *arg, int64_t job)
{
	(void)arg;
	return job == alive;
}

static void put(const char *path, const char *text)
{
	AUTO_FD int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		OK(false, "write %s", path);
}

static void key_of(int n, char out[65])
{
	memset(out, '0', 64);
	out[63] = (char)('a' + n);
	out[64] = '\0';
}

/* An entry as a fetch leaves it: used so many seconds ago, bound for a job (0: none). */
static void plant(int n, const char *bytes, int64_t age_s, int64_t job)
{
	char key[65];
	struct err err;

	key_of(n, key);
	AUTO_FREE char *folder = str_printf("%s/%s", root, key);
	AUTO_FREE char *data = str_printf("%s/data", folder);
	AUTO_FREE char *about = str_printf("%s/about", folder);
	AUTO_FREE char *text = str_printf("{\"uri\":\"x\",\"bytes\":%s}", bytes);
	tree_make(data, 0755, &err);
	put(about, text);
	if (job)
		cache_disk_use(root, key, "u-ann", job, &err);
	struct timespec t[2] = { { .tv_sec = 1000000 - age_s },
				 { .tv_sec = 1000000 - age_s } };
	utimensat(AT_FDCWD, folder, t, 0);
}

static bool there(int n)
{
	char key[65];

	key_of(n, key);
	AUTO_FREE char *folder = str_printf("%s/%s", root, key);
	return access(folder, F_OK) == 0;
}

static void boot(void)
{
	struct err err = { .text = "" };

	depot = depot_files_create(world, home, "/none", &err);
	if (!depot) {
		printf("Bail out! %s\n", err.text);
		exit(1);
	}
	depot->outside.live = is_live;
}

static struct cache *cache(void)
{
	return depot_files_of(depot)->cache;
}

static void stop(void *arg)
{
	world_stop(arg);
}

/* Removals are done by a lane; its last answer comes back to the loop. */
static void settle(void)
{
	for (int i = 0; i < 200 && cache()->going > 0; i++) {
		struct world_timer *t = world_timer_create(world, stop, world);
		world_timer_at(t, world_mono_ms(world) + 10);
		world_run(world);
		world_timer_destroy(t);
	}
}

static void room(void)
{
	struct err err;

	plant(0, "1000", 40, 0);
	plant(1, "1000", 30, 7);
	plant(2, "1000", 20, 8);
	plant(3, "1000", 10, 0);
	AUTO_FREE char *junk = str_printf("%s/junk", root);
	tree_make(junk, 0755, &err);
	boot();
	OK(access(junk, F_OK) < 0, "what makes no sense is removed at boot");
	OK(cache_bytes(cache()) == 4000, "what is there is found and counted");
	cache_set_limit(cache(), 5000);
	alive = 7;
	OK(cache_make_room(cache(), 1000, &err) == 0 && there(0),
	   "what fits removes nothing");
	OK(cache_make_room(cache(), 1500, &err) == 0 && !there(0) && there(1) &&
		   there(2) && there(3),
	   "what was used longest ago goes first, and no more than needed");
	settle();
	OK(cache()->going == 0 && cache_bytes(cache()) == 3000, "and is gone");
	OK(cache_make_room(cache(), 3500, &err) == 0 && there(1) && !there(2) &&
		   !there(3),
	   "what a live job uses stays, though it is older; what an ended one used goes");
	OK(cache_make_room(cache(), 4500, &err) < 0 && err.code == ERR_BUSY && there(1) &&
		   strstr(err.text, "running jobs"),
	   "when only that is left: %s", err.text);
	OK(cache_make_room(cache(), 6000, &err) < 0 && err.code == ERR_TOO_LARGE &&
		   strstr(err.text, "cache-size"),
	   "more than the cache may hold: %s", err.text);
	alive = 0;
	OK(cache_make_room(cache(), 4500, &err) == 0 && !there(1),
	   "once the job has ended it goes, too");
	cache_set_limit(cache(), INT64_MAX / 8);
	OK(cache_make_room(cache(), INT64_MAX / 16, &err) < 0 && strstr(err.text, "disk"),
	   "more than the disk has: %s", err.text);
	settle();
	depot->ops->destroy(depot);
}

static void parts(void)
{
	char key[65];
	struct err err;
	int64_t bytes = 0;

	key_of(5, key);
	boot();
	OK(cache_disk_begin(root, key, "{\"bytes\":5}", -1, &err) == 0, "a fetch begins");
	AUTO_FREE char *part = str_printf("%s/%s.part", root, key);
	AUTO_FREE char *file = str_printf("%s/data/f", part);
	AUTO_FREE char *boot_id = str_printf("%s/boot", part);
	put(file, "hel");
	OK(!there(5), "what is on its way is not there");
	depot->ops->destroy(depot);
	boot();
	OK(access(file, F_OK) == 0 && cache_bytes(cache()) == 5,
	   "a daemon that comes back finds what was brought");
	OK(cache_disk_begin(root, key, "{\"bytes\":5}", -1, &err) == 0 &&
		   access(file, F_OK) == 0,
	   "and goes on with it");
	put(file, "hello");
	OK(cache_disk_finish(root, key, "u-ann", &bytes, &err) == 0 && there(5) &&
		   access(part, F_OK) < 0,
	   "when it is whole it is there");
	OK(cache_disk_proved(root, key, "u-ann") &&
		   !cache_disk_proved(root, key, "u-bob"),
	   "and known whose account fetched it");
	depot->ops->destroy(depot);

	key_of(6, key);
	boot();
	AUTO_FREE char *other = str_printf("%s/%s.part", root, key);
	AUTO_FREE char *other_boot = str_printf("%s/boot", other);
	cache_disk_begin(root, key, "{\"bytes\":5}", -1, &err);
	put(other_boot, "another boot");
	depot->ops->destroy(depot);
	boot();
	OK(access(other, F_OK) < 0 && there(5),
	   "what was on its way when the machine went down is begun anew");
	depot->ops->destroy(depot);
}

int main(void)
{
	struct err err;

	if (!mkdtemp(home))
		return 1;
	root = str_printf("%s/cache", home);
	world = world_uv_create(&err);
	tree_make(root, 0700, &err);
	room();
	parts();
	world_destroy(world);
	tree_delete(home, &err);
	free(root);
	return END();
}
