// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include "laws_tcp.h"
#include "storm.h"
#include "world/world_sim.h"

static void simple_echo(struct world *w, struct buf *said)
{
	struct pair p = { .server = { .echo = true, .shut_at_eof = true } };

	(void)said;
	pair_open(&p, w, "/sim/yard.sock");
	world_stream_write(p.client.s, "abcdefghijklmnop", 16);
	world_stream_shutdown(p.client.s);
	spin_until(w, &p.client.ended);
	pair_fini(&p);
}

/* What ten timers of one time said, in their order. */
static void ten_at_once(uint64_t seed, struct buf *said)
{
	struct world *w = world_sim_create(seed);
	struct world_timer *t[10];
	struct note n[10];

	for (int i = 0; i < 10; i++) {
		n[i] = (struct note){ said, (char)('a' + i) };
		t[i] = world_timer_create(w, say, &n[i]);
		world_timer_at(t[i], world_mono_ms(w) + 5);
	}
	world_sim_settle(w, 100);
	for (int i = 0; i < 10; i++)
		world_timer_destroy(t[i]);
	world_destroy(w);
}

static uint64_t history(uint64_t seed)
{
	struct world *w = world_sim_create(seed);
	uint64_t h;

	law_laters(w);
	law_works(w);
	simple_echo(w, NULL);
	h = world_sim_history(w) ^ world_random(w);
	world_destroy(w);
	return h;
}

static void test_seeds(void)
{
	AUTO_BUF struct buf one = { 0 };
	AUTO_BUF struct buf again = { 0 };
	int orders = 0;

	ten_at_once(1, &one);
	ten_at_once(1, &again);
	IS(buf_str(&again), buf_str(&one), "the same seed gives the same order");
	for (uint64_t seed = 2; seed < 12; seed++) {
		AUTO_BUF struct buf other = { 0 };
		ten_at_once(seed, &other);
		orders += strcmp(buf_str(&other), buf_str(&one)) != 0;
	}
	OK(orders >= 9, "other seeds shuffle what is due at one time");
	OK(history(7) == history(7), "a long history is the same for the same seed");
	OK(history(7) != history(8), "and another for another");
}

static void test_time(void)
{
	struct world *w = world_sim_create(3);
	int64_t mono = world_mono_ms(w), wall = world_now_ms(w);
	AUTO_BUF struct buf said = { 0 };
	struct note n = { &said, 'x' };
	struct world_timer *t = world_timer_create(w, say, &n);

	OK(!world_sim_step(w), "nothing to do is said so");
	world_timer_at(t, mono + 3600000);
	world_sim_run_until(w, mono + 3599999);
	OK(said.len == 0 && world_mono_ms(w) == mono + 3599999,
	   "the clock stands where it was run to");
	world_sim_run_until(w, mono + 3600000);
	OK(said.len == 1, "what is due at that very time has happened");
	world_sim_jump_wall(w, -7200000);
	OK(world_now_ms(w) == wall - 3600000 && world_mono_ms(w) == mono + 3600000,
	   "the wall clock jumps, the other does not");
	world_timer_destroy(t);
	world_destroy(w);
}

static void test_crash(void)
{
	struct world *w = world_sim_create(4);
	AUTO_BUF struct buf said = { 0 };
	struct note n = { &said, 'x' };
	struct world_timer *t = world_timer_create(w, say, &n);
	int finished = 0;
	struct job_of_work *k = mem_alloc(1, sizeof *k);
	struct pair p = { 0 };
	int64_t before;

	k->finished = &finished;
	pair_open(&p, w, "/sim/yard.sock");
	world_stream_write(p.client.s, "never seen", 10);
	world_timer_at(t, world_mono_ms(w) + 50);
	world_later(w, say, &n);
	world_work(w, do_work, work_done, k);
	before = world_mono_ms(w);
	world_sim_crash(w);
	world_sim_run_until(w, before + 10000);
	OK(said.len == 0 && finished == 0 && p.server.got.len == 0,
	   "after a crash nothing of the dead process happens");
	OK(world_mono_ms(w) == before + 10000, "but time goes on");
	world_timer_at(t, world_mono_ms(w) + 5);
	world_sim_settle(w, 10);
	OK(said.len == 1, "and what boots next lives in it");
	pair_fini(&p);
	world_timer_destroy(t);
	world_destroy(w);
	free(k);
}

/* A crash falls between what a work did and the news of it in some histories. */
static void test_work_split(void)
{
	int before = 0, between = 0, after = 0;

	for (uint64_t seed = 0; seed < 200; seed++) {
		struct world *w = world_sim_create(seed);
		int finished = 0;
		struct job_of_work k = { .finished = &finished };
		world_work(w, do_work, work_done, &k);
		world_sim_run_until(w, world_mono_ms(w) + 20);
		before += !k.worked;
		between += k.worked && !k.done;
		after += k.done;
		world_sim_crash(w);
		world_destroy(w);
	}
	OK(between > 20 && after > 20 && before < 20,
	   "works end at random times (%d, %d, %d)", before, between, after);
}

static void test_storms(void)
{
	int bad = 0;

	for (uint64_t seed = 1; seed <= 60; seed++) {
		struct world *w = world_sim_create(seed);
		const char *wrong = storm_run(w, "/sim/storm.sock");
		if (wrong && !bad++)
			printf("# seed %llu: %s\n", (unsigned long long)seed, wrong);
		world_destroy(w);
	}
	IS_INT(bad, 0, "sixty storms pass with nothing amiss");
}

int main(void)
{
	for (uint64_t seed = 1; seed <= 3; seed++) {
		struct world *w = world_sim_create(seed);
		struct err err;

		world_sim_caller(w, (struct world_peer){ .pid = 42,
							 .uid = (int64_t)getuid(),
							 .gid = 7 });
		world_laws(w, "/sim/yard.sock");
		laws_tcp(w);
		OK(!world_stream_open(w, 0, &err) && err.code == ERR_UNSUPPORTED,
		   "descriptors are refused in words: %s", err.text);
		world_destroy(w);
	}
	test_storms();
	test_seeds();
	test_time();
	test_crash();
	test_work_split();
	return END();
}
