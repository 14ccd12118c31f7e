// SPDX-License-Identifier: Apache-2.0
#include "cli/people.h"

#include <string.h>

#include "base/mem.h"
#include "base/units.h"
#include "cli/view.h"
#include "codec/url.h"

char *people_target(const char *kind, const char *name, const char *tail)
{
	struct buf out = { 0 };

	buf_printf(&out, "/%s/", kind);
	url_encode(&out, name);
	buf_adds(&out, tail);
	return buf_take(&out);
}

int people_send(struct cli *c, const char *method, const char *target,
		const struct buf *body, struct answer *out, struct err *err)
{
	AUTO_ANSWER struct answer unread = { 0 };
	struct request r = { .method = method, .target = target };

	if (body) {
		r.body = buf_str(body);
		r.body_len = body->len;
	}
	return client_call(c->client, &r, out ? out : &unread, err);
}

int people_print_list(struct cli *c, const struct people_list *l)
{
	AUTO_ANSWER struct answer answer = { 0 };
	struct err err;

	if (cli_colour(c, l->color, &err) < 0)
		return cli_fail(c, &err);
	if (l->json)
		return view_json(c, l->target);
	if (cli_get(c, &answer, &err, "%s", l->target) < 0)
		return cli_fail(c, &err);
	const struct doc_node *list = doc_get(doc_root(answer.doc), l->key);
	if (!list || !list->first) {
		cli_hint(c, "%s", l->none);
		return 0;
	}
	struct table *t = table_create(l->heads, l->head_count);
	for (const struct doc_node *n = list->first; n; n = n->next)
		l->row(t, n);
	view_print(c, t);
	table_destroy(t);
	return 0;
}

int people_remove(struct cli *c, const char *kind, const struct opts_list *names)
{
	struct err err;
	int code = 0;

	for (size_t i = 0; i < names->count; i++) {
		AUTO_FREE char *target = people_target(kind, names->items[i], "");
		if (people_send(c, "DELETE", target, NULL, NULL, &err) < 0)
			code = cli_fail(c, &err);
	}
	return code;
}

int people_print_json(const struct answer *a)
{
	cli_print_json(&a->body);
	return 0;
}

void people_words(const struct doc_node *list, struct buf *out)
{
	for (const struct doc_node *n = list ? list->first : NULL; n; n = n->next)
		buf_printf(out, "%s%s", n == list->first ? "" : ", ", n->text);
	if (!list || !list->first)
		buf_adds(out, "-");
}

void people_age(struct table *t, const struct doc_node *n, const char *key,
		const char *never)
{
	int64_t ms = doc_i64(n, key, 0);
	char age[UNITS_TEXT_MAX];

	if (ms <= 0)
		table_cell(t, TABLE_DIM, "%s", never);
	else
		table_cell(t, TABLE_PLAIN, "%s", units_show_age(cli_now_ms() - ms, age));
}

void people_json_list(struct json *j, const char *key, const struct opts_list *items)
{
	json_array(j, key);
	for (size_t i = 0; i < items->count; i++) {
		const char *at = items->items[i];
		while (*at) {
			size_t n = strcspn(at, ",");
			if (n)
				json_strn(j, NULL, at, n);
			at += at[n] ? n + 1 : n;
		}
	}
	json_end(j);
}
