// SPDX-License-Identifier: Apache-2.0
/* world_sim.h - a world whose time is a number and whose chance is a seed.
 *
 * The same seed and the same calls give the same history.  Things due at the same time
 * happen in an order the seed shuffles (laters keep theirs); a work runs, and later is
 * done, after random delays; bytes of a stream come in random pieces.  Streams join two
 * ends inside this world: a listener and who connects to its path or port.
 */
#pragma once

#include "world/world.h"

struct world *world_sim_create(uint64_t seed); /* the clocks begin at a fixed time */

/* Lets the next thing happen, moving the clock to it; false: nothing will ever happen. */
bool world_sim_step(struct world *w);
/* All that is due up to mono_ms, included; the clock then stands there (unless stopped). */
void world_sim_run_until(struct world *w, int64_t mono_ms);
/* Until nothing is left; false: after `most` steps something still was. */
bool world_sim_settle(struct world *w, size_t most);
/* A number made of every step so far: two runs with equal ones had equal histories. */
uint64_t world_sim_history(const struct world *w);

/* The process died: nothing of it happens any more.  Timers are unset, laters and works
 * forgotten, streams silent; their owners can still destroy them.  Virtual time goes on,
 * so a test can boot again.  (Memory that only a forgotten callback would have freed is
 * left, and the leak checker told so.)  Between two steps, not from inside a callback. */
void world_sim_crash(struct world *w);

/* Faults and settings. */
void world_sim_jump_wall(struct world *w, int64_t by_ms);    /* mono is not touched */
void world_sim_work_delay(struct world *w, int64_t most_ms); /* 20 at first */
void world_sim_net_delay(struct world *w, int64_t most_ms);  /* 2 at first */

/* What connections made from now on show as who called. */
void world_sim_caller(struct world *w, struct world_peer peer);
struct world_stream *world_sim_connect_tcp(struct world *w, int port, struct err *err);
