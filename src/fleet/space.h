// SPDX-License-Identifier: Apache-2.0
/* space.h - what is free on one node, and which devices a task gets of it. */
#pragma once

#include "fleet/inside.h"

/* Sums of what tasks hold on a node. */
struct taken {
	int64_t cpu_milli, memory_bytes;
	int tasks;
};

int machine_task_limit(const struct node *n);
struct taken machine_taken(const struct fleet *f, int node);
/* The live row, after a node was set on which so much is taken. */
void space_refresh(struct fleet *f, int node, const struct taken *t);
/* What is free when nothing runs. */
void space_empty(const struct fleet *f, int node, struct space *s);
/* `s` keeps what `other` has too.  exact: the same devices, else as many. */
void space_least(const struct fleet *f, int node, struct space *s,
		 const struct space *other, bool exact);
/* How many tasks of a role fit. */
int64_t space_room(const struct fleet *f, int node, const struct space *s,
		   const struct ask_role *r, int64_t most);
/* Takes for `count` tasks, for which there must be room. */
void space_take(const struct fleet *f, int node, struct space *s,
		const struct ask_role *r, int64_t count);
int64_t devices_room(const struct fleet *f, int node, const struct space *s,
		     const struct need *n, int64_t most);
/* Which devices a task gets.  False: there is no room. */
bool devices_choose(const struct fleet *f, int node, const struct space *s,
		    const struct need *n, struct portion *out);
void devices_take(const struct fleet *f, int node, struct space *s,
		  const struct portion *p);
void devices_return(const struct fleet *f, int node, struct space *s,
		    const struct portion *p);
