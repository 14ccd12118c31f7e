// SPDX-License-Identifier: Apache-2.0
#include "wire/settings_live.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/units.h"

static const char *const live[] = { "log-limit",        "code-keep",  "max-jobs",
				    "max-priority",     "cache-size", "max-boards",
				    "tensorboard-limit" };

bool settings_is_live(const char *name)
{
	if (str_starts(name, "plan-"))
		return true; /* if there is one of that name: find() */
	for (size_t i = 0; i < COUNT_OF(live); i++)
		if (str_eq(live[i], name))
			return true;
	return false;
}

/* The row's number, -1: none that may be changed. */
static int find(const char *name, const struct setting **row)
{
	size_t count = settings_rows(row);

	for (size_t i = 0; settings_is_live(name) && i < count; i++)
		if (str_eq((*row)[i].opt.name, name)) {
			*row += i;
			return (int)i;
		}
	return -1;
}

static int read_value(const struct opt *o, const char *text, int64_t *out,
		      struct err *err)
{
	const struct opts one = { .program = "", .operands = "", .summary = "" };
	struct opts opts = one;
	struct opt row = *o;
	AUTO_FREE char *flag = str_printf("--%s", o->name), *value = mem_strdup(text);
	AUTO_OPTS_LIST struct opts_list operands = { 0 };
	char *argv[] = { flag, value };

	row.offset = 0;
	opts.table = &row;
	opts.count = 1;
	if (opts_parse(&opts, 2, argv, out, &operands, err) == OPTS_OK)
		return 0;
	return err_set(err, ERR_INVALID, "%s: '%.64s' will not do; %s", o->name, text,
		       o->help);
}

int settings_live_check(const char *name, const char *text, struct err *err)
{
	const struct setting *row;
	int64_t ignored;

	if (find(name, &row) < 0)
		return err_set(err, ERR_INVALID,
			       "%.64s: no setting that may be changed while it runs",
			       name);
	return read_value(&row->opt, text, &ignored, err);
}

void settings_live_set(struct settings *s, const char *name, const char *text)
{
	const struct setting *row;
	int i = find(name, &row);
	int64_t value;

	if (i < 0)
		return;
	int64_t *at = (int64_t *)(void *)((char *)s + row->opt.offset);
	if (s->origin[i] != SETTINGS_CHANGED) {
		s->start[i] = *at;
		s->start_origin[i] = s->origin[i];
	}
	if (!text) {
		*at = s->start[i];
		s->origin[i] = s->start_origin[i];
	} else if (read_value(&row->opt, text, &value, NULL) == 0) {
		*at = value;
		s->origin[i] = SETTINGS_CHANGED;
	}
}

static void write_value(const struct settings *s, const struct opt *o, struct json *j)
{
	const void *at = (const char *)s + o->offset;
	char text[UNITS_TEXT_MAX];

	switch (o->kind) {
	case OPT_TEXT:
		json_str(j, "value", *(const char *const *)at);
		break;
	case OPT_FLAG:
		json_bool(j, "value", *(const bool *)at);
		break;
	case OPT_INT:
		json_i64(j, "value", *(const int64_t *)at);
		break;
	case OPT_BYTES:
		json_str(j, "value", units_write_bytes(*(const int64_t *)at, text));
		break;
	case OPT_CPU:
		json_str(j, "value", units_show_cpu(*(const int64_t *)at, text));
		break;
	case OPT_DURATION:
		json_str(j, "value", units_write_duration(*(const int64_t *)at, text));
		break;
	case OPT_CHOICE: {
		AUTO_FREE char *word = opts_choice_word(o, *(const int64_t *)at);
		json_str(j, "value", word);
		break;
	}
	case OPT_LIST:
		json_array(j, "value");
		for (size_t i = 0; i < ((const struct opts_list *)at)->count; i++)
			json_str(j, NULL, ((const struct opts_list *)at)->items[i]);
		json_end(j);
		break;
	}
}

void settings_live_write(const struct settings *s, struct json *j, const char *key)
{
	const struct setting *rows;
	size_t count = settings_rows(&rows);

	json_array(j, key);
	for (size_t i = 0; i < count; i++) {
		if (!rows[i].env)
			continue; /* of one call only */
		json_object(j, NULL);
		json_str(j, "name", rows[i].opt.name);
		write_value(s, &rows[i].opt, j);
		json_str(j, "from",
			 settings_origin_word((enum settings_origin)s->origin[i]));
		json_bool(j, "live", settings_is_live(rows[i].opt.name));
		json_str(j, "help", rows[i].opt.help);
		json_end(j);
	}
	json_end(j);
}
