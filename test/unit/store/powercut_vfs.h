// SPDX-License-Identifier: Apache-2.0
/* powercut_vfs.h - a disk under SQLite whose power can be cut between any two writes.
 *
 * Files are real ones (reads, locks and shared memory are the system's); beside each is
 * kept what a disk would surely hold: its bytes as of the last sync.  A cut stops every
 * call; then each write since the last sync is put on the disk or not by chance, sector
 * by sector, so writes are lost, reordered and torn.  A file that was never synced may
 * be gone.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct power {
	long calls;        /* writes, syncs, truncations and deletions so far */
	long cut_at;       /* the power goes before this one; 0: never */
	bool off;          /* it has gone */
	bool ignores_sync; /* a disk that lies: to show that the test can fail */
	long full_after;   /* bytes that still fit; -1: no limit */
	uint64_t seed;
};

extern struct power power;

void power_install(void); /* as SQLite's default */
/* After everything is closed: makes the real files what the disk would hold. */
void power_settle(void);
/* Forgets all files. */
void power_reset(uint64_t seed);
