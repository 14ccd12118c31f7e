// SPDX-License-Identifier: Apache-2.0
/* Commits, checkpoints, backups and reads at once, on the real pool: most telling in a
 * build with -Db_sanitize=thread. */
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench.h"
#include "store/sqlite_impl.h"

static char folder[] = "/tmp/yard-pool-XXXXXX";

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	(void)st, (void)kind, (void)at;
	return remove(path);
}

static struct store *open_sqlite(struct bench *b)
{
	struct store *s = store_sqlite_open(b->w, b->arg, NULL);

	if (s)
		((struct sqlite_store *)s)->checkpoint_frames = 40;
	return s;
}

struct busy {
	struct bench *b;
	struct world_timer *timer;
	int commits, backups, wrong;
	int64_t job;
	bool over, backing_up;
};

static void on_backup(void *arg, const struct err *err)
{
	struct busy *y = arg;

	y->wrong += err != NULL;
	y->backups++;
	y->backing_up = false;
}

static void next_commit(struct busy *y);

static void on_commit(void *arg, const struct err *err)
{
	struct busy *y = arg;
	struct seen s = { 0 };
	struct store_query q = { .live = -1, .outcome = -1, .limit = 10 };
	int64_t next;

	y->wrong += err != NULL;
	y->wrong += store_list(y->b->s, &q, see_row, &s, &next, NULL) < 0 ||
		    atoll(s.ids.data) != y->job;
	seen_fini(&s);
	if (++y->commits % 50 == 0 && !y->backing_up) {
		AUTO_FREE char *path = str_printf("%s/copy-%d", folder, y->commits);
		y->backing_up = true;
		store_backup(y->b->s, path, on_backup, y);
	}
	y->over = y->commits == 400;
	if (!y->over)
		next_commit(y);
}

static void next_commit(struct busy *y)
{
	struct store_batch *batch = store_batch_create();

	for (int i = 0; i < 10; i++) {
		struct store_row row = a_row(++y->job, "ann", JOB_QUEUED);
		add_job(y->b, batch, &row, NULL);
	}
	store_commit(y->b->s, batch, on_commit, y);
}

/* Reads between the turns of the pool, at times that no commit decides. */
static void on_tick(void *arg)
{
	struct busy *y = arg;
	struct seen s = { 0 };

	y->wrong += store_events(y->b->s, 0, 0, 50, see_event, &s, NULL) < 0;
	seen_fini(&s);
	world_timer_at(y->timer, world_mono_ms(y->b->w) + 1);
}

static int gate[2];

static void hang(void *arg)
{
	char byte;

	(void)arg;
	if (read(gate[0], &byte, 1) < 0)
		return;
}

static void passed(void *arg)
{
	++*(int *)arg;
}

/* As with disks that hang under four inputs: the yard goes on recording. */
static void test_hanging_pool(struct bench *b)
{
	struct told t = { 0 };
	struct store_batch *batch = store_batch_create();
	struct store_row row = a_row(99999, "ann", JOB_QUEUED);
	int through = 0;

	OK(pipe(gate) == 0, "a gate");
	for (int i = 0; i < 16; i++)
		world_work(b->w, hang, passed, &through);
	add_job(b, batch, &row, NULL);
	store_commit(b->s, batch, on_told, &t);
	OK(spin_until(b->w, &t.yes) && through == 0,
	   "a pool that hangs holds up no commit");
	OK(write(gate[1], "................", 16) == 16, "it goes on");
	for (int i = 0; i < 2000 && through < 16; i++)
		spin(b->w, 1);
	IS_INT(through, 16, "and so do those");
}

static void test_destroy_at_once(struct bench *b)
{
	for (int i = 0; i < 20; i++) {
		struct store_batch *batch = store_batch_create();
		AUTO_FREE char *path = str_printf("%s/never-%d", folder, i);
		struct told t = { 0 }, backup = { 0 };
		struct store_row row = a_row(100000 + i, "ann", JOB_QUEUED);
		add_job(b, batch, &row, NULL);
		store_commit(b->s, batch, on_told, &t);
		store_backup(b->s, path, on_told, &backup);
		if (i % 2)
			spin(b->w, 1);
		reopen(b);
		if (i % 2)
			continue;
		OK(!t.yes && !backup.yes, "a destroyed store calls nobody");
	}
}

int main(void)
{
	struct bench b = { .w = world_uv_create(NULL), .open = open_sqlite, .seq = 1 };
	struct busy y = { .b = &b };
	AUTO_FREE char *path = NULL;

	if (!OK(mkdtemp(folder) != NULL, "a folder"))
		return END();
	b.arg = path = str_printf("%s/db", folder);
	b.s = b.open(&b);
	y.timer = world_timer_create(b.w, on_tick, &y);
	world_timer_at(y.timer, 0);
	next_commit(&y);
	OK(spin_until(b.w, &y.over), "four hundred commits");
	for (int i = 0; i < 10000 && y.backing_up; i++)
		spin(b.w, 1);
	IS_INT(y.wrong, 0, "beside %d backups, checkpoints and reads, each right",
	       y.backups);
	OK(y.backups > 0, "some backups were made");
	world_timer_destroy(y.timer);
	test_hanging_pool(&b);
	test_destroy_at_once(&b);
	store_destroy(b.s);
	world_destroy(b.w);
	nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	return END();
}
