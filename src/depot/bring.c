// SPDX-License-Identifier: Apache-2.0
#include "depot/bring.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/units.h"
#include "depot/cache.h"
#include "depot/fetch.h"
#include "depot/files.h"
#include "remote/uri.h"

struct bring {
	struct depot_files *depot;
	char *uri, *owner;
	struct remote_uri parsed;
	struct remote_account account;
	struct telling telling;
	bring_done done;
	void *arg;
	int manifest;
	struct fetch *look;
	struct cache_claim *claim;
	struct cache_wish wish;
	bool in_lane, failed, cancelled;
	struct err err;
};

static void destroy(struct bring *b)
{
	fetch_cancel(b->look);
	cache_drop(b->claim);
	if (b->manifest >= 0)
		close(b->manifest);
	telling_fini(&b->telling);
	remote_uri_fini(&b->parsed);
	remote_account_fini(&b->account);
	free(b->uri);
	free(b->owner);
	depot_files_unref(b->depot);
	free(b);
}

static void answer(struct bring *b, const char *path, const char *base,
		   const struct err *err)
{
	bring_done done = b->done;
	void *arg = b->arg;
	bool tell = !b->cancelled && !b->depot->gone;
	struct err why = err ? *err : (struct err){ 0 }; /* err may be b's own */

	destroy(b);
	if (tell)
		done(arg, path, base, err ? &why : NULL);
}

static void on_at(void *arg, int64_t bytes, int64_t total)
{
	struct bring *b = arg;

	telling_at(&b->telling, bytes, total);
}

static void on_claimed(void *arg, const char *folder, bool fetched, const struct err *err)
{
	struct bring *b = arg;
	char size[UNITS_TEXT_MAX], took[UNITS_TEXT_MAX];
	struct err why;

	b->claim = NULL;
	if (err) {
		answer(b, NULL, NULL, err);
		return;
	}
	units_show_bytes(b->wish.bytes, size);
	units_show_duration(world_mono_ms(b->depot->world) - b->telling.began_ms, took);
	if (fetched)
		telling_say(&b->telling, "fetched %s in %s", size, took);
	else
		telling_say(&b->telling, "%s, here already", size);
	AUTO_FREE char *base =
		b->parsed.folder ? NULL : remote_uri_base(&b->parsed, &why);
	AUTO_FREE char *path =
		base ? str_printf("%s/%s", folder, base) : mem_strdup(folder);
	answer(b, path, base, NULL);
}

/* The list is hashed off the loop: it may be long. */
static void key_work(void *arg)
{
	struct bring *b = arg;

	b->failed = manifest_key(b->uri, b->account.endpoint, b->manifest, b->wish.key,
				 &b->err) < 0;
}

static void key_made(void *arg)
{
	struct bring *b = arg;
	char size[UNITS_TEXT_MAX];

	b->in_lane = false;
	if (b->cancelled || b->failed || b->depot->gone) {
		answer(b, NULL, NULL, &b->err);
		return;
	}
	b->wish.uri = b->uri;
	b->wish.account = &b->account;
	b->wish.manifest = b->manifest;
	b->wish.user = b->owner;
	telling_say(&b->telling, "%lld file%s, %s", (long long)b->wish.files,
		    b->wish.files == 1 ? "" : "s", units_show_bytes(b->wish.bytes, size));
	b->claim = cache_claim(b->depot->cache, &b->wish,
			       &(struct cache_sink){ on_at, on_claimed, b });
}

static void on_looked(void *arg, int64_t files, int64_t bytes, const struct err *err)
{
	struct bring *b = arg;

	b->look = NULL;
	if (err) {
		answer(b, NULL, NULL, err);
		return;
	}
	b->wish.files = files;
	b->wish.bytes = bytes;
	b->in_lane = true;
	world_lane_work(b->depot->transfers, key_work, key_made, b);
}

static void fail_later(void *arg)
{
	struct bring *b = arg;

	b->in_lane = false;
	answer(b, NULL, NULL, &b->err);
}

int bring_account(struct depot_files *d, const struct bring_order *o,
		  const struct remote_uri *u, struct remote_account *out, struct err *err)
{
	const struct depot_outside *outside = &d->base.outside;
	const struct remote_site site = { .s3_endpoint = d->s3_endpoint,
					  .s3_region = d->s3_region,
					  .webhdfs_gateway = d->webhdfs_gateway };
	const struct depot_asker who = {
		o->owner, o->group, remote_scheme_word(u->scheme),
		u->scheme == REMOTE_S3 || u->scheme == REMOTE_OSS ? u->host : NULL
	};
	struct err why = { .code = ERR_NONE };
	char name[DEPOT_SECRET_MAX] = "";
	AUTO_VAULT struct vault *secret =
		outside->account && u->scheme != REMOTE_HTTP
			? outside->account(outside->arg, &who, name, &why)
			: NULL;

	if (why.code != ERR_NONE) {
		*err = why;
		return -1;
	}
	if (remote_account_make(u, secret, &site, out, err) == 0)
		return 0;
	return secret && err->code == ERR_INVALID ? err_wrap(err, "the secret '%s'", name)
						  : -1;
}

static int begin(struct bring *b, const struct bring_order *o, struct err *err)
{
	if (remote_uri_parse(b->uri, &b->parsed, err) < 0 ||
	    bring_account(b->depot, o, &b->parsed, &b->account, err) < 0)
		return -1;
	AUTO_FREE char *base = b->parsed.folder ? NULL : remote_uri_base(&b->parsed, err);
	if (!base && !b->parsed.folder)
		return -1;
	b->manifest = memfd_create("manifest", MFD_CLOEXEC);
	if (b->manifest < 0)
		return err_sys(err, "keep the list of files");
	struct fetch_order look = { .op = REMOTE_LOOK,
				    .uri = b->uri,
				    .user = b->owner,
				    .account = &b->account,
				    .uid = FETCH_NOBODY,
				    .folder = -1,
				    .manifest = b->manifest,
				    .bytes_max = MANIFEST_BYTES_MAX };
	b->look =
		fetch_start(b->depot, &look, &(struct fetch_sink){ NULL, on_looked, b });
	return 0;
}

struct bring *bring_start(struct depot_files *d, const struct bring_order *o,
			  bring_done done, void *arg)
{
	struct bring *b = mem_alloc(1, sizeof *b);

	b->depot = d;
	b->uri = mem_strdup(o->uri);
	b->owner = mem_strdup(o->owner);
	b->done = done;
	b->arg = arg;
	b->manifest = -1;
	b->wish.job = o->job;
	telling_init(&b->telling, d, o);
	d->refs++;
	if (begin(b, o, &b->err) < 0) {
		b->in_lane = true;
		world_later(d->world, fail_later, b);
	}
	return b;
}

void bring_cancel(struct bring *b)
{
	if (!b)
		return;
	b->cancelled = true;
	if (!b->in_lane)
		destroy(b);
}
