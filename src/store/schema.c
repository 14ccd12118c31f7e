// SPDX-License-Identifier: Apache-2.0
#include "store/schema.h"

#include "base/mem.h"

/* Version 1: the truth (events), what is derived from it in the same transaction (jobs,
 * keys), and where the last word on a quota or user stands (a seq of events).
 *
 * Lists are newest first, so every index of jobs ends in id.  live and outcome change at
 * most once in a job's life; an index of them, or limited by them, is written only then. */
static const char version_1[] =
	"CREATE TABLE events (seq INTEGER PRIMARY KEY, time_ms INTEGER NOT NULL,"
	" job INTEGER NOT NULL, kind TEXT NOT NULL, body TEXT NOT NULL);"
	"CREATE INDEX events_job ON events (job, seq);"
	"CREATE TABLE jobs (id INTEGER PRIMARY KEY, live INTEGER NOT NULL, state TEXT NOT NULL,"
	" outcome TEXT NOT NULL, name TEXT NOT NULL, owner TEXT NOT NULL,"
	" \"group\" TEXT NOT NULL, reason TEXT NOT NULL, priority INTEGER NOT NULL,"
	" attempt INTEGER NOT NULL, task_count INTEGER NOT NULL, exit_code INTEGER NOT NULL,"
	" submitted_ms INTEGER NOT NULL, started_ms INTEGER NOT NULL,"
	" ended_ms INTEGER NOT NULL);"
	"CREATE INDEX jobs_live ON jobs (id) WHERE live = 1;"
	"CREATE INDEX jobs_ended ON jobs (id) WHERE live = 0;"
	"CREATE INDEX jobs_owner ON jobs (owner, id);"
	"CREATE INDEX jobs_owner_name ON jobs (owner, name, id);"
	"CREATE TABLE keys (owner TEXT NOT NULL, key TEXT NOT NULL, job INTEGER NOT NULL,"
	" digest TEXT NOT NULL, PRIMARY KEY (owner, key)) WITHOUT ROWID;"
	"CREATE TABLE quotas (scope TEXT NOT NULL, name TEXT NOT NULL, seq INTEGER NOT NULL,"
	" PRIMARY KEY (scope, name)) WITHOUT ROWID;"
	"CREATE TABLE users (name TEXT NOT NULL PRIMARY KEY, seq INTEGER NOT NULL) WITHOUT ROWID;";

/* Version 2: lists over all owners, by name, group or outcome. */
static const char version_2[] =
	"CREATE INDEX jobs_name ON jobs (name, id);"
	"CREATE INDEX jobs_group ON jobs (\"group\", id);"
	"CREATE INDEX jobs_outcome ON jobs (outcome, id) WHERE live = 0;";

/* Version 3: what is no job's and is read whole at boot: accounts, secrets, settings. */
static const char version_3[] =
	"CREATE TABLE docs (kind TEXT NOT NULL, name TEXT NOT NULL, body TEXT NOT NULL,"
	" PRIMARY KEY (kind, name)) WITHOUT ROWID;";

/* Version 4: members of arrays are in no list but their array's, however many there are;
 * live jobs by owner and group, so that one sees theirs beside a million of others; labels;
 * and deleted jobs whose files may still be there. */
static const char version_4[] =
	"ALTER TABLE jobs ADD COLUMN array INTEGER NOT NULL DEFAULT 0;"
	"DROP INDEX jobs_ended; DROP INDEX jobs_owner; DROP INDEX jobs_owner_name;"
	"DROP INDEX jobs_name; DROP INDEX jobs_group; DROP INDEX jobs_outcome;"
	"CREATE INDEX jobs_top ON jobs (id) WHERE array = 0;"
	"CREATE INDEX jobs_ended ON jobs (id) WHERE live = 0 AND array = 0;"
	"CREATE INDEX jobs_owner ON jobs (owner, id) WHERE array = 0;"
	"CREATE INDEX jobs_owner_name ON jobs (owner, name, id) WHERE array = 0;"
	"CREATE INDEX jobs_name ON jobs (name, id) WHERE array = 0;"
	"CREATE INDEX jobs_group ON jobs (\"group\", id) WHERE array = 0;"
	"CREATE INDEX jobs_outcome ON jobs (outcome, id) WHERE live = 0 AND array = 0;"
	"CREATE INDEX jobs_live_owner ON jobs (owner, id) WHERE live = 1 AND array = 0;"
	"CREATE INDEX jobs_live_group ON jobs (\"group\", id) WHERE live = 1 AND array = 0;"
	"CREATE INDEX jobs_array ON jobs (array, id) WHERE array > 0;"
	"CREATE TABLE labels (label TEXT NOT NULL, job INTEGER NOT NULL,"
	" PRIMARY KEY (label, job)) WITHOUT ROWID;"
	"CREATE INDEX labels_job ON labels (job);"
	"INSERT INTO labels SELECT DISTINCT l.key || '=' || l.value, e.job FROM events e,"
	" json_each(e.body, '$.spec.labels') l WHERE e.kind = 'submitted';"
	"CREATE TABLE gone (job INTEGER PRIMARY KEY);";

/* Version 5: which member of its array a job is, each number once; and of an array how its
 * members fare. */
static const char version_5[] =
	"ALTER TABLE jobs ADD COLUMN \"index\" INTEGER NOT NULL DEFAULT 0;"
	"ALTER TABLE jobs ADD COLUMN members INTEGER NOT NULL DEFAULT 0;"
	"ALTER TABLE jobs ADD COLUMN members_ended INTEGER NOT NULL DEFAULT 0;"
	"ALTER TABLE jobs ADD COLUMN members_failed INTEGER NOT NULL DEFAULT 0;"
	"ALTER TABLE jobs ADD COLUMN members_running INTEGER NOT NULL DEFAULT 0;"
	"CREATE UNIQUE INDEX jobs_member ON jobs (array, \"index\") WHERE array > 0;";

const char *const schema_steps[] = { version_1, version_2, version_3, version_4,
				     version_5 };
const int schema_version = (int)COUNT_OF(schema_steps);
