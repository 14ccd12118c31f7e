// SPDX-License-Identifier: Apache-2.0
/* impl.h - for implementers of a store; nobody outside this room includes it. */
#pragma once

#include "store/docs.h"
#include "store/forget.h"
#include "store/list.h"
#include "store/store.h"

/* One event as it is stored.  One block of memory: free() frees all of it. */
struct record {
	int64_t seq, time_ms, job;
	enum event_kind kind;
	const char *body; /* JSON */
	size_t body_len;
	/* What it is found by; "" when the kind has none. */
	const char *by, *key, *digest, *scope, *name;
};

struct record *record_create(const struct event *e);
struct record *record_dup(const struct record *r);
/* Decodes and hands the event on for the time of the call. */
int record_give(const struct record *r, void (*each)(void *arg, const struct event *e),
		void *arg, struct err *err);
bool record_has_key(const struct record *r); /* SUBMITTED with an idempotency key */

struct store_row *row_dup(const struct store_row *row); /* one block, as above */
bool row_matches(const struct store_row *row, const struct store_query *q);

/* What of a walk through rows, newest first, is the page that was asked for. */
struct sieve {
	const struct store_query *q;
	void (*each)(void *arg, const struct store_row *row);
	void *arg;
	int given, looked;
	int64_t last, next; /* given last; to go on below, 0: nothing follows */
};
bool sieve_row(struct sieve *s, const struct store_row *row); /* false: that is enough */

/* Which events: of one job or of all (0), from a seq on, at most so many. */
struct span {
	int64_t job, from_seq;
	int limit;
};

/* A document; one block, as above. */
struct store_doc {
	const char *kind, *name, *body; /* body NULL: it is removed */
};
struct store_doc *doc_dup(const struct store_doc *d);

/* A job to forget, or one that is forgotten and has no files any more. */
struct store_forget {
	int64_t job;
	const char *owner, *key;
	bool files_gone;
};

struct store_batch {
	struct record **records;
	size_t record_count, record_cap;
	struct store_row **rows;
	size_t row_count, row_cap;
	struct store_doc **docs;
	size_t doc_count, doc_cap;
	struct store_forget **forgets; /* after all else */
	size_t forget_count, forget_cap;
};

struct store_ops {
	void (*commit)(struct store *s, struct store_batch *b, store_done done,
		       void *arg);
	int (*boot)(struct store *s, void (*each)(void *arg, const struct event *e),
		    void *arg, struct store_counters *out, struct err *err);
	int (*docs)(struct store *s, store_doc_each each, void *arg, struct err *err);
	int (*audit)(struct store *s, int64_t before, int limit,
		     void (*each)(void *arg, const struct event *e), void *arg,
		     struct err *err);
	int (*events)(struct store *s, const struct span *span,
		      void (*each)(void *arg, const struct event *e), void *arg,
		      struct err *err);
	int (*list)(struct store *s, const struct store_query *q, struct sieve *sieve,
		    struct err *err);
	int (*gone)(struct store *s, void (*each)(void *arg, int64_t job), void *arg,
		    struct err *err);
	int (*find_key)(struct store *s, const char *owner, const char *key, int64_t *job,
			char digest[65], struct err *err);
	int (*find_name)(struct store *s, const char *owner, const char *name,
			 int64_t *job, struct err *err);
	int (*find_member)(struct store *s, int64_t array, int64_t index, int64_t *job,
			   struct err *err);
	int (*row)(struct store *s, int64_t job,
		   void (*each)(void *arg, const struct store_row *row), void *arg,
		   struct err *err);
	void (*backup)(struct store *s, const char *path, store_done done, void *arg);
	void (*destroy)(struct store *s);
};

struct store {
	const struct store_ops *ops;
};
