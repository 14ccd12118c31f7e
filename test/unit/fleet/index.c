// SPDX-License-Identifier: Apache-2.0
/* A fleet made by any history is, to the last bit of its indexes, one that is told the
 * nodes and who holds what.  YARD_TEST_SEED=n replays one history. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"
#include "herd.h"
#include "tap.h"

#define SEEDS 60
#define STEPS 150

static bool same(struct herd *h)
{
	AUTO_BUF struct buf mine = { 0 };
	AUTO_BUF struct buf anew = { 0 };
	struct h_job *jobs[H_JOBS];
	struct grants grants[H_JOBS] = { { 0 } };
	struct fleet *f = h_rebuild(h, jobs, grants);
	bool equal;

	fleet_digest(h->f, &mine);
	fleet_digest(f, &anew);
	equal = strcmp(buf_str(&mine), buf_str(&anew)) == 0;
	if (!equal)
		printf("# history:\n%s\n# anew:\n%s\n", buf_str(&mine), buf_str(&anew));
	for (int i = 0; i < H_JOBS; i++) {
		if (jobs[i])
			fleet_give_back(f, jobs[i]->ask, &grants[i]);
	}
	fleet_destroy(f);
	return equal;
}

static const char *step(struct herd *h)
{
	int what = h_roll(h, 20);
	struct h_job *j = &h->jobs[h_roll(h, H_JOBS)];

	if (what == 0 && h->node_count < H_NODES) {
		h_make_node(h, h->node_count++);
	} else if (what <= 1) {
		h_make_node(h, h_roll(h, h->node_count));
	} else if (j->ask) {
		h_drop_job(h, j);
	} else {
		h_make_job(h, j);
		if (view_fit(fleet_now(h->f), j->ask, NULL, &h->picks))
			return h_start(h, j);
		h_drop_job(h, j);
	}
	return NULL;
}

int main(void)
{
	const char *one = getenv("YARD_TEST_SEED"), *law = NULL;
	uint64_t seed = one ? strtoull(one, NULL, 10) : 1, end = one ? seed + 1 : SEEDS;
	bool equal = true;

	for (; seed < end && equal && !law; seed++) {
		struct herd h = { .shares = true,
				  .rings = seed & 1,
				  .islands = seed & 2,
				  .racks = seed & 4,
				  .labels = seed & 8 };
		h_init(&h, seed);
		for (int i = 0; i < STEPS && equal && !law; i++) {
			law = step(&h);
			equal = same(&h);
		}
		h_fini(&h);
	}
	OK(equal, "after every change the indexes are those of a fleet made anew");
	OK(!law, "and every start keeps the laws%s%s", law ? ": " : "", law ? law : "");
	if (!equal || law)
		printf("# seed %" PRIu64 "\n", seed - 1);
	return END();
}
