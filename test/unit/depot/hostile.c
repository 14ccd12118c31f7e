// SPDX-License-Identifier: Apache-2.0
/* Hostile names and trees against every operation of the storage: nothing outside of the area
 * is read or written, nothing blocks, and a racing rename changes nothing about that. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <sys/sysmacros.h>
#include <sys/un.h>

#include "depot/upload.h"
#include "storage_rig.h"

/* As a client may write them; most are below ann's home, where plant() put the traps. */
static const char *const names[] = {
	"..",
	"../bob/x",
	"a/../../bob",
	"/pfs/local/home/ann/../bob/secret",
	"/pfs/local/home/../../../etc/passwd",
	"/pfs/../etc/passwd",
	"/etc/passwd",
	"//etc/passwd",
	"/proc/self/root/etc/passwd",
	"/pfs/local/home/bob",
	"/pfs/local/home/bob/secret",
	"/mnt/user/bob/secret",
	"/mnt/user/../user/bob/secret",
	"/pfs/other/home/ann/x",
	"/pfs/local/group/vision/x",
	"/pfs/local/group/default/x",
	"/pfs/local/home/./././bob/secret",
	"/jobs/8/model/x",
	"/jobs/7/../../pfs/home/bob/secret",
	"/jobs/-1/model",
	"/jobs/99999999999999999999/model",
	"~/../bob/secret",
	"~bob/secret",
	"",
	".",
	"/",
	"./.",
	".yard-storage/upload",
	"./.yard-storage/x",
	"out/secret",
	"out/below/secret",
	"out/new",
	"out",
	"outfile",
	"abs/secret",
	"absfile",
	"root/etc/passwd",
	"procroot/etc/passwd",
	"procfd",
	"up/bob/secret",
	"upup/canary/secret",
	"loop",
	"loop/x",
	"chain/secret",
	"inside/out/secret",
	"dangling",
	"dangling/x",
	"null",
	"null/x",
	"fifo",
	"fifo/x",
	"socket",
	"hard",
	"bobdir/secret",
	"line\nbreak",
	"tab\tand\x01control",
	"bad\xff\xfeutf8",
	"\xed\xa0\x80surrogate",
	"%2e%2e/bob",
	"..%2fbob",
	"...",
	"....//....//etc/passwd",
	"..\\..\\bob",
	"C:\\x",
	"-rf",
	"*",
	"name with spaces and 'quotes' \"\"",
	"file/below",
	"a\x7f",
};

static char *at_home(const char *name)
{
	return str_printf("%s/pfs/home/ann/%s", rig_dir, name);
}

static void link_to(const char *target, const char *name)
{
	AUTO_FREE char *path = at_home(name);

	if (symlink(target, path) < 0)
		printf("# symlink %s: %s\n", name, strerror(errno));
}

static void own(const char *name)
{
	AUTO_FREE char *path = at_home(name);

	if (rig_ranges && lchown(path, RIG_UID, RIG_UID) < 0)
		printf("# chown %s: %s\n", name, strerror(errno));
}

static void plant_odd_files(void)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	AUTO_FREE char *null = at_home("null"), *fifo = at_home("fifo"),
		       *hard = at_home("hard"), *sock = at_home("socket"),
		       *secret = str_printf("%s/canary/secret", rig_dir);
	AUTO_FD int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (mknod(null, S_IFCHR | 0666, makedev(1, 3)) < 0)
		printf("# no device: %s\n", strerror(errno));
	if (mkfifo(fifo, 0666) < 0)
		printf("# no fifo: %s\n", strerror(errno));
	snprintf(to.sun_path, sizeof to.sun_path, "%s", sock);
	if (bind(fd, (struct sockaddr *)&to, sizeof to) < 0)
		printf("# no socket: %s\n", strerror(errno));
	/* In private mode it would be the same user's file by any name. */
	if (rig_ranges && link(secret, hard) < 0)
		printf("# no hard link: %s\n", strerror(errno));
}

static void plant(void)
{
	struct err err = { 0 };
	AUTO_PLACE struct volume_place home = rig_place("~");
	AUTO_FREE char *canary = str_printf("%s/canary", rig_dir);
	AUTO_FREE char *secret = str_printf("%s/canary/secret", rig_dir);
	AUTO_FREE char *bob = str_printf("%s/pfs/home/bob", rig_dir);
	AUTO_FREE char *bobs = str_printf("%s/secret", bob);

	OK(volume_ready(&home, &err) == 0, "a home is made: %s", err.text);
	mkdir(bob, 0777);
	chmod(bob, 0777);
	rig_write(bobs, RIG_SECRET);
	rig_put("file", "ann's own", &err);
	rig_put("inside/file", "ann's own", &err);
	link_to(canary, "abs");
	link_to(secret, "absfile");
	link_to("../../../canary", "out");
	link_to("../../../canary/secret", "outfile");
	link_to("/", "root");
	link_to("/proc/self/root", "procroot");
	link_to("/proc/self/fd/0", "procfd");
	link_to("..", "up");
	link_to("../../..", "upup");
	link_to("loop", "loop");
	link_to("out", "chain");
	link_to("../out", "inside/out");
	link_to("nowhere", "dangling");
	link_to("../bob", "bobdir");
	link_to("inside/file", "good");
	link_to("inside/..", "here");
	plant_odd_files();
	for (const char *const *n =
		     (const char *const[]){ "null", "fifo", "socket", NULL };
	     *n; n++)
		own(*n);
}

static bool says_secret(const char *text)
{
	return text && strstr(text, RIG_SECRET);
}

/* Every operation on it; true: a secret came out. */
static bool attack(const struct volume_place *p)
{
	AUTO_PLACE struct volume_place safe = rig_place("moved-here");
	AUTO_FREE char *home = at_home("");
	struct file_put_how how = { .modified_ms = 1000, .executable = true };
	struct file_page page = { 0 };
	struct tree_size size;
	struct file_info info;
	struct err err;
	char text[256] = "";
	bool leak = false;

	AUTO_FD int fd = file_open(p, &info, &err);
	if (fd >= 0 && read(fd, text, sizeof text - 1) > 0)
		leak |= says_secret(text);
	if (file_stat(p, &info, &err) == 0)
		leak |= info.kind == FILE_FILE &&
			info.size == (int64_t)strlen(RIG_SECRET) && !*p->rel;
	if (file_list(p, NULL, 100, &page, &err) == 0)
		for (size_t i = 0; i < page.count; i++)
			leak |= str_eq(page.entries[i].name, "secret");
	file_page_fini(&page);
	file_measure(p, NULL, &size, &err);
	struct file_put *f = file_put_begin(p, &how, &err);
	int64_t replaced;
	if (f && file_put_write(f, "overwritten", 11, &err) == 0)
		file_put_finish(f, &info, &replaced, &err);
	else
		file_put_abort(f);
	file_make_folder(p, true, &err);
	if (file_move(p, &safe, true, &err) == 0) {
		AUTO_FREE char *moved = rig_read("moved-here", &err);
		leak |= says_secret(moved);
		file_move(&safe, p, true, &err);
	}
	AUTO_FREE char *real = volume_real(p, &err);
	leak |= real && !str_starts(real, home);
	file_remove(p, true, &size, &err);
	return leak;
}

static void attack_all(const char *mode)
{
	uint32_t before = rig_canary_now();
	AUTO_FREE char *bob = str_printf("%s/pfs/home/bob", rig_dir);
	uint32_t bobs = rig_sum(bob, 0);
	int leaks = 0;

	for (size_t i = 0; i < COUNT_OF(names); i++) {
		struct volume_place p;
		struct err err = { 0 };
		if (rig_find_as("ann", false, names[i], &p, &err) < 0)
			continue;
		/* What only lists, and what is all of the home, is not for these. */
		bool leak = p.area != VOLUME_VIRTUAL && *p.rel && attack(&p);
		if (leak)
			printf("# '%s' gave something away\n", names[i]);
		leaks += leak;
		volume_place_fini(&p);
		if (rig_canary_now() != before || rig_sum(bob, 0) != bobs) {
			printf("# '%s' changed something\n", names[i]);
			leaks++;
			before = rig_canary_now();
			bobs = rig_sum(bob, 0);
		}
	}
	OK(leaks == 0,
	   "%s: no hostile name reads or changes anything outside, by any operation",
	   mode);
}

static void test_refusals(const char *mode)
{
	struct volume_place p;
	struct err err = { 0 };
	int wrong = 0;

	for (size_t i = 0; i < COUNT_OF(names); i++) {
		bool dots = strstr(names[i], "../") || str_eq(names[i], "..") ||
			    strstr(names[i], "/..");
		bool plain = strstr(names[i], "....") || strstr(names[i], "..%") ||
			     strstr(names[i], "..\\");
		if (!dots || plain)
			continue;
		if (rig_find_as("ann", false, names[i], &p, &err) == 0) {
			printf("# '%s' is a path\n", names[i]);
			volume_place_fini(&p);
			wrong++;
		}
	}
	OK(wrong == 0, "%s: no path has '..' in it", mode);
	OK(rig_find_as("ann", false, "/pfs/local/home/bob", &p, &err) < 0 &&
		   err.code == ERR_NOT_FOUND,
	   "%s: somebody else's home is not there", mode);
	OK(rig_find_as("ann", false, ".yard-storage/x", &p, &err) < 0 &&
		   err.code == ERR_DENIED,
	   "%s: the storage's own folder is nobody's", mode);

	AUTO_FREE char *deep = mem_alloc(1, VOLUME_PATH_MAX + 10);
	memset(deep, 'a', VOLUME_PATH_MAX + 1);
	OK(rig_find_as("ann", false, deep, &p, &err) < 0 && err.code == ERR_INVALID,
	   "%s: a path that is too long is none", mode);
	deep[300] = '\0';
	OK(rig_find_as("ann", false, deep, &p, &err) < 0 && err.code == ERR_INVALID,
	   "%s: nor is one with a name that is too long", mode);
}

static void test_links_inside(const char *mode)
{
	struct err err = { 0 };
	AUTO_FREE char *good = rig_read("good", &err),
		       *here = rig_read("here/file", &err),
		       *null = rig_read("null", &err), *fifo = rig_read("fifo", &err),
		       *hard = rig_read("hard", &err);

	OK(good && str_eq(good, "ann's own"), "%s: a link that stays inside is followed",
	   mode);
	OK(here && str_eq(here, "ann's own"), "%s: also one that leads up within", mode);
	OK(!null && !fifo, "%s: a device and a pipe are never opened", mode);
	OK(!hard, "%s: a foreign file that is linked there is not read", mode);
}

static atomic_bool racing;

/* The folder "race" and a link to the canary change places all the time. */
static void *swap(void *arg)
{
	AUTO_FREE char *folder = at_home("race"), *trap = at_home("trap");

	(void)arg;
	while (atomic_load(&racing))
		renameat2(AT_FDCWD, folder, AT_FDCWD, trap, RENAME_EXCHANGE);
	return NULL;
}

static int race_once(int i)
{
	AUTO_FREE char *name = str_printf("race/file-%d", i % 7);
	AUTO_FREE char *deep = str_printf("race/a/b-%d/c", i % 5);
	AUTO_PLACE struct volume_place p = rig_place(name),
				       below = rig_place("race/below"),
				       made = rig_place(deep);
	struct err err;
	struct file_page page = { 0 };
	struct tree_size size;

	AUTO_FREE char *secret = rig_read("race/secret", &err);
	rig_put(name, "race", &err);
	file_make_folder(&made, true, &err);
	if (i % 3 == 0)
		file_remove(&p, false, &size, &err);
	if (i % 10 == 0)
		file_remove(&below, true, &size, &err);
	file_list(&below, NULL, 10, &page, &err);
	int found = says_secret(secret);
	for (size_t k = 0; k < page.count; k++)
		found += str_eq(page.entries[k].name, "secret");
	file_page_fini(&page);
	return found;
}

static void test_race(const char *mode)
{
	uint32_t before = rig_canary_now();
	AUTO_PLACE struct volume_place folder = rig_place("race");
	struct err err = { 0 };
	pthread_t thread;
	int found = 0;

	file_make_folder(&folder, true, &err);
	link_to("../../../canary", "trap");
	own("trap");
	atomic_store(&racing, true);
	pthread_create(&thread, NULL, swap, NULL);
	for (int i = 0; i < 1500; i++)
		found += race_once(i);
	atomic_store(&racing, false);
	pthread_join(thread, NULL);
	OK(found == 0, "%s: nothing is read by a folder that becomes a link meanwhile",
	   mode);
	OK(rig_canary_now() == before, "%s: and nothing is written or removed there",
	   mode);
}

static void all(bool ranges)
{
	const char *mode = ranges ? "root mode" : "private mode";

	rig_begin(ranges);
	rig_canary();
	plant();
	test_refusals(mode);
	test_links_inside(mode);
	attack_all(mode);
	test_race(mode);
	rig_end();
}

int main(void)
{
	if (geteuid() == 0)
		all(true);
	else
		printf("# root mode is tried by root only\n");
	all(false);
	return END();
}
