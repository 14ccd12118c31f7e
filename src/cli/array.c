// SPDX-License-Identifier: Apache-2.0
#include "cli/array.h"

#include <inttypes.h>
#include <string.h>

#include "base/doc.h"
#include "base/mem.h"
#include "base/str.h"

bool array_flags_given(const struct array_flags *f)
{
	return f->sweeps.count || f->count || f->parallel;
}

/* 0.1 and true are what they look like; all else is a text. */
static void put_value(struct json *j, const char *text, size_t len)
{
	AUTO_DOC struct doc *d = doc_parse_json(text, len, NULL);

	if (d && (doc_root(d)->kind == DOC_NUMBER || doc_root(d)->kind == DOC_BOOL))
		json_raw(j, NULL, doc_root(d)->text);
	else
		json_strn(j, NULL, text, len);
}

static bool is_range(const char *text)
{
	struct axis scratch = { 0 };

	return axis_set_range(&scratch, text) == 0;
}

static int put_axis(struct json *j, const char *flag, struct err *err)
{
	const char *eq = strchr(flag, '='), *value = eq ? eq + 1 : "";
	AUTO_FREE char *name = mem_strndup(flag, eq ? (size_t)(eq - flag) : strlen(flag));

	if (!*name || !*value)
		return err_set(err, ERR_INVALID,
			       "--sweep '%s': write NAME=A,B,C, or NAME=1..5", flag);
	if (is_range(value)) {
		json_str(j, name, value);
		return 0;
	}
	json_array(j, name);
	for (;; value++) {
		size_t n = strcspn(value, ",");
		put_value(j, value, n);
		value += n;
		if (!*value)
			break;
	}
	json_end(j);
	return 0;
}

int array_flags_write(struct json *j, const char *key, const struct array_flags *f,
		      struct err *err)
{
	if (f->sweeps.count && f->count)
		return err_set(err, ERR_INVALID,
			       "--array: a sweep says itself how many members there are");
	if (!f->sweeps.count && !f->count)
		return err_set(err, ERR_INVALID,
			       "--parallel: is for arrays; give --sweep or --array too");
	json_object(j, key);
	if (f->count)
		json_i64(j, "count", f->count);
	else
		json_object(j, "sweep");
	for (size_t i = 0; i < f->sweeps.count; i++)
		if (put_axis(j, f->sweeps.items[i], err) < 0)
			return -1;
	if (f->sweeps.count)
		json_end(j);
	if (f->parallel)
		json_i64(j, "parallel", f->parallel);
	json_end(j);
	return 0;
}

void array_progress(int64_t ended, int64_t count, int64_t failed, struct buf *out)
{
	buf_printf(out, "%" PRId64 "/%" PRId64, ended, count);
	if (failed)
		buf_printf(out, ", %" PRId64 " failed", failed);
}

static void axis_text(const struct axis *x, struct buf *out)
{
	buf_printf(out, "%s = ", x->name);
	if (!x->values) {
		axis_write_range(x, out);
		return;
	}
	for (int64_t i = 0; i < x->count && out->len < 200; i++)
		buf_printf(out, "%s%s", i ? ", " : "", x->values[i]);
	if (out->len >= 200)
		buf_printf(out, ", ... (%" PRId64 " values)", x->count);
}

void array_summary(const struct job *j,
		   void (*line)(struct buf *out, const char *name, const char *text),
		   struct buf *out)
{
	const struct array *a = &j->spec->array;
	const struct members *m = &j->members;
	AUTO_BUF struct buf text = { 0 };

	buf_printf(&text,
		   "%d: %" PRId64 " ended (%" PRId64 " failed), %" PRId64
		   " running, %" PRId64 " waiting, %" PRId64 " not made",
		   a->count, m->ended, m->failed, m->running,
		   m->made - m->ended - m->running, a->count - m->made);
	line(out, "members", buf_str(&text));
	for (size_t i = 0; i < a->axis_count; i++) {
		buf_clear(&text);
		axis_text(&a->axes[i], &text);
		line(out, i ? "" : "sweep", buf_str(&text));
	}
	if (a->parallel) {
		buf_clear(&text);
		buf_printf(&text, "%d members at a time", a->parallel);
		line(out, "parallel", buf_str(&text));
	}
	buf_clear(&text);
	buf_printf(&text,
		   "`yard ls --array %" PRId64 "` lists them, `yard show %" PRId64
		   ".0` tells of one",
		   j->id, j->id);
	line(out, "", buf_str(&text));
}
