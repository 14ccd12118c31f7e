// SPDX-License-Identifier: Apache-2.0
/* Uploads in parts: any order, twice, across restarts, with wrong sums, over a quota. */
#include "depot/upload.h"

#include <pthread.h>

#include "storage_rig.h"

#define PART UPLOAD_PART_MIN
#define SIZE (3 * PART + 100)

static struct uploads *uploads;
static struct usage *usage;
static char bytes[SIZE];

static void open_uploads(void)
{
	struct err err = { 0 };

	uploads = uploads_create(rig_dir, &err);
	if (!uploads) {
		printf("Bail out! %s\n", err.text);
		exit(1);
	}
}

static void restart(void)
{
	uploads_destroy(uploads);
	open_uploads();
}

static int begin(const char *path, int64_t size, int64_t modified_ms,
		 struct upload_view *out, struct err *err)
{
	AUTO_PLACE struct volume_place p = rig_place(path);
	struct upload_about about = { .owner = "ann",
				      .size = size,
				      .part_size = PART,
				      .modified_ms = modified_ms,
				      .now_ms = 1000 };

	return upload_begin(uploads, usage, &p, &about, out, err);
}

static int send(const char *path, const char *id, int64_t n, size_t len, struct err *err)
{
	AUTO_PLACE struct volume_place p = rig_place(path);
	struct upload_part *part = upload_part_begin(uploads, &p, id, n, 2000, err);
	const char *from = bytes + n * PART;
	size_t half = len / 2;

	if (!part)
		return -1;
	if (upload_part_write(part, from, half, err) < 0 ||
	    upload_part_write(part, from + half, len - half, err) < 0) {
		upload_part_abort(part);
		return -1;
	}
	return upload_part_finish(part, NULL, err);
}

static size_t part_len(int64_t n)
{
	return n == 3 ? 100 : PART;
}

static int finish(const char *path, const char *id, const struct checksum *said,
		  struct err *err)
{
	AUTO_PLACE struct volume_place p = rig_place(path);
	int64_t replaced;

	return upload_finish(uploads, &p, id, said, &replaced, err);
}

static bool same_bytes(const char *path)
{
	AUTO_PLACE struct volume_place p = rig_place(path);
	AUTO_FREE char *got = mem_alloc(1, SIZE + 1);
	struct file_info info;
	struct err err;
	AUTO_FD int fd = file_open(&p, &info, &err);

	return fd >= 0 && info.size == SIZE && read(fd, got, SIZE + 1) == SIZE &&
	       memcmp(got, bytes, SIZE) == 0;
}

static void test_whole(void)
{
	struct upload_view v = { 0 }, again = { 0 };
	struct err err = { 0 };
	struct checksum sum;

	OK(begin("big", SIZE, 5000, &v, &err) == 0 && v.fresh && v.have_count == 0,
	   "an upload begins: %s", err.text);
	OK(send("big", v.id, 3, 100, &err) == 0 && send("big", v.id, 0, PART, &err) == 0,
	   "parts come in any order: %s", err.text);
	OK(finish("big", v.id, NULL, &err) < 0 && err.code == ERR_CONFLICT &&
		   strstr(err.text, "part 1"),
	   "it is not finished before they are all there: %s", err.text);
	restart();
	OK(begin("big", SIZE, 5000, &again, &err) == 0 && !again.fresh &&
		   str_eq(again.id, v.id) && again.have_count == 2 &&
		   again.have[0][0] == 0 && again.have[0][1] == 0 &&
		   again.have[1][0] == 3,
	   "after a restart the same again is the same, with its parts");
	OK(send("big", v.id, 1, PART, &err) == 0 && send("big", v.id, 2, PART, &err) == 0,
	   "the others come");
	OK(send("big", v.id, 1, PART, &err) == 0, "one that is there may come again");
	checksum_of_crc32c(1, &sum);
	OK(finish("big", v.id, &sum, &err) < 0 && err.code == ERR_INVALID,
	   "a wrong sum of the whole is not taken");
	checksum_of_crc32c(crc32c_add(0, bytes, SIZE), &sum);
	OK(finish("big", v.id, &sum, &err) == 0, "a right one is: %s", err.text);
	OK(same_bytes("big"), "the file has the bytes");
	AUTO_PLACE struct volume_place p = rig_place("big");
	struct file_info info;
	OK(file_stat(&p, &info, &err) == 0 && info.modified_ms == 5000, "and the time");
	OK(finish("big", v.id, NULL, &err) < 0 && err.code == ERR_NOT_FOUND,
	   "then there is no such upload");
	upload_view_fini(&v);
	upload_view_fini(&again);
}

static void test_wrong_parts(void)
{
	struct upload_view v = { 0 }, other = { 0 };
	struct err err = { 0 };
	struct checksum sum;

	OK(begin("w", SIZE, 1, &v, &err) == 0, "another upload");
	OK(begin("w", SIZE, 2, &other, &err) == 0 && !str_eq(v.id, other.id),
	   "of another time it is another");
	OK(send("w", v.id, 4, 1, &err) < 0 && send("w", v.id, -1, 1, &err) < 0,
	   "a part beyond the last is refused");
	OK(send("w", v.id, 0, 10, &err) < 0 && strstr(err.text, "10 came"),
	   "one that is too short is refused: %s", err.text);
	OK(send("w", v.id, 3, 101, &err) < 0, "and one that is too long");
	AUTO_PLACE struct volume_place p = rig_place("w"), elsewhere = rig_place("x");
	struct upload_part *part = upload_part_begin(uploads, &p, v.id, 0, 1, &err);
	OK(!upload_part_begin(uploads, &p, v.id, 0, 1, &err) && err.code == ERR_CONFLICT,
	   "a part has one sender at a time");
	int64_t size;
	OK(upload_cancel(uploads, &p, v.id, &size, &err) < 0,
	   "while one is coming it is not forgotten");
	upload_part_write(part, bytes, PART, &err);
	checksum_of_crc32c(1, &sum);
	OK(upload_part_finish(part, &sum, &err) < 0,
	   "a part with a wrong sum is refused");
	OK(!upload_part_begin(uploads, &elsewhere, v.id, 0, 1, &err) &&
		   err.code == ERR_NOT_FOUND,
	   "an upload goes to its own place only");
	OK(upload_cancel(uploads, &p, v.id, &size, &err) == 0 && size == SIZE &&
		   upload_cancel(uploads, &p, other.id, &size, &err) == 0,
	   "it can be given up");
	restart();
	OK(!upload_path(uploads, v.id, "ann", &err), "and stays forgotten");
	upload_view_fini(&v);
	upload_view_fini(&other);
}

/* The machine went down: what was written down of another boot is read again. */
static void test_crash(void)
{
	struct upload_view v = { 0 }, now = { 0 };
	struct err err = { 0 };
	AUTO_FREE char *about = NULL, *file = NULL;
	char text[4096] = "";

	begin("c", SIZE, 1, &v, &err);
	for (int64_t n = 0; n < 4; n++)
		send("c", v.id, n, part_len(n), &err);
	about = str_printf("%s/uploads/%s.json", rig_dir, v.id);
	file = str_printf("%s/pfs/home/ann/.yard-storage/upload-%s", rig_dir, v.id);
	AUTO_FD int fd = open(about, O_RDWR | O_CLOEXEC);
	ssize_t n = read(fd, text, sizeof text - 1);
	char *boot = n > 0 ? strstr(text, "\"boot\":\"") : NULL;
	OK(boot && pwrite(fd, "XXXX", 4, boot - text + 8) == 4, "of another boot");
	AUTO_FD int lost = open(file, O_RDWR | O_CLOEXEC);
	OK(pwrite(lost, "lost", 4, PART + 17) == 4, "some bytes did not reach the disk");
	restart();
	OK(begin("c", SIZE, 1, &now, &err) == 0 && now.have_count == 2 &&
		   now.have[0][1] == 0 && now.have[1][0] == 2,
	   "the part that has them is asked for again, and no other");
	OK(send("c", v.id, 1, PART, &err) == 0 && finish("c", v.id, NULL, &err) == 0 &&
		   same_bytes("c"),
	   "then the file is right");
	upload_view_fini(&v);
	upload_view_fini(&now);
}

static void test_torn_log(void)
{
	struct upload_view v = { 0 }, now = { 0 };
	struct err err = { 0 };

	begin("t", SIZE, 1, &v, &err);
	send("t", v.id, 0, PART, &err);
	send("t", v.id, 1, PART, &err);
	AUTO_FREE char *parts = str_printf("%s/uploads/%s.parts", rig_dir, v.id);
	OK(truncate(parts, 17) == 0, "half a record was written");
	restart();
	OK(begin("t", SIZE, 1, &now, &err) == 0 && now.have_count == 1 &&
		   now.have[0][1] == 0,
	   "it counts for nothing");
	upload_view_fini(&now);
	AUTO_FREE char *own = str_printf("%s/pfs/home/ann/.yard-storage", rig_dir);
	OK(tree_delete(own, &err) == 0, "its bytes are removed behind our back");
	restart();
	OK(begin("t", SIZE, 1, &now, &err) == 0 && now.fresh, "then it begins anew");
	upload_view_fini(&v);
	upload_view_fini(&now);
}

static void test_expiry(void)
{
	char id[UPLOAD_ID_BYTES];
	AUTO_FREE char *early = upload_expired(uploads, 5000, id);

	OK(!early, "what was touched of late is kept");
	restart();
	AUTO_FREE char *now = upload_expired(uploads, INT64_MAX / 2, id);
	OK(now && strstr(now, "/t"), "a week after its last part it has expired");
	upload_abandon(uploads, id);
	OK(!upload_known(uploads, id), "one whose place is gone is forgotten");
}

static void test_quota(void)
{
	struct upload_view v = { 0 };
	struct err err = { 0 };
	AUTO_PLACE struct volume_place p = rig_place("q");
	int64_t size;

	usage_destroy(usage);
	AUTO_PLACE struct volume_place home = rig_place("~");
	struct tree_size before;
	file_measure(&home, NULL, &before, &err);
	usage = usage_create(before.bytes + SIZE + 10);
	OK(begin("q", SIZE + 11, 1, &v, &err) < 0 && err.code == ERR_QUOTA,
	   "what does not fit into the quota is not begun: %s", err.text);
	OK(begin("q", SIZE, 1, &v, &err) == 0, "what does is: %s", err.text);
	OK(usage_take(usage, &p, 11, &err) < 0 && usage_take(usage, &p, 10, &err) == 0,
	   "and has its room from then on");
	usage_settle(usage, &p, 10, 0);
	OK(upload_cancel(uploads, &p, v.id, &size, &err) == 0, "given up");
	usage_settle(usage, &p, 0, -size);
	OK(usage_take(usage, &p, SIZE, &err) == 0, "it gives its room back");
	usage_settle(usage, &p, SIZE, 0);
	OK(usage_count(usage, &p, 1, &err) == 0 &&
		   usage_take(usage, &p, SIZE + 10, &err) == 0,
	   "counted again it is the same");
	usage_settle(usage, &p, SIZE + 10, 0);
	OK(!usage_stale(usage, &p, 2) && usage_stale(usage, &p, 400000) &&
		   !usage_stale(usage, &p, 400001),
	   "now and then it is counted anew, by one");
	upload_view_fini(&v);
}

struct sender {
	pthread_t thread;
	const char *id;
	int64_t n;
	int rc;
};

static void *send_one(void *arg)
{
	struct sender *s = arg;
	struct err err;

	s->rc = send("par", s->id, s->n, part_len(s->n), &err);
	return NULL;
}

static void test_parallel(void)
{
	struct upload_view v = { 0 };
	struct sender senders[4];
	struct err err = { 0 };
	int bad = 0;

	begin("par", SIZE, 1, &v, &err);
	for (int i = 0; i < 4; i++) {
		senders[i] = (struct sender){ .id = v.id, .n = i };
		pthread_create(&senders[i].thread, NULL, send_one, &senders[i]);
	}
	for (int i = 0; i < 4; i++) {
		pthread_join(senders[i].thread, NULL);
		bad += senders[i].rc != 0;
	}
	OK(bad == 0 && finish("par", v.id, NULL, &err) == 0 && same_bytes("par"),
	   "parts come at the same time");
	upload_view_fini(&v);
}

/* What a sweep would take for litter of a crash: bytes there that nobody knows of. */
static bool any_litter(void)
{
	AUTO_FREE char *own = str_printf("%s/pfs/home/ann/.yard-storage", rig_dir);
	DIR *dir = opendir(own);
	const struct dirent *e;
	bool litter = false;

	while (dir && (e = readdir(dir)))
		litter |= str_starts(e->d_name, "upload-") &&
			  !upload_known(uploads, e->d_name + strlen("upload-")) &&
			  faccessat(dirfd(dir), e->d_name, F_OK, 0) == 0;
	if (dir)
		closedir(dir);
	return litter;
}

static atomic_bool sent_all;

static void *send_many(void *arg)
{
	struct upload_view v = { 0 };
	struct err err;
	int *bad = arg;

	for (int i = 0; i < 40; i++) {
		*bad += begin("many", 100, i, &v, &err) < 0 ||
			send("many", v.id, 0, 100, &err) < 0 ||
			finish("many", v.id, NULL, &err) < 0;
		upload_view_fini(&v);
	}
	atomic_store(&sent_all, true);
	return NULL;
}

static void test_sweep(void)
{
	pthread_t sender;
	int bad = 0, litter = 0;

	atomic_store(&sent_all, false);
	pthread_create(&sender, NULL, send_many, &bad);
	while (!atomic_load(&sent_all))
		litter += any_litter();
	pthread_join(sender, NULL);
	OK(bad == 0 && litter == 0,
	   "while it is made and finished, too, nobody takes its bytes for litter");
}

static void all(bool ranges)
{
	rig_begin(ranges);
	usage = usage_create(0);
	open_uploads();
	test_whole();
	test_wrong_parts();
	test_crash();
	test_sweep();
	test_torn_log();
	test_expiry();
	test_parallel();
	test_quota();
	uploads_destroy(uploads);
	usage_destroy(usage);
	rig_end();
}

int main(void)
{
	for (size_t i = 0; i < sizeof bytes; i++)
		bytes[i] = (char)(i * 2654435761u >> 13);
	if (geteuid() == 0)
		all(true);
	all(false);
	return END();
}
