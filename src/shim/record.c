// SPDX-License-Identifier: Apache-2.0
#include "shim/record.h"

#include <stdbool.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

/* A record is a table of its members; reading and writing walk the same table. */
struct member {
	const char *key;
	size_t offset;
	size_t text; /* bytes of a text member; 0: an int64_t */
	bool maybe;  /* a text that is left out when it is empty, as older shims did */
};

/* clang-format off */
#define NUMBER(type, name) { #name, offsetof(struct type, name), 0, false }
#define TEXT(type, name) { #name, offsetof(struct type, name), sizeof((struct type){ .name = "" }.name), false }
/* clang-format on */

struct record {
	const char *title;
	const struct member *members;
	size_t count;
};

#define RECORD_BYTES_MAX 4096

static void record_put(const struct record *r, const void *from, struct buf *out)
{
	const struct member *m = r->members;

	buf_printf(out, "%s\n", r->title);
	for (size_t i = 0; i < r->count; i++) {
		const char *at = (const char *)from + m[i].offset;
		int64_t v;

		if (m[i].maybe && !*at)
			continue;
		if (m[i].text) {
			size_t value = out->len + strlen(m[i].key) + 1;

			buf_printf(out, "%s %s", m[i].key, at);
			/* One line a member, whatever it says. */
			for (size_t k = value; k < out->len; k++) {
				if (out->data[k] == '\n')
					out->data[k] = ' ';
			}
			buf_addc(out, '\n');
			continue;
		}
		memcpy(&v, at, sizeof v);
		buf_printf(out, "%s %lld\n", m[i].key, (long long)v);
	}
	buf_adds(out, "end\n"); /* a cut record is told from a whole one */
}

static int member_set(const struct member *m, void *record, const char *value,
		      struct err *err)
{
	char *at = (char *)record + m->offset;
	int64_t v;

	if (m->text) {
		if (strlen(value) >= m->text)
			return err_set(err, ERR_CORRUPT, "%s is too long", m->key);
		memcpy(at, value, strlen(value) + 1);
		return 0;
	}
	if (str_to_i64(value, INT64_MIN, INT64_MAX, &v) < 0)
		return err_set(err, ERR_CORRUPT, "%s is not a number", m->key);
	memcpy(at, &v, sizeof v);
	return 0;
}

static bool is_member(const struct member *m, const char *line)
{
	size_t n = strlen(m->key);

	return line && strncmp(line, m->key, n) == 0 && line[n] == ' ';
}

/* Members come in the order of the table, all of them: nothing to guess. */
static int record_get(const struct record *r, const char *data, size_t len, void *to,
		      struct err *err)
{
	const struct member *m = r->members;
	AUTO_FREE char *text = NULL;
	char *at, *line;

	if (len > RECORD_BYTES_MAX || memchr(data, 0, len))
		return err_set(err, ERR_CORRUPT, "not a %s record", r->title);
	text = mem_strndup(data, len);
	at = text;
	line = strsep(&at, "\n");
	if (!str_eq(line, r->title))
		return err_set(err, ERR_CORRUPT, "not a %s record", r->title);
	for (size_t i = 0; i < r->count; i++) {
		if (m[i].maybe && !is_member(&m[i], at))
			continue;
		line = strsep(&at, "\n");
		if (!is_member(&m[i], line))
			return err_set(err, ERR_CORRUPT, "%s is missing in a %s record",
				       m[i].key, r->title);
		if (member_set(&m[i], to, line + strlen(m[i].key) + 1, err) < 0)
			return -1;
	}
	line = strsep(&at, "\n");
	if (!str_eq(line, "end") || !at || *at)
		return err_set(err, ERR_CORRUPT, "a %s record is cut", r->title);
	return 0;
}

static const char *const kinds[SHIM_EXIT_COUNT] = {
	[SHIM_CODE] = "code",       [SHIM_SIGNAL] = "signal",       [SHIM_OOM] = "oom",
	[SHIM_STOPPED] = "stopped", [SHIM_UNSTARTED] = "unstarted",
};

struct exit_file { /* struct shim_exit with its kind as a word */
	char kind[16];
	struct shim_exit exit;
};

/* clang-format off */
#define EXIT_NUMBER(name) { #name, offsetof(struct exit_file, exit.name), 0, false }
/* clang-format on */

static const struct member exit_members[] = {
	TEXT(exit_file, kind),
	EXIT_NUMBER(code),
	EXIT_NUMBER(signal),
	EXIT_NUMBER(peak_bytes),
	EXIT_NUMBER(limit_bytes),
	EXIT_NUMBER(cpu_ms),
	EXIT_NUMBER(ended_ms),
	{ "text", offsetof(struct exit_file, exit.text),
	  sizeof((struct shim_exit){ .text = "" }.text), false },
	{ "stage", offsetof(struct exit_file, exit.stage), SHIM_STAGE_MAX, true },
};
static const struct record exit_record = { "exit", exit_members, COUNT_OF(exit_members) };

static const struct member mark_members[] = {
	TEXT(shim_mark, boot),
	NUMBER(shim_mark, pid),
	NUMBER(shim_mark, start),
	TEXT(shim_mark, cgroup),
};
static const struct record mark_record = { "mark", mark_members, COUNT_OF(mark_members) };

static const struct member usage_members[] = {
	NUMBER(shim_usage, time_ms),      NUMBER(shim_usage, cpu_ms),
	NUMBER(shim_usage, memory_bytes), NUMBER(shim_usage, memory_peak_bytes),
	NUMBER(shim_usage, pids),
};
static const struct record usage_record = { "usage", usage_members,
					    COUNT_OF(usage_members) };

void shim_exit_encode(const struct shim_exit *e, struct buf *out)
{
	struct exit_file f = { .exit = *e };

	memcpy(f.kind, kinds[e->kind], strlen(kinds[e->kind]) + 1);
	record_put(&exit_record, &f, out);
}

int shim_exit_decode(const char *data, size_t len, struct shim_exit *out, struct err *err)
{
	struct exit_file f = { 0 };

	if (record_get(&exit_record, data, len, &f, err) < 0)
		return -1;
	for (enum shim_exit_kind k = 0; k < SHIM_EXIT_COUNT; k++) {
		if (str_eq(f.kind, kinds[k])) {
			f.exit.kind = k;
			*out = f.exit;
			return 0;
		}
	}
	return err_set(err, ERR_CORRUPT, "unknown kind of exit '%s'", f.kind);
}

void shim_mark_encode(const struct shim_mark *m, struct buf *out)
{
	record_put(&mark_record, m, out);
}

int shim_mark_decode(const char *data, size_t len, struct shim_mark *out, struct err *err)
{
	struct shim_mark m = { 0 };

	if (record_get(&mark_record, data, len, &m, err) < 0)
		return -1;
	*out = m;
	return 0;
}

void shim_usage_encode(const struct shim_usage *u, struct buf *out)
{
	record_put(&usage_record, u, out);
}

int shim_usage_decode(const char *data, size_t len, struct shim_usage *out,
		      struct err *err)
{
	struct shim_usage u = { 0 };

	if (record_get(&usage_record, data, len, &u, err) < 0)
		return -1;
	*out = u;
	return 0;
}
