// SPDX-License-Identifier: Apache-2.0
/* Scores: fragments as the definition has them, prices that no cut of a device beats, and
 * the best place of all, whatever was remembered.  YARD_TEST_STATES=n: so many nodes. */
#include "fleet/score.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"
#include "fleet/scores.h"
#include "herd.h"
#include "tap.h"

#define STATES  100000 /* a million in the light build */
#define SHAPES  40
#define SEEDS   40
#define STEPS   150
#define TYPICAL 12

/* ---- fragments ---- */

struct world {
	struct herd h; /* for its dice and its fleet */
	struct typical t;
	struct ask_role roles[SHAPES];
	int64_t seen[SHAPES];
	int order[SHAPES]; /* by seen */
	int usual;         /* of these: they are typical */
	int64_t all;
};

static const char *const types[] = { "gpu", "gpu:a", "gpu:b", "gpu:a|b" };

static void make_role(struct world *w, int i)
{
	static const int counts[] = { 1, 1, 2, 4, 8 };
	struct ask_role *r = &w->roles[i];

	*r = (struct ask_role){ .count = 1, .cpu_milli = 500 * (i + 1) };
	if (h_roll(&w->h, 6)) {
		r->device_count = 1;
		r->devices[0] = (struct need){ .count = counts[h_roll(&w->h, 5)],
					       .type = types[h_roll(&w->h, 4)] };
		r->devices[0].kinds = fleet_kinds_of(w->h.f, r->devices[0].type);
	}
	if (r->device_count && h_roll(&w->h, 2)) {
		r->devices[0].count = 1;
		r->devices[0].share_milli = 10 * (1 + h_roll(&w->h, 99));
	}
	w->seen[i] = 1 + h_roll(&w->h, 1000) * h_roll(&w->h, 2);
}

/* The most frequent until 95 % are covered; every role has a cpu of its own, so none are
 * the same, and equals in number are in the order of what they need. */
static void choose_usual(struct world *w)
{
	int64_t total = 0;

	for (int i = 0; i < SHAPES; i++) {
		w->order[i] = i;
		total += w->seen[i];
	}
	for (int i = 1; i < SHAPES; i++) {
		for (int k = i; k > 0 && w->seen[w->order[k]] > w->seen[w->order[k - 1]];
		     k--) {
			int o = w->order[k];
			w->order[k] = w->order[k - 1];
			w->order[k - 1] = o;
		}
	}
	w->usual = 0;
	w->all = 0;
	while (w->all * 1000 < total * 950)
		w->all += w->seen[w->order[w->usual++]];
}

static void make_world(struct world *w, uint64_t seed)
{
	*w = (struct world){ 0 };
	w->h.seed = seed;
	w->h.f = fleet_create();
	fleet_kind(w->h.f, "gpu:a");
	fleet_kind(w->h.f, "gpu:b");
	typical_init(&w->t);
	for (int i = 0; i < SHAPES; i++) {
		/* Frequencies that are all different: who is typical is beyond doubt. */
		make_role(w, i);
		w->seen[i] = w->seen[i] * SHAPES + i;
		typical_give(&w->t, &w->roles[i], w->seen[i]);
	}
	typical_learn(&w->t, w->h.f);
	choose_usual(w);
}

/* What is left of a node for one typical ask, by the definition. */
static int64_t fragment_for(const struct ask_role *r, const uint16_t *left, int count,
			    int kind, int64_t cpu)
{
	int64_t sum = 0, small = 0, fit = 0;
	int milli;

	for (int i = 0; i < count; i++)
		sum += left[i];
	if (!r->device_count || !(r->devices[0].kinds >> kind & 1) || cpu < r->cpu_milli)
		return sum;
	milli = r->devices[0].share_milli ? r->devices[0].share_milli : DEVICE_SHARE;
	for (int i = 0; i < count; i++) {
		fit += left[i] >= milli;
		small += left[i] < milli ? left[i] : 0;
	}
	return fit < r->devices[0].count ? sum : small;
}

static int64_t slow_fragment(const struct world *w, const uint16_t *left, int count,
			     int kind, int64_t cpu)
{
	int64_t used = 0, sum = 0;

	for (int i = 0; i < count; i++)
		sum += left[i];
	for (int i = 0; i < w->usual; i++) {
		const struct ask_role *r = &w->roles[w->order[i]];
		int64_t weight = w->seen[w->order[i]] * TYPICAL_ONE / w->all;
		used += weight * (sum - fragment_for(r, left, count, kind, cpu));
	}
	return sum * TYPICAL_ONE - used;
}

static bool state_agrees(struct world *w)
{
	uint16_t left[DEVICES_MAX];
	int count = 1 + h_roll(&w->h, h_roll(&w->h, 50) ? 8 : DEVICES_MAX);
	int kind = h_roll(&w->h, 2);
	int64_t cpu = 250 * h_roll(&w->h, 100);
	struct spot s;

	for (int i = 0; i < count; i++)
		left[i] = (uint16_t)(h_roll(&w->h, 3) ? 10 * h_roll(&w->h, 101)
						      : 1000 * h_roll(&w->h, 2));
	spot_set(&s, kind, left, count);
	if (typical_fragment(&w->t, &s, cpu) != slow_fragment(w, left, count, kind, cpu))
		return false;
	/* And after something was taken, as rules do it. */
	int d = h_roll(&w->h, count);
	if (left[d] > 20) {
		int share = 10 + h_roll(&w->h, left[d] - 10);
		spot_share(&s, left[d], share);
		left[d] = (uint16_t)(left[d] - share);
	}
	int idle = 0, take;
	for (int i = 0; i < count; i++)
		idle += left[i] == DEVICE_SHARE;
	take = h_roll(&w->h, idle + 1);
	spot_whole(&s, take);
	for (int i = 0; i < count && take; i++) {
		take -= left[i] == DEVICE_SHARE;
		left[i] = left[i] == DEVICE_SHARE ? 0 : left[i];
	}
	return typical_fragment(&w->t, &s, cpu) ==
	       slow_fragment(w, left, count, kind, cpu);
}

static void fragments(int64_t states)
{
	int64_t wrong = 0, done = 0;

	for (uint64_t seed = 1; done < states; seed++) {
		struct world w;
		make_world(&w, seed);
		for (int i = 0; i < 5000; i++, done++)
			wrong += !state_agrees(&w);
		typical_fini(&w.t);
		fleet_destroy(w.h.f);
	}
	OK(!wrong, "fragments of %" PRId64 " random nodes are those of the definition",
	   done);
}

/* ---- prices ---- */

static bool prices_hold(struct herd *h)
{
	int64_t seen[PRICE_STEPS + 1] = { 0 };
	struct prices p;

	for (int i = 1 + h_roll(h, 60); i > 0; i--)
		seen[1 + h_roll(h, 99)] += 1 + h_roll(h, 1000);
	prices_learn(seen, &p);
	for (int i = 0; i < 200; i++) {
		int room = PRICE_STEPS, gap = 10 * h_roll(h, 101);
		int64_t worth = 0;
		for (int k = 0; k < 40; k++) {
			int size = 1 + h_roll(h, 99);
			if (size > room || !seen[size])
				continue;
			room -= size;
			worth += p.share[size];
		}
		if (worth > PRICE_ONE + 100 || p.gap[gap / 10] > PRICE_ONE + 1)
			return false;
		if (gap && prices_loss(&p, gap, 1 + h_roll(h, gap)) < 0)
			return false;
	}
	return true;
}

static void prices(void)
{
	struct herd h = { .seed = 7 };
	int64_t halves[PRICE_STEPS + 1] = { [50] = 10 };
	int64_t pair[PRICE_STEPS + 1] = { [60] = 10, [40] = 10 };
	int64_t large[PRICE_STEPS + 1] = { [81] = 100, [16] = 5, [47] = 60 };
	struct prices p;
	bool held = true;

	prices_learn(halves, &p);
	OK(p.share[50] == PRICE_ONE / 2 && p.gap[49] == 0 && p.gap[99] == PRICE_ONE / 2,
	   "half a device costs half a device");
	prices_learn(pair, &p);
	OK(p.share[60] + p.share[40] == PRICE_ONE && prices_loss(&p, 400, 400) == 0 &&
		   prices_loss(&p, 1000, 400) == 0,
	   "what completes a device costs nothing more");
	OK(prices_loss(&p, 600, 400) > 0, "what is in the way of a larger share does");
	prices_learn(large, &p);
	OK(p.share[81] == PRICE_ONE && p.share[16] == 0 && p.gap[19] == 0,
	   "a share that leaves what few can use costs a whole device, and fills for nothing");
	for (int i = 0; i < 300; i++)
		held &= prices_hold(&h);
	OK(held, "no cut of a device is worth more than a device");
}

/* ---- the best place ---- */

static void weigh(struct herd *h, enum placement_rule rule)
{
	struct placement_weights w = PLACEMENT_WEIGHTS;
	struct h_job jobs[TYPICAL];
	const struct ask *asks[TYPICAL];
	int64_t counts[TYPICAL];

	fleet_set_rule(h->f, rule, &w, 1);
	for (int i = 0; i < TYPICAL; i++) {
		h_make_job(h, &jobs[i]);
		asks[i] = jobs[i].ask;
		counts[i] = 1 + h_roll(h, 30);
	}
	fleet_set_typical(h->f, asks, counts, TYPICAL);
	for (int i = 0; i < TYPICAL; i++)
		ask_destroy(jobs[i].ask);
}

/* Every node is rated anew. */
static int best_node(struct herd *h, const struct ask *a, struct score *best)
{
	int node = -1;

	for (int i = 0; i < (int)fleet_count(h->f); i++) {
		struct score s;
		if (!fleet_score(h->f, a, i, &s))
			continue;
		if (node < 0 || s.total > best->total ||
		    (s.total == best->total &&
		     h->f->machines[i].rank < h->f->machines[node].rank)) {
			node = i;
			*best = s;
		}
	}
	return node;
}

static bool terms_add_up(const struct score *s)
{
	struct placement_weights w = PLACEMENT_WEIGHTS;
	int64_t sum = w.fragment * s->terms[SCORE_FRAGMENT] +
		      w.balance * s->terms[SCORE_BALANCE] + w.gap * s->terms[SCORE_GAP] +
		      w.slack * s->terms[SCORE_SLACK] +
		      w.scarcity * s->terms[SCORE_SCARCITY];

	return llabs(sum / 1000 - s->total) <= 1;
}

static double slow_exp(double x)
{
	double part = 1, sum = 1;

	for (int i = 1; i < 12; i++)
		sum += part *= x / 1024 / i;
	for (int i = 0; i < 10; i++)
		sum *= sum;
	return sum;
}

/* The published score of fragments is a logistic function, rounded down. */
static bool rounded_right(const struct score *s)
{
	double exact = 100 / (1 + slow_exp(-(double)s->terms[SCORE_FRAGMENT] / 1e6));

	return s->total == (int64_t)exact || s->total == (int64_t)(exact + 1e-3) ||
	       s->total == (int64_t)(exact - 1e-3);
}

static const char *compare(struct herd *h, enum placement_rule rule, const struct ask *a,
			   bool fits)
{
	struct score best = { 0 };
	int node = best_node(h, a, &best);

	if (fits != (node >= 0))
		return "what fits has a score, and nothing else";
	if (!fits)
		return NULL;
	if (h->picks.items[0].node != node || h->picks.items[0].device != best.device)
		return "the best place, of equals the first, is taken";
	if (rule == PLACE_YARD && !terms_add_up(&best))
		return "terms and weights add up to the score";
	if (rule == PLACE_FGD && !rounded_right(&best))
		return "fragments are rounded as published";
	return NULL;
}

static const char *step(struct herd *h, enum placement_rule rule, int *rated)
{
	struct h_job *j = &h->jobs[h_roll(h, H_JOBS)];
	const char *law = NULL;
	bool fits;

	if (!h_roll(h, 40)) {
		h_make_node(h, h_roll(h, h->node_count));
		return NULL;
	}
	if (j->ask) {
		h_drop_job(h, j);
		return NULL;
	}
	h_make_job(h, j);
	fits = view_fit(fleet_now(h->f), j->ask, NULL, &h->picks);
	if (scores_decide(h->f, j->ask)) {
		law = compare(h, rule, j->ask, fits);
		++*rated;
	}
	if (fits && !law)
		law = h_start(h, j);
	if (!fits)
		h_drop_job(h, j);
	return law;
}

static void best_places(enum placement_rule rule)
{
	const char *law = NULL;
	uint64_t seed = 1;
	int rated = 0;

	for (; seed <= SEEDS && !law; seed++) {
		struct herd h = { .shares = true,
				  .racks = seed % 2,
				  .labels = seed % 3 == 0,
				  .rings = seed % 4 == 0 };
		h_init(&h, seed);
		weigh(&h, rule);
		for (int i = 0; i < STEPS && !law; i++)
			law = step(&h, rule, &rated);
		h_fini(&h);
	}
	OK(!law, "%s: the best place is found, without looking at all (%d choices)%s%s",
	   placement_rule_names[rule], rated, law ? "; broken: " : "", law ? law : "");
	OK(rated > 200, "%s: scores decided", placement_rule_names[rule]);
}

/* ---- learning ---- */

static void learns(void)
{
	struct herd h = { .shares = true };
	struct h_job small = { .role = { .count = 1 } };
	struct h_job job = { .role = { .count = 1, .each.cpu_milli = 1000 } };

	h_init(&h, 3);
	resources_set_share(&job.role.each, "gpu", 1, 300);
	job.gang = (struct gang){ .roles = &job.role, .role_count = 1 };
	small.gang = (struct gang){ .roles = &small.role, .role_count = 1 };
	job.ask = ask_create(h.f, &job.gang);
	small.ask = ask_create(h.f, &small.gang);
	for (int i = 0; i < TYPICAL_FIRST - 1; i++)
		fleet_note_ask(h.f, job.ask);
	OK(!scores_decide(h.f, job.ask), "from too few asks nothing is learned");
	fleet_note_ask(h.f, job.ask);
	OK(scores_decide(h.f, job.ask), "from enough it is");
	OK(h.f->scores->typical.prices.share[30] == PRICE_ONE / 3,
	   "three of such a share make a device");
	for (int i = 0; i < 40 * TYPICAL_WINDOW; i++)
		fleet_note_ask(h.f, small.ask);
	OK(!scores_decide(h.f, job.ask), "what nobody asks for any more is forgotten");
	ask_destroy(job.ask);
	ask_destroy(small.ask);
	h_fini(&h);
}

/* A device with 0.19 left of it, and an idle one: typical asks take whole ones. */
static void by_hand(void)
{
	struct herd h = { .f = fleet_create(), .node_count = 1 };
	struct node n = { .name = "one", .up = true, .capacity.cpu_milli = 64000 };
	struct placement_weights w = PLACEMENT_WEIGHTS;
	int64_t count = 1;

	resources_set_device(&n.capacity, "gpu", 2);
	h.nodes[0] = n;
	fleet_set_node(h.f, &n);
	for (int i = 0; i < 3; i++) {
		static const int milli[] = { 0, 810, 190 };
		struct h_job *j = &h.jobs[i];
		j->role = (struct gang_role){ .count = 1 };
		resources_set_share(&j->role.each, "gpu", 1, milli[i]);
		j->gang = (struct gang){ .roles = &j->role, .role_count = 1 };
		j->ask = ask_create(h.f, &j->gang);
	}
	fleet_set_rule(h.f, PLACE_FGD, &w, 0);
	fleet_set_typical(h.f, (const struct ask *const *)&h.jobs[0].ask, &count, 1);
	OK(fleet_fragmentation(h.f) == 0,
	   "idle devices are of use to who wants whole ones");
	OK(view_fit(fleet_now(h.f), h.jobs[1].ask, NULL, &h.picks) &&
		   !h_start(&h, &h.jobs[1]),
	   "most of a device goes");
	OK(fleet_fragmentation(h.f) == 10000 * 190 / 1190, "and its rest is a fragment");
	OK(view_fit(fleet_now(h.f), h.jobs[2].ask, NULL, &h.picks) &&
		   h.picks.items[0].device == 0,
	   "a share that fits it goes there");
	h_fini(&h);
}

/* By a seed: everywhere in the end, and the same again. */
static void draws(void)
{
	struct placement_weights w = PLACEMENT_WEIGHTS;
	struct gang_role role = { .count = 1, .each.cpu_milli = 1 };
	struct gang gang = { .roles = &role, .role_count = 1 };
	struct picks picks = { 0 };
	int first[60], met[3] = { 0 };
	bool same = true;

	for (int again = 0; again < 2; again++) {
		struct fleet *f = fleet_create();
		struct node n = { .up = true, .capacity.cpu_milli = 1000 };
		struct ask *a;
		for (int i = 0; i < 3; i++) {
			n.name[0] = (char)('a' + i);
			fleet_set_node(f, &n);
		}
		a = ask_create(f, &gang);
		fleet_set_rule(f, PLACE_RANDOM, &w, 5);
		for (int i = 0; i < 60 && view_fit(fleet_now(f), a, NULL, &picks); i++) {
			same &= !again || first[i] == picks.items[0].node;
			first[i] = picks.items[0].node;
			met[first[i]]++;
		}
		ask_destroy(a);
		fleet_destroy(f);
	}
	OK(met[0] > 10 && met[1] > 10 && met[2] > 10, "random: every node is met");
	OK(same, "random: the same seed gives the same places");
	free(picks.items);
}

int main(void)
{
	const char *states = getenv("YARD_TEST_STATES");

#if defined __SANITIZE_ADDRESS__
	fragments(states ? atoll(states) : STATES);
#else
	fragments(states ? atoll(states) : 10 * STATES);
#endif
	prices();
	for (enum placement_rule r = PLACE_YARD; r < PLACE_RANDOM; r++)
		best_places(r);
	learns();
	by_hand();
	draws();
	return END();
}
