// SPDX-License-Identifier: Apache-2.0
#include "base/opts.h"

#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/units.h"

#define HELP_COLUMN 28

struct reading {
	const struct opts *o;
	char *const *argv;
	int argc, at;
	char *into;
	struct opts_list *operands;
	struct err *err;
};

void opts_list_add(struct opts_list *l, const char *text)
{
	mem_grow(&l->items, &l->cap, l->count, sizeof *l->items);
	l->items[l->count++] = text;
}

void opts_list_fini(struct opts_list *l)
{
	free(l->items);
	*l = (struct opts_list){ 0 };
}

int opts_choice(const struct opt *o, const char *word)
{
	const char *at = o->value;

	for (int i = 0; *at; i++) {
		size_t n = strcspn(at, "|");
		if (strlen(word) == n && memcmp(at, word, n) == 0)
			return i;
		at += n + (at[n] == '|');
	}
	return -1;
}

char *opts_choice_word(const struct opt *o, int64_t at)
{
	const char *p = o->value;

	for (; *p && at > 0; at--)
		p += strcspn(p, "|") + (p[strcspn(p, "|")] == '|');
	return *p && at == 0 ? mem_strndup(p, strcspn(p, "|")) : NULL;
}

static int read_choice(const struct opt *opt, const char *value, int64_t *out)
{
	*out = opts_choice(opt, value);
	return *out < 0 ? -1 : 0;
}

static const char *what_is_allowed(enum opt_kind kind)
{
	switch (kind) {
	case OPT_INT:
		return "a whole number";
	case OPT_BYTES:
		return "a size such as 512Mi or 1.5G";
	case OPT_CPU:
		return "a number of cores such as 2, 0.5 or 500m";
	case OPT_DURATION:
		return "a time such as 90s, 1.5h or 1h30m";
	case OPT_CHOICE:
	case OPT_FLAG:
	case OPT_TEXT:
	case OPT_LIST:
		break;
	}
	return "a text";
}

static int read_number(const struct opt *opt, const char *value, int64_t *out)
{
	bool bounded = opt->min || opt->max;

	switch (opt->kind) {
	case OPT_INT:
		return str_to_i64(value, bounded ? opt->min : INT64_MIN,
				  bounded ? opt->max : INT64_MAX, out);
	case OPT_BYTES:
		return units_bytes(value, out);
	case OPT_CPU:
		return units_cpu(value, out);
	case OPT_DURATION:
		return units_duration(value, out);
	case OPT_CHOICE:
		return read_choice(opt, value, out);
	case OPT_FLAG:
	case OPT_TEXT:
	case OPT_LIST:
		break;
	}
	return -1;
}

static int fail_value(struct reading *r, const struct opt *opt, const char *value)
{
	if (opt->kind == OPT_INT && (opt->min || opt->max))
		return err_set(r->err, ERR_INVALID,
			       "--%s %.100s: allowed is a whole number from %" PRId64
			       " to %" PRId64,
			       opt->name, value, opt->min, opt->max);
	return err_set(r->err, ERR_INVALID, "--%s %.100s: allowed is %s", opt->name,
		       value,
		       opt->kind == OPT_CHOICE ? opt->value : what_is_allowed(opt->kind));
}

static int store(struct reading *r, const struct opt *opt, const char *value)
{
	void *field = r->into + opt->offset;
	int64_t number = 0;
	bool yes = true;

	if (opt->kind == OPT_FLAG) {
		memcpy(field, &yes, sizeof yes);
		return 0;
	}
	if (opt->kind == OPT_TEXT) {
		memcpy(field, &value, sizeof value);
		return 0;
	}
	if (opt->kind == OPT_LIST) {
		opts_list_add(field, value);
		return 0;
	}
	if (read_number(opt, value, &number) < 0)
		return fail_value(r, opt, value);
	memcpy(field, &number, sizeof number);
	return 0;
}

/* The value of opt: what is attached to it, or the next argument. */
static int store_value(struct reading *r, const struct opt *opt, const char *attached)
{
	if (attached)
		return store(r, opt, attached);
	if (r->at == r->argc)
		return err_set(r->err, ERR_INVALID, "--%s needs %s", opt->name,
			       opt->value ? opt->value : "a value");
	return store(r, opt, r->argv[r->at++]);
}

static int fail_unknown(struct reading *r, const char *name, size_t len)
{
	AUTO_FREE const char **names = mem_alloc(r->o->count + 1, sizeof *names);
	AUTO_FREE char *word = mem_strndup(name, len < 60 ? len : 60);
	const char *guess;

	for (size_t i = 0; i < r->o->count; i++)
		names[i] = r->o->table[i].name;
	names[r->o->count] = "help";
	guess = str_guess(word, names, r->o->count + 1);
	if (guess)
		return err_set(r->err, ERR_INVALID,
			       "there is no option --%s; did you mean --%s?", word,
			       guess);
	return err_set(r->err, ERR_INVALID,
		       "there is no option --%s; %s --help lists them all", word,
		       r->o->program);
}

static enum opts_result read_long(struct reading *r, const char *name)
{
	size_t len = strcspn(name, "=");
	const char *attached = name[len] ? name + len + 1 : NULL;

	if (len == 4 && memcmp(name, "help", 4) == 0)
		return OPTS_HELP;
	for (size_t i = 0; i < r->o->count; i++) {
		const struct opt *opt = &r->o->table[i];
		if (strlen(opt->name) != len || memcmp(opt->name, name, len) != 0)
			continue;
		if (opt->kind != OPT_FLAG)
			return store_value(r, opt, attached) < 0 ? OPTS_BAD : OPTS_OK;
		if (attached) {
			err_set(r->err, ERR_INVALID, "--%s takes no value", opt->name);
			return OPTS_BAD;
		}
		store(r, opt, NULL);
		return OPTS_OK;
	}
	fail_unknown(r, name, len);
	return OPTS_BAD;
}

static const struct opt *by_letter(const struct opts *o, char letter)
{
	for (size_t i = 0; i < o->count; i++)
		if (o->table[i].letter == letter)
			return &o->table[i];
	return NULL;
}

static enum opts_result read_short(struct reading *r, const char *letters)
{
	for (const char *p = letters; *p; p++) {
		const struct opt *opt = by_letter(r->o, *p);
		if (!opt && *p == 'h')
			return OPTS_HELP;
		if (!opt) {
			err_set(r->err, ERR_INVALID,
				"there is no option -%c; %s --help lists them all", *p,
				r->o->program);
			return OPTS_BAD;
		}
		if (opt->kind != OPT_FLAG)
			return store_value(r, opt, p[1] ? p + 1 : NULL) < 0 ? OPTS_BAD
									    : OPTS_OK;
		store(r, opt, NULL);
	}
	return OPTS_OK;
}

static void take_rest(struct reading *r)
{
	while (r->at < r->argc)
		opts_list_add(r->operands, r->argv[r->at++]);
}

enum opts_result opts_parse(const struct opts *o, int argc, char *const *argv, void *into,
			    struct opts_list *operands, struct err *err)
{
	struct reading r = { .o = o,
			     .argv = argv,
			     .argc = argc,
			     .into = into,
			     .operands = operands,
			     .err = err };
	enum opts_result result = OPTS_OK;

	while (r.at < argc && result == OPTS_OK) {
		const char *arg = argv[r.at++];
		if (strcmp(arg, "--") == 0) {
			take_rest(&r);
		} else if (str_starts(arg, "--")) {
			result = read_long(&r, arg + 2);
		} else if (arg[0] == '-' && arg[1]) {
			result = read_short(&r, arg + 1);
		} else {
			opts_list_add(operands, arg);
			if (o->stop_at_first)
				take_rest(&r);
		}
	}
	return result;
}

static void help_row(const struct opt *opt, struct buf *out)
{
	size_t from = out->len;

	if (opt->letter)
		buf_printf(out, "  -%c, --%s", opt->letter, opt->name);
	else
		buf_printf(out, "      --%s", opt->name);
	if (opt->value)
		buf_printf(out, " %s", opt->value);
	if (out->len - from + 2 > HELP_COLUMN) {
		buf_addc(out, '\n');
		from = out->len;
	}
	while (out->len - from < HELP_COLUMN)
		buf_addc(out, ' ');
	buf_printf(out, "%s%s\n", opt->help,
		   opt->kind == OPT_LIST ? " (may be repeated)" : "");
}

void opts_help(const struct opts *o, struct buf *out)
{
	static const struct opt help = { "help",           'h', OPT_FLAG, 0, NULL,
					 "show this help", 0,   0 };

	buf_printf(out, "Usage: %s [options]%s%s\n\n", o->program,
		   *o->operands ? " " : "", o->operands);
	buf_printf(out, "%s\n\nOptions:\n", o->summary);
	for (size_t i = 0; i < o->count; i++)
		help_row(&o->table[i], out);
	help_row(&help, out);
}
