// SPDX-License-Identifier: Apache-2.0
/* list.c - the XML of object storage, read by expat.
 *
 * Depth and lengths are bounded, a document type (and with it any entity of its own) is
 * refused, and of what remains only the few names below are looked at.
 */
#include <expat.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "remote/remote.h"

#define DEPTH_MAX 8
#define TEXT_MAX  8192

struct reader {
	struct list_page *page;
	XML_Parser parser;
	int depth;
	char root[64];
	bool in_contents, escaped;
	struct buf text;
	char *key, *etag;
	int64_t size, mtime_ms;
	struct err err;
};

static void stop(struct reader *r, const char *why)
{
	if (r->err.code == ERR_NONE)
		err_set(&r->err, ERR_INVALID, "the server's list: %s", why);
	XML_StopParser(r->parser, XML_FALSE);
}

/* Without the name space, which expat leaves in front when it is written as a prefix. */
static const char *local(const char *name)
{
	const char *colon = strrchr(name, ':');

	return colon ? colon + 1 : name;
}

static void on_open(void *arg, const char *name, const char **attributes)
{
	struct reader *r = arg;

	(void)attributes;
	if (++r->depth > DEPTH_MAX) {
		stop(r, "nested too deeply");
		return;
	}
	if (r->depth == 1) {
		snprintf(r->root, sizeof r->root, "%s", local(name));
		r->page->is_error = str_eq(r->root, "Error");
	}
	if (r->depth == 2)
		r->in_contents = str_eq(local(name), "Contents");
	buf_clear(&r->text);
}

static void on_text(void *arg, const char *s, int len)
{
	struct reader *r = arg;

	if (r->text.len + (size_t)len > TEXT_MAX)
		stop(r, "a text that is too long");
	else
		buf_add(&r->text, s, (size_t)len);
}

/* "2026-11-16T07:20:07": digits where the pattern has a d; -1: other text. */
static int read_fields(const char *text, int fields[6])
{
	static const char pattern[] = "dddd-dd-ddTdd:dd:dd";
	int at = -1;

	for (size_t i = 0; i < sizeof pattern - 1; i++) {
		bool digit = text[i] >= '0' && text[i] <= '9';
		if (pattern[i] == 'd' ? !digit : text[i] != pattern[i])
			return -1;
		if (i == 0 || (pattern[i] == 'd' && pattern[i - 1] != 'd'))
			fields[++at] = 0;
		if (digit)
			fields[at] = fields[at] * 10 + (text[i] - '0');
	}
	return (int)sizeof pattern - 1;
}

int64_t list_time(const char *text)
{
	int f[6], used = read_fields(text, f);

	if (used < 0 || f[0] < 1970 || f[1] < 1 || f[1] > 12 || f[2] < 1 || f[2] > 31)
		return 0;
	int y = f[0], mo = f[1], d = f[2];
	/* Days since 1970 by the calendar that begins in March. */
	int64_t year = mo <= 2 ? y - 1 : y, era = year / 400, of_era = year % 400;
	int64_t day = (153 * (mo + (mo > 2 ? -3 : 9)) + 2) / 5 + d - 1;
	int64_t days =
		era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + day - 719468;
	int64_t ms = 0;
	if (text[used] == '.') {
		int scale = 100;
		for (const char *p = text + used + 1; *p >= '0' && *p <= '9' && scale;
		     p++) {
			ms += (*p - '0') * scale;
			scale /= 10;
		}
	}
	return ((days * 24 + f[3]) * 60 + f[4]) * 60000 + f[5] * 1000LL + ms;
}

static void keep(char **field, const char *text)
{
	free(*field);
	*field = mem_strdup(text);
}

static void contents_part(struct reader *r, const char *name, const char *text)
{
	if (str_eq(name, "Key"))
		keep(&r->key, text);
	else if (str_eq(name, "ETag"))
		keep(&r->etag, text);
	else if (str_eq(name, "LastModified"))
		r->mtime_ms = list_time(text);
	else if (str_eq(name, "Size") && str_to_i64(text, 0, INT64_MAX / 4, &r->size) < 0)
		stop(r, "a size that is no number");
}

static void contents_end(struct reader *r)
{
	struct list_page *p = r->page;
	AUTO_FREE char *key = !r->key      ? NULL
			      : r->escaped ? remote_unescape(r->key, true)
					   : mem_strdup(r->key);

	if (!key || !*key || r->size < 0) {
		stop(r, "an entry without a key or a size");
		return;
	}
	if (p->each && p->each(p->arg, key, r->size, r->mtime_ms, r->etag ? r->etag : "",
			       &r->err) < 0)
		XML_StopParser(r->parser, XML_FALSE);
	keep(&p->last, key);
	free(TAKE(r->key));
	free(TAKE(r->etag));
	r->size = -1;
	r->mtime_ms = 0;
}

static void page_part(struct reader *r, const char *name, const char *text)
{
	struct list_page *p = r->page;

	if (str_eq(name, "IsTruncated"))
		p->truncated = str_eq(text, "true");
	else if (str_eq(name, "NextContinuationToken") || str_eq(name, "NextMarker"))
		keep(&p->next, text);
	else if (str_eq(name, "UploadId"))
		keep(&p->upload_id, text);
}

static void on_close(void *arg, const char *name)
{
	struct reader *r = arg;

	name = local(name);
	if (r->depth == 3 && r->in_contents)
		contents_part(r, name, buf_str(&r->text));
	else if (r->depth == 2 && r->in_contents)
		contents_end(r);
	else if (r->depth == 2)
		page_part(r, name, buf_str(&r->text));
	r->depth--;
	buf_clear(&r->text);
}

static void on_doctype(void *arg, const char *name, const char *system,
		       const char *public, int internal)
{
	(void)name;
	(void)system;
	(void)public;
	(void)internal;
	stop(arg, "it declares a document type");
}

/* Says how keys are written; stands behind them in some servers' answers. */
static bool keys_escaped(const char *xml, size_t len)
{
	static const char says[] = "EncodingType>url<";

	return memmem(xml, len, says, sizeof says - 1) != NULL;
}

int list_page_read(const char *xml, size_t len, struct list_page *page, struct err *err)
{
	struct reader r = { .page = page, .size = -1 };
	int rc = 0;

	if (len > NET_BODY_MAX)
		return err_set(err, ERR_TOO_LARGE, "the server's list is too long");
	r.escaped = keys_escaped(xml, len);
	r.parser = XML_ParserCreate(NULL);
	if (!r.parser)
		abort(); /* out of memory */
	XML_SetUserData(r.parser, &r);
	XML_SetElementHandler(r.parser, on_open, on_close);
	XML_SetCharacterDataHandler(r.parser, on_text);
	XML_SetStartDoctypeDeclHandler(r.parser, on_doctype);
	if (XML_Parse(r.parser, xml, (int)len, XML_TRUE) != XML_STATUS_OK) {
		if (r.err.code == ERR_NONE)
			err_set(&r.err, ERR_INVALID, "the server's list is no XML: %s",
				XML_ErrorString(XML_GetErrorCode(r.parser)));
		if (err)
			*err = r.err;
		rc = -1;
	}
	XML_ParserFree(r.parser);
	buf_fini(&r.text);
	free(r.key);
	free(r.etag);
	return rc;
}

void list_page_fini(struct list_page *p)
{
	free(p->next);
	free(p->last);
	free(p->upload_id);
	p->next = p->last = p->upload_id = NULL;
}
