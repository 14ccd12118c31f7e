// SPDX-License-Identifier: Apache-2.0
/* config.h - what a yard is made of. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "contract/contract.h"
#include "depot/depot.h"
#include "engine/engine.h"
#include "secret/secret.h"
#include "store/store.h"
#include "world/world.h"

struct shelf_config; /* yard/shelf.h */

/* Who keeps documents of a kind in memory (who: "user", "group", "token"; secret:
 * "secret").  Called at boot for every one stored and, when one is changed, as soon as the
 * change is recorded; body NULL: it is gone. */
struct yard_doc_sink {
	const char *kind;
	void (*apply)(void *arg, const char *name, const char *body);
	void *arg;
};

struct yard_config {
	const struct yard_doc_sink *docs; /* borrowed for the yard's life */
	size_t doc_count;
	struct world *world;
	struct store *store;
	struct depot *depot;
	struct secrets *secrets; /* NULL: there are none */
	struct engine *(*make_engine)(void *arg, const struct engine_sink *sink,
				      struct err *err);
	void *make_engine_arg;
	int64_t uid_base; /* root mode: first uid of slot 0; -1: private mode */
	const char *
		user_path; /* private mode: PATH whose folders under $HOME tasks may read */
	const char *identity;    /* what tells this yard from others, or NULL */
	struct contract_pip pip; /* for tasks that install packages */
	int64_t log_limit_bytes; /* 0: 1 GiB */
	const char
		*plan_journal; /* write down there what the plan is told; NULL: do not */
	/* Of one who is not admin; 0: 10000 jobs that have not ended, priorities up to 100. */
	int64_t max_jobs_per_user, max_priority;
	const struct shelf_config *shelf; /* the storage that tasks see; NULL: none */
	void (*on_fatal)(void *arg,
			 const struct err *err); /* the store failed: stop the daemon */
	void *on_fatal_arg;
};
