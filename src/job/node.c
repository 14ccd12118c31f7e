// SPDX-License-Identifier: Apache-2.0
#include "job/node.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"

static const char *const levels[] = { [LEVEL_ANY] = "any",
				      [LEVEL_RACK] = "rack",
				      [LEVEL_SWITCH] = "switch",
				      [LEVEL_NODE] = "node",
				      [LEVEL_ISLAND] = "island" };
static const char *const states[] = {
	[NODE_OPEN] = "open", [NODE_DRAIN] = "drain", [NODE_QUARANTINE] = "quarantine"
};

const char *level_word(enum level l)
{
	return levels[l];
}

int level_from_word(const char *word, enum level *out)
{
	for (size_t i = 0; i < COUNT_OF(levels); i++)
		if (str_eq(levels[i], word)) {
			*out = (enum level)i;
			return 0;
		}
	return -1;
}

const char *node_state_word(enum node_state s)
{
	return states[s];
}

int node_state_from_word(const char *word, enum node_state *out)
{
	for (size_t i = 0; i < COUNT_OF(states); i++)
		if (str_eq(states[i], word)) {
			*out = (enum node_state)i;
			return 0;
		}
	return -1;
}

/* What holds lists of pairs together may be in none of them. */
static bool is_word(const char *s)
{
	return *s && !s[strcspn(s, ",= \t\n")];
}

int node_labels_write(const struct pairs *p, char out[NODE_LABELS_MAX])
{
	size_t at = 0;

	for (size_t i = 0; i < p->count; i++) {
		const char *key = p->items[i].key, *value = p->items[i].value;
		size_t k = strlen(key), v = strlen(value);

		if (!is_word(key) || !is_word(value) || k >= NODE_LABELS_MAX ||
		    v >= NODE_LABELS_MAX || at + k + v + 2 >= NODE_LABELS_MAX)
			return -1;
		if (i)
			out[at++] = ',';
		memcpy(out + at, key, k);
		out[at + k] = '=';
		memcpy(out + at + k + 1, value, v);
		at += k + v + 1;
	}
	out[at] = 0;
	return 0;
}

void node_labels_read(const char *text, struct pairs *out)
{
	while (*text) {
		size_t n = strcspn(text, ","), eq = strcspn(text, "=,");
		AUTO_FREE char *key = mem_strndup(text, eq);
		AUTO_FREE char *value =
			mem_strndup(text + eq + (eq < n), n - eq - (eq < n));

		pairs_set(out, key, value);
		text += n + (text[n] == ',');
	}
}

void node_merge(struct node *n, const struct node_facts *f)
{
	n->state = f->state;
	memcpy(n->reason, f->reason, sizeof n->reason);
	memcpy(n->windows, f->windows, sizeof n->windows);
	n->window_count = f->window_count;
	if (f->rack[0])
		memcpy(n->rack, f->rack, sizeof n->rack);
	if (f->net[0])
		memcpy(n->net, f->net, sizeof n->net);
	if (f->labels[0])
		memcpy(n->labels, f->labels, sizeof n->labels);
	if (f->island)
		n->island = f->island;
	n->rings = n->rings || f->rings;
}
