// SPDX-License-Identifier: Apache-2.0
/* Many ended jobs do not slow the present: 20,000 of them, or with YARD_TEST_FULL=1 a
 * million.  What is asserted is the work SQLite does for a page (steps of its machine),
 * which no noise of the machine changes; times are told beside it. */
#include <ftw.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <time.h>

#include "bench.h"
#include "store/sqlite_impl.h"

#define LIVE 200 /* the oldest and the newest hundred */

static char folder[] = "/tmp/yard-big-XXXXXX";

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	(void)st, (void)kind, (void)at;
	return remove(path);
}

static struct store *open_sqlite(struct bench *b)
{
	return store_sqlite_open(b->w, b->arg, NULL);
}

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* Owner "ann" has nearly all, "eve" one in ten thousand; so for names, groups, outcomes. */
static struct store_row job_number(int64_t id, int64_t total)
{
	bool rare = id % 10000 == 7, live = id <= LIVE / 2 || id > total - LIVE / 2;
	struct store_row row =
		a_row(id, rare ? "eve" : "ann", live ? JOB_RUNNING : JOB_ENDED);

	row.name = rare ? "special" : "train";
	row.group = rare ? "vision" : "default";
	row.reason = live ? "" : "exit code 0";
	row.outcome = live ? OUTCOME_NONE : rare ? OUTCOME_STOPPED : OUTCOME_SUCCEEDED;
	return row;
}

static void fill(struct bench *b, int64_t total)
{
	for (int64_t id = 1; id <= total;) {
		struct store_batch *batch = store_batch_create();
		for (int i = 0; i < 5000 && id <= total; i++, id++) {
			struct store_row row = job_number(id, total);
			add_job(b, batch, &row, NULL);
		}
		if (commit(b, batch) != ERR_NONE)
			OK(false, "fill");
	}
}

static int steps_of(struct bench *b)
{
	struct conn *c = &((struct sqlite_store *)b->s)->reader;
	int steps = 0;

	for (int i = 0; i < SQL_COUNT; i++) {
		if (c->statements[i])
			steps += sqlite3_stmt_status(c->statements[i],
						     SQLITE_STMTSTATUS_VM_STEP, 1);
	}
	return steps;
}

static void page(struct bench *b, const char *what, struct store_query q, int want)
{
	struct seen s = { 0 };
	double began, worst = 0, sum = 0;
	int64_t next = 0;
	int steps;

	q.limit = 50;
	steps_of(b);
	store_list(b->s, &q, see_row, &s, &next, NULL);
	steps = steps_of(b);
	OK(s.count == want && steps < 10000,
	   "a page of %s: %d jobs, little work (%d steps)", what, s.count, steps);
	seen_fini(&s);
	for (int i = 0; i < 20; i++) {
		began = now_ms();
		store_list(b->s, &q, see_row, &s, &next, NULL);
		began = now_ms() - began;
		sum += began;
		worst = began > worst ? began : worst;
		seen_fini(&s);
	}
	printf("# %s: mean %.3f ms, worst %.3f ms of 20\n", what, sum / 20, worst);
}

#define ANY .live = -1, .outcome = -1

static void test_pages(struct bench *b, int64_t total)
{
	int rare = (int)((total + 9992) / 10000), fifty_rare = rare < 50 ? rare : 50;

	page(b, "the newest", (struct store_query){ ANY }, 50);
	page(b, "the middle", (struct store_query){ ANY, .before = total / 2 }, 50);
	page(b, "what is live", (struct store_query){ .live = 1, .outcome = -1 }, 50);
	page(b, "what of mine is live",
	     (struct store_query){ .live = 1, .outcome = -1, .owner = "ann" }, 50);
	page(b, "what has ended", (struct store_query){ .live = 0, .outcome = -1 }, 50);
	page(b, "my ended ones",
	     (struct store_query){ .live = 0, .outcome = -1, .owner = "ann" }, 50);
	page(b, "a rare owner", (struct store_query){ ANY, .owner = "eve" }, fifty_rare);
	page(b, "a rare name", (struct store_query){ ANY, .name = "special" },
	     fifty_rare);
	page(b, "a name I never used",
	     (struct store_query){ ANY, .name = "special", .owner = "ann" }, 0);
	page(b, "a rare group", (struct store_query){ ANY, .group = "vision" },
	     fifty_rare);
	page(b, "a rare outcome",
	     (struct store_query){ .live = -1, .outcome = OUTCOME_STOPPED },
	     rare > 50 ? 50 : rare - 1); /* number 7 is live */
}

/* Two of a kind of walk, and of a caller who owns nearly nothing. */
static void test_visible(struct bench *b, int64_t total)
{
	static const struct principal eve = { .name = "eve",
					      .groups = { "vision", "nobody", "speech" },
					      .group_count = 3 };
	int rare = (int)((total + 9992) / 10000);

	page(b, "what eve may see", (struct store_query){ ANY, .see = &eve },
	     rare < 50 ? rare : 50);
	page(b, "what of it is live",
	     (struct store_query){ .live = 1, .outcome = -1, .see = &eve }, 1);
}

/* As many members of one array as there were jobs: no list but the array's own sees them. */
static void test_members(struct bench *b, int64_t total)
{
	int64_t job = 0, array = total / 2;
	struct store_query q = { ANY };

	for (int64_t index = 0; index < total;) {
		struct store_batch *batch = store_batch_create();
		for (int i = 0; i < 5000 && index < total; i++, index++) {
			struct store_row row = job_number(total / 2, total);
			row.id = total + 1000 + index;
			row.array = array;
			row.index = index;
			store_batch_row(batch, &row);
		}
		if (commit(b, batch) != ERR_NONE)
			OK(false, "members");
	}
	page(b, "the newest beside so many members", q, 50);
	q.owner = "ann";
	page(b, "mine beside so many members", q, 50);
	q.owner = NULL;
	q.array = array;
	page(b, "the members themselves", q, 50);
	steps_of(b);
	OK(store_find_member(b->s, array, total - 7, &job, NULL) == 0 &&
		   job == total + 1000 + total - 7,
	   "a member by its number");
	OK(store_find_member(b->s, array, total, &job, NULL) < 0, "or there is none");
	OK(steps_of(b) < 500, "with little work");
}

static void test_rest(struct bench *b, int64_t total)
{
	struct store_counters n;
	struct seen *s = mem_alloc(1, sizeof *s);
	double began = now_ms();
	int64_t job;

	steps_of(b);
	OK(store_boot(b->s, see_event, s, &n, NULL) == 0 && s->count == LIVE &&
		   n.next_job == total + 1,
	   "boot reads the events of live jobs only");
	OK(steps_of(b) < 30000, "with little work");
	printf("# boot with %lld ended jobs: %.3f ms\n", (long long)(total - LIVE),
	       now_ms() - began);
	seen_fini(s);
	steps_of(b);
	OK(store_find_name(b->s, "ann", "train", &job, NULL) == 0 && job == total,
	   "the newest by name");
	OK(store_events(b->s, total / 2, 0, 100, see_event, s, NULL) == 0 &&
		   s->count == 1,
	   "a job's events");
	OK(steps_of(b) < 500, "with little work");
	seen_fini(s);
	free(s);
	began = now_ms();
	for (int i = 1; i <= 20; i++) {
		struct store_batch *batch = store_batch_create();
		struct store_row row = job_number(total + i, total + 1000);
		add_job(b, batch, &row, NULL);
		if (commit(b, batch) != ERR_NONE)
			OK(false, "a commit beside so many");
	}
	printf("# a commit: %.3f ms\n", (now_ms() - began) / 20);
}

int main(void)
{
	int64_t total = getenv("YARD_TEST_FULL") ? 1000000 : 20000;
	AUTO_FREE char *path = NULL;
	struct bench b = { .w = world_uv_create(NULL), .open = open_sqlite, .seq = 1 };
	double began = now_ms();
	struct stat st;

	if (!OK(mkdtemp(folder) != NULL, "a folder"))
		return END();
	b.arg = path = str_printf("%s/db", folder);
	b.s = b.open(&b);
	fill(&b, total);
	reopen(&b);
	stat(path, &st);
	printf("# %lld jobs in %.1f s, %lld MB\n", (long long)total,
	       (now_ms() - began) / 1e3, (long long)st.st_size >> 20);
	test_pages(&b, total);
	test_visible(&b, total);
	test_rest(&b, total);
	test_members(&b, total);
	store_destroy(b.s);
	world_destroy(b.w);
	nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	return END();
}
