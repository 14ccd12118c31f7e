// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/mem.h"
#include "stream/stream.h"
#include "tap.h"
#include "writer.h"

#define FOLLOWERS 1000

struct follower {
	struct log_follow *follow;
	struct log_reader *reader;
	uint64_t bytes;
	int calls;
	struct follower *destroys; /* takes this one down at its first call */
};

static struct world *world;
static uint64_t wanted; /* bytes over all followers */
static uint64_t total;

static void on_more(void *arg)
{
	struct follower *f = arg;
	struct logframe frame;
	const char *data;
	struct err err;

	f->calls++;
	if (f->destroys) {
		log_follow_destroy(TAKE(f->destroys->follow));
		f->destroys = NULL;
	}
	while (log_reader_next(f->reader, &frame, &data, &err) > 0) {
		f->bytes += frame.len;
		total += frame.len;
	}
	if (total >= wanted)
		world_stop(world);
}

static void on_timeout(void *arg)
{
	*(bool *)arg = true;
	world_stop(world);
}

/* Runs until `bytes` have been read over all, or 5 s. */
static bool run_until(uint64_t bytes)
{
	bool late = false;
	struct world_timer *t = world_timer_create(world, on_timeout, &late);

	wanted = bytes;
	world_timer_at(t, world_mono_ms(world) + 5000);
	if (total < wanted)
		world_run(world);
	world_timer_destroy(t);
	return !late;
}

/* Runs this long whatever comes. */
static void run_ms(int64_t ms)
{
	bool late = false;
	struct world_timer *t = world_timer_create(world, on_timeout, &late);

	wanted = UINT64_MAX;
	world_timer_at(t, world_mono_ms(world) + ms);
	world_run(world);
	world_timer_destroy(t);
}

static void open_follower(struct follower *f, const char *folder)
{
	struct err err;

	*f = (struct follower){ 0 };
	f->reader = log_reader_open(folder, 0, &err);
	f->follow = log_follow_create(world, folder, on_more, f, &err);
}

static void close_follower(struct follower *f)
{
	log_follow_destroy(f->follow);
	log_reader_close(f->reader);
}

static void touch(const char *folder, const char *name)
{
	char path[PATH_MAX];

	snprintf(path, sizeof path, "%s/%s", folder, name);
	AUTO_FD int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	OK(fd >= 0 && write(fd, "x", 1) == 1, "a file can be made beside the log");
}

static void few(void)
{
	struct writer w;
	struct follower a, b;

	total = 0;
	writer_open(&w);
	open_follower(&a, w.folder);
	open_follower(&b, w.folder);
	writer_line(&w, "12345");
	OK(run_until(10), "two followers of one log hear of its first record");
	OK(a.bytes == 5 && b.bytes == 5, "both of them");
	writer_rotate(&w);
	writer_line(&w, "678");
	OK(run_until(16), "and of a new segment");
	run_ms(20);
	int calls = a.calls + b.calls;
	run_ms(100);
	IS_INT(a.calls + b.calls, calls, "a log that does not grow calls nobody");
	touch(w.folder, "mark");
	run_ms(30);
	IS_INT(a.calls + b.calls, calls, "nor does a file beside it");
	close_follower(&a);
	writer_line(&w, "9");
	OK(run_until(17), "one goes, the other stays");
	b.destroys = &b;
	writer_line(&w, "0");
	OK(run_until(18), "a follower may destroy itself when it is called");
	writer_line(&w, "!");
	run_ms(30);
	IS_INT((long long)total, 18, "and then hears nothing more");
	close_follower(&b);

	open_follower(&a, w.folder);
	open_follower(&b, w.folder);
	a.destroys = &b;
	b.destroys = &a;
	calls = 0;
	writer_line(&w, "x");
	run_ms(50);
	IS_INT(a.calls + b.calls, 1, "of two that destroy each other the first wins");
	close_follower(&a);
	close_follower(&b);
	writer_close(&w);
}

static int inotify_descriptors(void)
{
	char path[64], target[64];
	int count = 0;

	for (int fd = 0; fd < 256; fd++) {
		snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
		ssize_t n = readlink(path, target, sizeof target - 1);
		if (n > 0) {
			target[n] = 0;
			count += strstr(target, "inotify") != NULL;
		}
	}
	return count;
}

/* To close the descriptor takes ms. */
static void kept(void)
{
	struct log_hub *hub = log_hub_keep(world);
	struct writer w;
	struct follower f;

	total = 0;
	writer_open(&w);
	for (int i = 0; i < 3; i++) {
		open_follower(&f, w.folder);
		writer_line(&w, "1");
		OK(run_until(total + 1), "a follower of a kept descriptor hears");
		close_follower(&f);
		IS_INT(inotify_descriptors(), 1, "which stays when the last one goes");
		total = 0;
	}
	log_hub_release(hub);
	IS_INT(inotify_descriptors(), 0, "until it is released");
	writer_close(&w);
}

static void not_there_yet(void)
{
	struct writer w, deep;
	struct follower f;
	char path[sizeof w.folder];
	struct err err;

	total = 0;
	writer_open(&w);
	deep = w;
	snprintf(deep.folder, sizeof deep.folder, "%.200s/a/b/c", w.folder);
	open_follower(&f, deep.folder);
	OK(f.follow, "a folder that is not there can be followed");
	snprintf(path, sizeof path, "%.200s/a", w.folder);
	mkdir(path, 0700);
	run_ms(20);
	snprintf(path, sizeof path, "%.200s/a/b", w.folder);
	mkdir(path, 0700);
	mkdir(deep.folder, 0700);
	writer_line(&deep, "made at once");
	OK(run_until(12), "its first record is heard of once it is there");
	writer_line(&deep, "+");
	OK(run_until(13), "and the next one");
	close_follower(&f);
	close(deep.fd);
	OK(!log_follow_create(world, "relative", on_more, &f, &err),
	   "a relative path is refused: %s", err.text);
	writer_close(&w);
}

static void many(void)
{
	static struct follower all[FOLLOWERS];
	static struct writer logs[FOLLOWERS];
	struct rlimit files;
	int open_before = 0, failed = 0;

	getrlimit(RLIMIT_NOFILE, &files);
	if (files.rlim_cur < FOLLOWERS * 2 + 64 && files.rlim_max >= FOLLOWERS * 2 + 64) {
		files.rlim_cur = FOLLOWERS * 2 + 64;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	if (files.rlim_cur < FOLLOWERS * 2 + 64) {
		SKIP("this machine lets a process open too few files");
		return;
	}
	total = 0;
	for (int i = 0; i < FOLLOWERS; i++) {
		writer_open(&logs[i]);
		open_follower(&all[i], logs[i].folder);
		failed += !all[i].follow;
	}
	IS_INT(failed, 0, "%d logs can be followed at once", FOLLOWERS);
	for (int i = 0; i < FOLLOWERS; i++)
		writer_line(&logs[i], "hello");
	OK(run_until(FOLLOWERS * 5), "each hears of its own");
	for (int i = 0; i < FOLLOWERS; i++)
		open_before += all[i].bytes != 5;
	IS_INT(open_before, 0, "and of no other");
	for (int i = 0; i < FOLLOWERS; i++) {
		close_follower(&all[i]);
		writer_close(&logs[i]);
	}
}

int main(void)
{
	struct err err;

	world = world_uv_create(&err);
	few();
	kept();
	not_there_yet();
	many();
	world_destroy(world);
	return END();
}
