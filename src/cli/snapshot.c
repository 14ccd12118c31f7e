// SPDX-License-Identifier: Apache-2.0
#include "cli/snapshot.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/units.h"
#include "pack/folder.h"

#define KEEP_BYTES                                                                       \
	(8 << 20) /* a smaller archive is kept in memory between hashing and sending */
#define TRIES 3   /* for a folder that changes while it is read */

struct packing {
	struct cli *cli;
	const char *folder;
	struct buf kept;
	bool whole; /* kept is all of it */
	struct client *to;
};

static int keep(void *arg, const void *data, size_t len, struct err *err)
{
	struct packing *p = arg;

	(void)err;
	if (p->whole && p->kept.len + len > KEEP_BYTES) {
		p->whole = false;
		buf_fini(&p->kept);
	}
	if (p->whole)
		buf_add(&p->kept, data, len);
	return 0;
}

static void tell(void *arg, const char *text)
{
	const struct packing *p = arg;

	cli_hint(p->cli, "%s", text);
}

static int send_piece(void *arg, const void *data, size_t len, struct err *err)
{
	const struct packing *p = arg;

	return client_send(p->to, data, len, err);
}

static int pack_again(void *arg, struct client *c, struct err *err)
{
	struct packing *p = arg;
	struct pack_job job = { .folder = p->folder, .write = send_piece, .arg = p };
	char hash[PACK_HASH_HEX];

	p->to = c;
	return pack_folder(&job, hash, NULL, err);
}

static void warn_big(const struct packing *p, const struct pack_stats *s)
{
	char all[UNITS_TEXT_MAX], one[UNITS_TEXT_MAX];

	if (s->bytes < PACK_BYTES_MANY && s->files < PACK_FILES_MANY)
		return;
	cli_say(p->cli,
		"this folder is big: %s in %lld files (biggest: %s, %s); name what the job does not "
		"need in .yardignore, and give data by --input",
		units_show_bytes(s->bytes, all), (long long)s->files, s->largest,
		units_show_bytes(s->largest_bytes, one));
}

/* 1: there now; 0: what was sent had changed meanwhile. */
static int send_once(struct packing *p, bool warn, char hash[PACK_HASH_HEX],
		     struct err *err)
{
	AUTO_ANSWER struct answer has = { 0 }, put = { 0 };
	struct pack_job job = {
		.folder = p->folder, .write = keep, .notice = warn ? tell : NULL, .arg = p
	};
	struct pack_stats stats;

	buf_clear(&p->kept);
	p->whole = true;
	if (pack_folder(&job, hash, &stats, err) < 0)
		return err->code == ERR_CONFLICT ? 0 : -1;
	if (warn)
		warn_big(p, &stats);
	AUTO_FREE char *target = str_printf("/code/%s", hash);
	struct request head = { .method = "HEAD", .target = target };
	if (client_call(p->cli->client, &head, &has, err) == 0)
		return 1;
	if (has.status != 404)
		return -1;
	struct request r = { .method = "PUT", .target = target };
	if (p->whole) {
		r.body = buf_str(&p->kept);
		r.body_len = p->kept.len;
	} else {
		r.write_body = pack_again;
		r.arg = p;
	}
	if (client_call(p->cli->client, &r, &put, err) == 0)
		return 1;
	return !p->whole && (err->code == ERR_CONFLICT ||
			     strstr(err->text, "another hash"))
		       ? 0
		       : -1;
}

/* What a person would not want to send as "the code". */
static const char *not_a_project(const char *folder)
{
	AUTO_FREE char *real = realpath(folder, NULL);
	AUTO_FREE char *home = getenv("HOME") ? realpath(getenv("HOME"), NULL) : NULL;

	if (str_eq(real, "/"))
		return "the root folder";
	return real && str_eq(real, home) ? "your home folder" : NULL;
}

int snapshot_send(struct cli *c, const char *folder, char hash[PACK_HASH_HEX],
		  struct err *err)
{
	struct packing p = { .cli = c, .folder = folder ? folder : "." };
	const char *what = folder ? NULL : not_a_project(".");
	int rc = 0;

	hash[0] = '\0';
	if (what) {
		cli_say(c,
			"this is %s: nothing of it is sent along (cd into a project, or --code DIR)",
			what);
		return 0;
	}
	for (int i = 0; i < TRIES && rc == 0; i++)
		rc = send_once(&p, i == 0, hash, err);
	buf_fini(&p.kept);
	if (rc == 0)
		return err_set(
			err, ERR_CONFLICT,
			"the folder changes while it is read: try again when it is still");
	return rc < 0 ? err_wrap(err, "send the folder %s", folder ? folder : "here") : 0;
}
