// SPDX-License-Identifier: Apache-2.0
/* The table of rings against the rule, said out once more, for every state. */
#include "fleet/rings.h"
#include "tap.h"

static const int prefer[5][5] = {
	/* by need: cards left in the ring, the best first */
	[1] = { 1, 3, 2, 4 },
	[2] = { 2, 4, 3 },
	[4] = { 4 },
};

static int place_of(int need, int left)
{
	for (int i = 0; i < 5 && prefer[need][i]; i++) {
		if (prefer[need][i] == left)
			return i;
	}
	return -1;
}

/* Is ring (left, other) a better place than ring (left2, other2)? */
static bool better(int need, const int a[2], const int b[2])
{
	int x = place_of(need, a[0]), y = place_of(need, b[0]);

	if (x < 0 || y < 0)
		return x >= 0 && y < 0;
	return x != y ? x < y : a[1] < b[1];
}

static bool choice_right(uint64_t idle, int need)
{
	uint64_t got = ring_choose(idle, need), rest = idle & ~got;
	int ring[2][2] = { { ring_left(idle, 0), ring_left(idle, 1) },
			   { ring_left(idle, 1), ring_left(idle, 0) } };
	int taken;

	if (place_of(need, ring[0][0]) < 0 && place_of(need, ring[1][0]) < 0)
		return !got;
	if (__builtin_popcountll(got) != need || got & ~idle || (got & 0xf && got & 0xf0))
		return false;
	taken = got & 0xf0 ? 1 : 0;
	if (better(need, ring[!taken], ring[taken]))
		return false;
	/* The lowest numbers of the ring. */
	return (got & -got) == ((idle >> 4 * taken & 0xf) & -(idle >> 4 * taken & 0xf))
				       << 4 * taken &&
	       (!(rest >> 4 * taken & 0xf) ||
		63 - __builtin_clzll(got) <
			__builtin_ctzll(rest & (uint64_t)0xf << 4 * taken));
}

static bool order_right(uint64_t a, uint64_t b, int need)
{
	int at[2] = { ring_order(ring_state(a), need), ring_order(ring_state(b), need) };
	uint64_t got[2] = { ring_choose(a, need), ring_choose(b, need) };
	int place[2][2];

	if (!got[0] || !got[1])
		return (at[0] < 0) == !got[0] && (at[1] < 0) == !got[1];
	for (int i = 0; i < 2; i++) {
		uint64_t idle = i ? b : a;
		int ring = got[i] & 0xf0 ? 1 : 0;
		place[i][0] = ring_left(idle, ring);
		place[i][1] = ring_left(idle, !ring);
	}
	if (better(need, place[0], place[1]))
		return at[0] < at[1];
	return better(need, place[1], place[0]) ? at[0] > at[1] : at[0] == at[1];
}

/* How many tasks one after the other get their devices. */
static int room_by_taking(uint64_t idle, int need)
{
	int n = 0;
	uint64_t got;

	for (; (got = ring_choose(idle, need)); n++)
		idle &= ~got;
	return n;
}

static bool visits_right(int need)
{
	bool seen[RING_STATES] = { false };
	int last = -1, state, step = 0;

	for (; (state = ring_visit(need, step)) >= 0; step++) {
		if (seen[state] || ring_order(state, need) <= last)
			return false;
		seen[state] = true;
		last = ring_order(state, need);
	}
	for (uint64_t idle = 0; idle < 256; idle++) {
		if ((ring_order(ring_state(idle), need) >= 0) !=
		    seen[ring_state_like(idle)])
			return false;
	}
	return true;
}

int main(void)
{
	static const int needs[] = { 1, 2, 4 };
	bool choice = true, order = true, room = true, whole = true, none = true;

	for (int k = 0; k < 3; k++) {
		for (uint64_t a = 0; a < 256; a++) {
			choice &= choice_right(a, needs[k]);
			room &= room_by_taking(a, needs[k]) ==
				ring_room(ring_state(a), needs[k]);
			for (uint64_t b = 0; b < 256; b++)
				order &= order_right(a, b, needs[k]);
		}
		OK(visits_right(needs[k]), "states for %d are visited by their order",
		   needs[k]);
	}
	OK(choice, "a task of 1, 2 or 4 gets the lowest devices of the right ring");
	OK(order, "nodes are ordered by class, then by what the other ring has left");
	OK(room, "as many tasks fit as can take one after the other");
	for (uint64_t a = 0; a < 256; a++) {
		whole &= ring_choose(a, 8) == (a == 255 ? 255 : 0) &&
			 (ring_order(ring_state(a), 8) >= 0) == (a == 255);
		for (int need = 0; need < 70; need++)
			none &= need == 1 || need == 2 || need == 4 || need == 8 ||
				(ring_choose(a, need) == 0 &&
				 ring_room(ring_state(a), need) == 0);
	}
	OK(whole, "a task of 8 takes the node");
	OK(none, "no other number has a place");
	OK(visits_right(8), "states for 8 are visited by their order");
	return END();
}
