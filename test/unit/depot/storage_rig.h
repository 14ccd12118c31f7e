// SPDX-License-Identifier: Apache-2.0
/* storage_rig.h - a storage tree in a folder of its own, and a canary tree beside it that
 * nothing of it may ever touch.
 */
#pragma once

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "base/mem.h"
#include "base/str.h"
#include "depot/file.h"
#include "depot/file_put.h"
#include "depot/tree.h"
#include "depot/volume_setup.h"
#include "tap.h"

#define RIG_UID    1234567 /* first of ann's range, in root mode */
#define RIG_SECRET "the canary's secret"

static char rig_dir[64];
static struct volume *rig_volume;
static int64_t rig_quota;
static bool rig_ranges; /* root mode */

__attribute__((unused)) static bool rig_in_group(void *arg, const char *user,
						 const char *group)
{
	(void)arg;
	return str_eq(user, "ann") && str_eq(group, "lab");
}

static bool rig_is_group(void *arg, const char *group)
{
	(void)arg;
	return str_eq(group, "lab") || str_eq(group, "vision");
}

static int64_t rig_range(void *arg, enum volume_area area, const char *name)
{
	(void)arg;
	return str_eq(name, "ann")                           ? RIG_UID
	       : str_eq(name, "bob")                         ? RIG_UID + VOLUME_RANGE
	       : area == VOLUME_GROUP && str_eq(name, "lab") ? RIG_UID + 2 * VOLUME_RANGE
							     : -1;
}

static int rig_output(void *arg, const struct volume_who *who, int64_t job,
		      const char *output, struct volume_output *out, struct err *err)
{
	(void)arg;
	if (job != 7 || (!str_eq(who->name, "ann") && !who->sees_all))
		return err_set(err, ERR_NOT_FOUND, "there is no job %lld",
			       (long long)job);
	out->rights = VOLUME_READ | (str_eq(who->name, "ann") ? VOLUME_REMOVE : 0);
	out->folder = str_printf("%s/jobs/7/%s", rig_dir, output);
	out->make = str_eq(output, "soon");
	out->uid = rig_ranges ? RIG_UID : -1;
	return 0;
}

static struct volume *rig_create(bool ranges)
{
	AUTO_FREE char *root = str_printf("%s/pfs", rig_dir);
	struct err err = { 0 };
	struct volume *v = volume_create(
		&(struct volume_config){ .root = root,
					 .ranges = ranges,
					 .quota_bytes = rig_quota,
					 .outside = { .in_group = rig_in_group,
						      .is_group = rig_is_group,
						      .range = rig_range,
						      .output = rig_output } },
		&err);
	if (!v) {
		printf("Bail out! %s\n", err.text);
		exit(1);
	}
	return v;
}

/* The parent is 0711: root mode passes through it as somebody else. */
static void rig_begin(bool ranges)
{
	snprintf(rig_dir, sizeof rig_dir, "/tmp/yard-storage-XXXXXX");
	if (!mkdtemp(rig_dir) || chmod(rig_dir, 0711) < 0) {
		printf("Bail out! no folder\n");
		exit(1);
	}
	rig_ranges = ranges;
	rig_volume = rig_create(ranges);
}

static void rig_end(void)
{
	volume_destroy(rig_volume);
	tree_delete(rig_dir, NULL);
}

__attribute__((unused)) static int rig_find_as(const char *who, bool admin,
					       const char *path, struct volume_place *out,
					       struct err *err)
{
	struct volume_who w = {
		.name = who, .admin = admin, .sees_all = admin, .uid = -1
	};

	return volume_find(rig_volume, &w, path, out, err);
}

/* Of ann; what is no path at all ends the test. */
__attribute__((unused)) static struct volume_place rig_place(const char *path)
{
	struct volume_place p;
	struct err err = { 0 };

	if (rig_find_as("ann", false, path, &p, &err) < 0) {
		printf("Bail out! %s: %s\n", path, err.text);
		exit(1);
	}
	return p;
}

__attribute__((unused)) static int rig_put_how(const char *path, const char *text,
					       const struct file_put_how *how,
					       struct err *err)
{
	AUTO_PLACE struct volume_place p = rig_place(path);
	struct file_put *f = file_put_begin(&p, how, err);
	struct file_info info;
	int64_t replaced;

	if (!f)
		return -1;
	if (file_put_write(f, text, strlen(text), err) < 0) {
		file_put_abort(f);
		return -1;
	}
	return file_put_finish(f, &info, &replaced, err);
}

__attribute__((unused)) static int rig_put(const char *path, const char *text,
					   struct err *err)
{
	return rig_put_how(path, text,
			   &(struct file_put_how){ .parents = true, .modified_ms = -1 },
			   err);
}

/* The file's text; NULL: it cannot be read. */
__attribute__((unused)) static char *rig_read(const char *path, struct err *err)
{
	AUTO_PLACE struct volume_place p = rig_place(path);
	struct file_info info;
	AUTO_FD int fd = file_open(&p, &info, err);
	char *text = mem_alloc(1, 4096);
	ssize_t n = fd < 0 ? -1 : read(fd, text, 4095);

	if (n >= 0)
		return text;
	free(text);
	return NULL;
}

/* Everything about a tree that a write could change, as one number. */
static uint32_t rig_sum(const char *folder, uint32_t sum)
{
	DIR *dir = opendir(folder);
	struct dirent **names = NULL;
	int n = scandir(folder, &names, NULL, alphasort);

	if (dir)
		closedir(dir);
	for (int i = 0; i < n; i++) {
		AUTO_FREE char *path = str_printf("%s/%s", folder, names[i]->d_name);
		char text[256] = "";
		struct stat st;
		bool dots =
			str_eq(names[i]->d_name, ".") || str_eq(names[i]->d_name, "..");
		if (!dots && lstat(path, &st) == 0) {
			sum = crc32c_add(sum, path, strlen(path));
			sum = crc32c_add(sum, &st.st_mode, sizeof st.st_mode);
			sum = crc32c_add(sum, &st.st_uid, sizeof st.st_uid);
			sum = crc32c_add(sum, &st.st_size, sizeof st.st_size);
			sum = crc32c_add(sum, &st.st_mtim, sizeof st.st_mtim);
			AUTO_FD int fd = S_ISREG(st.st_mode)
						 ? open(path, O_RDONLY | O_CLOEXEC)
						 : -1;
			ssize_t got = fd < 0 ? 0 : read(fd, text, sizeof text);
			sum = crc32c_add(sum, text, got > 0 ? (size_t)got : 0);
			if (S_ISDIR(st.st_mode))
				sum = rig_sum(path, sum);
		}
		free(names[i]);
	}
	free(names);
	return sum;
}

__attribute__((unused)) static void rig_write(const char *path, const char *text)
{
	AUTO_FD int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		printf("# cannot write %s\n", path);
}

/* The canary: a file and a folder beside the storage, which is what links lead to. */
__attribute__((unused)) static uint32_t rig_canary(void)
{
	AUTO_FREE char *folder = str_printf("%s/canary", rig_dir);
	AUTO_FREE char *below = str_printf("%s/below", folder);
	AUTO_FREE char *secret = str_printf("%s/secret", folder);
	AUTO_FREE char *deeper = str_printf("%s/secret", below);

	mkdir(folder, 0777);
	mkdir(below, 0777);
	chmod(folder, 0777);
	chmod(below, 0777);
	rig_write(secret, RIG_SECRET);
	rig_write(deeper, RIG_SECRET);
	return rig_sum(folder, 0);
}

__attribute__((unused)) static uint32_t rig_canary_now(void)
{
	AUTO_FREE char *folder = str_printf("%s/canary", rig_dir);

	return rig_sum(folder, 0);
}
