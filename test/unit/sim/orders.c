// SPDX-License-Identifier: Apache-2.0
/* Our orders under the rules "muri": what they are for, by hand; then how far under the
 * published ones they are, by the one set of constants that they have. */
#include "runs.h"
#include "sim/muri_fill.h"
#include "sim/muri_share.h"

/* Five jobs of one node go before one of four nodes in SRSF's order, and three nodes idle
 * beside them; we run four of them and the wide one. */
static void fills(void)
{
	static const char text[] = HEAD "a,8,0,1000,bert,1000\nb,8,0,1000,bert,1000\n"
					"c,8,0,1000,bert,1000\nd,8,0,1000,bert,1000\n"
					"e,8,0,1000,bert,1000\nx,32,0,300,bert,1000\n";
	struct ran theirs = run(text, "srsf"), ours = run(text, "yard");

	OK(theirs.result.rows[5].start_s > 0,
	   "SRSF lets the wide one wait beside idle nodes");
	OK(ours.result.rows[5].start_s == 0 && ours.result.samples[0].use == 1,
	   "yard fills the cluster");
	OK(figure(&ours, "avg_jct_s") < figure(&theirs, "avg_jct_s"),
	   "and the average is less");
	done(&theirs);
	done(&ours);
}

/* Nine jobs a node each, one of them longer than the rest together on all nodes: behind
 * the short it would end the last by far. */
static void starts_long_ones(void)
{
	static const char text[] =
		HEAD "long,8,0,9000,bert,1000\n"
		     "a,8,0,1000,bert,1000\nb,8,0,1000,bert,1000\nc,8,0,1000,bert,1000\n"
		     "d,8,0,1000,bert,1000\ne,8,0,1000,bert,1000\nf,8,0,1000,bert,1000\n"
		     "g,8,0,1000,bert,1000\nh,8,0,1000,bert,1000\n";
	struct ran theirs = run(text, "srsf"), ours = run(text, "yard");

	OK(theirs.result.rows[0].start_s > 0 && ours.result.rows[0].start_s == 0,
	   "what decides the makespan starts first");
	OK(figure(&ours, "makespan_s") < figure(&theirs, "makespan_s"),
	   "and all is over earlier");
	done(&theirs);
	done(&ours);
}

/* Against every way to take so many of each size: none is worth more. */
static double try_all(double worth[MURI_SIZES][MURI_GPUS + 1], int size, int gpus)
{
	double best = 0;

	for (int n = 0; size < MURI_SIZES && n << size <= gpus; n++)
		if (n == 0 || worth[size][n] > 0)
			best = fmax(best,
				    (n ? worth[size][n] : 0) +
					    try_all(worth, size + 1, gpus - (n << size)));
	return best;
}

static void chooses_best(void)
{
	uint64_t seed = 1;
	int wrong = 0;

	for (int round = 0; round < 20; round++) {
		double worth[MURI_SIZES][MURI_GPUS + 1] = { 0 }, got = 0;
		int take[MURI_SIZES], gpus = 0;

		for (int size = 2; size < MURI_SIZES; size++)
			for (int n = 1; n << size <= MURI_GPUS; n++) {
				seed = seed * 6364136223846793005u + 1442695040888963407u;
				worth[size][n] = seed >> 62 ? (double)(seed >> 40) : 0;
			}
		muri_choose(worth, take);
		for (int size = 0; size < MURI_SIZES; size++) {
			got += worth[size][take[size]];
			gpus += take[size] << size;
		}
		wrong += gpus > MURI_GPUS || !near(got, try_all(worth, 0, MURI_GPUS));
	}
	OK(wrong == 0, "the chosen set fits and no other is worth more");
}

/* Two traces that differ only in how much work three long jobs have.  Until the first of
 * those ends nobody who does not look at it can know, so all else must go the same way. */
static void blind_is_blind(const char *policy)
{
	char one[16384] = HEAD, two[16384] = HEAD, row[128];

	for (int i = 0; i < 150; i++) {
		bool is_long = i % 50 == 7;
		snprintf(row, sizeof row, "%d,%d,%d,%d,bert,1000\n", i, 8 << i % 3,
			 i * 100000, is_long ? 100000 : 100 + i);
		strcat(one, row);
		snprintf(row, sizeof row, "%d,%d,%d,%d,bert,1000\n", i, 8 << i % 3,
			 i * 100000, is_long ? 200000 : 100 + i);
		strcat(two, row);
	}
	struct ran a = run(one, policy), b = run(two, policy);
	int differ = 0, before = 0;

	for (size_t i = 0; i < a.result.row_count; i++) {
		const struct sim_row *x = &a.result.rows[i], *y = &b.result.rows[i];
		bool is_long = i % 50 == 7;

		before += !is_long;
		differ += x->start_s != y->start_s || (!is_long && x->end_s != y->end_s);
	}
	OK(before == 147 && differ == 0, "%s does not know how much work is left",
	   policy);
	done(&a);
	done(&b);
}

static void shares(void)
{
	/* By hand: bert is on the GPU for 160 of its 178 ms, dqn on the processor for 446 of
	 * 490: as two halves max(446, 160) + max(0.5, 8) = 454 ms, and 1.33 / 1.015 more. */
	struct muri_job bert = { .gpus = 1,
				 .iteration_s = 0.178 * 1.015,
				 .phase_s = { 0.0005, 0.160, 0 } };
	struct muri_job dqn = { .gpus = 1,
				.iteration_s = 0.490 * 1.015,
				.phase_s = { 0.446, 0.008, 0 } };
	const struct muri_job *both[] = { &dqn, &bert, &bert, &dqn };

	OK(muri_pace(both, 1) == dqn.iteration_s, "alone a job has its own pace");
	OK(near(muri_pace(both, 2), 0.454 * 1.33 / 1.015), "two in halves, as by hand");
	OK(muri_pace(both + 1, 2) > 2 * 0.160, "two alike take turns on the GPU");
	/* A first phase has two turns of four: the second dqn's begins while the first's runs. */
	OK(muri_pace(both, 4) < 2 * muri_pace(both, 2),
	   "four are faster than two and two");
	const struct muri_job *back[] = { &bert, &bert, &dqn, &dqn };
	OK(near(muri_pace(both, 4), muri_pace(back, 4)) &&
		   near(muri_pace(both, 3), muri_pace(back, 3)),
	   "in whatever order they are told");
	struct muri_job untold = { .gpus = 1, .iteration_s = 1 };
	const struct muri_job *unknown[] = { &untold, &untold };
	OK(!(muri_pace(unknown, 2) < 1e9), "jobs whose phases are not told do not share");
}

/* Four wide jobs where two have room; two live on the processor, two on the GPU. */
static void shares_places(void)
{
	static const char text[] =
		"job_id,num_gpu,submit_time,iterations,model_name,"
		"iteration_time,resource_time_0,resource_time_1,resource_time_2\n"
		"a,32,0,1000,dqn,490,446,8,0\nb,32,0,1000,dqn,490,446,8,0\n"
		"c,32,0,2700,bert,178,0.5,160,0\nd,32,0,2700,bert,178,0.5,160,0\n";
	struct ran r = run(text, "yard-share");

	OK(r.result.rows[0].start_s == 0 && r.result.rows[2].start_s == 0 &&
		   r.result.rows[3].start_s == 0,
	   "four jobs run at once where two have room");
	OK(r.result.samples[0].use == 1, "and no GPU is counted twice");
	/* Three share, which leaves d alone; that group's pace is for the other test. */
	OK(near(r.result.rows[3].end_s, 2700 * 0.178 * 1.015),
	   "who is alone has its own pace");
	OK(isnan(figure(&r, "bound_avg_jct_s")),
	   "no bound is claimed where GPUs are shared");
	struct ran apart = run(text, "yard");
	OK(figure(&r, "avg_jct_s") < figure(&apart, "avg_jct_s") &&
		   figure(&r, "makespan_s") < figure(&apart, "makespan_s"),
	   "together they are done earlier than one after the other");
	done(&apart);
	done(&r);
}

/* At most so much of what the best published order of its kind has; the figures are
 * those of its authors.  Written a little above what is reached. */
static const struct {
	const char *trace, *policy, *than;
	double avg, avg_part, p99, p99_part, makespan, makespan_part;
} reached[] = {
	// clang-format off
	{ "trace1",    "yard",       "SRSF",     980140.57, 0.998, 15529913, 0.99,  26065759, 0.95 },
	{ "trace3",    "yard",       "SRSF",     185021.88, 0.915, 4189699,  0.95,  8174135,  1.0  },
	{ "trace1_pr", "yard",       "SRSF",     1801860.0, 1.0,   18267308, 1.001, 24272530, 0.965 },
	{ "trace3_pr", "yard",       "SRSF",     798057.68, 0.993, 6228161,  1.004, 6907790,  1.002 },
	{ "trace1",    "yard-blind", "Themis",   1823179.1, 0.94,  14739852, 1.0,   24658269, 1.02 },
	{ "trace3",    "yard-blind", "Themis",   397058.80, 0.70,  4983397,  0.95,  8172105,  1.001 },
	{ "trace1_pr", "yard-blind", "Themis",   3314303.2, 0.85,  21765401, 0.95,  23369493, 1.03 },
	{ "trace3_pr", "yard-blind", "Themis",   1502768.2, 0.85,  6739569,  0.97,  6760042,  1.09 },
	{ "trace1",    "yard-share", "Muri-S",   867705.79, 0.795, 10618148, 1.01,  18446535, 0.995 },
	{ "trace3",    "yard-share", "Muri-S",   85502.554, 0.92,  992405,   0.82,  8174135,  1.0  },
	{ "trace3_pr", "yard-share", "Muri-S",   537776.62, 0.98,  4105514,  0.97,  4400675,  1.001 },
	{ "trace1",    "yard-share-blind", "Muri-L", 1072009.7, 0.91, 11322990, 0.88, 18593246, 0.89 },
	{ "trace3",    "yard-share-blind", "Muri-L", 88686.973, 0.99, 927167,   0.94, 8174135,  1.001 },
	{ "trace3_pr", "yard-share-blind", "Muri-L", 921094.74, 0.96, 4167478,  0.97, 4403652,  1.06 },
	// clang-format on
};

static void beats_published(void)
{
	for (size_t i = 0; i < COUNT_OF(reached); i++) {
		AUTO_FREE char *text = read_trace(reached[i].trace);
		if (!text) {
			SKIP("the public traces are not here (YARD_TRACES)");
			continue;
		}
		struct ran r = run(text, reached[i].policy);
		OK(figure(&r, "avg_jct_s") <= reached[i].avg * reached[i].avg_part,
		   "%s on %s: average JCT at most %.1f %% of %s", reached[i].policy,
		   reached[i].trace, reached[i].avg_part * 100, reached[i].than);
		OK(figure(&r, "p99_jct_s") <= reached[i].p99 * reached[i].p99_part &&
			   figure(&r, "makespan_s") <=
				   reached[i].makespan * reached[i].makespan_part + 1,
		   "and its p99 and makespan are within what is stated");
		done(&r);
	}
}

int main(void)
{
	fills();
	starts_long_ones();
	chooses_best();
	blind_is_blind("yard-blind");
	blind_is_blind("yard-share-blind");
	shares();
	shares_places();
	beats_published();
	return END();
}
