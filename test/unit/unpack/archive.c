// SPDX-License-Identifier: Apache-2.0
/* Archives with bad intentions, and one with good ones; what the sandbox leaves. */
#include "unpack/unpack.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "pack/folder.h"
#include "tap.h"

static char home[PATH_MAX];
static int target = -1;
static const struct unpack_limits roomy = { .entries = 1000, .bytes = 1 << 20 };

static void fresh(void)
{
	static int n;
	char path[PATH_MAX + 16];

	if (target >= 0)
		close(target);
	snprintf(path, sizeof path, "%s/%d", home, n++);
	mkdir(path, 0755);
	target = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

struct row {
	const char *path;
	mode_t mode;
	const char *to; /* link: where it points; hard link when the mode is 0 */
	int64_t size;   /* file */
};

/* An archive of these entries in a file without a name. */
static int archive_of(const struct row *rows, size_t count)
{
	int fd = memfd_create("archive", MFD_CLOEXEC);
	struct archive *a = archive_write_new();

	archive_write_set_format_pax_restricted(a);
	archive_write_open_fd(a, fd);
	for (size_t i = 0; i < count; i++) {
		const struct row *r = &rows[i];
		struct archive_entry *e = archive_entry_new();
		archive_entry_set_pathname(e, r->path);
		archive_entry_set_mode(e, r->mode ? r->mode : S_IFREG | 0644);
		archive_entry_set_mtime(e, 315532800, 0);
		if (S_ISLNK(r->mode))
			archive_entry_set_symlink(e, r->to);
		else if (!r->mode)
			archive_entry_set_hardlink(e, r->to);
		archive_entry_set_size(e, r->size);
		archive_write_header(a, e);
		for (int64_t left = r->size; left > 0; left -= 5)
			archive_write_data(a, "hello", left < 5 ? (size_t)left : 5);
		archive_entry_free(e);
	}
	archive_write_close(a);
	archive_write_free(a);
	lseek(fd, 0, SEEK_SET);
	return fd;
}

static int try_unpack(const struct row *rows, size_t count,
		      const struct unpack_limits *limits, struct err *err)
{
	AUTO_FD int fd = archive_of(rows, count);

	fresh();
	err->code = ERR_NONE;
	return unpack_archive(fd, target, limits, err);
}

static void good(void)
{
	const struct row rows[] = {
		{ "./", S_IFDIR | 0755 },
		{ "run.sh", S_IFREG | 0775, NULL, 5 },
		{ "deep/er/file", S_IFREG | 0600, NULL, 10 },
		{ "deep/link", S_IFLNK | 0777, "er/../er/file" },
		{ "hard", 0, "deep/er/file" },
		{ "na\xc3\xafve", S_IFREG | 0644, NULL, 0 },
		{ "run.sh", S_IFREG | 0755, NULL, 7 }, /* again: the later one counts */
	};
	struct err err;
	struct stat st;
	char to[64] = "";

	OK(try_unpack(rows, COUNT_OF(rows), &roomy, &err) == 0,
	   "a good archive is unpacked");
	OK(fstatat(target, "run.sh", &st, 0) == 0 && st.st_size == 7 &&
		   (st.st_mode & 07777) == 0755,
	   "a file that came twice is the later one, executable");
	OK(fstatat(target, "deep/er/file", &st, 0) == 0 && (st.st_mode & 07777) == 0644 &&
		   st.st_mtime == 315532800 && st.st_nlink == 2,
	   "modes are made plain, time is kept, hard links work");
	OK(readlinkat(target, "deep/link", to, sizeof to - 1) > 0 &&
		   !strcmp(to, "er/../er/file"),
	   "links are kept");
	OK(fstatat(target, "na\xc3\xafve", &st, 0) == 0, "names in UTF-8");
}

static void bad(void)
{
	static const struct {
		const char *law, *says;
		struct row rows[3];
		size_t count;
	} cases[] = {
		{ "absolute paths",
		  "absolute",
		  { { "/tmp/yard-evil", S_IFREG | 0644, NULL, 5 } },
		  1 },
		{ "..", "..", { { "a/../../evil", S_IFREG | 0644, NULL, 5 } }, 1 },
		{ ".. behind a folder",
		  "..",
		  { { "a", S_IFDIR | 0755 }, { "a/..", S_IFDIR | 0755 } },
		  2 },
		{ "links to absolute places",
		  "outside",
		  { { "l", S_IFLNK | 0777, "/etc" } },
		  1 },
		{ "links that leave",
		  "outside",
		  { { "a/l", S_IFLNK | 0777, "../../x" } },
		  1 },
		{ "files through a link",
		  "something else",
		  { { "a", S_IFDIR | 0755 },
		    { "l", S_IFLNK | 0777, "a" },
		    { "l/evil", S_IFREG | 0644, NULL, 5 } },
		  3 },
		{ "folders in place of a link",
		  "something else",
		  { { "a", S_IFDIR | 0755 },
		    { "l", S_IFLNK | 0777, "a" },
		    { "l", S_IFDIR | 0755 } },
		  3 },
		{ "files in place of a folder",
		  "something else",
		  { { "a/b", S_IFREG | 0644, NULL, 1 },
		    { "a", S_IFREG | 0644, NULL, 1 } },
		  2 },
		{ "folders below a file",
		  "something else",
		  { { "a", S_IFREG | 0644, NULL, 1 },
		    { "a/b", S_IFREG | 0644, NULL, 1 } },
		  2 },
		{ "hard links out", "..", { { "h", 0, "../../etc/passwd" } }, 1 },
		{ "hard links to what is not there",
		  "not in the archive",
		  { { "h", 0, "x" } },
		  1 },
		{ "hard links to a link",
		  "not in the archive",
		  { { "l", S_IFLNK | 0777, "x" }, { "h", 0, "l" } },
		  2 },
		{ "setuid", "setuid", { { "s", S_IFREG | 04755, NULL, 5 } }, 1 },
		{ "setgid", "setuid", { { "s", S_IFREG | 02755, NULL, 5 } }, 1 },
		{ "devices", "device", { { "d", S_IFCHR | 0666 } }, 1 },
		{ "pipes", "device", { { "p", S_IFIFO | 0666 } }, 1 },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct err err;
		int rc = try_unpack(cases[i].rows, cases[i].count, &roomy, &err);
		OK(rc < 0 && err.code == ERR_INVALID && strstr(err.text, cases[i].says),
		   "refused: %s", cases[i].law);
		if (rc == 0 || !strstr(err.text, cases[i].says))
			printf("# rc %d, said '%s'\n", rc, rc ? err.text : "");
	}
	OK(access("/tmp/yard-evil", F_OK) < 0, "nothing was written outside");
}

static void bombs(void)
{
	const struct unpack_limits tight = { .entries = 2, .bytes = 12 };
	const struct row many[] = { { "a", S_IFDIR | 0755 },
				    { "b", S_IFDIR | 0755 },
				    { "c", S_IFDIR | 0755 } };
	const struct row big[] = { { "a", S_IFREG | 0644, NULL, 6 },
				   { "b", S_IFREG | 0644, NULL, 7 } };
	struct err err;
	AUTO_BUF struct buf deep = { 0 };

	OK(try_unpack(many, 2, &tight, &err) == 0, "as many entries as allowed");
	OK(try_unpack(many, 3, &tight, &err) < 0 && err.code == ERR_TOO_LARGE,
	   "not one more");
	OK(try_unpack(big, 2, &tight, &err) < 0 && err.code == ERR_TOO_LARGE,
	   "bytes count over all files");
	for (int i = 0; i <= PACK_DEPTH_MAX; i++)
		buf_adds(&deep, "d/");
	const struct row nested[] = { { deep.data, S_IFDIR | 0755 } };
	OK(try_unpack(nested, 1, &roomy, &err) < 0 && strstr(err.text, "deep"),
	   "nor levels without end");

	/* A head that claims a terabyte in front of nothing. */
	AUTO_FD int fd = archive_of(big, 1);
	char size[] = "77777777777", block[512];
	unsigned sum = 0;
	if (pread(fd, block, 512, 0) == 512) {
		memcpy(block + 124, size, 11);
		memset(block + 148, ' ', 8);
		for (int i = 0; i < 512; i++)
			sum += (unsigned char)block[i];
		snprintf(block + 148, 8, "%06o", sum);
		OK(pwrite(fd, block, 512, 0) == 512, "a forged head");
	}
	fresh();
	OK(unpack_archive(fd, target, &roomy, &err) < 0 && err.code == ERR_TOO_LARGE,
	   "is refused by what it claims");
}

static void broken(void)
{
	const struct row rows[] = { { "a", S_IFREG | 0644, NULL, 5000 } };
	AUTO_FD int fd = archive_of(rows, 1);
	AUTO_FD int junk = memfd_create("junk", MFD_CLOEXEC);
	struct err err;

	fresh();
	OK(ftruncate(fd, 2000) == 0 && unpack_archive(fd, target, &roomy, &err) < 0 &&
		   err.code == ERR_INVALID && strstr(err.text, "broken"),
	   "an archive that ends too early is broken");
	for (int i = 0; i < 4096; i++)
		if (write(junk, "\x7fjunk?", 6) != 6)
			break;
	lseek(junk, 0, SEEK_SET);
	OK(unpack_archive(junk, target, &roomy, &err) < 0 && err.code == ERR_INVALID &&
		   strstr(err.text, ".tar.gz"),
	   "of junk it is told what is taken");
}

static int to_fd(void *arg, const void *data, size_t len, struct err *err)
{
	return write(*(int *)arg, data, len) == (ssize_t)len ? 0 : err_sys(err, "write");
}

static void make(int at, const char *name, mode_t mode)
{
	AUTO_FD int fd = openat(at, name, O_WRONLY | O_CREAT | O_CLOEXEC, mode);

	if (fd < 0 || write(fd, name, strlen(name)) < 0)
		OK(false, "make %s: %s", name, strerror(errno));
}

static void round_trip(void)
{
	AUTO_FD int fd = memfd_create("archive", MFD_CLOEXEC);
	char first[PACK_HASH_HEX], second[PACK_HASH_HEX], name[256], from[PATH_MAX + 32];
	struct err err;

	fresh();
	memset(name, 'n', 200);
	memcpy(name + 200, "\xff\xfe", 3); /* longer than a head's field, and not UTF-8 */
	OK(mkdirat(target, "folder", 0700) == 0 &&
		   mkdirat(target, "folder/\xc3\xa9", 0700) == 0 &&
		   symlinkat("folder/../x", target, "link") == 0 &&
		   symlinkat(name, target, "long") == 0,
	   "a folder of odd names");
	make(target, name, 0644);
	make(target, "folder/new\nline", 0755);
	make(target, "bad\xff", 0600);
	snprintf(from, sizeof from, "/proc/self/fd/%d/.", target);
	struct pack_job one = { .folder = from, .write = to_fd, .arg = &fd };
	OK(pack_folder(&one, first, NULL, &err) == 0, "is packed");
	lseek(fd, 0, SEEK_SET);
	fresh();
	OK(unpack_archive(fd, target, &roomy, &err) == 0, "unpacked");
	snprintf(from, sizeof from, "/proc/self/fd/%d/.", target);
	struct pack_job two = { .folder = from };
	OK(pack_folder(&two, second, NULL, &err) == 0, "and packed again");
	IS(first, second, "it is the same archive: nothing was lost on the way");
}

/* Bits for what a confined process could still do. */
static int in_the_sandbox(int archive)
{
	struct err err;

	if (unpack_sandbox(target, 65534, &roomy, &err) < 0) {
		printf("# %s\n", err.text);
		return 64;
	}
	int could = unpack_archive(archive, target, &roomy, &err) < 0 ? 1 : 0;
	could |= open("/etc/passwd", O_RDONLY | O_CLOEXEC) >= 0 ? 2 : 0;
	could |= socket(AF_INET, SOCK_STREAM, 0) >= 0 ? 4 : 0;
	could |= kill(getppid(), 0) == 0 ? 8 : 0;
	could |= openat(target, "../escape", O_WRONLY | O_CREAT | O_CLOEXEC, 0600) >= 0
			 ? 16
			 : 0;
	pid_t pid = fork();
	if (pid == 0)
		_exit(0);
	could |= pid > 0 ? 32 : 0;
	return could;
}

static void sandbox(void)
{
	const struct row rows[] = { { "a/b", S_IFREG | 0644, NULL, 5 } };
	AUTO_FD int fd = archive_of(rows, 1);
	int status = 0;
	struct stat st;

	fresh();
	if (geteuid() == 0 && fchown(target, 65534, 65534) < 0)
		OK(false, "give the folder away");
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		int could = in_the_sandbox(fd);
		fflush(stdout);
		_exit(could);
	}
	waitpid(pid, &status, 0);
	int could = WIFEXITED(status) ? WEXITSTATUS(status) : 127;
	OK(!(could & 64), "the sandbox can be entered here");
	OK(!(could & 1), "the archive can be unpacked in it");
	OK(!(could & (2 | 16)), "no other file can be opened");
	OK(!(could & 4), "no socket can be made");
	OK(!(could & (8 | 32)), "no other process can be made or reached");
	OK(fstatat(target, "a/b", &st, 0) == 0 && (geteuid() != 0 || st.st_uid == 65534),
	   "the files are there and belong to whom it became");
}

int main(void)
{
	snprintf(home, sizeof home, "%s/yard-unpack-XXXXXX",
		 getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	if (!mkdtemp(home) || chmod(home, 0755) < 0)
		return 1;
	setlocale(LC_CTYPE, "C.UTF-8");
	good();
	bad();
	bombs();
	broken();
	round_trip();
	sandbox();
	close(target);
	char rm[PATH_MAX + 16];
	snprintf(rm, sizeof rm, "%s", home);
	pid_t pid = fork();
	if (pid == 0) {
		execlp("rm", "rm", "-rf", rm, (char *)NULL);
		_exit(127);
	}
	waitpid(pid, NULL, 0);
	return END();
}
