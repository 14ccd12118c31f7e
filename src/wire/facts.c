// SPDX-License-Identifier: Apache-2.0
#include "wire/facts.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"

static void write_windows(struct json *j, const struct node_facts *f)
{
	json_array(j, "windows");
	for (size_t i = 0; i < f->window_count; i++) {
		const struct node_window *w = &f->windows[i];
		json_object(j, NULL);
		json_i64(j, "from_ms", w->from_ms);
		json_i64(j, "to_ms", w->to_ms);
		json_str(j, "group", w->group);
		json_end(j);
	}
	json_end(j);
}

void wire_facts_write(struct json *j, const struct node_facts *f)
{
	struct pairs labels = { 0 };

	json_str(j, "state", node_state_word(f->state));
	json_str(j, "reason", f->reason);
	write_windows(j, f);
	json_str(j, "rack", f->rack);
	json_str(j, "switch", f->net);
	json_object(j, "labels");
	node_labels_read(f->labels, &labels);
	for (size_t i = 0; i < labels.count; i++)
		json_str(j, labels.items[i].key, labels.items[i].value);
	json_end(j);
	json_i64(j, "island", f->island);
	json_bool(j, "rings", f->rings);
	pairs_fini(&labels);
}

static int take_text(const struct doc_node *map, const char *key, char *out, size_t size,
		     struct err *err)
{
	const char *text = doc_str(map, key, NULL);

	if (!text)
		return 0;
	if (strlen(text) >= size)
		return err_set(err, ERR_INVALID, "%s: at most %zu bytes are allowed", key,
			       size - 1);
	memset(out, 0, size);
	memcpy(out, text, strlen(text));
	return 0;
}

static int take_window(const struct doc_node *n, struct node_window *w, struct err *err)
{
	w->from_ms = doc_i64(n, "from_ms", -1);
	w->to_ms = doc_i64(n, "to_ms", -1);
	if (w->from_ms < 0 || w->to_ms <= w->from_ms)
		return err_set(err, ERR_INVALID,
			       "windows: from_ms and then to_ms are wanted, in "
			       "milliseconds since 1970");
	return take_text(n, "group", w->group, sizeof w->group, err);
}

static int take_windows(const struct doc_node *list, struct node_facts *f,
			struct err *err)
{
	if (!list)
		return 0;
	memset(f->windows, 0, sizeof f->windows);
	f->window_count = 0;
	for (const struct doc_node *n = list->first; n; n = n->next) {
		if (f->window_count == NODE_WINDOWS_MAX)
			return err_set(err, ERR_INVALID,
				       "windows: a node has at most %d of them",
				       NODE_WINDOWS_MAX);
		if (take_window(n, &f->windows[f->window_count++], err) < 0)
			return -1;
	}
	return 0;
}

static int take_labels(const struct doc_node *map, struct node_facts *f, struct err *err)
{
	struct pairs p = { 0 };
	int rc;

	if (!map)
		return 0;
	for (const struct doc_node *n = map->first; n; n = n->next)
		if (n->key && n->kind == DOC_STRING)
			pairs_set(&p, n->key, n->text);
	rc = node_labels_write(&p, f->labels);
	pairs_fini(&p);
	if (rc < 0)
		return err_set(err, ERR_INVALID,
			       "labels: plain words without ',' and '=', at most %d "
			       "characters together",
			       NODE_LABELS_MAX - 1);
	return 0;
}

static int take_state(const struct doc_node *map, struct node_facts *f, struct err *err)
{
	const char *word = doc_str(map, "state", NULL);

	if (word && node_state_from_word(word, &f->state) < 0)
		return err_set(err, ERR_INVALID, "state: open, drain or quarantine");
	if (word && !doc_get(map, "reason"))
		memset(f->reason, 0, sizeof f->reason); /* of the state before */
	if (take_text(map, "reason", f->reason, sizeof f->reason, err) < 0)
		return -1;
	if (f->state == NODE_OPEN)
		memset(f->reason, 0, sizeof f->reason);
	if (f->state == NODE_QUARANTINE && !f->reason[0])
		return err_set(err, ERR_INVALID,
			       "reason: say what is wrong with a node in quarantine");
	return 0;
}

int wire_facts_read(const struct doc_node *map, struct node_facts *f, struct err *err)
{
	struct node_facts now = *f;
	int64_t island;

	if (take_state(map, &now, err) < 0 ||
	    take_windows(doc_get(map, "windows"), &now, err) < 0 ||
	    take_text(map, "rack", now.rack, sizeof now.rack, err) < 0 ||
	    take_text(map, "switch", now.net, sizeof now.net, err) < 0 ||
	    take_labels(doc_get(map, "labels"), &now, err) < 0)
		return -1;
	island = doc_i64(map, "island", now.island);
	if (island < 0 || island > DEVICES_MAX)
		return err_set(err, ERR_INVALID, "island: a whole number from 0 to %d",
			       DEVICES_MAX);
	now.island = (int)island;
	now.rings = doc_bool(map, "rings", now.rings);
	*f = now;
	return 0;
}
