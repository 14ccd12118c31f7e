// SPDX-License-Identifier: Apache-2.0
#include "cli/file_place.h"

#include <stdlib.h>

#include "cli/file_info.h"
#include "cli/file_read.h"
#include "tap.h"

static void test_read(void)
{
	static const struct {
		const char *text;
		enum place_kind kind;
		const char *path;
		bool inside;
	} rows[] = {
		{ "data", PLACE_LOCAL, "data", false },
		{ "data/", PLACE_LOCAL, "data", true },
		{ "data//", PLACE_LOCAL, "data", true },
		{ ".", PLACE_LOCAL, ".", true },
		{ "..", PLACE_LOCAL, "..", true },
		{ "a/..", PLACE_LOCAL, "a/..", true },
		{ "/", PLACE_LOCAL, "/", true },
		{ "-", PLACE_STREAM, "-", false },
		{ "./-", PLACE_LOCAL, "./-", false },
		{ "-x", PLACE_LOCAL, "-x", false },
		{ "./yard:x", PLACE_LOCAL, "./yard:x", false },
		{ "yard:", PLACE_YARD, "", true },
		{ "yard:~", PLACE_YARD, "~", true },
		{ "yard:~/", PLACE_YARD, "~", true },
		{ "yard:a b", PLACE_YARD, "a b", false },
		{ "yard:/jobs/42/model", PLACE_YARD, "/jobs/42/model", false },
		{ "pfs:/pfs/local/public/", PLACE_YARD, "/pfs/local/public", true },
		{ "pfs:///pfs/local/public", PLACE_YARD, "/pfs/local/public", false },
		{ "pfs:rel/x", PLACE_YARD, "rel/x", false },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct place p;
		place_read(&p, rows[i].text);
		OK(p.kind == rows[i].kind && strcmp(p.path, rows[i].path) == 0 &&
			   p.inside == rows[i].inside,
		   "'%s' is '%s'%s", rows[i].text, rows[i].path,
		   rows[i].inside ? ", to go into" : "");
		place_fini(&p);
	}
	struct place p;
	place_read_yard(&p, "/jobs");
	OK(p.kind == PLACE_YARD && strcmp(p.path, "/jobs") == 0,
	   "where only the storage can be meant, the prefix may be left out");
	place_fini(&p);
}

static void test_paths(void)
{
	static const char *const good[] = { "a", " ", "-", "...", "a\nb", "\xc3\xa9" };
	static const char *const bad[] = { "", ".", "..", "a/b", "/", "../x" };
	char *joined = place_join("a/", "b");

	IS(joined, "a/b", "a slash between, and one only");
	free(joined);
	joined = place_join("", "b");
	IS(joined, "b", "below the home nothing stands before");
	free(joined);
	IS(place_base("a/b.c"), "b.c", "the last name");
	IS(place_base("a/.."), "", "a way up is no name");
	for (size_t i = 0; i < sizeof good / sizeof *good; i++)
		OK(place_name_ok(good[i]), "a folder can hold name %zu", i);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		OK(!place_name_ok(bad[i]), "none holds '%s'", bad[i]);
	joined = place_target("/files/stat", "a b&c=\n");
	IS(joined, "/files/stat?path=a%20b%26c%3D%0A", "a path is told byte by byte");
	free(joined);
}

static void test_ranges(void)
{
	static const struct {
		const char *text;
		int64_t first, last;
	} good[] = {
		{ "0-99", 0, 99 }, { "7-7", 7, 7 }, { "100-", 100, -1 }, { "-5", -1, 5 }
	};
	static const char *const bad[] = {
		"",      "-",   "5",    "9-3",  "a-b",
		"1-2-3", "--1", " 1-2", "1-2 ", "99999999999999999999-"
	};
	struct byte_range r;
	struct err err;

	for (size_t i = 0; i < sizeof good / sizeof *good; i++)
		OK(byte_range_read(good[i].text, &r, &err) == 0 &&
			   r.first == good[i].first && r.last == good[i].last,
		   "--bytes %s", good[i].text);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		OK(byte_range_read(bad[i], &r, &err) < 0 && err.code == ERR_INVALID,
		   "--bytes '%s' is refused", bad[i]);
}

static void test_same(void)
{
	struct file_info a = { .kind = FILE_PLAIN, .size = 5, .modified_ms = 7 }, b = a;

	OK(file_info_same(&a, &b), "same size and time: the same");
	b.size = 6;
	OK(!file_info_same(&a, &b), "another size: not");
	b = a;
	b.modified_ms = 8;
	OK(!file_info_same(&a, &b), "another time: not");
	b = a;
	b.executable = true;
	OK(!file_info_same(&a, &b), "one can be run and the other not: not");
	a.kind = b.kind = FILE_FOLDER;
	OK(!file_info_same(&a, &a), "folders are never compared by that");
}

int main(void)
{
	test_read();
	test_paths();
	test_ranges();
	test_same();
	return END();
}
