// SPDX-License-Identifier: Apache-2.0
/* island.h - gangs that must lie on one node, or in one island of it. */
#pragma once

#include "fleet/space.h"

/* Whether a node holds so many tasks of each role (by role) at once. */
bool node_holds(const struct fleet *f, int node, const struct space *s,
		const struct ask *a, const int *counts);
/* The tightest island that holds them all; -1: none. */
int island_find(const struct fleet *f, int node, const struct space *s,
		const struct ask *a, const int *counts);
/* Leaves only what is in that island. */
void island_narrow(const struct fleet *f, int node, struct space *s, int island);
