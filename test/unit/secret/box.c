// SPDX-License-Identifier: Apache-2.0
/* A box opens with its key, under its label, unchanged; else never. */
#include "secret/box.h"

#include <stdlib.h>

#include "base/mem.h"
#include "tap.h"
#include "world/world_sim.h"

static const struct box_label label = { "secret", "user", "ann", "hf-token" };

static char *open_as(const struct vault *key, const struct box_label *l, const char *box)
{
	struct err err = { 0 };
	struct vault *v = box_open(key, l, box, &err);
	char *text = v ? mem_strndup(vault_data(v), vault_len(v)) : NULL;

	vault_unref(v);
	return text;
}

static void moved(const struct vault *key, const char *box)
{
	static const struct box_label others[] = {
		{ "setting", "user", "ann", "hf-token" },
		{ "secret", "group", "ann", "hf-token" },
		{ "secret", "user", "bob", "hf-token" },
		{ "secret", "user", "ann", "other" },
		{ "secret", "user", "ann", "" },
		{ "secret", "useran", "n", "hf-token" },
		{ "secretuser", "", "ann", "hf-token" },
	};
	int opened = 0;

	for (size_t i = 0; i < COUNT_OF(others); i++) {
		AUTO_FREE char *text = open_as(key, &others[i], box);
		opened += text != NULL;
	}
	IS_INT(opened, 0, "moved to another kind, scope, owner or name it does not open");
}

static void tampered(const struct vault *key, const char *box)
{
	size_t len = strlen(box);
	int opened = 0;

	for (size_t i = 0; i < len; i++) {
		AUTO_FREE char *other = mem_strdup(box);
		other[i] = other[i] == 'A' ? 'B' : 'A';
		AUTO_FREE char *text = open_as(key, &label, other);
		opened += text != NULL;
	}
	IS_INT(opened, 0, "with any letter of it changed it does not open");
	for (size_t i = 0; i < len; i++) {
		AUTO_FREE char *cut = mem_strndup(box, i);
		AUTO_FREE char *text = open_as(key, &label, cut);
		opened += text != NULL;
	}
	IS_INT(opened, 0, "cut anywhere it does not open");
}

int main(void)
{
	struct world *w = world_sim_create(1);
	AUTO_VAULT struct vault *key = vault_copy("0123456789abcdef0123456789abcdef", 32);
	AUTO_VAULT struct vault *other =
		vault_copy("0123456789abcdef0123456789abcdeF", 32);
	AUTO_VAULT struct vault *value = vault_copy("hunter2", 7);
	AUTO_BUF struct buf box = { 0 }, again = { 0 };

	box_seal(w, key, &label, value, &box);
	box_seal(w, key, &label, value, &again);
	AUTO_FREE char *text = open_as(key, &label, buf_str(&box));
	IS(text, "hunter2", "what was sealed comes out");
	OK(strcmp(buf_str(&box), buf_str(&again)) != 0, "no two boxes are alike");
	OK(!strstr(buf_str(&box), "hunter2") && !strstr(buf_str(&box), "aHVudGVyMg"),
	   "the value is not in it");
	AUTO_FREE char *wrong = open_as(other, &label, buf_str(&box));
	OK(!wrong, "another key does not open it");
	moved(key, buf_str(&box));
	tampered(key, buf_str(&box));
	world_destroy(w);
	return END();
}
