// SPDX-License-Identifier: Apache-2.0
/* people.h - what the commands about users, groups, tokens and quotas share. */
#pragma once

#include "base/json.h"
#include "cli/cli.h"
#include "cli/table.h"

/* "/<kind>/<name, percent-encoded><tail>"; the caller frees. */
char *people_target(const char *kind, const char *name, const char *tail);
/* Sends, with a body unless it is NULL; out (may be NULL) is the answer. */
int people_send(struct cli *c, const char *method, const char *target,
		const struct buf *body, struct answer *out, struct err *err);
/* A list as a table, or as JSON: what the four `ls` here have in common. */
struct people_list {
	const char *target, *key; /* what is asked for; where the answer has the list */
	const char *const *heads;
	size_t head_count;
	void (*row)(struct table *t, const struct doc_node *n);
	const char *none; /* said when it is empty */
	const char *color;
	bool json;
};
int people_print_list(struct cli *c, const struct people_list *l);
/* DELETE of each operand below /<kind>/; gives the exit code. */
int people_remove(struct cli *c, const char *kind, const struct opts_list *names);
/* The answer as JSON for --json. */
int people_print_json(const struct answer *a);
/* Words of a list, with ", " between; "-" for none. */
void people_words(const struct doc_node *list, struct buf *out);
/* A cell with an age: "3d", or `never` for 0 and null. */
void people_age(struct table *t, const struct doc_node *n, const char *key,
		const char *never);
/* A list of texts as JSON; each may itself be a list with commas. */
void people_json_list(struct json *j, const char *key, const struct opts_list *items);
