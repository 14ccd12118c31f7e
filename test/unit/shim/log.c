// SPDX-License-Identifier: Apache-2.0
#include "shim/log.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "tap.h"

static char folder[64];

static int only_log(const struct dirent *e)
{
	return str_starts(e->d_name, "log.");
}

struct total {
	uint64_t first, next; /* offsets: of the oldest byte, behind the newest */
	int segments, torn, gaps, notes;
	uint64_t data;
};

/* Reads every segment as a reader does. */
static void read_segment(const char *name, struct total *t)
{
	AUTO_FREE char *path = str_printf("%s/%s", folder, name);
	FILE *f = fopen(path, "re");
	static char data[LOGFRAME_DATA_MAX];
	uint8_t head[LOGFRAME_BYTES];
	struct logframe frame;
	uint64_t start = strtoull(name + 4, NULL, 10);
	size_t n;

	if (t->segments++ == 0)
		t->first = t->next = start;
	t->gaps += start != t->next;
	t->next = start;
	while ((n = fread(head, 1, sizeof head, f)) == sizeof head) {
		if (logframe_read(head, &frame) < 0 ||
		    fread(data, 1, frame.len, f) != frame.len) {
			t->torn++;
			break;
		}
		t->notes += frame.stream == LOG_NOTE;
		t->data += frame.len;
		t->next += sizeof head + frame.len;
	}
	t->torn += n != 0 && n != sizeof head;
	fclose(f);
}

static struct total read_all(bool and_remove)
{
	struct total t = { 0 };
	struct dirent **list;
	int count = scandir(folder, &list, only_log, alphasort);

	for (int i = 0; i < count; i++) {
		AUTO_FREE char *path = str_printf("%s/%s", folder, list[i]->d_name);

		read_segment(list[i]->d_name, &t);
		if (and_remove)
			unlink(path);
		free(list[i]);
	}
	free(list);
	return t;
}

static void test_rotation(int dir)
{
	static const int64_t limits[] = { 1, 100000, 1 << 20, 3000000 };
	static char data[LOGFRAME_DATA_MAX];
	int over = 0, broken = 0;

	srand(7);
	for (size_t k = 0; k < COUNT_OF(limits); k++) {
		struct log l;
		struct total t;

		log_init(&l, dir, limits[k]);
		for (int i = 0; i < 400; i++) {
			size_t len = 1 + (size_t)rand() % (i % 10 ? 3000 : sizeof data);

			log_write(&l, i % 3 ? LOG_STDOUT : LOG_STDERR, data, len);
			if (i % 50 != 49)
				continue;
			t = read_all(false);
			over += (int64_t)(t.next - t.first) >
				limits[k] + LOGFRAME_BYTES + LOGFRAME_DATA_MAX;
			broken += t.gaps || t.torn || t.next != l.offset;
		}
		log_fini(&l);
		read_all(true);
	}
	IS_INT(over, 0, "the log never exceeds its limit by more than a record");
	IS_INT(broken, 0,
	       "what is kept is a run of whole records without a gap, up to the newest byte");
}

/* RLIMIT_FSIZE cuts writes as a full disk does: a part is written, then an error. */
static void test_full(int dir)
{
	static char data[10000];
	struct rlimit old, small = { 25000, RLIM_INFINITY };
	struct log l;
	struct total t;

	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &old);
	small.rlim_max = old.rlim_max;
	log_init(&l, dir, 100 << 20);
	setrlimit(RLIMIT_FSIZE, &small);
	for (int i = 0; i < 6; i++)
		log_write(&l, LOG_STDOUT, data, sizeof data);
	IS_INT((int64_t)l.dropped, 40000, "what the disk does not take is counted");
	t = read_all(false);
	OK(t.torn == 0 && t.data == 20000, "a cut write is taken back");
	setrlimit(RLIMIT_FSIZE, &old);
	log_write(&l, LOG_STDOUT, data, sizeof data);
	log_fini(&l);
	t = read_all(true);
	OK(t.torn == 0 && t.notes == 1 && t.data > 30000,
	   "then a note tells it and the log goes on");
	IS_INT((int64_t)(t.next - t.first), (int64_t)l.offset,
	       "and offsets still count what is on disk");
}

static void test_give_way(int dir)
{
	static char data[60000];
	struct log l;
	int given = 0;

	log_init(&l, dir, 1 << 20);
	OK(!log_give_way(&l), "an empty log has nothing to give");
	for (int i = 0; i < 10; i++)
		log_write(&l, LOG_STDOUT, data, sizeof data);
	while (log_give_way(&l))
		given++;
	OK(given > 2 && read_all(false).segments == 0,
	   "a log can be given up segment by segment");
	log_fini(&l);
	read_all(true);
}

int main(void)
{
	int dir;

	snprintf(folder, sizeof folder, "%s/yard-log.XXXXXX",
		 access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
	if (!mkdtemp(folder) ||
	    (dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
		return 1;
	test_rotation(dir);
	test_full(dir);
	test_give_way(dir);
	close(dir);
	rmdir(folder);
	return END();
}
