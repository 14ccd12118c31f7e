// SPDX-License-Identifier: Apache-2.0
/* get.c - what a manifest names is brought into a folder.
 *
 * Files grow from their beginning and are not touched once they have their size, so what is
 * there of an earlier run is where this one goes on.  The caller sees to it that an earlier
 * run was for the same manifest, and that the machine did not lose power since.
 */
#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "base/mem.h"
#include "base/str.h"
#include "remote/below.h"
#include "remote/crc64.h"
#include "remote/remote.h"

#define PROGRESS (1 << 20) /* so many bytes came before it broke off: tries begin anew */

struct getting {
	struct remote_job *job;
	_Atomic int64_t bytes;
};

/* One file on its way. */
struct incoming {
	struct getting *all;
	const struct manifest_entry *entry;
	struct net_answer answer;
	int fd;
	int64_t at;      /* where the next byte goes */
	int64_t started; /* `at` of this try */
	bool begun;      /* the answer's head was looked at */
	uint64_t crc64;
	uint32_t crc32c;
};

static int changed(const struct incoming *in, struct err *err)
{
	return err_set(err, ERR_CONFLICT,
		       "\"%.200s\" changed while it was fetched: start the job again",
		       in->entry->name);
}

static bool same_version(const char *etag, const char *version)
{
	size_t n = strlen(etag);

	if (n >= 2 && etag[0] == '"' && etag[n - 1] == '"' && strlen(version) == n - 2 &&
	    memcmp(etag + 1, version, n - 2) == 0)
		return true;
	return str_eq(etag, version);
}

/* Before the first byte: is it the file that was listed, from where it was asked for? */
static int look_at_head(struct incoming *in, struct err *err)
{
	const struct net_answer *a = &in->answer;
	const char *version = in->entry->version;

	in->begun = true;
	if (a->etag && *version && !str_starts(version, "once-") &&
	    in->all->job->remote->uri.scheme != REMOTE_HDFS &&
	    !same_version(a->etag, version))
		return changed(in, err);
	if (in->at > 0 &&
	    a->status == 200) { /* it does not know ranges: all of it again */
		in->all->bytes -= in->at;
		in->at = 0;
	}
	if (in->all->job->remote->uri.scheme == REMOTE_HTTP && !*version &&
	    a->modified_ms != in->entry->mtime_ms)
		return changed(in, err);
	if (in->at > 0 && a->range_at != in->at)
		return err_set(err, ERR_INVALID,
			       "\"%.200s\": the server sends other bytes than "
			       "it was asked for",
			       in->entry->name);
	in->started = in->at;
	in->crc64 = 0;
	in->crc32c = 0;
	if (in->at == 0 && ftruncate(in->fd, 0) < 0)
		return err_sys(err, "begin \"%.200s\"", in->entry->name);
	return 0;
}

static int on_bytes(void *arg, const void *data, size_t len, struct err *err)
{
	struct incoming *in = arg;
	const char *p = data;

	if (!in->begun && look_at_head(in, err) < 0)
		return -1;
	int64_t most =
		in->entry->size >= 0 ? in->entry->size : in->all->job->remote->bytes_max;
	if ((int64_t)len > most - in->at)
		return err_set(
			err, ERR_INVALID,
			"\"%.200s\": the server sends more than the %lld bytes it said",
			in->entry->name, (long long)most);
	if (in->answer.crc64)
		in->crc64 = crc64_add(in->crc64, data, len);
	if (in->answer.crc32c)
		in->crc32c = crc32c_add(in->crc32c, data, len);
	while (len > 0) {
		ssize_t n = pwrite(in->fd, p, len, in->at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_sys(err, "write \"%.200s\"", in->entry->name);
		p += n;
		len -= (size_t)n;
		in->at += n;
		in->all->bytes += n;
	}
	return 0;
}

/* Sums that the server keeps with the object, when all of it came in one piece.  A file
 * that is wrong is begun anew: the next try may have other luck. */
static int check_sums(struct incoming *in, struct err *err)
{
	const struct net_answer *a = &in->answer;
	char want[32];
	uint8_t crc[4];
	bool ok = true;

	if (in->started != 0)
		return 0;
	if (a->crc64) {
		snprintf(want, sizeof want, "%llu", (unsigned long long)in->crc64);
		ok = str_eq(want, a->crc64);
	}
	if (ok && a->crc32c && !strchr(a->crc32c, '-')) {
		for (int i = 0; i < 4; i++)
			crc[i] = (uint8_t)(in->crc32c >> (24 - i * 8));
		sodium_bin2base64(want, sizeof want, crc, sizeof crc,
				  sodium_base64_VARIANT_ORIGINAL);
		ok = str_eq(want, a->crc32c);
	}
	if (ok)
		return 0;
	in->all->bytes -= in->at;
	in->at = 0;
	return err_set(err, ERR_BUSY, "\"%.200s\" came with bytes that are not its own",
		       in->entry->name);
}

/* One try.  ERR_BUSY and ERR_TIMEOUT: the next one goes on behind what came. */
static int try_file(struct incoming *in, struct net *n, struct err *err)
{
	const struct remote *r = in->all->job->remote;
	struct remote_get g = {
		.name = in->entry->name, .from = in->at, .sink = on_bytes, .arg = in
	};

	in->begun = false;
	if (r->ops->get(r, n, &g, &in->answer, err) < 0)
		return -1;
	if (in->answer.status == 412)
		return changed(in, err);
	if (in->answer.status / 100 != 2)
		return net_refused(&in->answer, in->entry->name, err);
	if (!in->begun && look_at_head(in, err) < 0) /* an empty one */
		return -1;
	if (in->entry->size >= 0 && in->at != in->entry->size)
		return err_set(err, ERR_BUSY,
			       "\"%.200s\": the server ended after %lld of %lld bytes",
			       in->entry->name, (long long)in->at,
			       (long long)in->entry->size);
	return check_sums(in, err);
}

static int bring(struct incoming *in, struct net *n, struct err *err)
{
	int64_t mark = in->at;
	int tries = 0;

	while (try_file(in, n, err) < 0) {
		if (in->at - mark >= PROGRESS)
			tries = 0;
		mark = in->at;
		if (!net_again(&tries, err))
			return -1;
	}
	return 0;
}

static int finish(const struct incoming *in, struct err *err)
{
	const struct manifest_entry *e = in->entry;
	struct timespec times[2] = { { .tv_nsec = UTIME_OMIT },
				     { e->mtime_ms / 1000,
				       e->mtime_ms % 1000 * 1000000 } };

	if (e->mtime_ms > 0 && futimens(in->fd, times) < 0)
		return err_sys(err, "set the time of \"%.200s\"", e->name);
	if (fchmod(in->fd, 0444) < 0)
		return err_sys(err, "close \"%.200s\" to writing", e->name);
	return 0;
}

static int get_one(void *arg, struct net *n, size_t at, struct err *err)
{
	struct getting *g = arg;
	const struct manifest_entry *e = &g->job->manifest->entries[at];
	struct incoming in = { .all = g, .entry = e };
	struct stat st;

	if (str_ends(e->name, "/"))
		return below_make(g->job->folder, e->name, err);
	/* One that was finished before is closed to writing. */
	if (fstatat(g->job->folder, e->name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    S_ISREG(st.st_mode) && st.st_size == e->size && !(st.st_mode & 0222)) {
		g->bytes += st.st_size;
		return 0;
	}
	AUTO_FD int fd = below_create(g->job->folder, e->name, err);
	if (fd < 0)
		return -1;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return err_set(err, ERR_INVALID, "\"%.200s\" is no file", e->name);
	in.fd = fd;
	in.at = e->size >= 0 && st.st_size <= e->size ? st.st_size : 0;
	g->bytes += in.at;
	int rc = e->size >= 0 && in.at == e->size && in.at > 0 ? 0 : bring(&in, n, err);
	net_answer_fini(&in.answer);
	return rc < 0 ? -1 : finish(&in, err);
}

int remote_get_all(struct remote_job *j, struct err *err)
{
	struct getting g = { .job = j };
	struct remote_work w = { .piece = get_one,
				 .arg = &g,
				 .count = j->manifest->count,
				 .total = j->manifest->bytes,
				 .bytes = &g.bytes,
				 .says = j->says };

	if (j->manifest->bytes > j->remote->bytes_max)
		return err_set(err, ERR_TOO_LARGE,
			       "%s has %lld bytes, and %lld are allowed", j->remote->show,
			       (long long)j->manifest->bytes,
			       (long long)j->remote->bytes_max);
	if (remote_work(&w, err) < 0)
		return -1;
	j->manifest->bytes = g.bytes; /* with those whose size nobody told before */
	return 0;
}

static int drop_bytes(void *arg, const void *data, size_t len, struct err *err)
{
	(void)arg;
	(void)data;
	(void)len;
	(void)err;
	return 0;
}

static int prove_one(void *arg, struct net *n, size_t at, struct err *err)
{
	struct getting *g = arg;
	const struct manifest_entry *e = &g->job->manifest->entries[at];
	const struct remote *r = g->job->remote;
	struct remote_get get = { .name = e->name, .length = 1, .sink = drop_bytes };
	int tries = 0, rc;

	if (str_ends(e->name, "/"))
		return 0;
	do {
		AUTO_NET_ANSWER struct net_answer a = { 0 };
		rc = r->ops->get(r, n, &get, &a, err);
		/* 416: there is no first byte of an empty file. */
		if (rc == 0 && a.status / 100 != 2 && a.status != 416)
			rc = net_refused(&a, e->name, err);
	} while (rc < 0 && net_again(&tries, err));
	return rc;
}

int remote_prove_all(struct remote_job *j, struct err *err)
{
	struct getting g = { .job = j };
	struct remote_work w = { .piece = prove_one,
				 .arg = &g,
				 .count = j->manifest->count,
				 .bytes = &g.bytes,
				 .says = -1 };

	return remote_work(&w, err);
}
