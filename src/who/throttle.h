// SPDX-License-Identifier: Apache-2.0
/* throttle.h - who has been wrong too often has to wait, longer each time.
 *
 * Counted are: a name from an address (after FREE_PAIR wrong ones: 1 s, 2 s, 4 s, ... up
 * to WAIT_MOST), an address over all names (after FREE_ADDRESS), and a name over all
 * addresses.  The last never refuses by itself, or anybody could lock out anybody: while
 * a name is under attack (more than FREE_NAME wrong ones) every further address has one
 * try and then waits, so the right password from a new address is always looked at.
 *
 * One wrong try is forgiven each FORGIVE_MS: a script with an old password does not shut
 * out everybody behind its address.  Memory is bounded: a full table forgets who was wrong
 * least often.  Time is given: this is a plain model.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define THROTTLE_FREE_PAIR    5
#define THROTTLE_FREE_ADDRESS 30
#define THROTTLE_FREE_NAME    50
#define THROTTLE_WAIT_MOST_MS INT64_C(300000)
#define THROTTLE_FORGIVE_MS   INT64_C(60000)
#define THROTTLE_ENTRIES_MAX  4096

struct throttle;

struct throttle *throttle_create(const unsigned char key[32]);
void throttle_destroy(struct throttle *t); /* NULL is fine */
/* How long until a try by that name from that address is looked at; 0: at once.  An
 * address of IPv6 counts by its network (/64); what is none counts by its text. */
int64_t throttle_wait(struct throttle *t, const char *name, const char *address,
		      int64_t now_ms);
/* Of the address alone. */
int64_t throttle_address_wait(struct throttle *t, const char *address, int64_t now_ms);
/* A try begins: it counts as wrong until it is known to be right, so that many at a time
 * are no way around. */
void throttle_try(struct throttle *t, const char *name, const char *address,
		  int64_t now_ms);
void throttle_right(struct throttle *t, const char *name, const char *address);
size_t throttle_count(const struct throttle *t);
