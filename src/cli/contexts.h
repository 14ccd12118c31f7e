// SPDX-License-Identifier: Apache-2.0
/* contexts.h - the servers one has logged in to, each under a name:
 * ${XDG_CONFIG_HOME:-~/.config}/yard/contexts.yaml.
 *
 * It holds tokens: it is written for its owner alone, whole or not at all, and not read
 * when others could.  The name "local" is nobody's: the yard of this machine.
 */
#pragma once

#include <stddef.h>

#include "base/err.h"

#define CONTEXT_LOCAL    "local"
#define CONTEXT_NAME_MAX 64

struct context {
	char *name, *server;
	char *user, *token, *fingerprint; /* or NULL */
};

struct contexts {
	struct context *items;
	size_t count, cap;
	char *current; /* NULL: local */
};

/* No file: none. */
int contexts_load(struct contexts *out, struct err *err);
void contexts_fini(struct contexts *c);
struct context *contexts_find(const struct contexts *c, const char *name);
/* ERR_NOT_FOUND, with the name that was probably meant. */
struct context *contexts_get(const struct contexts *c, const char *name, struct err *err);
struct context *contexts_of_server(const struct contexts *c, const char *url);
/* Copies; fields that are NULL in `of` become NULL. */
struct context *contexts_put(struct contexts *c, const struct context *of);
void contexts_remove(struct contexts *c, const char *name);
int context_name_check(const char *name, struct err *err);

/* Loads, calls change, saves what it left unless it gave -1; one at a time. */
int contexts_change(int (*change)(struct contexts *c, void *arg, struct err *err),
		    void *arg, struct err *err);

#define AUTO_CONTEXTS __attribute__((cleanup(contexts_fini)))
