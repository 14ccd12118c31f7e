// SPDX-License-Identifier: Apache-2.0
/* Files of the storage: put whole or not at all, listed by page, moved, removed, measured. */
#include <errno.h>
#include <pthread.h>
#include <sys/mount.h>
#include <sys/wait.h>

#include "storage_rig.h"

static size_t count_in(const char *path)
{
	AUTO_PLACE struct volume_place p = rig_place(path);
	DIR *dir;
	size_t n = 0;
	AUTO_FREE char *folder = str_printf("%s/%s", p.folder, p.rel);

	dir = opendir(folder);
	for (const struct dirent *e; dir && (e = readdir(dir));)
		n += !str_eq(e->d_name, ".") && !str_eq(e->d_name, "..") &&
		     !str_eq(e->d_name, ".yard-storage");
	if (dir)
		closedir(dir);
	return n;
}

static void test_put(void)
{
	struct file_put_how how = { .modified_ms = 1700000000123,
				    .executable = true,
				    .sync = true };
	AUTO_PLACE struct volume_place p = rig_place("d/a");
	struct err err = { 0 };
	struct file_info info;

	OK(rig_put_how("d/a", "one", &how, &err) < 0 && err.code == ERR_NOT_FOUND,
	   "without its folder there is no file");
	how.parents = true;
	OK(rig_put_how("d/a", "one", &how, &err) == 0, "with parents there is: %s",
	   err.text);
	OK(file_stat(&p, &info, &err) == 0 && info.size == 3 && info.executable &&
		   info.modified_ms == 1700000000123 && info.kind == FILE_FILE,
	   "size, time and mode are as said");
	struct file_info before = info;
	OK(rig_put_how("d/a", "two", &how, &err) == 0, "it is replaced");
	OK(file_stat(&p, &info, &err) == 0 && !str_eq(info.etag, before.etag),
	   "and has another tag, though size and time are the same");
	how.only_new = true;
	OK(rig_put_how("d/a", "three", &how, &err) < 0 && err.code == ERR_CONFLICT,
	   "only when new: not when it is there");
	AUTO_FREE char *text = rig_read("d/a", &err);
	IS(text, "two", "what was there is still there");
	OK(rig_put_how("d", "x", &how, &err) < 0 && err.code == ERR_CONFLICT,
	   "a folder is not replaced by a file");
	IS_INT((int)count_in("d"), 1, "nothing else lies about");
}

static void test_checksum(void)
{
	struct file_put_how how = { .modified_ms = -1, .has_checksum = true };
	static const char *const good[] = {
		"crc32c=e3069283",
		"sha256=15e2b0d3c33891ebb0f1ef609ec419420c20e320ce94c65fbc8c3312448eb225",
	};
	struct err err = { 0 };

	for (size_t i = 0; i < COUNT_OF(good); i++)
		OK(checksum_read(good[i], &how.checksum, &err) == 0 &&
			   rig_put_how("sum", "123456789", &how, &err) == 0,
		   "a right %.6s is taken: %s", good[i], err.text);
	OK(rig_put_how("sum", "12345678x", &how, &err) < 0 && err.code == ERR_INVALID,
	   "a wrong one is not");
	AUTO_FREE char *text = rig_read("sum", &err);
	IS(text, "123456789", "and the old file is whole");
	OK(checksum_read("md5=00", &how.checksum, &err) < 0 &&
		   checksum_read("crc32c=0", &how.checksum, &err) < 0 &&
		   checksum_read("crc32c", &how.checksum, &err) < 0 &&
		   checksum_read("sha256=zz", &how.checksum, &err) < 0,
	   "what is no sum is refused");
}

static void test_abort(void)
{
	AUTO_PLACE struct volume_place p = rig_place("d/half");
	struct file_put_how how = { .modified_ms = -1 };
	struct err err = { 0 };
	size_t before = count_in("d");
	struct file_put *f = file_put_begin(&p, &how, &err);

	OK(f && file_put_write(f, "half", 4, &err) == 0, "half a file came");
	file_put_abort(f);
	OK(count_in("d") == before, "given up, nothing is left of it");
}

static void test_full_disk(void)
{
	AUTO_FREE char *folder = str_printf("%s/pfs/home/ann/small", rig_dir);
	AUTO_FREE char *much = mem_alloc(1, (2 << 20) + 1);
	struct err err = { 0 };

	mkdir(folder, 0755);
	if (mount("none", folder, "tmpfs", 0,
		  "size=1m,mode=755,uid=1234567,gid=1234567") < 0) {
		printf("# no small disk: %s\n", strerror(errno));
		return;
	}
	memset(much, 'x', 2 << 20);
	if (!rig_ranges && chown(folder, geteuid(), getegid()) < 0)
		printf("# chown: %s\n", strerror(errno));
	OK(rig_put("small/f", "old", &err) == 0, "a file on a small disk: %s", err.text);
	OK(rig_put("small/f", much, &err) < 0 && err.code == ERR_IO &&
		   strstr(err.text, "full"),
	   "one that does not fit is refused: %s", err.text);
	AUTO_FREE char *text = rig_read("small/f", &err);
	IS(text, "old", "the old file is whole");
	IS_INT((int)count_in("small"), 1, "and nothing lies about");
	OK(rig_put("small/g", "room", &err) == 0, "the room was given back");
	AUTO_PLACE struct volume_place p = rig_place("small"), all = rig_place("~");
	struct tree_size size, whole;
	OK(file_measure(&all, NULL, &whole, &err) == 0 &&
		   file_measure(&p, NULL, &size, &err) == 0 && size.files == 2,
	   "what is mounted inside is measured where it is asked for");
	OK(file_remove(&p, true, &size, &err) < 0, "another disk is not removed with it");
	text = (free(text), rig_read("small/f", &err));
	IS(text, "old", "nor what it holds");
	umount(folder);
	rmdir(folder);
}

static void test_list(void)
{
	AUTO_PLACE struct volume_place p = rig_place("list");
	struct err err = { 0 };
	struct file_page page = { 0 };
	char last[64] = "";
	size_t pages = 0, seen = 0;
	bool order = true;

	for (int i = 0; i < 57; i++) {
		AUTO_FREE char *name = str_printf("list/n%03d", i * 37 % 57);
		rig_put(name, "x", &err);
	}
	do {
		file_page_fini(&page);
		if (file_list(&p, *last ? last : NULL, 10, &page, &err) < 0)
			break;
		pages++;
		for (size_t i = 0; i < page.count; i++, seen++) {
			order &= strcmp(page.entries[i].name, last) > 0;
			snprintf(last, sizeof last, "%s", page.entries[i].name);
		}
	} while (page.more);
	file_page_fini(&page);
	OK(seen == 57 && pages == 6 && order, "pages give every name once, in order");
	AUTO_PLACE struct volume_place home = rig_place("~"),
				       file = rig_place("list/n001");
	bool own = false;
	file_list(&home, NULL, 1000, &page, &err);
	for (size_t i = 0; i < page.count; i++)
		own |= str_eq(page.entries[i].name, ".yard-storage");
	OK(!own, "the storage's own folder is not shown");
	file_page_fini(&page);
	OK(file_list(&file, NULL, 10, &page, &err) < 0 && err.code == ERR_CONFLICT,
	   "a file has no entries");
}

static void test_move(void)
{
	AUTO_PLACE struct volume_place a = rig_place("m/a"), b = rig_place("m/b"),
				       m = rig_place("m"), into = rig_place("m/a/m"),
				       share = rig_place("/mnt/share/lab/a");
	struct err err = { 0 };

	rig_put("m/a", "A", &err);
	rig_put("m/b", "B", &err);
	OK(file_move(&a, &b, false, &err) < 0 && err.code == ERR_CONFLICT,
	   "what is there is not replaced unasked");
	OK(file_move(&a, &b, true, &err) == 0, "asked, it is");
	AUTO_FREE char *text = rig_read("m/b", &err);
	IS(text, "A", "by what was moved");
	OK(file_move(&a, &b, false, &err) < 0 && err.code == ERR_NOT_FOUND,
	   "what is gone is not moved");
	OK(file_move(&m, &into, false, &err) < 0, "no folder goes into itself");
	OK(file_move(&b, &share, false, &err) < 0 && err.code == ERR_UNSUPPORTED,
	   "nor anything to another owner");
}

static void test_remove(void)
{
	AUTO_PLACE struct volume_place r = rig_place("r"), home = rig_place("~"),
				       link = rig_place("r/link");
	AUTO_FREE char *at = str_printf("%s/r/link", home.folder);
	struct tree_size size;
	struct err err = { 0 };

	for (int i = 0; i < 30; i++) {
		AUTO_FREE char *name = str_printf("r/%d/%d/f", i % 3, i);
		rig_put(name, "12345", &err);
	}
	rig_put("keep", "kept", &err);
	if (symlink("../keep", at) < 0)
		printf("# symlink: %s\n", strerror(errno));
	OK(file_remove(&r, false, &size, &err) < 0 && err.code == ERR_CONFLICT,
	   "a folder that is not empty stays, unasked");
	OK(file_remove(&link, false, &size, &err) == 0, "a link is removed");
	AUTO_FREE char *kept = rig_read("keep", &err);
	IS(kept, "kept", "not what it leads to");
	if (symlink("../..", at) < 0)
		printf("# symlink: %s\n", strerror(errno));
	OK(file_remove(&r, true, &size, &err) == 0 && size.files == 31 &&
		   size.bytes == 150,
	   "asked, all of it goes, and is counted: %s", err.text);
	OK(file_remove(&r, true, &size, &err) < 0 && err.code == ERR_NOT_FOUND,
	   "twice is once too often");
	OK(file_remove(&home, true, &size, &err) < 0, "a home itself stays");
}

/* Deeper than descriptors reach, as only a task can make it. */
static void test_deep(void)
{
	AUTO_PLACE struct volume_place deep = rig_place("deep"), home = rig_place("~");
	struct tree_size size;
	struct err err = { 0 };
	pid_t pid = fork();

	if (pid == 0) {
		if (rig_ranges && setuid(RIG_UID) < 0)
			_exit(1);
		if (chdir(home.folder) < 0 || mkdir("deep", 0755) < 0 ||
		    chdir("deep") < 0)
			_exit(2);
		for (int i = 0; i < 3000; i++)
			if (mkdir("x", 0755) < 0 || chdir("x") < 0)
				_exit(3);
		_exit(0);
	}
	int status = -1;
	waitpid(pid, &status, 0);
	OK(status == 0, "a folder 3000 deep");
	OK(file_measure(&deep, NULL, &size, &err) == 0, "it can be measured");
	OK(file_remove(&deep, true, &size, &err) == 0, "and removed: %s", err.text);
	AUTO_FREE char *own = str_printf("%s/.yard-storage", home.folder);
	DIR *dir = opendir(own);
	int left = -2;
	while (dir && readdir(dir))
		left++;
	if (dir)
		closedir(dir);
	IS_INT(left, 0, "nothing of it is left");
}

static void all(bool ranges)
{
	rig_begin(ranges);
	test_put();
	test_checksum();
	test_abort();
	test_list();
	test_move();
	test_remove();
	test_deep();
	test_full_disk();
	rig_end();
}

int main(void)
{
	if (geteuid() == 0)
		all(true);
	all(false);
	return END();
}
