// SPDX-License-Identifier: Apache-2.0
/* The rules "muri": by hand on small traces, and equal to the published figures. */
#include "runs.h"

/* Three jobs of half the cluster; dqn loses 8 s at each event while it runs. */
static void preempts(void)
{
	struct ran r = run(HEAD "x,32,0,1000,dqn,1000\n"
				"y,32,0,2000,dqn,1000\n"
				"z,32,100000,100,dqn,1000\n",
			   "srtf");

	OK(near(r.result.rows[0].end_s, 1031),
	   "x lost 8 s at two events and ends at 1031");
	OK(near(r.result.rows[1].end_s, 2147.5),
	   "y was stopped while z ran and ends at 2147.5");
	OK(near(r.result.rows[2].end_s, 201.5),
	   "z runs at once, and no event costs it time");
	OK(r.result.rows[1].preemptions == 1 && figure(&r, "preemptions") == 1,
	   "one preemption, of y");
	OK(figure(&r, "events") == 5 && near(figure(&r, "makespan_s"), 2147.5),
	   "five events, the last at 2147.5");
	OK(near(figure(&r, "avg_jct_s"), (1031 + 2147.5 + 101.5) / 3),
	   "the average JCT is the sum's third");
	done(&r);
}

/* Nine small jobs leave six idle nodes: one job of four nodes fits, the next does not. */
static void places(void)
{
	static const char text[] = HEAD "a,1,0,10,dqn,1000\nb,1,0,10,dqn,1000\n"
					"c,1,0,10,dqn,1000\nd,1,0,10,dqn,1000\n"
					"e,1,0,10,dqn,1000\nf,1,0,10,dqn,1000\n"
					"g,1,0,10,dqn,1000\nh,1,0,10,dqn,1000\n"
					"i,1,0,10,dqn,1000\nx,32,0,100,dqn,1000\n"
					"y,32,0,100,dqn,1000\nw,16,0,300,dqn,1000\n";
	struct ran r = run(text, "srsf");

	OK(near(r.result.rows[8].end_s, 10.15), "small ones end at 10.15");
	OK(near(r.result.rows[9].end_s, 109.5) && r.result.rows[9].start_s == 0,
	   "x has four nodes at once");
	OK(near(r.result.rows[10].start_s, 10.15), "y waits for whole idle nodes");
	OK(r.result.rows[11].start_s == 0 && r.result.rows[11].preemptions == 1,
	   "w takes the two nodes that y could not use, and gives them back");
	OK(near(r.result.rows[10].end_s, 119.65), "y ends at 119.65");
	done(&r);
	r = run(text, "srtf");
	OK(near(r.result.rows[8].end_s, 10.15) &&
		   r.result.rows[11].end_s > r.result.rows[10].end_s,
	   "by time alone the order is the same here");
	done(&r);
}

/* Limits of 3250 and 7200 GPU s are 102 and 225 s on 32 GPUs. */
static void levels(void)
{
	struct ran r = run(HEAD "p,32,0,200,dqn,1000\n"
				"q,32,0,200,dqn,1000\n"
				"r,32,50000,200,dqn,1000\n",
			   "tiresias");

	OK(r.result.rows[2].start_s == 102, "r comes in when p and q fall a level");
	OK(near(r.result.rows[0].end_s, 337), "p ends at 337");
	OK(near(r.result.rows[1].end_s, 347), "q ends at 347");
	OK(near(r.result.rows[2].end_s, 359), "r ends at 359");
	OK(near(figure(&r, "avg_jct_s"), 331) && figure(&r, "events") == 10,
	   "331 s on average, ten events");
	done(&r);
}

static void bounds(void)
{
	/* Alone, a job cannot end before its length, however many GPUs are idle. */
	struct ran r = run(HEAD "a,1,0,100,bert,1000\n", "srsf");
	OK(near(figure(&r, "bound_avg_jct_s"), 101.5) &&
		   near(figure(&r, "bound_makespan_s"), 101.5),
	   "one job: its length");
	done(&r);
	/* Middles on the fast machine at 50.75 and 152.25 s, and half a length. */
	r = run(HEAD "a,32,0,200,bert,1000\nb,32,0,200,bert,1000\n", "srsf");
	OK(near(figure(&r, "bound_avg_jct_s"), 203) &&
		   near(figure(&r, "bound_makespan_s"), 203),
	   "two that fill the cluster: both lengths");
	done(&r);
	/* Many small ones: the fast machine ends them at 1, 2 .. 128 times 1.5859375 s; their
	 * middles and half a length are less than a length and a half, and that is more. */
	char many[8192] = HEAD;
	for (int i = 0; i < 128; i++)
		strcat(many, "a,1,0,100,bert,1000\n");
	r = run(many, "srsf");
	OK(near(figure(&r, "avg_jct_s"), 152.25) &&
		   near(figure(&r, "bound_avg_jct_s"), 152.25),
	   "two rounds of small ones: the bound is reached");
	done(&r);
}

static double priced(const struct ran *r, int slots, int rounds)
{
	struct muri_known known = { figure(r, "avg_jct_s"), figure(r, "makespan_s") };

	return muri_bound_priced(r->trace.extra, &known, slots, rounds);
}

static void prices(void)
{
	struct ran r = run(HEAD "a,1,50000,100,bert,1000\n", "srsf");
	OK(near(priced(&r, 10, 5), 101.5), "one job: its length");
	done(&r);
	/* Two run, then the third: 101.5, 101.5 and 203 s, and no order does better. */
	r = run(HEAD "a,32,0,100,bert,1000\nb,32,0,100,bert,1000\nc,32,0,100,bert,1000\n",
		"srsf");
	double bound = priced(&r, 300, 300);
	OK(near(figure(&r, "avg_jct_s"), 406 / 3.0) && bound <= 406 / 3.0 + 1e-6 &&
		   bound > 0.97 * 406 / 3.0,
	   "three where two have room: the bound is near and below");
	done(&r);

	AUTO_FREE char *text = read_trace("trace3");
	if (!text) {
		SKIP("the public traces are not here (YARD_TRACES)");
		return;
	}
	r = run(text, "yard");
	double few = priced(&r, 300, 40), more = priced(&r, 300, 80);
	OK(more >= few && more > figure(&r, "bound_avg_jct_s") &&
		   more <= figure(&r, "avg_jct_s"),
	   "on trace3: above the fast machine's, below what is possible, better by and by");
	done(&r);
}

static void refuses(const char *text, const char *want)
{
	struct sim_trace t;
	struct err err = { 0 };

	if (sim_trace_read("muri", text, strlen(text), &t, &err) == 0)
		sim_trace_fini(&t);
	IS(err.text, want, "refuses: %s", want);
}

static void refuses_setup(void)
{
	static const char text[] = HEAD "a,1,0,100,bert,1000\n";
	struct sim_trace t;
	struct sim_result r;
	struct node nodes[3] = { 0 };
	struct sim_cluster small = { nodes, 3 };
	struct err err = { 0 };
	struct sim_setup setup = { .trace = &t, .policy = "srfs" };
	const struct sim_rules *rules = sim_rules_find("muri", &err);

	OK(rules && sim_trace_read("muri", text, strlen(text), &t, &err) == 0, "read");
	OK(rules->run(&setup, &r, &err) < 0, "a policy that is not there is refused");
	IS(err.text, "the rules muri have no policy 'srfs'; did you mean 'srsf'?",
	   "with a guess");
	setup.policy = "srsf";
	setup.cluster = &small;
	OK(rules->run(&setup, &r, &err) < 0, "another cluster is refused");
	sim_trace_fini(&t);
}

/* avg JCT, makespan, p99 JCT as the authors printed them, to at least seven digits. */
static const struct {
	const char *trace, *policy;
	double avg, makespan, p99;
} published[] = {
	// clang-format off
	{ "trace1",    "srtf",     1370603.198, 26045465.532945, 16647148.09074   },
	{ "trace1",    "srsf",     980140.5699, 26065759.044845, 15529913.227905  },
	{ "trace1",    "tiresias", 3330371.307, 23556410.217355, 14739851.5052    },
	{ "trace1_pr", "srtf",     2303543.816, 24513543.937825, 19871388.29092   },
	{ "trace1_pr", "srsf",     1801859.995, 24272529.59311,  18267307.81118   },
	{ "trace1_pr", "tiresias", 6921682.793, 21990477.824095, 21765400.784095  },
	{ "trace3",    "srtf",     193081.796,  8174135.28,      4538890.607      },
	{ "trace3",    "srsf",     185021.8802, 8174135.28,      4189699.177      },
	{ "trace3",    "tiresias", 347213.2481, 8174226.28,      4983397.254      },
	{ "trace3_pr", "srtf",     844394.78,   7261795.828,     6363099.549      },
	{ "trace3_pr", "srsf",     798057.6829, 6907790.403,     6228160.594      },
	{ "trace3_pr", "tiresias", 2213110.128, 6761641.42,      6739568.999      },
	// clang-format on
};

static bool seven_digits(double got, double want)
{
	return fabs(got - want) <= 0.5e-7 * want;
}

static void as_published(void)
{
	for (size_t i = 0; i < COUNT_OF(published); i++) {
		AUTO_FREE char *text = read_trace(published[i].trace);
		if (!text) {
			SKIP("the public traces are not here (YARD_TRACES)");
			continue;
		}
		struct ran r = run(text, published[i].policy);
		OK(seven_digits(figure(&r, "avg_jct_s"), published[i].avg) &&
			   seven_digits(figure(&r, "makespan_s"),
					published[i].makespan) &&
			   seven_digits(figure(&r, "p99_jct_s"), published[i].p99),
		   "%s on %s: average, makespan and p99 as published",
		   published[i].policy, published[i].trace);
		done(&r);
	}
}

int main(void)
{
	preempts();
	places();
	levels();
	bounds();
	prices();
	refuses_setup();
	refuses(HEAD, "a header, but no jobs");
	refuses(HEAD "a,3,0,1,bert,1\n",
		"line 2, column num_gpu: 3 is none of 1, 2, 4, 8, 16, 32");
	refuses(HEAD "a,64,0,1,bert,1\n",
		"line 2, column num_gpu: '64' is not a whole number from 1 to 32");
	refuses(HEAD "a,1,0,1,bert,0\n",
		"line 2, column iteration_time: an iteration takes some time");
	refuses("job_id,num_gpu,submit_time,iterations,model_name\n",
		"no column 'iteration_time' in the header (is 'iterations' meant?)");
	as_published();
	return END();
}
