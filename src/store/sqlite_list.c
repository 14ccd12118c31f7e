// SPDX-License-Identifier: Apache-2.0
/* sqlite_list.c - lists: walks along indexes, newest first, merged where several are needed.
 *
 * One walk gives rows by the index that leaves the fewest to look at.  Who sees their own
 * jobs and those of their groups has a walk for each: all stand on their newest row, the
 * newest of these is looked at, and the walks that stood on it go on.  So a page costs by
 * its length and the number of groups, however many jobs others have.
 */
#include <assert.h>
#include <sqlite3.h>

#include "store/sqlite_impl.h"

#define WALKS_MAX (PRINCIPAL_GROUPS_MAX + 1)

struct walk {
	enum sql which;
	const char *value;
	sqlite3_stmt *st;
	int64_t id; /* of the row it stands on; 0: at its end */
};

struct walks {
	struct conn *conn;
	struct walk items[WALKS_MAX];
	size_t count;
};

static void add(struct walks *w, enum sql which, const char *value)
{
	assert(w->count < WALKS_MAX);
	w->items[w->count++] = (struct walk){ .which = which, .value = value };
}

/* Their own, then those of each group that shares. */
static void add_visible(struct walks *w, const struct principal *see, enum sql by_owner,
			enum sql by_group)
{
	add(w, by_owner, see->name);
	for (size_t i = 0; i < see->group_count; i++)
		if (principal_in(see, see->groups[i]))
			add(w, by_group, see->groups[i]);
}

static void choose(struct walks *w, const struct store_query *q)
{
	bool live = q->live > 0;

	if (q->array)
		add(w, SQL_LIST_ARRAY, NULL);
	else if (q->label)
		add(w, SQL_LIST_LABEL, q->label);
	else if (q->name && !q->owner)
		add(w, SQL_LIST_NAME, q->name);
	else if (q->name && !live)
		add(w, SQL_LIST_OWNER_NAME, q->owner);
	else if (q->owner)
		add(w, live ? SQL_LIST_LIVE_OWNER : SQL_LIST_OWNER, q->owner);
	else if (q->group)
		add(w, live ? SQL_LIST_LIVE_GROUP : SQL_LIST_GROUP, q->group);
	else if (q->see && live)
		add_visible(w, q->see, SQL_LIST_LIVE_OWNER, SQL_LIST_LIVE_GROUP);
	else if (q->see)
		add_visible(w, q->see, SQL_LIST_OWNER, SQL_LIST_GROUP);
	else if (live)
		add(w, SQL_LIST_LIVE, NULL);
	else if (q->outcome > OUTCOME_NONE)
		add(w, SQL_LIST_OUTCOME, outcome_word((enum outcome)q->outcome));
	else
		add(w, q->live == 0 ? SQL_LIST_ENDED : SQL_LIST, NULL);
}

static void end(struct walks *w, struct walk *k)
{
	if (k->st)
		conn_unuse(w->conn, k->which, k->st);
	k->st = NULL;
	k->id = 0;
}

/* At its end it gives the statement back at once: the next walk may be of the same kind. */
static int go_on(struct walks *w, struct walk *k, struct err *err)
{
	int rc = sqlite3_step(k->st);

	if (rc == SQLITE_ROW) {
		k->id = sqlite3_column_int64(k->st, 0);
		return 0;
	}
	if (rc != SQLITE_DONE)
		return conn_fail(w->conn, rc, err);
	end(w, k);
	return 0;
}

static int begin(struct walks *w, struct walk *k, const struct store_query *q,
		 struct err *err)
{
	k->st = conn_use(w->conn, k->which, err);
	if (!k->st)
		return -1;
	sqlite3_bind_int64(k->st, 1, q->before > 0 ? q->before : INT64_MAX);
	if (k->which == SQL_LIST_ARRAY)
		sqlite3_bind_int64(k->st, 2, q->array);
	else if (k->value)
		sqlite3_bind_text(k->st, 2, k->value, -1, SQLITE_STATIC);
	if (k->which == SQL_LIST_OWNER_NAME)
		sqlite3_bind_text(k->st, 3, q->name, -1, SQLITE_STATIC);
	return go_on(w, k, err);
}

/* The row that is newest of those the walks stand on; NULL: all are at their end. */
static const struct walk *newest(const struct walks *w)
{
	const struct walk *best = &w->items[0];

	for (size_t i = 1; i < w->count; i++)
		if (w->items[i].id > best->id)
			best = &w->items[i];
	return best->id ? best : NULL;
}

static int leave(struct walks *w, int64_t id, struct err *err)
{
	for (size_t i = 0; i < w->count; i++)
		if (w->items[i].id == id && go_on(w, &w->items[i], err) < 0)
			return -1;
	return 0;
}

static int merge(struct walks *w, struct sieve *sieve, struct err *err)
{
	const struct walk *at;

	while ((at = newest(w))) {
		struct store_row row;
		int64_t id = at->id;

		if (row_take(at->st, &row, err) < 0)
			return -1;
		if (!sieve_row(sieve, &row))
			return 0;
		if (leave(w, id, err) < 0)
			return -1;
	}
	return 0;
}

int sqlite_list(struct store *s, const struct store_query *q, struct sieve *sieve,
		struct err *err)
{
	struct walks w = { .conn = &((struct sqlite_store *)s)->reader };
	int failed = 0;

	choose(&w, q);
	for (size_t i = 0; i < w.count && !failed; i++)
		failed = begin(&w, &w.items[i], q, err);
	if (!failed)
		failed = merge(&w, sieve, err);
	for (size_t i = 0; i < w.count; i++)
		end(&w, &w.items[i]);
	return failed;
}
