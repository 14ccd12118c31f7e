// SPDX-License-Identifier: Apache-2.0
/* Changes that are no job's.  The documents and the line of the audit log are one batch:
 * there is no change that nobody is named for, and no line of one that did not happen. */
#include "base/mem.h"
#include "base/str.h"
#include "store/docs.h"
#include "yard/internal.h"

/* A sink sees the change as soon as it is recorded, so that the next request meets it. */
static void tell_sink(struct yard *y, const char *kind, const char *name,
		      const char *body)
{
	if (yard_share_doc(y, kind, name, body))
		return;
	for (size_t i = 0; i < y->config.doc_count; i++) {
		const struct yard_doc_sink *sink = &y->config.docs[i];
		if (str_eq(sink->kind, kind))
			sink->apply(sink->arg, name, body);
	}
}

static void give_doc(void *arg, const char *kind, const char *name, const char *body)
{
	tell_sink(arg, kind, name, body);
}

int yard_read_docs(struct yard *y, struct err *err)
{
	return store_docs(y->config.store, give_doc, y, err);
}

static struct yard_doc *copy_docs(const struct yard_doc *docs, size_t count)
{
	struct yard_doc *copy = mem_alloc(count ? count : 1, sizeof *copy);

	for (size_t i = 0; i < count; i++)
		copy[i] = (struct yard_doc){ .kind = mem_strdup(docs[i].kind),
					     .name = mem_strdup(docs[i].name),
					     .body = mem_strdup(docs[i].body) };
	return copy;
}

static void drop(const char *text)
{
	free((void *)(uintptr_t)text);
}

void yard_free_docs(struct yard_doc *docs, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		drop(docs[i].kind);
		drop(docs[i].name);
		drop(docs[i].body);
	}
	free(docs);
}

void yard_change(struct yard *y, const struct principal *who, const struct yard_change *c,
		 yard_done done, void *arg)
{
	struct event e = { .kind = EV_AUDIT };
	struct yard_doc *docs;
	struct err err;

	if (y->trouble.code != ERR_NONE) {
		err_set(&err, ERR_BUSY, "the yard cannot write to its disk now: %s",
			y->trouble.text);
		if (done)
			yard_refuse(y, &err, done, arg);
		return;
	}
	e.by = mem_strdup(who->name);
	e.scope = mem_strdup(c->action);
	e.name = mem_strdup(c->object);
	docs = copy_docs(c->docs, c->count); /* what c names may be the sinks' own */
	yard_record_docs(y, &e, docs, c->count, done, arg);
	for (size_t i = 0; i < c->count; i++)
		tell_sink(y, docs[i].kind, docs[i].name, docs[i].body);
}

size_t yard_jobs_of(const struct yard *y, const char *owner)
{
	return (size_t)(intptr_t)map_gets(y->per_owner, owner);
}
