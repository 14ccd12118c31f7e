// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "base/mem.h"
#include "depot/open.h"
#include "depot/upload_impl.h"

struct upload_part {
	struct upload *upload;
	struct volume_place place;
	int64_t n, bytes; /* bytes: so far */
	bool there;
	uint32_t crc;
	struct checksum_run *run; /* of another kind than CRC-32C, once it is known */
};

static int check_number(const struct upload *f, int64_t n, struct err *err)
{
	if (n >= 0 && n < f->part_count)
		return 0;
	return err_set(err, ERR_INVALID, "part %lld: there are %lld parts, from 0 on",
		       (long long)n, (long long)f->part_count);
}

/* One sender at a time: two that write the same bytes differently would leave a mixture. */
static int claim(struct upload *f, int64_t n, int64_t now_ms, bool *there,
		 struct err *err)
{
	int rc = 0;

	pthread_mutex_lock(&f->uploads->lock);
	*there = f->parts[n].state == PART_HERE;
	if (f->gone || f->parts[n].state == PART_COMING)
		rc = err_set(err, ERR_CONFLICT,
			     "part %lld is being sent by another request", (long long)n);
	else if (!*there)
		f->parts[n].state = PART_COMING;
	f->touched_ms = now_ms;
	pthread_mutex_unlock(&f->uploads->lock);
	return rc;
}

struct upload_part *upload_part_begin(struct uploads *u, const struct volume_place *p,
				      const char *id, int64_t n, int64_t now_ms,
				      struct err *err)
{
	struct upload *f = upload_hold(u, p, id, err);
	bool there;

	if (!f)
		return NULL;
	if (upload_open(f, p, err) < 0 || check_number(f, n, err) < 0 ||
	    claim(f, n, now_ms, &there, err) < 0) {
		upload_drop(f);
		return NULL;
	}
	struct upload_part *part = mem_alloc(1, sizeof *part);
	part->upload = f;
	part->n = n;
	part->there = there;
	volume_place_copy(p, &part->place);
	return part;
}

void upload_part_sums(struct upload_part *part, enum checksum_kind kind)
{
	if (kind != CHECKSUM_CRC32C && !part->run)
		part->run = checksum_begin(kind);
}

int upload_part_write(struct upload_part *part, const void *data, size_t len,
		      struct err *err)
{
	const struct upload *f = part->upload;
	int64_t most = upload_part_bytes(f, part->n);
	const char *at = data;

	if (part->there)
		return 0;
	if ((int64_t)len > most - part->bytes)
		return err_set(err, ERR_INVALID, "part %lld has %lld bytes, more came",
			       (long long)part->n, (long long)most);
	part->crc = crc32c_add(part->crc, data, len);
	if (part->run)
		checksum_add(part->run, data, len);
	while (len > 0) {
		ssize_t n = pwrite(f->fd, at, len, part->n * f->part_size + part->bytes);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return open_error(&part->place, "write", err);
		at += n;
		len -= (size_t)n;
		part->bytes += n;
	}
	return 0;
}

static void release(struct upload_part *part, bool here)
{
	struct upload *f = part->upload;

	if (!part->there) {
		pthread_mutex_lock(&f->uploads->lock);
		f->parts[part->n].state = here ? PART_HERE : PART_MISSING;
		f->parts[part->n].crc = part->crc;
		pthread_mutex_unlock(&f->uploads->lock);
	}
	upload_drop(f);
	checksum_drop(part->run);
	volume_place_fini(&part->place);
	free(part);
}

void upload_part_abort(struct upload_part *part)
{
	if (part)
		release(part, false);
}

static int check_part(struct upload_part *part, const struct checksum *said,
		      struct err *err)
{
	int64_t want = upload_part_bytes(part->upload, part->n);
	struct checksum is;

	if (part->bytes != want)
		return err_set(err, ERR_INVALID, "part %lld has %lld bytes, %lld came",
			       (long long)part->n, (long long)want,
			       (long long)part->bytes);
	if (!said)
		return 0;
	if (part->run)
		checksum_end(TAKE(part->run), &is);
	else
		checksum_of_crc32c(part->crc, &is);
	return checksum_same(said, &is, err);
}

int upload_part_finish(struct upload_part *part, const struct checksum *said,
		       struct err *err)
{
	int rc = 0;

	if (!part->there && (check_part(part, said, err) < 0 ||
			     upload_log_part(part->upload, part->n, part->crc, err) < 0))
		rc = -1;
	release(part, rc == 0);
	return rc;
}
