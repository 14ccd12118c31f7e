// SPDX-License-Identifier: Apache-2.0
/* bench-bound - how near to the best possible a run under the rules "muri" is.
 *
 *   bench-bound TRACE.csv [ROUNDS]
 *
 * Prints key<TAB>value: what the policy yard reaches, and less than what no schedule can
 * that does not share GPUs, though it knew every arrival beforehand. */
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/str.h"
#include "sim/muri.h"

#define TRACE_MAX (64 << 20)
#define SLOTS     1500
#define ROUNDS    400

static int bound(const char *text, size_t len, int rounds, struct err *err)
{
	struct sim_trace t;
	struct sim_result r;
	struct muri_known known;
	struct sim_setup setup = { .trace = &t, .policy = "yard" };
	const struct sim_rules *rules = sim_rules_find("muri", err);

	if (!rules || sim_trace_read("muri", text, len, &t, err) < 0)
		return -1;
	if (rules->run(&setup, &r, err) < 0)
		return -1;
	double fast = 0;
	sim_figure_get(&r, "avg_jct_s", &known.avg_jct_s);
	sim_figure_get(&r, "makespan_s", &known.makespan_s);
	sim_figure_get(&r, "bound_avg_jct_s", &fast);
	double priced = muri_bound_priced(t.extra, &known, SLOTS, rounds);
	printf("yard_avg_jct_s\t%.0f\nbound_fast_machine_s\t%.0f\nbound_priced_s\t%.0f\n"
	       "yard_over_bound_percent\t%.2f\n",
	       known.avg_jct_s, fast, priced,
	       (known.avg_jct_s / (priced > fast ? priced : fast) - 1) * 100);
	sim_result_fini(&r);
	sim_trace_fini(&t);
	return 0;
}

int main(int argc, char **argv)
{
	struct err err;
	int64_t rounds = ROUNDS;

	if (argc < 2 || (argc > 2 && str_to_i64(argv[2], 1, 1000000, &rounds) < 0)) {
		fprintf(stderr, "usage: bench-bound TRACE.csv [ROUNDS]\n");
		return 2;
	}
	FILE *f = fopen(argv[1], "re");
	if (!f) {
		perror(argv[1]);
		return 1;
	}
	AUTO_FREE char *text = mem_alloc(1, TRACE_MAX);
	size_t len = fread(text, 1, TRACE_MAX, f);
	fclose(f);
	if (bound(text, len, (int)rounds, &err) < 0) {
		fprintf(stderr, "%s: %s\n", argv[1], err.text);
		return 1;
	}
	return 0;
}
