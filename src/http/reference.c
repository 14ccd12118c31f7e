// SPDX-License-Identifier: Apache-2.0
/* The tables of routes as a page for people: docs/api-reference.md. */
#include <string.h>

#include "base/mem.h"
#include "http/route.h"
#include "http/server.h"
#include "wire/outcome.h"
#include "wire/shape.h"

static void put_words(struct buf *out, const char *words)
{
	const char *word;
	size_t len, n = 0;

	while ((word = wire_word_next(&words, &len)))
		buf_printf(out, "%s`%.*s`", n++ ? ", " : "", (int)len, word);
}

static void put_allowed(struct buf *out, const struct param *p)
{
	switch (p->kind) {
	case PARAM_INT:
		if (p->max == INT64_MAX)
			buf_printf(out, "a number from %lld", (long long)p->min);
		else
			buf_printf(out, "%lld to %lld", (long long)p->min,
				   (long long)p->max);
		if (p->words) {
			buf_adds(out, ", ");
			put_words(out, p->words);
		}
		break;
	case PARAM_BOOL:
		buf_adds(out, "`0` or `1`");
		break;
	case PARAM_WORD:
		put_words(out, p->words);
		break;
	case PARAM_LIST:
		buf_adds(out, "several times");
		break;
	case PARAM_TEXT:
	case PARAM_KIND_COUNT:
		buf_adds(out, "text");
		break;
	}
}

static void put_params(struct buf *out, const char *what, const struct param *table)
{
	for (const struct param *p = table; p && p->name; p++) {
		buf_printf(out, "- %s `%s` (", what, p->name);
		put_allowed(out, p);
		buf_printf(out, "%s): %s\n", p->needed ? "; needed" : "", p->help);
	}
}

static void put_answer(struct buf *out, int status, const char *answer)
{
	buf_printf(out, "%d", status);
	for (const char *at = answer; at && *at;) {
		size_t len = strcspn(at, "|");
		buf_printf(out, "%s`%.*s`", at == answer ? " " : " or ", (int)len, at);
		at += len + (at[len] == '|');
	}
}

static void put_errors(struct buf *out, const struct route *r)
{
	buf_adds(out, "- errors:");
	for (int c = ERR_NONE + 1; c < ERR_CODE_END; c++)
		if (route_errors(r) & ROUTE_ERR(c))
			buf_printf(out, " %s", err_word((enum err_code)c));
	buf_addc(out, '\n');
}

static void put_route(struct buf *out, const struct route *r)
{
	AUTO_BUF struct buf path = { 0 };

	route_path(r, &path);
	buf_printf(out, "\n### `%s %s`\n\n%s (`%s`, rule %s).\n\n", r->method,
		   buf_str(&path), r->help, r->name, route_rule_word(r->rule));
	put_params(out, "parameter", r->params);
	put_params(out, "header", r->headers);
	if (r->body)
		buf_printf(out, "- body%s: `%s`\n",
			   r->body_optional ? ", may be absent" : "", r->body);
	buf_adds(out, "- answer: ");
	put_answer(out, route_status(r), r->answer);
	if (r->also) {
		buf_adds(out, ", or ");
		put_answer(out, r->also, r->also_answer ? r->also_answer : r->answer);
	}
	buf_addc(out, '\n');
	put_errors(out, r);
}

void http_routes_reference(struct buf *out)
{
	buf_adds(out, "## Errors\n\n| code | status |\n|---|---|\n");
	for (int c = ERR_NONE + 1; c < ERR_CODE_END; c++)
		buf_printf(out, "| `%s` | %d |\n", err_word((enum err_code)c),
			   wire_http_status((enum err_code)c));
	for (size_t t = 0; t < route_table_count; t++) {
		buf_printf(out, "\n## %s: %s\n", route_tables[t].subject,
			   route_tables[t].help);
		for (const struct route *r = route_tables[t].rows; r->method; r++)
			put_route(out, r);
	}
}
