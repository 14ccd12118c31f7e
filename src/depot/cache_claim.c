// SPDX-License-Identifier: Apache-2.0
/* cache_claim.c - from a wish to a folder.
 *
 *   PART ──begin──> FETCHING ──get, finish──> READY ──[prove]──> used ──> answered
 *    ^                  │ failed, or nobody waits any more
 *    └──────────────────┘
 *
 * The first who wants an entry brings the account it is fetched with.  Everybody else has
 * seen the same list with an account of their own, but a list is not the files: before a
 * copy that another fetched is given to them, each file is asked for once (prove).
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "depot/cache_disk.h"
#include "depot/cache_impl.h"
#include "depot/fetch.h"
#include "depot/files.h"

#define USER_MARK "u-" /* before a name in users/, so that no name is . or .. */

struct cache_claim {
	struct cache_entry
		*entry; /* NULL: answered or dropped, and a lane still has it */
	struct cache *cache;
	struct cache_claim *next;
	struct cache_sink sink;
	char key[MANIFEST_HASH_HEX];
	char *uri, *user;
	struct remote_account account;
	int manifest;
	int64_t job, files, bytes;
	bool fetched; /* was begun for this one */
	bool busy;    /* in a lane */
	struct fetch *prove;
	bool failed;
	struct err err;
};

static void settle(struct cache_claim *claim);
static void entry_next(struct cache_entry *e);

static char *copy(const char *s)
{
	return mem_strdup(s);
}

static struct remote_account account_copy(const struct remote_account *a)
{
	return (struct remote_account){
		.endpoint = copy(a->endpoint),
		.region = copy(a->region),
		.access_key = copy(a->access_key),
		.secret_key = copy(a->secret_key),
		.token = copy(a->token),
		.user = copy(a->user),
		.virtual_host = a->virtual_host,
		.oss_signature = a->oss_signature,
	};
}

static void claim_free(struct cache_claim *claim)
{
	if (claim->manifest >= 0)
		close(claim->manifest);
	remote_account_fini(&claim->account);
	free(claim->uri);
	free(claim->user);
	free(claim);
}

static void leave(struct cache_claim *claim)
{
	struct cache_claim **at = &claim->entry->claims;

	while (*at != claim)
		at = &(*at)->next;
	*at = claim->next;
	claim->entry = NULL;
}

static void answer(struct cache_claim *claim, const char *folder, const struct err *err)
{
	struct cache_sink sink = claim->sink;
	bool fetched = claim->fetched;

	leave(claim);
	claim_free(claim);
	sink.done(sink.arg, folder, fetched, err);
}

static void refuse_first(struct cache_entry *e, const struct err *err)
{
	struct cache_claim *first = e->claims;
	struct cache_sink sink = first->sink;

	e->claims = first->next;
	first->entry = NULL;
	if (!first->busy) /* else who comes for it sees that it is answered */
		claim_free(first);
	sink.done(sink.arg, NULL, false, err);
}

static void fail_all(struct cache_entry *e, const struct err *err)
{
	struct cache *c = e->cache;

	c->refs++; /* who is answered may end all of it */
	e->busy = true;
	while (e->claims && !c->gone)
		refuse_first(e, err);
	e->busy = false;
	cache_unref(c);
}

/* ---- an entry ---- */

struct entry_work {
	struct cache *cache;
	struct cache_entry *entry;
	char key[MANIFEST_HASH_HEX];
	char *about, *user;
	int64_t bytes;
	bool failed;
	struct err err;
};

static struct entry_work *work_create(struct cache_entry *e)
{
	struct entry_work *w = mem_alloc(1, sizeof *w);

	*w = (struct entry_work){ .cache = e->cache, .entry = e };
	memcpy(w->key, e->key, sizeof w->key);
	w->user = mem_strdup(e->claims->user);
	e->busy = true;
	e->cache->refs++;
	e->cache->depot->refs++;
	return w;
}

/* The entry, when anybody is still there to care. */
static struct cache_entry *work_end(struct entry_work *w)
{
	struct cache_entry *e = w->cache->gone ? NULL : w->entry;

	if (e)
		e->busy = false;
	return e;
}

static void work_free(struct entry_work *w)
{
	struct depot_files *d = w->cache->depot;

	cache_unref(w->cache);
	depot_files_unref(d);
	free(w->about);
	free(w->user);
	free(w);
}

static void finish_work(void *arg)
{
	struct entry_work *w = arg;

	w->failed = cache_disk_finish(w->cache->root, w->key, w->user, &w->bytes,
				      &w->err) < 0;
}

static void settle_all(struct cache_entry *e)
{
	struct cache_claim *next;

	for (struct cache_claim *claim = e->claims; claim; claim = next) {
		next = claim->next;
		settle(claim);
	}
}

static void finished(void *arg)
{
	struct entry_work *w = arg;
	struct cache_entry *e = work_end(w);

	if (e && w->failed) {
		e->state = ENTRY_PART;
		fail_all(e, &w->err);
	} else if (e) {
		e->state = ENTRY_READY;
		e->used_ms = world_now_ms(e->cache->depot->world);
		cache_resize(e, w->bytes);
		settle_all(e);
	}
	work_free(w);
}

static void on_at(void *arg, int64_t bytes, int64_t total)
{
	struct cache_entry *e = arg;

	e->at = bytes;
	for (struct cache_claim *claim = e->claims; claim; claim = claim->next)
		if (claim->sink.at)
			claim->sink.at(claim->sink.arg, bytes, total);
}

/* One whose account is refused fails alone: the next one's may do. */
static void get_failed(struct cache_entry *e, const struct err *err)
{
	struct cache *c = e->cache;

	e->state = ENTRY_PART;
	if (err->code != ERR_DENIED) {
		fail_all(e, err);
		return;
	}
	c->refs++;
	e->busy = true;
	refuse_first(e, err);
	e->busy = false;
	if (!c->gone)
		entry_next(e);
	cache_unref(c);
}

static void on_got(void *arg, int64_t files, int64_t bytes, const struct err *err)
{
	struct cache_entry *e = arg;

	(void)files;
	(void)bytes;
	e->fetch = NULL;
	if (err) {
		get_failed(e, err);
		return;
	}
	world_lane_work(e->cache->depot->transfers, finish_work, finished,
			work_create(e));
}

static void begin_work(void *arg)
{
	struct entry_work *w = arg;

	w->failed = cache_disk_begin(w->cache->root, w->key, w->about,
				     geteuid() == 0 ? FETCH_NOBODY : -1, &w->err) < 0;
}

static int start_get(struct cache_entry *e, struct err *err)
{
	const struct cache_claim *first = e->claims;
	AUTO_FD int folder = cache_disk_open(e->cache->root, e->key, err);
	struct fetch_order o = {
		.op = REMOTE_GET,
		.uri = first->uri,
		.user = first->user + strlen(USER_MARK),
		.account = &first->account,
		.uid = FETCH_NOBODY,
		.folder = folder,
		.manifest = first->manifest,
		/* Of one whose size nobody tells, as much as there is room for. */
		.bytes_max = e->cache->limit - (e->cache->bytes - e->bytes),
	};

	if (folder < 0)
		return -1;
	e->fetch = fetch_start(e->cache->depot, &o,
			       &(struct fetch_sink){ on_at, on_got, e });
	return 0;
}

static void begun(void *arg)
{
	struct entry_work *w = arg;
	struct cache_entry *e = work_end(w);

	if (e && !w->failed && e->claims)
		w->failed = start_get(e, &w->err) < 0;
	if (e && (w->failed || !e->claims))
		e->state = ENTRY_PART;
	if (e && w->failed)
		fail_all(e, &w->err);
	work_free(w);
}

static char *about_text(const struct cache_claim *claim)
{
	struct buf b = { 0 };
	struct json j;
	AUTO_FREE char *show = remote_uri_show(claim->uri);

	json_init(&j, &b);
	json_object(&j, NULL);
	json_str(&j, "uri", show);
	json_i64(&j, "files", claim->files);
	json_i64(&j, "bytes", claim->bytes);
	json_end(&j);
	return buf_take(&b);
}

/* Brings an entry that somebody waits for a step further. */
static void entry_next(struct cache_entry *e)
{
	if (e->busy || !e->claims)
		return;
	switch (e->state) {
	case ENTRY_FETCHING:
		break;
	case ENTRY_READY:
		settle_all(e);
		break;
	case ENTRY_PART:
		e->state = ENTRY_FETCHING;
		e->claims->fetched = true;
		struct entry_work *w = work_create(e);
		w->about = about_text(e->claims);
		world_lane_work(e->cache->depot->transfers, begin_work, begun, w);
		break;
	}
}

/* ---- a claim on what is there ---- */

static void use_work(void *arg)
{
	struct cache_claim *claim = arg;

	claim->failed = cache_disk_use(claim->cache->root, claim->key, claim->user,
				       claim->job, &claim->err) < 0;
}

static void used(void *arg)
{
	struct cache_claim *claim = arg;
	struct cache *c = claim->cache;
	struct depot_files *d = c->depot;

	claim->busy = false;
	if (!claim->entry) {
		claim_free(claim);
	} else if (claim->failed) {
		struct err err = claim->err;
		answer(claim, NULL, &err);
	} else {
		AUTO_FREE char *folder = str_printf("%s/%s/data", c->root, claim->key);
		claim->entry->used_ms = world_now_ms(d->world);
		answer(claim, folder, NULL);
	}
	cache_unref(c);
	depot_files_unref(d);
}

static void use(struct cache_claim *claim)
{
	claim->busy = true;
	claim->cache->refs++;
	claim->cache->depot->refs++;
	world_lane_work(claim->cache->depot->transfers, use_work, used, claim);
}

static void proved(void *arg, int64_t files, int64_t bytes, const struct err *err)
{
	struct cache_claim *claim = arg;

	(void)files;
	(void)bytes;
	claim->prove = NULL;
	if (err)
		answer(claim, NULL, err);
	else
		use(claim);
}

/* The entry is ready: what is left to do for this one. */
static void settle(struct cache_claim *claim)
{
	struct cache *c = claim->cache;
	struct fetch_order o = { .op = REMOTE_PROVE,
				 .uri = claim->uri,
				 .user = claim->user + strlen(USER_MARK),
				 .account = &claim->account,
				 .uid = FETCH_NOBODY,
				 .folder = -1,
				 .manifest = claim->manifest };

	if (claim->busy || claim->prove)
		return;
	if (claim->fetched || cache_disk_proved(c->root, claim->key, claim->user))
		use(claim);
	else
		claim->prove = fetch_start(c->depot, &o,
					   &(struct fetch_sink){ NULL, proved, claim });
}

static void pin(struct cache_entry *e, int64_t job)
{
	for (size_t i = 0; i < e->job_count; i++)
		if (e->jobs[i] == job)
			return;
	mem_grow(&e->jobs, &e->job_cap, e->job_count, sizeof *e->jobs);
	e->jobs[e->job_count++] = job;
}

static void start_later(void *arg)
{
	struct cache_claim *claim = arg;

	claim->busy = false;
	if (!claim->entry)
		claim_free(claim);
	else if (claim->failed) {
		struct cache_entry *e = claim->entry;
		struct err err = claim->err;
		struct cache *c = e->cache;
		c->refs++;
		answer(claim, NULL, &err);
		if (!c->gone && e->state == ENTRY_PART && !e->claims && !e->busy &&
		    e->bytes == 0)
			cache_entry_forget(e);
		cache_unref(c);
	} else {
		entry_next(claim->entry);
	}
}

struct cache_claim *cache_claim(struct cache *c, const struct cache_wish *w,
				const struct cache_sink *s)
{
	struct cache_claim *claim = mem_alloc(1, sizeof *claim);
	struct cache_entry *e = cache_entry_find(c, w->key);

	*claim = (struct cache_claim){ .cache = c,
				       .sink = *s,
				       .uri = mem_strdup(w->uri),
				       .user = str_printf(USER_MARK "%s", w->user),
				       .account = account_copy(w->account),
				       .manifest = fcntl(w->manifest, F_DUPFD_CLOEXEC, 3),
				       .job = w->job,
				       .files = w->files,
				       .bytes = w->bytes };
	memcpy(claim->key, w->key, sizeof claim->key);
	if (!e || e->state == ENTRY_PART)
		claim->failed = cache_make_room(c, e ? 0 : w->bytes, &claim->err) < 0;
	/* Room is made by removing what nobody uses: that may have been a part of it. */
	e = cache_entry_of(c, w->key, claim->failed ? 0 : w->bytes);
	claim->entry = e;
	/* Behind those who came before: the first one's account fetches. */
	struct cache_claim **at = &e->claims;
	while (*at)
		at = &(*at)->next;
	*at = claim;
	pin(e, w->job);
	claim->busy = true;
	world_later(c->depot->world, start_later, claim);
	return claim;
}

void cache_drop(struct cache_claim *claim)
{
	struct cache_entry *e = claim ? claim->entry : NULL;

	if (!e)
		return;
	leave(claim);
	if (!e->claims && e->fetch) {
		fetch_cancel(e->fetch);
		e->fetch = NULL;
		e->state = ENTRY_PART;
	}
	fetch_cancel(claim->prove);
	if (!claim->busy)
		claim_free(claim);
}
