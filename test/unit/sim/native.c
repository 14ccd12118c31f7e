// SPDX-License-Identifier: Apache-2.0
/* The native rules: by hand on small traces, laws on made ones.  (The Philly month is in
 * test/e2e/simulate.) */
#include "base/buf.h"
#include "base/mem.h"
#include "base/str.h"
#include "sim/sim.h"
#include "tap.h"

struct ran {
	struct sim_trace trace;
	struct sim_cluster cluster;
	struct sim_result result;
	struct err err;
	int code;
};

static struct ran run(const char *text, const char *nodes, struct sim_setup s)
{
	struct ran r = { .code = -1 };
	const struct sim_rules *rules = sim_rules_find("native", &r.err);

	if (sim_trace_read(NULL, text, strlen(text), &r.trace, &r.err) < 0 ||
	    sim_cluster_short(nodes, &r.cluster, &r.err) < 0)
		return r;
	s.trace = &r.trace;
	s.cluster = &r.cluster;
	r.code = rules->run(&s, &r.result, &r.err);
	return r;
}

static void done(struct ran *r)
{
	sim_result_fini(&r->result);
	sim_trace_fini(&r->trace);
	sim_cluster_fini(&r->cluster);
}

static double figure(const struct ran *r, const char *key)
{
	double v = -1;

	sim_figure_get(&r->result, key, &v);
	return v;
}

#define HEAD "id,submit,duration,gpus\n"
#define KNOWN                                                                            \
	(struct sim_setup)                                                               \
	{                                                                                \
		.durations = SIM_KNOWN, .policy = "fifo"                                 \
	}

/* a takes all; b must wait for it; c could pass b and end before b begins. */
static void by_hand(void)
{
	static const char text[] = HEAD "a,0,100,6\nb,10,50,8\nc,20,60,2\nd,30,500,1\n";
	struct ran r = run(text, "1x8", KNOWN);

	OK(r.result.rows[2].start_s == 150 && r.result.rows[3].start_s == 150,
	   "in strict order nobody passes");
	OK(figure(&r, "makespan_s") == 650 && figure(&r, "done") == 4, "all end");
	done(&r);
	r = run(text, "1x8",
		(struct sim_setup){ .durations = SIM_KNOWN, .policy = "easy" });
	OK(r.result.rows[1].start_s == 100, "with backfill the first waits no longer");
	OK(r.result.rows[2].start_s == 20, "who is over in time passes");
	OK(r.result.rows[3].start_s == 150, "who is not does not");
	OK(figure(&r, "head_delays") == 0, "nobody at the head was delayed");
	OK(figure(&r, "avg_queue_s") == (0 + 90 + 0 + 120) / 4.0,
	   "the waits are counted");
	done(&r);
}

static void rejects(void)
{
	struct ran r = run(HEAD "a,0,10,17\nb,0,10,16\n", "2x8", KNOWN);

	OK(r.result.rows[0].rejected && !r.result.rows[1].rejected,
	   "what no nodes could hold is rejected, what just fits is not");
	OK(figure(&r, "rejected") == 1 && figure(&r, "done") == 1,
	   "and both are counted");
	done(&r);
}

/* A long one runs; a short one comes that the group's order puts before it. */
static void preempts(void)
{
	static const char text[] = HEAD "long,0,10000,8\nshort,5000,100,8\n";
	struct sim_setup s = { .durations = SIM_KNOWN,
			       .policy = "srsf",
			       .restart_cost_ms = 60000 };
	struct ran r = run(text, "1x8", s);

	OK(r.result.rows[1].start_s == 5000, "the short one runs at once");
	OK(r.result.rows[0].preemptions == 1 && figure(&r, "preemptions") == 1,
	   "the long one gave way once");
	OK(r.result.rows[0].end_s == 10160, "and does a minute again when it is back");
	OK(figure(&r, "lost_device_s") == 480, "which cost eight devices a minute");
	done(&r);
}

/* Two users whose jobs are long and short, told apart only by those that ended. */
static void learns(void)
{
	AUTO_BUF struct buf text = { 0 };
	double slow = 0, fast = 0;

	buf_adds(&text, "id,submit,duration,gpus,user\n");
	for (int i = 0; i < 400; i++)
		buf_printf(&text, "%d,%d,%d,1,%s\n", i, 10 * i, i % 2 ? 40 : 400,
			   i % 2 ? "ann" : "bob");
	struct ran r = run(buf_str(&text), "2x8", (struct sim_setup){ .policy = "yard" });
	for (size_t i = 200; i < r.result.row_count; i++) {
		double queue = r.result.rows[i].start_s - r.result.rows[i].submit_s;
		*(i % 2 ? &fast : &slow) += queue;
	}
	OK(fast < slow / 4, "whose jobs are short waits less: %.0f s, others %.0f s",
	   fast / 100, slow / 100);
	done(&r);
}

/* ---- laws on made traces ---- */

static uint64_t dice(uint64_t *seed)
{
	*seed += 0x9e3779b97f4a7c15u;
	uint64_t z = (*seed ^ *seed >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

static void make(uint64_t seed, struct buf *out)
{
	static const int sizes[] = { 1, 1, 1, 2, 4, 8, 16, 12 };
	int64_t at = 0;

	buf_adds(out, "id,submit,duration,gpus,user,queue,priority,limit,preemptible\n");
	for (int i = 0; i < 300; i++) {
		int64_t lasts = 1 + (int64_t)(dice(&seed) % 300);
		at += (int64_t)(dice(&seed) % 30);
		buf_printf(out, "%d,%lld,%lld,%d,u%d,g%d,%d,%lld,%d\n", i, (long long)at,
			   (long long)lasts, sizes[dice(&seed) % COUNT_OF(sizes)],
			   (int)(dice(&seed) % 5), (int)(dice(&seed) % 3),
			   (int)(dice(&seed) % 2), (long long)(lasts + lasts / 2),
			   (int)(dice(&seed) % 2));
	}
}

/* Rows that break a law of any run. */
static int broken(const struct ran *r)
{
	int bad = 0;

	for (size_t i = 0; i < r->result.row_count; i++) {
		const struct sim_row *row = &r->result.rows[i];
		int was = bad;
		bad += row->end_s < 0 || row->start_s < row->submit_s ||
		       row->ran_s < row->alone_s - 0.001 ||
		       row->end_s - row->submit_s < row->ran_s - 0.001 ||
		       (!row->preemptions &&
			row->end_s - row->start_s > row->ran_s + 0.001);
		if (bad > was)
			printf("# job %s: submit %.3f start %.3f end %.3f ran %.3f of %.3f, "
			       "gave way %d times\n",
			       row->name, row->submit_s, row->start_s, row->end_s,
			       row->ran_s, row->alone_s, row->preemptions);
	}
	return bad;
}

static void laws(void)
{
	const struct sim_rules *rules = sim_rules_find("native", NULL);
	int bad = 0, delayed = 0, overused = 0, other = 0, preempted = 0;

	for (uint64_t seed = 1; seed <= 12; seed++) {
		AUTO_BUF struct buf text = { 0 };
		make(seed, &text);
		for (const struct sim_choice *p = rules->policies; p->name; p++) {
			struct sim_setup s = { .durations = SIM_KNOWN,
					       .policy = p->name,
					       .restart_cost_ms = 5000 };
			struct ran a = run(buf_str(&text), "3x8", s);
			struct ran b = run(buf_str(&text), "3x8", s);
			bad += broken(&a);
			delayed += (int)figure(&a, "head_delays");
			overused += figure(&a, "use_percent") > 100.0001;
			preempted += (int)figure(&a, "preemptions");
			other += !a.result.hash[0] ||
				 strcmp(a.result.hash, b.result.hash) != 0;
			done(&a);
			done(&b);
		}
	}
	IS_INT(bad, 0,
	       "every job of every policy runs as long as it takes, once it came");
	IS_INT(delayed, 0, "where lengths are known no head was delayed by backfill");
	IS_INT(overused, 0, "no more devices are used than there are");
	IS_INT(other, 0, "the same setup gives the same decisions");
	OK(preempted > 100, "some gave way: %d times", preempted);
}

int main(void)
{
	by_hand();
	rejects();
	preempts();
	learns();
	laws();
	return END();
}
