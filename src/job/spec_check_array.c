// SPDX-License-Identifier: Apache-2.0
/* The check of an array: its axes, how many members they make, and that every member's
 * command is one the single job would have passed the check with. */
#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "job/spec_check.h"
#include "job/spec_default.h"

#define INDEX_SUFFIX_MAX 7 /* ".999999" behind a member's name */

static bool has_nul(const struct doc_node *n)
{
	return n->kind == DOC_STRING && strlen(n->text) != n->text_len;
}

static void check_values(struct check *c, const struct axis *x)
{
	for (int64_t i = 0; x->values && i < x->count; i++) {
		const char *json = x->values[i];
		AUTO_DOC struct doc *d = doc_parse_json(json, strlen(json), NULL);
		if (!d)
			check_bad(c, x->name, "not a JSON value");
		else if (has_nul(doc_root(d)))
			check_bad(c, x->name, "contains a NUL character");
		else if (doc_depth(doc_root(d)) > SPEC_NESTING_MAX)
			check_bad(c, x->name, "nested deeper than %d levels",
				  SPEC_NESTING_MAX);
	}
	if (!x->count)
		check_bad(c, x->name, "has no values");
}

static void check_axes(struct check *c, const struct array *a)
{
	size_t at = check_enter(c, "sweep");

	check_count(c, "", a->axis_count, ARRAY_AXES_MAX);
	for (size_t i = 0; i < a->axis_count && i <= ARRAY_AXES_MAX; i++) {
		const struct axis *x = &a->axes[i];
		check_name(c, x->name, x->name, SPEC_NAME_MAX);
		if (strcmp(x->name, "index") == 0)
			check_bad(c, x->name,
				  "is the member's number; call the axis otherwise");
		check_values(c, x);
		for (size_t k = 0; k < i; k++)
			if (check_alike(a->axes[k].name, x->name))
				check_bad(
					c, x->name,
					"the names \"%s\" and \"%s\" are too much alike",
					a->axes[k].name, x->name);
	}
	check_leave(c, at);
}

/* What filling in adds to this command at most; a command that grows too long, or a value
 * that has no safe place in it, is a problem. */
static int64_t check_fill(struct check *c, const struct array *a, const struct role *r)
{
	const struct axis *unsafe = NULL;
	int64_t total = 0;

	for (size_t i = 0; i < r->argc; i++) {
		int64_t more =
			array_fill_growth(a, r->argv[i], r->shell_line != NULL, &unsafe);
		if (more < 0) {
			check_bad(
				c, "command",
				"a value of \"%s\" has characters that a shell acts on, and "
				"this line is too intricate to quote it safely; write the "
				"command as a list",
				unsafe->name);
			return 0;
		}
		if ((int64_t)strlen(r->argv[i]) + more >= SPEC_ARG_BYTES_MAX)
			check_bad(c, "command",
				  "longer than %d bytes once the sweep is filled in",
				  SPEC_ARG_BYTES_MAX - 1);
		total += more;
	}
	return total;
}

static void check_members(struct check *c, const struct spec *s)
{
	int64_t total = 0;

	for (size_t i = 0; i < s->role_count; i++) {
		size_t at = check_enter(c, "roles[%zu]", i);
		total += check_fill(c, &s->array, &s->roles[i]);
		check_leave(c, at);
	}
	if (total > SPEC_BYTES_MAX)
		check_bad(c, "array",
			  "a member's commands would be %" PRId64
			  " bytes larger; at most %d are allowed",
			  total, SPEC_BYTES_MAX);
	if (s->name && strlen(s->name) > SPEC_NAME_MAX - INDEX_SUFFIX_MAX)
		check_bad(c, "name",
			  "at most %d characters are allowed: a member's has its number "
			  "behind it",
			  SPEC_NAME_MAX - INDEX_SUFFIX_MAX);
}

void check_array(struct check *c, struct spec *s)
{
	struct array *a = &s->array;
	size_t before = c->out->count, at = check_enter(c, "array");
	int64_t grid = array_grid(a);

	if (a->axis_count && a->count && a->count != grid)
		check_bad(c, "count", "a sweep says itself how many members there are");
	if (grid < 0)
		check_bad(c, "sweep", "more than %d members", ARRAY_MEMBERS_MAX);
	if (a->axis_count)
		check_axes(c, a);
	if (a->axis_count && grid > 0)
		a->count = (int)grid;
	check_range(c, "count", a->count, 0, ARRAY_MEMBERS_MAX);
	check_range(c, "parallel", a->parallel, 0, ARRAY_MEMBERS_MAX);
	check_range(c, "stop-after-failures", a->stop_after, 0, ARRAY_MEMBERS_MAX);
	if (!a->count && (a->parallel || a->stop_after) && c->out->count == before)
		check_bad(c, "", "says neither \"count\" nor \"sweep\"");
	check_leave(c, at);
	if (a->count && c->out->count == before)
		check_members(c, s);
}

/* The most that one member's values add, as hyperparameters and in its commands. */
static int64_t values_bytes(const struct spec *s)
{
	const struct axis *unsafe;
	int64_t total = 0;

	for (size_t i = 0; i < s->array.axis_count; i++) {
		const struct axis *x = &s->array.axes[i];
		size_t most = 0;

		for (int64_t k = 0; x->values && k < x->count; k++)
			most = strlen(x->values[k]) > most ? strlen(x->values[k]) : most;
		total += (int64_t)(strlen(x->name) + most);
	}
	for (size_t i = 0; i < s->role_count; i++)
		for (size_t k = 0; k < s->roles[i].argc; k++)
			total += array_fill_growth(&s->array, s->roles[i].argv[k],
						   s->roles[i].shell_line != NULL,
						   &unsafe);
	return total;
}

/* Each member is stored as the job it is: one request must not fill the disk. */
void check_array_bytes(struct check *c, const struct spec *s)
{
	struct spec single = *s;
	AUTO_BUF struct buf json = { 0 };
	int64_t each;

	if (!s->array.count)
		return;
	single.array = (struct array){ 0 };
	spec_to_json(&single, &json);
	each = (int64_t)json.len + values_bytes(s);
	if (each * s->array.count > ARRAY_BYTES_MAX)
		check_bad(c, "array",
			  "%d members of up to %" PRId64
			  " bytes each; all of them together "
			  "may have %" PRId64
			  ": make them fewer, or the job file smaller",
			  s->array.count, each, ARRAY_BYTES_MAX);
}
