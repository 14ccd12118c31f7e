// SPDX-License-Identifier: Apache-2.0
/* opts.h - command-line options by a table; the help text comes out of the same table.
 *
 *	struct args { bool detach; int64_t memory; const char *name; struct opts_list env; };
 *	static const struct opt table[] = {
 *		{ "detach", 'd', OPT_FLAG,  OPT_INTO(struct args, detach), NULL,  "do not wait" },
 *		{ "mem",    'm', OPT_BYTES, OPT_INTO(struct args, memory), "SIZE", "memory limit" },
 *	};
 *
 * Taken are --name VALUE, --name=VALUE, -n VALUE, -nVALUE, -ab for flags, -- as the end of
 * options.  --help and -h are always there.  Texts are borrowed from argv.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

enum opt_kind {
	OPT_FLAG,     /* bool */
	OPT_TEXT,     /* const char * */
	OPT_LIST,     /* struct opts_list: may be given many times */
	OPT_INT,      /* int64_t within [min, max] (both 0: any) */
	OPT_BYTES,    /* int64_t, "512Mi" */
	OPT_CPU,      /* int64_t thousandths, "0.5" */
	OPT_DURATION, /* int64_t milliseconds, "1.5h" */
	OPT_CHOICE,   /* int64_t: which word of `value`, "off|on", from 0 */
};

struct opts_list { /* zero-initialised is empty */
	const char **items;
	size_t count, cap;
};

struct opt {
	const char *name;
	char letter; /* 0: none */
	enum opt_kind kind;
	size_t offset;     /* of the field in the caller's struct: OPT_INTO */
	const char *value; /* its name in the help text; NULL for flags */
	const char *help;
	int64_t min, max;
};

#define OPT_INTO(type, field) offsetof(type, field)

struct opts {
	const char *program;  /* "yard run" */
	const char *operands; /* "-- COMMAND...", or "" */
	const char *summary;  /* one sentence */
	const struct opt *table;
	size_t count;
	bool stop_at_first; /* the first operand ends the options: what follows is a command */
};

enum opts_result { OPTS_BAD = -1, OPTS_OK = 0, OPTS_HELP = 1 };

/* argv without the program's name.  Fields of options that were not given are untouched. */
enum opts_result opts_parse(const struct opts *o, int argc, char *const *argv, void *into,
			    struct opts_list *operands, struct err *err);
void opts_help(const struct opts *o, struct buf *out);
/* The word of a choice; -1 or NULL: there is no such. */
int opts_choice(const struct opt *o, const char *word);
char *opts_choice_word(const struct opt *o, int64_t at);   /* the caller frees */
void opts_list_add(struct opts_list *l, const char *item); /* borrows it */
void opts_list_fini(struct opts_list *l);

#define AUTO_OPTS_LIST __attribute__((cleanup(opts_list_fini)))
