// SPDX-License-Identifier: Apache-2.0
/* daemon.h - the daemon's parts, put together in the order they need each other. */
#pragma once

#include "base/err.h"
#include "catalog/catalog.h"
#include "engine/engine.h"
#include "http/server.h"
#include "main/door.h"
#include "main/place.h"
#include "secret/secret.h"
#include "who/directory.h"
#include "wire/settings.h"
#include "world/world.h"
#include "yard/shelf.h"

struct daemon {
	struct settings settings;
	struct place place;
	struct door door;
	struct world *world;
	struct store *store;
	struct depot *depot;
	struct volume *volume;              /* the storage tree, */
	struct shelf_config shelf;          /* what tasks see of it, */
	struct shelf_root *roots;           /* and its further roots */
	struct storage *storage;            /* and all that works on it */
	struct engine_sim_machine *machine; /* --engine sim */
	struct who *who;
	struct yard_doc_sink sinks[16]; /* who keeps which kind of documents */
	size_t sink_count;
	struct secrets *secrets;
	struct catalog *catalog;
	struct yard *yard;
	char *identity; /* what tells this yard from others */
	const char *const *pip_variables;
	char *plan_journal; /* NULL: nothing is written down */
	struct http_server *http;
	struct world_signal *term, *interrupt;
	struct world_timer *expiry; /* of code that nobody uses */
	struct err fatal;
};

/* Needs settings and place; afterwards requests are answered on the unix socket. */
int daemon_boot(struct daemon *d, struct err *err);
void daemon_destroy(struct daemon *d); /* also one that was never booted; tasks go on */
