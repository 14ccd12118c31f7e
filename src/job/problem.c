// SPDX-License-Identifier: Apache-2.0
#include "job/problem.h"

#include "base/buf.h"
#include "base/mem.h"

void problems_add(struct problems *p, int line, int column, const char *field,
		  const char *fmt, ...)
{
	struct buf text = { 0 };
	va_list ap;

	if (p->count == PROBLEMS_MAX) {
		p->dropped++;
		return;
	}
	va_start(ap, fmt);
	buf_vprintf(&text, fmt, ap);
	va_end(ap);
	mem_grow(&p->items, &p->cap, p->count, sizeof *p->items);
	p->items[p->count++] = (struct problem){ .line = line,
						 .column = column,
						 .field = mem_strdup(field),
						 .text = buf_take(&text) };
}

void problems_fini(struct problems *p)
{
	for (size_t i = 0; i < p->count; i++) {
		free(p->items[i].field);
		free(p->items[i].text);
	}
	free(p->items);
	*p = (struct problems){ 0 };
}

int problems_err(const struct problems *p, struct err *err)
{
	const struct problem *first = p->items;
	size_t more = p->count + p->dropped - 1;
	AUTO_BUF struct buf where = { 0 };

	if (!p->count)
		return 0;
	if (first->line)
		buf_printf(&where, "line %d, column %d: ", first->line, first->column);
	if (first->field && *first->field)
		buf_printf(&where, "%s: ", first->field);
	if (more)
		return err_set(err, ERR_INVALID, "%s%s (and %zu more problem%s)",
			       buf_str(&where), first->text, more, more == 1 ? "" : "s");
	return err_set(err, ERR_INVALID, "%s%s", buf_str(&where), first->text);
}
