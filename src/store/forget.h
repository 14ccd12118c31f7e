// SPDX-License-Identifier: Apache-2.0
/* forget.h - a job is deleted: nothing of it can be read any more, its number is never
 * given again, and until its files are known to be gone the store remembers to remove them.
 */
#pragma once

#include "store/store.h"

/* Events, row, labels and the idempotency key (of its owner; NULL: it has none) go, in one
 * batch with the event that tells of it.  Copied.  What is not there is gone already. */
void store_batch_forget(struct store_batch *b, int64_t job, const char *owner,
			const char *key);
/* Its files are removed: no need to do it again at the next boot. */
void store_batch_files_gone(struct store_batch *b, int64_t job);

/* At boot: jobs that are deleted and whose files may still be there. */
int store_gone(struct store *s, void (*each)(void *arg, int64_t job), void *arg,
	       struct err *err);
