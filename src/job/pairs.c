// SPDX-License-Identifier: Apache-2.0
#include "job/pairs.h"

#include <string.h>

#include "base/mem.h"

static struct pair *find(const struct pairs *p, const char *key)
{
	for (size_t i = 0; i < p->count; i++)
		if (strcmp(p->items[i].key, key) == 0)
			return &p->items[i];
	return NULL;
}

void pairs_set(struct pairs *p, const char *key, const char *value)
{
	struct pair *old = find(p, key);

	if (old) {
		free(old->value);
		old->value = mem_strdup(value);
		return;
	}
	mem_grow(&p->items, &p->cap, p->count, sizeof *p->items);
	p->items[p->count++] =
		(struct pair){ .key = mem_strdup(key), .value = mem_strdup(value) };
}

const char *pairs_get(const struct pairs *p, const char *key)
{
	const struct pair *found = find(p, key);

	return found ? found->value : NULL;
}

void pairs_fini(struct pairs *p)
{
	for (size_t i = 0; i < p->count; i++) {
		free(p->items[i].key);
		free(p->items[i].value);
	}
	free(p->items);
	*p = (struct pairs){ 0 };
}
