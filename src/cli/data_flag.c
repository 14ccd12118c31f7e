// SPDX-License-Identifier: Apache-2.0
#include "cli/data_flag.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/doc.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/units.h"

bool data_flag_is_uri(const char *text)
{
	static const char *const opaque[] = { "pfs:", "yard:", "file:" };

	for (size_t i = 0; i < COUNT_OF(opaque); i++)
		if (str_starts(text, opaque[i]))
			return true;
	return strstr(text, "://") != NULL;
}

/* NAME=REST; NULL and an error when there is no name. */
static char *split(const char *flag, const char *form, const char *text,
		   const char **rest, struct err *err)
{
	const char *eq = strchr(text, '=');

	if (!eq || eq == text) {
		err_set(err, ERR_INVALID, "--%s '%s': write %s", flag, text, form);
		return NULL;
	}
	*rest = eq + 1;
	return mem_strndup(text, (size_t)(eq - text));
}

/* Relative to where we are, which the server is not. */
static void put_place(struct json *j, const char *name, const char *place)
{
	AUTO_FREE char *real =
		*place == '/' || data_flag_is_uri(place) ? NULL : realpath(place, NULL);

	json_str(j, name, real ? real : place);
}

static int put_inputs(struct json *j, const struct opts_list *list, struct err *err)
{
	if (!list->count)
		return 0;
	json_object(j, "inputs");
	for (size_t i = 0; i < list->count; i++) {
		const char *place = NULL;
		AUTO_FREE char *name =
			split("input", "NAME=PATH", list->items[i], &place, err);
		if (!name)
			return -1;
		put_place(j, name, place);
	}
	json_end(j);
	return 0;
}

static void put_outputs(struct json *j, const struct opts_list *list)
{
	if (!list->count)
		return;
	json_object(j, "outputs");
	for (size_t i = 0; i < list->count; i++) {
		const char *text = list->items[i], *eq = strchr(text, '=');
		AUTO_FREE char *name =
			mem_strndup(text, eq ? (size_t)(eq - text) : strlen(text));
		if (eq)
			put_place(j, name, eq + 1);
		else
			json_str(j, name, NULL);
	}
	json_end(j);
}

/* A value that reads as JSON is meant so: 0.1, true, [1,2]; any other is a text. */
static int put_params(struct json *j, const struct opts_list *list, struct err *err)
{
	if (!list->count)
		return 0;
	json_object(j, "hyperparameters");
	for (size_t i = 0; i < list->count; i++) {
		const char *value = NULL;
		AUTO_FREE char *name =
			split("param", "NAME=VALUE", list->items[i], &value, err);
		if (!name)
			return -1;
		AUTO_DOC struct doc *d = doc_parse_json(value, strlen(value), NULL);
		if (d)
			doc_write_json(doc_root(d), j, name);
		else
			json_str(j, name, value);
	}
	json_end(j);
	return 0;
}

static int put_metrics(struct json *j, const struct opts_list *list, struct err *err)
{
	if (!list->count)
		return 0;
	json_array(j, "metrics");
	for (size_t i = 0; i < list->count; i++) {
		const char *pattern = NULL;
		AUTO_FREE char *name =
			split("metric", "NAME=REGEX", list->items[i], &pattern, err);
		if (!name)
			return -1;
		json_object(j, NULL);
		json_str(j, "name", name);
		json_str(j, "pattern", pattern);
		json_end(j);
	}
	json_end(j);
	return 0;
}

/* Without the comment, the spaces around, and what says that the line goes on. */
static bool trim(char *line)
{
	char *hash = *line == '#' ? line : strstr(line, " #");
	size_t n = hash ? (size_t)(hash - line) : strlen(line), lead;
	bool on;

	while (n && strchr(" \t\r\n", line[n - 1]))
		n--;
	on = n && line[n - 1] == '\\';
	n -= on;
	line[n] = 0;
	lead = strspn(line, " \t");
	memmove(line, line + lead, n - (lead < n ? lead : n) + 1);
	return on;
}

static int put_line(struct json *j, const char *path, struct buf *line, struct err *err)
{
	const char *text = buf_str(line);

	/* Files they name are not sent along. */
	if (str_starts(text, "-r") || str_starts(text, "-c") || str_starts(text, "-e") ||
	    str_starts(text, "--requirement") || str_starts(text, "--constraint") ||
	    str_starts(text, "--editable"))
		return err_set(
			err, ERR_INVALID,
			"%s: \"%s\" names another file; put it into the code as requirements.txt",
			path, text);
	if (*text)
		json_str(j, NULL, text);
	line->len = 0;
	return 0;
}

static int put_requirements(struct json *j, const char *path, struct err *err)
{
	FILE *f = fopen(path, "re");
	AUTO_BUF struct buf line = { 0 };
	AUTO_FREE char *text = NULL;
	size_t cap = 0;
	int rc = 0;

	if (!f)
		return err_sys(err, "--requirements %s", path);
	json_array(j, "requirements");
	while (rc == 0 && getline(&text, &cap, f) > 0) {
		bool on = trim(text);
		buf_adds(&line, text);
		if (!on)
			rc = put_line(j, path, &line, err);
	}
	if (rc == 0 && line.len)
		rc = put_line(j, path, &line, err);
	json_end(j);
	fclose(f);
	return rc;
}

int data_flags_write(struct json *j, const struct data_flags *f, struct err *err)
{
	char text[UNITS_TEXT_MAX];

	if (f->contract)
		json_str(j, "contract", f->contract);
	if (f->grace_max)
		json_str(j, "grace-max", units_write_duration(f->grace_max, text));
	put_outputs(j, &f->outputs);
	if (put_inputs(j, &f->inputs, err) < 0 || put_params(j, &f->params, err) < 0 ||
	    put_metrics(j, &f->metrics, err) < 0)
		return -1;
	return f->requirements ? put_requirements(j, f->requirements, err) : 0;
}
