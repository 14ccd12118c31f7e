// SPDX-License-Identifier: Apache-2.0
/* Archives of real folders: the same bytes for the same files, what tar reads back, what
 * git would have ignored. */
#include "pack/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/str.h"
#include "pack/tar.h"
#include "tap.h"

static char home[PATH_MAX]; /* everything happens below */

static int keep(void *arg, const void *data, size_t len, struct err *err)
{
	(void)err;
	buf_add(arg, data, len);
	return 0;
}

static int notices;

static void count_notice(void *arg, const char *text)
{
	(void)arg, (void)text;
	notices++;
}

static int pack(const char *folder, struct buf *out, char hash[PACK_HASH_HEX],
		struct err *err)
{
	struct pack_job job = {
		.folder = folder, .write = keep, .notice = count_notice, .arg = out
	};

	notices = 0;
	buf_clear(out);
	return pack_folder(&job, hash, NULL, err);
}

static void put(const char *path, const char *text)
{
	AUTO_FREE char *p = mem_strdup(path);

	for (char *s = strchr(p + 1, '/'); s; s = strchr(s + 1, '/')) {
		*s = '\0';
		mkdir(p, 0755);
		*s = '/';
	}
	FILE *f = fopen(path, "we");
	if (!f) {
		OK(false, "make %s: %s", path, strerror(errno));
		return;
	}
	fputs(text, f);
	fclose(f);
}

/* Runs argv in the home folder with the bytes on stdin; gives its output. */
static int run(const char *const *argv, const struct buf *in, struct buf *out)
{
	int to[2], from[2], status = 0;
	char chunk[4096];
	ssize_t n;

	if (pipe2(to, O_CLOEXEC) < 0 || pipe2(from, O_CLOEXEC) < 0)
		return -1;
	pid_t feeder = fork();
	if (feeder == 0) {
		close(to[0]);
		for (size_t at = 0; in && at < in->len; at += (size_t)n)
			if ((n = write(to[1], in->data + at, in->len - at)) <= 0)
				break;
		_exit(0);
	}
	pid_t pid = fork();
	if (pid == 0) {
		dup2(to[0], 0);
		dup2(from[1], 1);
		if (chdir(home) < 0)
			_exit(126);
		execvp(argv[0], (char *const *)(uintptr_t)argv);
		_exit(127);
	}
	close(to[0]), close(to[1]), close(from[1]);
	buf_clear(out);
	while ((n = read(from[0], chunk, sizeof chunk)) > 0)
		buf_add(out, chunk, (size_t)n);
	close(from[0]);
	waitpid(feeder, NULL, 0);
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void go(const char *name)
{
	char path[PATH_MAX + 32];

	snprintf(path, sizeof path, "%s/%s", home, name);
	mkdir(path, 0755);
	if (chdir(path) < 0)
		OK(false, "enter %s", path);
}

static void same_bytes(void)
{
	AUTO_BUF struct buf one = { 0 }, two = { 0 };
	char h1[PACK_HASH_HEX], h2[PACK_HASH_HEX];
	struct err err;

	go("first");
	put("b.py", "print(1)\n");
	put("a/z", "z");
	put("a/y", "");
	mkdir("empty", 0700);
	OK(symlink("a/z", "inside") == 0 && symlink("/etc/passwd", "outside") == 0 &&
		   symlink("../first/b.py", "round") == 0 && mkfifo("pipe", 0600) == 0,
	   "a folder with links and a pipe");
	OK(chmod("b.py", 0700) == 0 && pack(".", &one, h1, &err) == 0, "is packed");
	OK(notices == 3,
	   "what cannot come along is told: two links that leave, one pipe");

	go("second");
	put("a/y", "");
	put("a/z", "z");
	mkdir("empty", 0755);
	OK(symlink("a/z", "inside") == 0,
	   "another folder, made in another order, at another time");
	put("b.py", "print(1)\n");
	OK(chmod("b.py", 0755) == 0 && pack(".", &two, h2, &err) == 0,
	   "with the same files");
	OK(one.len == two.len && memcmp(one.data, two.data, one.len) == 0,
	   "makes the same bytes");
	IS(h1, h2, "and the same hash");
	OK(pack_hash_valid(h1), "which is one");

	OK(chmod("b.py", 0644) == 0 && pack(".", &two, h2, &err) == 0 &&
		   strcmp(h1, h2) != 0,
	   "the executable bit counts");

	AUTO_BUF struct buf list = { 0 };
	const char *const tar[] = { "tar", "-tf", "-", NULL };
	IS_INT(run(tar, &one, &list), 0, "tar reads it");
	IS(buf_str(&list), "a/\na/y\na/z\nb.py\nempty/\ninside\n",
	   "sorted, a folder before its files");
}

static void long_names(void)
{
	AUTO_BUF struct buf archive = { 0 }, list = { 0 };
	char name[256], hash[PACK_HASH_HEX], path[1200];
	struct err err;

	go("long");
	memset(name, 'n', 200);
	name[200] = '\0';
	snprintf(path, sizeof path, "%s/%s/%s", name, name, name);
	put(path, "deep");
	OK(symlink(path, "to") == 0 && pack(".", &archive, hash, &err) == 0,
	   "long names are packed");
	const char *const cat[] = { "tar", "-xOf", "-", path, NULL };
	IS_INT(run(cat, &archive, &list), 0, "tar finds them");
	IS(buf_str(&list), "deep", "with what is in them");
	const char *const verbose[] = { "tar", "-tvf", "-", "to", NULL };
	OK(run(verbose, &archive, &list) == 0 && strstr(buf_str(&list), path),
	   "a long link, too");
}

static void limits(void)
{
	struct err err;
	char hash[PACK_HASH_HEX];
	AUTO_BUF struct buf out = { 0 };
	struct pack_job files = { .folder = ".", .files_max = 3 };
	struct pack_job bytes = { .folder = ".", .bytes_max = 1000 };
	struct pack_job absent = { .folder = "no-such-folder" };

	go("limits");
	put("a", "1"), put("b", "2"), put("c", "3");
	OK(pack_folder(&files, hash, NULL, &err) == 0, "as many files as allowed");
	put("d", "4");
	OK(pack_folder(&files, hash, NULL, &err) < 0 && err.code == ERR_TOO_LARGE &&
		   strstr(err.text, ".yardignore"),
	   "one more is refused, and says what to do");
	OK(pack_folder(&bytes, hash, NULL, &err) < 0 && err.code == ERR_TOO_LARGE,
	   "so are too many bytes");
	OK(pack_folder(&absent, hash, NULL, &err) < 0 &&
		   strstr(err.text, "no-such-folder"),
	   "a folder that is not there is named");
	if (geteuid() != 0) {
		chmod("d", 0);
		OK(pack(".", &out, hash, &err) < 0 &&
			   strstr(err.text, "d cannot be read"),
		   "a file that cannot be read is named");
	}
}

static void huge(void)
{
	AUTO_BUF struct buf head = { 0 };
	struct tar_entry e = { .kind = TAR_FILE, .path = "data", .size = 9LL << 30 };

	tar_head(&e, &head);
	OK(head.len == 3 * TAR_BLOCK &&
		   memmem(head.data, head.len, "19 size=9663676416\n", 19) ==
			   head.data + TAR_BLOCK,
	   "a size beyond eleven octal digits stands in a pax record");
	buf_clear(&head);
	e.size = (8LL << 30) - 1;
	tar_head(&e, &head);
	OK(head.len == TAR_BLOCK && memcmp(head.data + 124, "77777777777", 12) == 0,
	   "the last one that fits does not");
}

static void links(void)
{
	OK(pack_link_inside("a/b", "c") && pack_link_inside("a/b", "../c") &&
		   pack_link_inside("a", "./b/../c"),
	   "links inside");
	OK(!pack_link_inside("a/b", "../../c") && !pack_link_inside("a", "/x") &&
		   !pack_link_inside("a", "b/../../a") && !pack_link_inside("a", ""),
	   "links that leave, even for a moment");
}

/* The regular files of an archive with short names, one a line, sorted as they come. */
static void files_of(const struct buf *archive, struct buf *out)
{
	for (size_t at = 0; at + 512 <= archive->len && archive->data[at];) {
		const char *h = archive->data + at;
		size_t size = (size_t)strtoul(h + 124, NULL, 8);
		if (h[156] == '0')
			buf_printf(out, "%.100s\n", h);
		at += 512 + (size + 511) / 512 * 512;
	}
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void sort_lines(struct buf *b)
{
	char *lines[2000], *save = NULL;
	size_t count = 0;
	AUTO_FREE char *text = buf_take(b);

	for (char *l = text ? strtok_r(text, "\n", &save) : NULL;
	     l && count < COUNT_OF(lines); l = strtok_r(NULL, "\n", &save))
		lines[count++] = l;
	if (count)
		qsort(lines, count, sizeof *lines, by_text);
	for (size_t i = 0; i < count; i++)
		buf_printf(b, "%s\n", lines[i]);
}

static unsigned seed;

static unsigned dice(unsigned sides)
{
	seed = seed * 1103515245u + 12345u;
	return (seed >> 16) % sides;
}

/* Names and patterns out of few pieces, so that they meet. */
static void random_rules(struct buf *out)
{
	static const char *const pieces[] = { "a",   "b",    "ab",         "x.c", "*",
					      "**",  "?",    "/",          "/",   "/",
					      "*.c", "[ab]", "[!a]",       "\\a", "a*",
					      "**/", "/**",  "[a-b]*",     " ",   "b/",
					      "a/b", "x",    "[[:alpha:]]" };

	for (unsigned lines = 1 + dice(6); lines; lines--) {
		if (dice(3) == 0)
			buf_addc(out, '!');
		for (unsigned n = 1 + dice(4); n; n--)
			buf_adds(out, pieces[dice(COUNT_OF(pieces))]);
		buf_adds(out, dice(4) == 0 ? "/\n" : "\n");
	}
}

static void random_tree(unsigned which)
{
	static const char *const names[] = { "a", "b", "ab", "x.c", "x", "aa", "ba.c" };
	AUTO_BUF struct buf path = { 0 }, rules = { 0 };
	AUTO_FREE char *dir = str_printf("tree-%u", which);

	go(dir);
	for (int i = 0; i < 30; i++) {
		buf_clear(&path);
		for (unsigned depth = 1 + dice(4); depth; depth--)
			buf_printf(&path, "%s%s", path.len ? "/" : "",
				   names[dice(COUNT_OF(names))]);
		struct stat st;
		if (stat(path.data, &st) == 0)
			continue;
		bool blocked = false; /* a file where a folder would have to be */
		for (char *s = strchr(path.data, '/'); s; s = strchr(s + 1, '/')) {
			*s = '\0';
			blocked |= stat(path.data, &st) == 0 && !S_ISDIR(st.st_mode);
			*s = '/';
		}
		if (!blocked)
			put(path.data, "");
	}
	random_rules(&rules);
	put(".gitignore", buf_str(&rules));
	static const char *const inner[] = { "a/.gitignore", "a/b/.gitignore",
					     "b/.gitignore" };
	for (size_t i = 0; i < COUNT_OF(inner); i++) {
		struct stat st;
		AUTO_FREE char *folder =
			mem_strndup(inner[i], strlen(inner[i]) - strlen("/.gitignore"));
		if (stat(folder, &st) < 0 || !S_ISDIR(st.st_mode))
			continue;
		buf_clear(&rules);
		random_rules(&rules);
		put(inner[i], buf_str(&rules));
	}
}

static void as_git(void)
{
	AUTO_BUF struct buf out = { 0 }, archive = { 0 }, ours = { 0 }, theirs = { 0 };
	const char *const version[] = { "git", "--version", NULL };
	unsigned trees = 120, wrong = 0, files = 0;
	char hash[PACK_HASH_HEX];
	struct err err;

	if (run(version, NULL, &out) != 0) {
		SKIP("git is not installed");
		return;
	}
	setenv("GIT_CONFIG_GLOBAL", "/dev/null", 1);
	setenv("GIT_CONFIG_SYSTEM", "/dev/null", 1);
	for (unsigned i = 0; i < trees; i++) {
		seed = i;
		random_tree(i);
		AUTO_FREE char *dir = str_printf("tree-%u", i);
		const char *const init[] = { "git", "init", "-q", dir, NULL };
		const char *const list[] = { "git",      "-C", dir,
					     "ls-files", "-o", "--exclude-standard",
					     NULL };
		if (run(init, NULL, &out) != 0 || run(list, NULL, &theirs) != 0 ||
		    pack(".", &archive, hash, &err) < 0) {
			wrong++;
			continue;
		}
		buf_clear(&ours);
		files_of(&archive, &ours);
		sort_lines(&ours);
		sort_lines(&theirs);
		files += (unsigned)ours.len;
		if (strcmp(buf_str(&ours), buf_str(&theirs)) != 0) {
			printf("# seed %u\n# ours:\n%s# git:\n%s", i, buf_str(&ours),
			       buf_str(&theirs));
			wrong++;
		}
	}
	OK(files > 1000 && wrong == 0,
	   "%u random trees: exactly the files that git would keep", trees);
}

static void in_a_work_tree(void)
{
	AUTO_BUF struct buf archive = { 0 }, files = { 0 };
	char hash[PACK_HASH_HEX];
	struct err err;

	go("work");
	put(".git/info/exclude", "secret\n");
	put(".gitignore", "*.pt\n/sub/gone\nscratch/\n");
	put("sub/.yardignore", "!keep.pt\n");
	put("sub/a", ""), put("sub/m.pt", ""), put("sub/keep.pt", "");
	put("sub/gone", ""), put("sub/secret", ""), put("sub/deep/.git/x", ""),
		put("sub/deep/y", "");
	put("scratch/z.pt", ""), put("scratch/w", "");
	OK(pack("sub", &archive, hash, &err) == 0,
	   "a folder inside a work tree is packed");
	files_of(&archive, &files);
	IS(buf_str(&files), ".yardignore\na\ndeep/y\nkeep.pt\n",
	   "rules above it hold, .yardignore stands above them, no .git comes along");
	buf_clear(&files);
	OK(pack("scratch", &archive, hash, &err) == 0,
	   "a folder that the rules above ignore");
	files_of(&archive, &files);
	IS(buf_str(&files), "w\nz.pt\n", "is packed whole all the same");
}

int main(void)
{
	snprintf(home, sizeof home, "%s/yard-pack-XXXXXX",
		 getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	if (!mkdtemp(home))
		return 1;
	same_bytes();
	long_names();
	limits();
	huge();
	links();
	in_a_work_tree();
	as_git();
	AUTO_BUF struct buf out = { 0 };
	const char *const rm[] = { "rm", "-rf", home, NULL };
	if (chdir("/") == 0)
		run(rm, NULL, &out);
	return END();
}
