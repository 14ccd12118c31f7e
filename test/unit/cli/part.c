// SPDX-License-Identifier: Apache-2.0
#include "cli/part.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "base/mem.h"
#include "cli/file_place.h"
#include "tap.h"

static void test_parts(void)
{
	static const int64_t sizes[] = {
		1,         PART_BYTES - 1, PART_BYTES, PART_BYTES + 1, (2ll << 30) + 5,
		5ll << 40, 1ll << 60
	};
	int bad = 0;

	for (size_t i = 0; i < COUNT_OF(sizes); i++) {
		struct parts p;
		int64_t sum = 0;
		parts_of(&p, sizes[i]);
		bad += p.count > PART_COUNT_MAX;
		for (size_t n = 0; n < p.count; n++) {
			bad += part_first(&p, n) != sum || part_len(&p, n) <= 0;
			sum += part_len(&p, n);
		}
		bad += sum != sizes[i];
	}
	IS_INT(bad, 0, "parts cover every file once, without gaps, and are not too many");
}

static void test_paths(void)
{
	char name[256], *a, *b;

	a = part_path("dir/model.bin");
	IS(a, "dir/.model.bin.yard-part", "the partial file lies beside the file");
	OK(part_is_partial(a + 4) && !part_is_partial("model.bin"),
	   "and is known by its name");
	free(a);
	memset(name, 'x', 255);
	name[255] = '\0';
	a = part_path(name);
	name[254] = 'y';
	b = part_path(name);
	OK(strlen(a) <= 255 && strlen(b) <= 255,
	   "a name that fills the folder's room has one too");
	OK(strcmp(a, b) != 0, "and two such names have two");
	free(a);
	free(b);
}

/* A partial file of three parts, of which the middle one came. */
static void test_resume(const char *folder)
{
	char *path = place_join(folder, ".f.yard-part"), *whole = place_join(folder, "f");
	struct parts p = { .size = 25, .part_size = 10, .count = 3 };
	int64_t sums[3];
	struct err err;
	struct stat st;
	uint32_t found = 0;

	int fd = part_open(path, false, &err);
	OK(fd >= 0 && part_begin(fd, &p, "\"v1\"", sums, &err) == 0, "one is made");
	OK(sums[0] < 0 && sums[1] < 0 && sums[2] < 0, "nothing is there yet");
	OK(part_open(path, false, &err) < 0 && err.code == ERR_CONFLICT,
	   "a second process is kept out");
	uint32_t sum = crc32c_add(0, "0123456789", 10);
	OK(part_pwrite(fd, "0123456789", 10, 10, &err) == 0 &&
		   part_note(fd, &p, 1, sum, &err) == 0,
	   "a part comes");
	close(fd);

	fd = part_open(path, false, &err);
	OK(part_begin(fd, &p, "\"v1\"", sums, &err) == 0 && sums[0] < 0 &&
		   sums[1] == (int64_t)sum && sums[2] < 0,
	   "whoever opens it again knows that part");
	OK(part_sum(fd, &p, 1, &found, &err) == 0 && found == sum, "and it is good");
	part_pwrite(fd, "X", 1, 12, &err);
	OK(part_sum(fd, &p, 1, &found, &err) == 0 && found != sum,
	   "a byte that was lost on the disk is noticed");
	OK(part_begin(fd, &p, "\"v2\"", sums, &err) == 0 && sums[1] < 0,
	   "of another version nothing is believed");
	p.size = 24;
	OK(part_begin(fd, &p, "\"v2\"", sums, &err) == 0 && sums[1] < 0,
	   "nor of another size");
	part_pwrite(fd, "abcdefghijklmnopqrstuvwx", 24, 0, &err);
	OK(part_finish(fd, path, whole, 24, -1500, &err) == 0 && stat(whole, &st) == 0 &&
		   st.st_size == 24 && st.st_mtim.tv_sec == -2 &&
		   st.st_mtim.tv_nsec == 500000000,
	   "whole, it has its size, its time (here before 1970) and its name");
	OK(access(path, F_OK) < 0, "and the partial file is gone");
	close(fd);
	unlink(whole);
	free(path);
	free(whole);
}

int main(void)
{
	char folder[] = "/tmp/test-cli-part.XXXXXX";

	test_parts();
	test_paths();
	OK(mkdtemp(folder) != NULL, "a folder");
	test_resume(folder);
	rmdir(folder);
	return END();
}
