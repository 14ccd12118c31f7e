// SPDX-License-Identifier: Apache-2.0
#include "depot/volume_path.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"

/* Of a path, one part after the other; "." and empty ones are left out. */
struct parts {
	const char *at;
	const char *part;
	size_t len;
};

static int next_part(struct parts *p)
{
	do {
		p->at += strspn(p->at, "/");
		p->part = p->at;
		p->len = strcspn(p->at, "/");
		p->at += p->len;
	} while (p->len == 1 && *p->part == '.');
	return p->len > 0;
}

static int is(const struct parts *p, const char *word)
{
	return strlen(word) == p->len && memcmp(p->part, word, p->len) == 0;
}

static int check_parts(const char *path, struct err *err)
{
	struct parts p = { .at = path };

	if (!*path)
		return err_set(err, ERR_INVALID, "path: is empty");
	if (strlen(path) >= VOLUME_PATH_MAX)
		return err_set(err, ERR_INVALID,
			       "path: has %zu bytes, at most %d will do", strlen(path),
			       VOLUME_PATH_MAX - 1);
	while (next_part(&p)) {
		if (is(&p, ".."))
			return err_set(err, ERR_INVALID,
				       "path: '..' leads nowhere here; write the path "
				       "without it");
		if (p.len > VOLUME_PART_MAX)
			return err_set(err, ERR_INVALID,
				       "path: a name in it has %zu bytes, at most %d "
				       "will do",
				       p.len, VOLUME_PART_MAX);
	}
	return 0;
}

/* What is left becomes the path below the area. */
static int read_rest(struct parts *p, struct volume_text *out, struct err *err)
{
	size_t n = 0;

	while (next_part(p)) {
		if (n == 0 && is(p, VOLUME_OWN_FOLDER))
			return err_set(err, ERR_DENIED,
				       "path: %s is the storage's own folder",
				       VOLUME_OWN_FOLDER);
		if (n > 0)
			out->rel[n++] = '/';
		memcpy(out->rel + n, p->part, p->len);
		n += p->len;
	}
	out->rel[n] = '\0';
	return 0;
}

static int read_area(struct parts *p, enum volume_area area, struct volume_text *out,
		     struct err *err)
{
	out->area = area;
	out->which = VIRTUAL_ROOT; /* says nothing of an area */
	if (area == VOLUME_PUBLIC)
		return read_rest(p, out, err);
	if (p->len >= NAME_MAX_BYTES)
		return err_set(err, ERR_NOT_FOUND, "path: there is no %s '%.*s'",
			       area == VOLUME_HOME    ? "user"
			       : area == VOLUME_GROUP ? "group"
						      : "output",
			       (int)p->len, p->part);
	memcpy(out->name, p->part, p->len);
	out->name[p->len] = '\0';
	return read_rest(p, out, err);
}

/* A folder of areas, or one of them. */
static int read_named(struct parts *p, enum volume_virtual folder, enum volume_area area,
		      struct volume_text *out, struct err *err)
{
	if (next_part(p))
		return read_area(p, area, out, err);
	out->which = folder;
	return 0;
}

static int read_pfs(struct parts *p, const char *dc, struct volume_text *out,
		    struct err *err)
{
	out->which = VIRTUAL_PFS;
	if (!next_part(p))
		return 0;
	if (is(p, "public"))
		return read_area(p, VOLUME_PUBLIC, out, err);
	if (!is(p, dc))
		return err_set(err, ERR_NOT_FOUND,
			       "path: there is no /pfs/%.*s; the storage of this yard is "
			       "/pfs/%s",
			       (int)p->len, p->part, dc);
	out->which = VIRTUAL_DC;
	if (!next_part(p))
		return 0;
	if (is(p, "public"))
		return read_area(p, VOLUME_PUBLIC, out, err);
	if (is(p, "home"))
		return read_named(p, VIRTUAL_HOMES, VOLUME_HOME, out, err);
	if (is(p, "group"))
		return read_named(p, VIRTUAL_GROUPS, VOLUME_GROUP, out, err);
	return err_set(err, ERR_NOT_FOUND,
		       "path: /pfs/%s has home, group and public, and no '%.*s'", dc,
		       (int)p->len, p->part);
}

static int read_mnt(struct parts *p, struct volume_text *out, struct err *err)
{
	out->which = VIRTUAL_MNT;
	if (!next_part(p))
		return 0;
	if (is(p, "user"))
		return read_named(p, VIRTUAL_HOMES, VOLUME_HOME, out, err);
	if (is(p, "share"))
		return read_named(p, VIRTUAL_GROUPS, VOLUME_GROUP, out, err);
	return err_set(err, ERR_NOT_FOUND, "path: /mnt has user and share, and no '%.*s'",
		       (int)p->len, p->part);
}

static int read_jobs(struct parts *p, struct volume_text *out, struct err *err)
{
	char number[24] = "";

	out->which = VIRTUAL_JOBS;
	if (!next_part(p))
		return 0;
	if (p->len < sizeof number)
		memcpy(number, p->part, p->len);
	if (str_to_i64(number, 1, INT64_MAX, &out->job) < 0)
		return err_set(err, ERR_NOT_FOUND, "path: '%.*s' is no job's number",
			       (int)p->len, p->part);
	out->which = VIRTUAL_JOB;
	return next_part(p) ? read_area(p, VOLUME_OUTPUT, out, err) : 0;
}

int volume_path_read(const char *path, const char *dc, const char *home,
		     struct volume_text *out, struct err *err)
{
	struct parts p = { .at = path };

	*out = (struct volume_text){ .area = VOLUME_VIRTUAL, .which = VIRTUAL_ROOT };
	if (check_parts(path, err) < 0)
		return -1;
	if (*path != '/') {
		if (*path == '~' && (path[1] == '/' || !path[1]))
			p.at++;
		out->area = VOLUME_HOME;
		snprintf(out->name, sizeof out->name, "%s", home);
		return read_rest(&p, out, err);
	}
	if (!next_part(&p))
		return 0;
	if (is(&p, "pfs"))
		return read_pfs(&p, dc, out, err);
	if (is(&p, "mnt"))
		return read_mnt(&p, out, err);
	if (is(&p, "jobs"))
		return read_jobs(&p, out, err);
	return err_set(
		err, ERR_NOT_FOUND,
		"path: there is no /%.*s; storage is /pfs/%s and /jobs, and a path "
		"without '/' in front lies in your home",
		(int)p.len, p.part, dc);
}

char *volume_path_write(const struct volume_text *t, const char *dc)
{
	const char *slash = *t->rel ? "/" : "";

	switch (t->area) {
	case VOLUME_HOME:
		return str_printf("/pfs/%s/home/%s%s%s", dc, t->name, slash, t->rel);
	case VOLUME_GROUP:
		return str_printf("/pfs/%s/group/%s%s%s", dc, t->name, slash, t->rel);
	case VOLUME_PUBLIC:
		return str_printf("/pfs/%s/public%s%s", dc, slash, t->rel);
	case VOLUME_OUTPUT:
		return str_printf("/jobs/%" PRId64 "/%s%s%s", t->job, t->name, slash,
				  t->rel);
	case VOLUME_VIRTUAL:
	case VOLUME_AREA_COUNT:
		break;
	}
	switch (t->which) {
	case VIRTUAL_PFS:
		return str_printf("/pfs");
	case VIRTUAL_DC:
		return str_printf("/pfs/%s", dc);
	case VIRTUAL_HOMES:
		return str_printf("/pfs/%s/home", dc);
	case VIRTUAL_GROUPS:
		return str_printf("/pfs/%s/group", dc);
	case VIRTUAL_MNT:
		return str_printf("/mnt");
	case VIRTUAL_JOBS:
		return str_printf("/jobs");
	case VIRTUAL_JOB:
		return str_printf("/jobs/%" PRId64, t->job);
	case VIRTUAL_ROOT:
	case VIRTUAL_COUNT:
		break;
	}
	return str_printf("/");
}
