// SPDX-License-Identifier: Apache-2.0
/* fetch.h - yard-fetch at work for the depot: started, heard, killed.
 *
 * All on the loop.  Only so many run at a time, of all (FETCH_MAX) and of one user
 * (FETCH_USER_MAX: nobody's slow servers hold up the others); the rest wait in order.  The
 * program itself is confined (remote/sandbox.c), so nothing it says is believed beyond what
 * the caller checks: how far it is, and that it says it is done.
 */
#pragma once

#include <stdint.h>

#include "base/err.h"
#include "remote/request.h"

#define FETCH_MAX      64
#define FETCH_USER_MAX 8
#define FETCH_NOBODY   65534 /* root mode: whom it becomes when it writes to the cache */

struct depot_files;
struct fetch;

struct fetch_order {
	enum remote_op op;
	const char *uri, *user;
	const struct remote_account *account;
	int64_t uid;          /* root mode: whom it becomes */
	int folder, manifest; /* descriptors, which stay the caller's; -1: none */
	int64_t bytes_max;
};

struct fetch_sink {
	void (*at)(void *arg, int64_t bytes, int64_t total); /* may be NULL */
	/* Once, last, never from inside fetch_start(). */
	void (*done)(void *arg, int64_t files, int64_t bytes, const struct err *err);
	void *arg;
};

struct fetch *fetch_start(struct depot_files *d, const struct fetch_order *o,
			  const struct fetch_sink *s);
/* Kills it; nothing is called any more.  NULL is fine. */
void fetch_cancel(struct fetch *f);
/* With the depot: all of them, waited for. */
void fetch_end_all(struct depot_files *d);
