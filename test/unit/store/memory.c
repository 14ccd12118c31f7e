// SPDX-License-Identifier: Apache-2.0
#include "laws.h"
#include "world/world_sim.h"

static struct store *open_memory(struct bench *b)
{
	return store_memory_open(b->w, b->arg);
}

static void test_laws(uint64_t seed)
{
	struct store_disk *d = store_disk_create();
	struct bench b = { .w = world_sim_create(seed), .open = open_memory, .arg = d };

	b.s = b.open(&b);
	store_laws(&b);
	store_destroy(b.s);
	store_disk_destroy(d);
	world_destroy(b.w);
}

static void test_disk_full(void)
{
	struct store_disk *d = store_disk_create();
	struct bench b = {
		.w = world_sim_create(9), .open = open_memory, .arg = d, .seq = 1
	};
	int failed = 0, wrong = 0;
	int64_t there = 0;

	store_disk_set_faults(
		d, &(struct store_disk_faults){ .fail_percent = 30, .delay_most_ms = 3 });
	b.s = b.open(&b);
	for (int i = 1; i <= 200; i++) {
		struct store_batch *batch = store_batch_create();
		struct store_row row = a_row(i, "ann", JOB_QUEUED);
		struct seen s = { 0 };
		enum err_code code;
		add_job(&b, batch, &row, NULL);
		code = commit(&b, batch);
		failed += code == ERR_IO;
		there += code == ERR_NONE;
		wrong +=
			(store_row(b.s, i, see_row, &s, NULL) == 0) != (code == ERR_NONE);
		seen_fini(&s);
	}
	OK(failed > 20 && failed < 120, "a full disk fails some commits (%d)", failed);
	IS_INT(wrong, 0, "those leave nothing, the others all");
	IS_INT((long long)store_disk_events(d), there, "the disk counts what is durable");
	store_destroy(b.s);
	store_disk_destroy(d);
	world_destroy(b.w);
}

/* A crash at every time after a commit began: both ends of the story must occur. */
static void test_crashes(void)
{
	int with = 0, without = 0, lied = 0;

	for (uint64_t seed = 0; seed < 300; seed++) {
		struct store_disk *d = store_disk_create();
		struct bench b = { .w = world_sim_create(seed),
				   .open = open_memory,
				   .arg = d,
				   .seq = 1 };
		struct store_batch *batch = store_batch_create();
		struct store_row row = a_row(1, "ann", JOB_QUEUED);
		struct told t = { 0 };
		b.s = b.open(&b);
		add_job(&b, batch, &row, NULL);
		store_commit(b.s, batch, on_told, &t);
		for (uint64_t steps = seed % 3; steps > 0; steps--)
			world_sim_step(b.w);
		world_sim_crash(b.w);
		store_destroy(b.s);
		with += store_disk_events(d) == 1 && !t.yes;
		without += store_disk_events(d) == 0 && !t.yes;
		lied += store_disk_events(d) == 0 && t.yes;
		store_disk_destroy(d);
		world_destroy(b.w);
	}
	OK(with > 30 && without > 30,
	   "a commit under way at a crash is there (%d) or not (%d)", with, without);
	IS_INT(lied, 0, "one that was told of always is");
}

int main(void)
{
	for (uint64_t seed = 1; seed <= 3; seed++)
		test_laws(seed);
	test_disk_full();
	test_crashes();
	return END();
}
