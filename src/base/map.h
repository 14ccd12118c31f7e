// SPDX-License-Identifier: Apache-2.0
/* map.h - hash maps from int64 or string to a pointer that the map does not own.
 *
 * Iteration is in insertion order (removals keep the order of the rest), so that
 * nothing that decides can depend on a hash: simulations replay exactly.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct map; /* a map is either by number or by string, never both */

struct map *map_create(void);
void map_destroy(struct map *m); /* NULL is fine; values are the caller's */
size_t map_count(const struct map *m);

void *map_get(const struct map *m, int64_t key);        /* NULL: absent */
void *map_put(struct map *m, int64_t key, void *value); /* gives the old value or NULL */
void *map_del(struct map *m, int64_t key);

void *map_gets(const struct map *m, const char *key);
void *map_puts(struct map *m, const char *key, void *value); /* copies the key */
void *map_dels(struct map *m, const char *key);

/* for (size_t it = 0; (v = map_next(m, &it));) — removing the value just given is allowed. */
void *map_next(const struct map *m, size_t *it);
