// SPDX-License-Identifier: Apache-2.0
#include "fleet/rings.h"

struct cell {
	int8_t order; /* class of the ring × 5 + what the other ring has left */
	int8_t ring;  /* 2: both */
};

#define NO                                                                               \
	{                                                                                \
		-1, 0                                                                    \
	}

/* By what the rings have left; for needs of 1, 2, 4 and 8. */
// clang-format off
static const struct cell table[RING_STATES][4] = {
	/* 0 0 */ { NO, NO, NO, NO },
	/* 0 1 */ { { 0, 1 }, NO, NO, NO },
	/* 0 2 */ { { 10, 1 }, { 0, 1 }, NO, NO },
	/* 0 3 */ { { 5, 1 }, { 10, 1 }, NO, NO },
	/* 0 4 */ { { 15, 1 }, { 5, 1 }, { 0, 1 }, NO },
	/* 1 0 */ { { 0, 0 }, NO, NO, NO },
	/* 1 1 */ { { 1, 0 }, NO, NO, NO },
	/* 1 2 */ { { 2, 0 }, { 1, 1 }, NO, NO },
	/* 1 3 */ { { 3, 0 }, { 11, 1 }, NO, NO },
	/* 1 4 */ { { 4, 0 }, { 6, 1 }, { 1, 1 }, NO },
	/* 2 0 */ { { 10, 0 }, { 0, 0 }, NO, NO },
	/* 2 1 */ { { 2, 1 }, { 1, 0 }, NO, NO },
	/* 2 2 */ { { 12, 0 }, { 2, 0 }, NO, NO },
	/* 2 3 */ { { 7, 1 }, { 3, 0 }, NO, NO },
	/* 2 4 */ { { 14, 0 }, { 4, 0 }, { 2, 1 }, NO },
	/* 3 0 */ { { 5, 0 }, { 10, 0 }, NO, NO },
	/* 3 1 */ { { 3, 1 }, { 11, 0 }, NO, NO },
	/* 3 2 */ { { 7, 0 }, { 3, 1 }, NO, NO },
	/* 3 3 */ { { 8, 0 }, { 13, 0 }, NO, NO },
	/* 3 4 */ { { 9, 0 }, { 8, 1 }, { 3, 1 }, NO },
	/* 4 0 */ { { 15, 0 }, { 5, 0 }, { 0, 0 }, NO },
	/* 4 1 */ { { 4, 1 }, { 6, 0 }, { 1, 0 }, NO },
	/* 4 2 */ { { 14, 1 }, { 4, 1 }, { 2, 0 }, NO },
	/* 4 3 */ { { 9, 1 }, { 8, 0 }, { 3, 0 }, NO },
	/* 4 4 */ { { 19, 0 }, { 9, 0 }, { 4, 0 }, { 0, 2 } },
};

/* The states in the order of the table, one of two that differ by the rings' names. */
static const int8_t visits[5][16] = {
	/* 1   */ { 5, 6, 11, 16, 21, 15, 17, 18, 23, 10, 12, 22, 20, 24, -1 },
	/* 2   */ { 10, 11, 12, 17, 22, 20, 21, 23, 24, 15, 16, 18, -1 },
	/* 4   */ { 20, 21, 22, 23, 24, -1 },
	/* 8   */ { 24, -1 },
	/* 0   */ { 0, 5, 6, 10, 11, 15, 12, 16, 20, 17, 21, 18, 22, 23, 24, -1 },
};
// clang-format on

static int column(int64_t need)
{
	return need == 1 ? 0 : need == 2 ? 1 : need == 4 ? 2 : need == 8 ? 3 : -1;
}

static const struct cell *cell_of(int state, int64_t need)
{
	static const struct cell no = NO;
	int at = column(need);

	return at < 0 ? &no : &table[state][at];
}

int ring_order(int state, int64_t need)
{
	return cell_of(state, need)->order;
}

int ring_visit(int64_t need, int step)
{
	int at = need ? column(need) : 4;

	return at < 0 ? -1 : visits[at][step];
}

int ring_room(int state, int64_t need)
{
	int a = state / (RING_DEVICES + 1), b = state % (RING_DEVICES + 1);

	if (cell_of(state, need)->order < 0)
		return 0;
	return need == 8 ? 1 : a / (int)need + b / (int)need;
}

uint64_t ring_choose(uint64_t idle, int64_t need)
{
	const struct cell *c = cell_of(ring_state(idle), need);

	if (c->order < 0)
		return 0;
	if (c->ring == 2)
		return idle & 0xff;
	return bits_lowest(idle & (uint64_t)0xf << (c->ring * RING_DEVICES), need);
}
