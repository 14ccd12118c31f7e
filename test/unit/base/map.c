// SPDX-License-Identifier: Apache-2.0
/* Maps beside a model that cannot be wrong: a list that is searched from end to end. */
#include "tap.h"

#include <stdlib.h>

#include "base/map.h"

#define KEYS 64

static struct {
	int key;
	void *value;
} model[KEYS];
static size_t model_count;
static int values[1000];

static void *model_get(int key)
{
	for (size_t i = 0; i < model_count; i++)
		if (model[i].key == key)
			return model[i].value;
	return NULL;
}

static void *model_put(int key, void *value)
{
	for (size_t i = 0; i < model_count; i++) {
		if (model[i].key == key) {
			void *old = model[i].value;
			model[i].value = value;
			return old;
		}
	}
	model[model_count].key = key;
	model[model_count++].value = value;
	return NULL;
}

static void *model_del(int key)
{
	for (size_t i = 0; i < model_count; i++) {
		if (model[i].key == key) {
			void *old = model[i].value;
			memmove(&model[i], &model[i + 1],
				(--model_count - i) * sizeof model[0]);
			return old;
		}
	}
	return NULL;
}

static int same_order(const struct map *m)
{
	size_t it = 0, i = 0;

	for (void *v; (v = map_next(m, &it)); i++)
		if (i >= model_count || v != model[i].value)
			return 0;
	return i == model_count && map_count(m) == model_count;
}

static void against_the_model(int by_name)
{
	struct map *m = map_create();
	uint64_t x = 88172645463325252u;
	int bad = 0;

	model_count = 0;
	for (int i = 0; i < 60000; i++) {
		char name[16];
		x ^= x << 13, x ^= x >> 7, x ^= x << 17;
		int key = (int)(x % KEYS), what = (int)(x >> 20 & 3);
		void *value = &values[x >> 32 & 511];
		snprintf(name, sizeof name, "k%d", key);
		if (what == 0)
			bad += (by_name ? map_gets(m, name) : map_get(m, key - 9)) !=
			       model_get(key);
		else if (what == 1)
			bad += (by_name ? map_dels(m, name) : map_del(m, key - 9)) !=
			       model_del(key);
		else
			bad += (by_name ? map_puts(m, name, value)
					: map_put(m, key - 9, value)) !=
			       model_put(key, value);
		if (i % 50 == 0)
			bad += !same_order(m);
	}
	IS_INT(bad, 0, "60,000 random steps by %s: as the model",
	       by_name ? "name" : "number");
	map_destroy(m);
}

static void removal_while_walking(void)
{
	struct map *m = map_create();
	int seen = 0;

	for (int i = 0; i < 500; i++)
		map_put(m, i, &values[i]);
	for (size_t it = 0;;) {
		int *v = map_next(m, &it);
		if (!v)
			break;
		seen++;
		map_del(m, v - values);
	}
	OK(seen == 500 && map_count(m) == 0, "the value just given may be removed");
	map_destroy(m);
	map_destroy(NULL);
}

/* A queue: put at the end, removed at the front, for ever; memory must not grow with it. */
static void churn(void)
{
	struct map *m = map_create();
	int bad = 0;

	for (int64_t i = 0; i < 300000; i++) {
		map_put(m, i, &values[0]);
		if (i >= 10)
			bad += map_del(m, i - 10) != &values[0];
	}
	OK(!bad && map_count(m) == 10, "300,000 entries pass through a map of ten");
	map_destroy(m);
}

int main(void)
{
	against_the_model(0);
	against_the_model(1);
	removal_while_walking();
	churn();
	return END();
}
