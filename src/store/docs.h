// SPDX-License-Identifier: Apache-2.0
/* docs.h - what a store keeps that is no job's: documents, and who did what to them.
 *
 * A document is a text that is read whole at boot (a user, a group, a token, a sealed
 * secret, a setting), found by its kind and name.
 */
#pragma once

#include "store/store.h"

typedef void (*store_doc_each)(void *arg, const char *kind, const char *name,
			       const char *body);

/* Copied; the last one of its kind and name counts; body NULL removes it.  Always in one
 * batch with the event that tells of the change. */
void store_batch_doc(struct store_batch *b, const char *kind, const char *name,
		     const char *body);

/* At boot: every document, by kind and name. */
int store_docs(struct store *s, store_doc_each each, void *arg, struct err *err);

/* What was done that is no job's (EV_AUDIT, EV_QUOTA): newest first, seqs below `before`
 * (0: from the newest). */
int store_audit(struct store *s, int64_t before, int limit,
		void (*each)(void *arg, const struct event *e), void *arg,
		struct err *err);
