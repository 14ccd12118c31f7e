// SPDX-License-Identifier: Apache-2.0
/* Which checkpoint is complete, and whether one is being written. */
#include "depot/checkpoint.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "depot/tree.h"
#include "tap.h"

static char home[PATH_MAX];

/* A file in the folder, written at that second; folders on the way are made. */
static void put(const char *name, const char *text, int64_t second)
{
	AUTO_FREE char *path = str_printf("%s/%s", home, name);
	struct timespec times[2] = { { second, 0 }, { second, 0 } };
	char *slash = strrchr(path, '/');
	struct err err;

	*slash = 0;
	tree_make(path, 0755, &err);
	*slash = '/';
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		OK(false, "write %s", path);
	close(fd);
	utimensat(AT_FDCWD, path, times, 0);
	*slash = 0;
	if (!str_eq(path, home))
		utimensat(AT_FDCWD, path, times, 0);
}

static void begin(void)
{
	struct err err;

	tree_delete(home, &err);
	tree_make(home, 0755, &err);
}

static bool last_is(const char *name, int64_t cut_second)
{
	struct checkpoint_sight s;
	struct err err;
	const struct checkpoint_entry *e;
	bool same;

	if (checkpoint_look(home, &s, &err) < 0) {
		printf("# %s\n", err.text);
		return false;
	}
	e = checkpoint_last(&s, cut_second > 0 ? cut_second * 1000 : cut_second);
	same = name ? e && str_eq(e->name, name) : !e;
	if (!same)
		printf("# it is %s\n", e ? e->name : "none");
	checkpoint_fini(&s);
	return same;
}

static uint64_t print_of(void)
{
	struct checkpoint_sight s;
	struct err err;
	uint64_t print;

	if (checkpoint_look(home, &s, &err) < 0)
		return 0;
	print = s.print;
	checkpoint_fini(&s);
	return print;
}

static void without_marks(void)
{
	begin();
	OK(last_is(NULL, 0), "an empty folder has none");
	put("step-1.pt", "weights", 1000);
	put("step-2.pt", "weights", 1010);
	OK(last_is("step-2.pt", 0), "of what was left in peace the newest is it");
	OK(last_is("step-2.pt", 1015),
	   "so too when it was written long enough before the cut");
	OK(last_is("step-1.pt", 1014), "but what was written just before the cut is not");
	OK(last_is(NULL, 1003), "and when all was, there is none");
	OK(last_is("step-1.pt", -1),
	   "of one that was lost the last thing written is not whole");
	put("step-10.pt", "weights", 1010);
	OK(last_is("step-10.pt", 0), "of two of one moment the higher number");
	put("step-3.pt.tmp", "weights", 1020);
	put("step-3.part", "weights", 1020);
	put(".step-3.pt", "weights", 1020);
	put("step-4.pt", "", 1020);
	OK(last_is("step-10.pt", 0), "work in progress and empty files are none");
	put("folder/shard/0", "weights", 1030);
	put("folder/meta", "", 1025);
	OK(last_is("folder", 0), "a folder is as new as what was written in it last");
	OK(last_is("step-10.pt", 1034), "and is being written while anything in it is");
	AUTO_FREE char *empty = str_printf("%s/made", home);
	OK(mkdir(empty, 0755) == 0 && last_is("folder", 0), "an empty folder is none");
}

static void with_marks(void)
{
	AUTO_FREE char *link = str_printf("%s/latest", home);

	begin();
	put("a/weights", "x", 1000);
	put("a/.complete", "", 1001);
	put("b/weights", "x", 1010);
	OK(last_is("a", 0), "as soon as one is marked, what is not is not complete");
	OK(last_is("a", 1001), "a mark needs no time to settle");
	put("c.pt", "x", 1020);
	put("c.pt.complete", "", 1021);
	OK(last_is("c.pt", 0), "a file is marked beside itself");
	put("d.pt.complete", "", 1030);
	OK(last_is("c.pt", 0), "a mark of nothing marks nothing");
	put("e.tmp/weights", "x", 1040);
	put("e.tmp/.complete", "", 1041);
	put("b/deep/.complete", "", 1042);
	OK(last_is("c.pt", 0),
	   "work in progress is none, marked or not; a mark deeper down is no mark");
	OK(symlink("a", link) == 0 && last_is("c.pt", 0), "a link is none");
	put("latest.complete", "", 1050);
	OK(last_is("c.pt", 0), "marked or not");
	put("a/.complete", "", 1060);
	OK(last_is("a", 0), "the last one marked is the last");
}

static void growing(void)
{
	uint64_t first, second;
	struct checkpoint_sight s;
	struct err err;

	begin();
	put("a/weights", "x", 1000);
	first = print_of();
	OK(first == print_of(), "two looks at what nobody writes to are the same");
	put("a/weights", "xx", 1000);
	second = print_of();
	OK(first != second, "a file that grew is seen");
	put("a/weights", "yy", 1001);
	OK(second != print_of(), "and one that was written over");
	second = print_of();
	put(".hidden.tmp", "", 1001);
	OK(second != print_of(), "and one that is still being written");
	AUTO_FREE char *nowhere = str_printf("%s/nowhere", home);
	OK(checkpoint_look(nowhere, &s, &err) == 0 && !s.count && !s.print,
	   "a folder that is not there is empty");
	AUTO_FREE char *outside = str_printf("%s/a-link", home);
	OK(symlink("/etc", outside) == 0 && checkpoint_look(outside, &s, &err) < 0,
	   "a link in its place is not followed");
	OK(checkpoint_look(home, &s, &err) == 0 && s.bytes == 2 && s.files == 4,
	   "what lies behind a link is not counted");
	checkpoint_fini(&s);
}

int main(void)
{
	AUTO_FREE char *dir = mem_strdup("/tmp/yard-checkpoint.XXXXXX");
	struct err err;

	if (!mkdtemp(dir))
		return 1;
	snprintf(home, sizeof home, "%s/checkpoints", dir);
	without_marks();
	with_marks();
	growing();
	tree_delete(dir, &err);
	return END();
}
