// SPDX-License-Identifier: Apache-2.0
/* Addresses and names from outside; lists of files as text, and the keys made of them. */
#include "remote/manifest.h"

#include <sys/mman.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "remote/request.h"
#include "remote/uri.h"
#include "tap.h"

static void addresses(void)
{
	static const struct {
		const char *uri, *host, *endpoint, *path, *base;
		enum remote_scheme scheme;
		bool folder;
	} good[] = {
		{ "s3://b.with.dots/a/b.csv", "b.with.dots", NULL, "a/b.csv", "b.csv",
		  REMOTE_S3, false },
		{ "s3://bucket", "bucket", NULL, "", NULL, REMOTE_S3, true },
		{ "oss://bucket.oss-cn-x.example.com/dir/", "bucket",
		  "oss-cn-x.example.com", "dir/", NULL, REMOTE_OSS, true },
		{ "oss://bucket/a%20b", "bucket", NULL, "a%20b", "a%20b", REMOTE_OSS,
		  false },
		{ "hdfs://nn:8020/data/x", "nn:8020", NULL, "data/x", "x", REMOTE_HDFS,
		  false },
		{ "webhdfs:///data/", "", NULL, "data/", NULL, REMOTE_HDFS, true },
		{ "https://h/a/b%20c.bin?sig=1#x", "h", NULL, "a/b%20c.bin?sig=1",
		  "b c.bin", REMOTE_HTTP, false },
	};
	static const char *const bad[] = { "s3:///key",        "oss://b/../x/\n",
					   "http:///x",        "http://user:pw@h/x",
					   "hdfs://nn/a/../b", "ftp://h/x",
					   "s3://b?x/y" };
	static const char *const nameless[] = { "http://h/",       "http://h/a/",
						"http://h/%2e%2e", "http://h/a%2fb",
						"http://h/a%00b",  "s3://b/a/.." };
	struct err err;

	for (size_t i = 0; i < COUNT_OF(good); i++) {
		AUTO_REMOTE_URI struct remote_uri u = { 0 };
		bool ok = remote_uri_parse(good[i].uri, &u, &err) == 0 &&
			  u.scheme == good[i].scheme && str_eq(u.host, good[i].host) &&
			  str_eq(u.endpoint, good[i].endpoint) &&
			  str_eq(u.path, good[i].path) && u.folder == good[i].folder;
		AUTO_FREE char *base = ok && !u.folder ? remote_uri_base(&u, &err) : NULL;
		OK(ok && str_eq(base, good[i].base), "%s", good[i].uri);
	}
	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		struct remote_uri u;
		OK(remote_uri_parse(bad[i], &u, &err) < 0, "refused: %s", bad[i]);
	}
	for (size_t i = 0; i < COUNT_OF(nameless); i++) {
		AUTO_REMOTE_URI struct remote_uri u = { 0 };
		OK(remote_uri_parse(nameless[i], &u, &err) == 0 &&
			   !remote_uri_base(&u, &err),
		   "no file's name: %s", nameless[i]);
	}
	AUTO_FREE char *shown = remote_uri_show("https://h/x?X-Amz-Signature=secret");
	IS(shown, "https://h/x?...", "a query, which may be a key, is not shown");
}

static void names(void)
{
	static const char *const bad[] = { "",    "/etc/passwd", "a//b", "..", "a/../b",
					   "./a", "a/.",         "a/..", "//", "a/b//" };
	static const char *const good[] = {
		"a", "a/b/c", "a/", "...", "..a/b", ".hidden"
	};
	char part[300];

	memset(part, 'x', 256);
	part[256] = '\0';
	for (size_t i = 0; i < COUNT_OF(bad); i++)
		OK(remote_name_check(bad[i], NULL) < 0, "no name: '%s'", bad[i]);
	for (size_t i = 0; i < COUNT_OF(good); i++)
		OK(remote_name_check(good[i], NULL) == 0, "a name: '%s'", good[i]);
	OK(remote_name_check(part, NULL) < 0, "nor one that is too long");
	part[255] = '\0';
	OK(remote_name_check(part, NULL) == 0, "as long as a file system takes it");
}

static int add(struct manifest *m, const char *name, int64_t size, struct err *err)
{
	AUTO_FREE char *copy = mem_strdup(name);
	struct manifest_entry e = { .name = copy,
				    .size = size,
				    .mtime_ms = 7,
				    .version = (char[]){ "v\t%\n1" } };

	return manifest_add(m, &e, err);
}

static void collisions(void)
{
	static const struct {
		const char *law, *a, *b;
		bool ok;
	} rows[] = {
		{ "the same name twice", "x", "x", false },
		{ "a file that is a folder to another", "a", "a/b", false },
		{ "also when others sort in between", "a", "a/b/c", false },
		{ "a file beside a folder of its name", "a/", "a", false },
		{ "names that only begin alike", "a", "a-b", true },
		{ "a folder and a file in it", "a/", "a/b", true },
		{ "names that differ by case alone", "A", "a", true },
	};
	struct err err;

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		AUTO_MANIFEST struct manifest m = { 0 };
		int rc = add(&m, rows[i].a, 1, &err) || add(&m, "a.between", 1, &err) ||
			 add(&m, rows[i].b, 1, &err) || manifest_finish(&m, &err);
		OK((rc == 0) == rows[i].ok, "%s: %s", rows[i].law,
		   rc ? err.text : "taken");
	}
	AUTO_MANIFEST struct manifest m = { 0 };
	OK(add(&m, "x", -2, &err) < 0 && add(&m, "x", INT64_MAX, &err) < 0,
	   "sizes that cannot be");
}

static void key_of(int fd, const char *uri, const char *endpoint, char out[65])
{
	struct err err;

	if (manifest_key(uri, endpoint, fd, out, &err) < 0)
		out[0] = '\0';
}

static void round_trip(void)
{
	AUTO_MANIFEST struct manifest m = { 0 }, back = { 0 };
	AUTO_FD int fd = memfd_create("m", MFD_CLOEXEC),
		    again = memfd_create("m", MFD_CLOEXEC);
	static const char *const all[] = { "b", "a/\xff\x01 \n%41\t", "c/", "d\xc3\xbc" };
	char one[65], two[65];
	struct err err;

	for (size_t i = 0; i < COUNT_OF(all); i++)
		add(&m, all[i], (int64_t)i - 1, &err);
	OK(manifest_finish(&m, &err) == 0 && manifest_write(&m, fd, &err) == 0,
	   "written");
	OK(manifest_read(fd, &back, &err) == 0 && back.count == m.count,
	   "and read back: %s", back.count ? "" : err.text);
	int bad = 0;
	for (size_t i = 0; i < back.count; i++)
		bad += !str_eq(back.entries[i].name, m.entries[i].name) ||
		       back.entries[i].size != m.entries[i].size ||
		       back.entries[i].mtime_ms != 7 ||
		       !str_eq(back.entries[i].version, "v\t%\n1");
	OK(bad == 0 && back.bytes == m.bytes, "it is the same");
	OK(manifest_write(&back, again, &err) == 0, "written again");
	key_of(fd, "s3://b/", "https://a", one);
	key_of(again, "s3://b/", "https://a", two);
	OK(*one && str_eq(one, two), "the same list has the same key");
	key_of(fd, "s3://b/", "https://evil", two);
	OK(!str_eq(one, two), "at another endpoint it has another");
	key_of(fd, "s3://b/https:", "//a", two);
	OK(!str_eq(one, two), "and nothing runs together");
	OK(pwrite(again, "9", 1, 0) == 1, "another size");
	key_of(again, "s3://b/", "https://a", two);
	OK(!str_eq(one, two), "is another key");
}

static void forged(void)
{
	static const char *const bad[] = { "1\t2\tv\tx",
					   "x\t2\tv\ta\n",
					   "1\t2\tv\t../x\n",
					   "1\t2\ta\n",
					   "1\t2\tv\ta%00b\n",
					   "1\t2\tv\ta\n1\t2\tv\ta\n",
					   "1\t2\tv\ta\n1\t2\tv\ta/b\n" };

	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		AUTO_MANIFEST struct manifest m = { 0 };
		AUTO_FD int fd = memfd_create("m", MFD_CLOEXEC);
		struct err err;
		OK(write(fd, bad[i], strlen(bad[i])) > 0 &&
			   manifest_read(fd, &m, &err) < 0,
		   "a forged list is refused: %zu", i);
	}
}

static void lines(void)
{
	struct remote_line l;

	OK(remote_line_read("at 5 10", &l) == 0 && l.kind == REMOTE_AT && l.first == 5 &&
		   l.second == 10,
	   "how far it is");
	OK(remote_line_read("done 2 30", &l) == 0 && l.kind == REMOTE_DONE &&
		   l.second == 30,
	   "that it is done");
	OK(remote_line_read("bad denied no such luck", &l) == 0 && l.kind == REMOTE_BAD &&
		   l.err.code == ERR_DENIED && str_eq(l.err.text, "no such luck"),
	   "why not");
	static const char *const junk[] = {
		"",        "at",         "at x 1",         "at 1",
		"at -5 1", "done 1 2 3", "bad nonsense x", "==1==ERROR"
	};
	for (size_t i = 0; i < COUNT_OF(junk); i++)
		OK(remote_line_read(junk[i], &l) < 0, "no line: '%s'", junk[i]);
}

int main(void)
{
	addresses();
	names();
	collisions();
	round_trip();
	forged();
	lines();
	return END();
}
