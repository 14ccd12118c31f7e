// SPDX-License-Identifier: Apache-2.0
/* Checks a spec whole: every problem is found in one pass, each with its field. */
#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/units.h"
#include "job/principal.h"
#include "job/spec_check.h"
#include "job/spec_default.h"

static void check_span(struct check *c, const char *leaf, int64_t ms, int64_t max)
{
	char text[UNITS_TEXT_MAX];

	if (ms < 0 || ms > max)
		check_bad(c, leaf, "out of range; at most %s is allowed",
			  units_show_duration(max, text));
}

/* "12", or "12.3" as the members of an array are named. */
static bool is_number(const char *s)
{
	size_t n = strspn(s, "0123456789");

	if (n && s[n] == '.')
		n += 1 + strspn(s + n + 1, "0123456789");
	return n && !s[n];
}

/* "python train.py" is called python, so that a list of unnamed jobs can be told apart. */
static char *name_from_command(const struct spec *s)
{
	const struct role *r = s->role_count ? &s->roles[0] : NULL;
	const char *line = "", *slash;
	AUTO_FREE char *word = NULL;
	const char *base;

	if (r && r->argc)
		line = r->shell_line ? r->shell_line : r->argv[0];
	word = mem_strndup(line, strcspn(line, " \t\n;|&<>()"));
	slash = strrchr(word, '/');
	base = slash ? slash + 1 : word;
	if (check_is_name(base, "._-") && !is_number(base) &&
	    strlen(base) <= SPEC_NAME_MAX)
		return mem_strdup(base);
	return mem_strdup("job");
}

static void check_job_name(struct check *c, struct spec *s)
{
	if (!s->name) {
		s->name = name_from_command(s);
		return;
	}
	check_name(c, "name", s->name, SPEC_NAME_MAX);
	if (is_number(s->name))
		check_bad(c, "name",
			  "\"%s\" looks like the number of a job; add a letter", s->name);
}

static void check_labels(struct check *c, const struct spec *s)
{
	size_t at = check_enter(c, "labels");

	check_count(c, "", s->labels.count, SPEC_PAIRS_MAX);
	for (size_t i = 0; i < s->labels.count; i++) {
		const struct pair *p = &s->labels.items[i];
		if (!check_is_name(p->key, "._-/") || strlen(p->key) > SPEC_NAME_MAX)
			check_bad(
				c, p->key,
				"not a label; allowed are at most %d of " CHECK_NAME_RULE
				", and '/'",
				SPEC_NAME_MAX);
		else
			check_text(c, p->key, p->value);
	}
	check_leave(c, at);
}

static void check_hyperparameters(struct check *c, const struct spec *s)
{
	size_t at = check_enter(c, "hyperparameters");

	check_count(c, "", s->hyperparameters.count, SPEC_PAIRS_MAX);
	for (size_t i = 0; i < s->hyperparameters.count; i++) {
		const struct pair *p = &s->hyperparameters.items[i];
		AUTO_DOC struct doc *d = doc_parse_json(p->value, strlen(p->value), NULL);
		if (!*p->key || strlen(p->key) > SPEC_NAME_MAX)
			check_bad(c, p->key, "a name of 1 to %d bytes is needed",
				  SPEC_NAME_MAX);
		if (!d)
			check_bad(c, p->key, "not a JSON value");
		else if (doc_depth(doc_root(d)) > SPEC_NESTING_MAX)
			check_bad(c, p->key, "nested deeper than %d levels",
				  SPEC_NESTING_MAX);
	}
	check_leave(c, at);
}

static bool add_kinds(struct resources *all, const struct resources *each)
{
	for (int i = 0; i < DEVICE_KINDS_MAX && each->devices[i].type[0]; i++)
		if (!resources_set_device(all, each->devices[i].type, 1))
			return false;
	return true;
}

static void check_roles(struct check *c, struct spec *s)
{
	struct resources kinds = { 0 };
	int64_t tasks = 0;

	if (!s->role_count)
		check_bad(c, "roles", "there is neither a role nor a command");
	check_count(c, "roles", s->role_count, SPEC_ROLES_MAX);
	for (size_t i = 0; i < s->role_count && i <= SPEC_ROLES_MAX; i++) {
		struct role *r = &s->roles[i];
		size_t at = check_enter(c, "roles[%zu]", i);
		check_role(c, r);
		for (size_t k = 0; k < i; k++)
			if (check_alike(s->roles[k].name, r->name))
				check_bad(c, "name", "the role \"%s\" is there already%s",
					  s->roles[k].name,
					  str_eq(s->roles[k].name, r->name)
						  ? ""
						  : ", and too much alike");
		if (!add_kinds(&kinds, &r->each))
			check_bad(c, "resources.devices",
				  "more than %d kinds of devices in one job",
				  DEVICE_KINDS_MAX);
		check_leave(c, at);
		tasks += r->count > 0 ? r->count : 0;
	}
	if (tasks > SPEC_TASKS_MAX)
		check_bad(c, "roles",
			  "%" PRId64 " tasks together; at most %d are allowed", tasks,
			  SPEC_TASKS_MAX);
}

static const struct role *role_named(const struct spec *s, const char *name)
{
	for (size_t i = 0; i < s->role_count; i++)
		if (str_eq(s->roles[i].name, name))
			return &s->roles[i];
	return NULL;
}

static bool has_port(const struct role *r, const char *name)
{
	for (size_t i = 0; i < r->port_count; i++)
		if (str_eq(r->ports[i].name, name))
			return true;
	return false;
}

static void check_services(struct check *c, const struct spec *s)
{
	size_t at = check_enter(c, "services");

	check_count(c, "", s->service_count, SPEC_LIST_MAX);
	for (size_t i = 0; i < s->service_count && i <= SPEC_LIST_MAX; i++) {
		const struct service *v = &s->services[i];
		const struct role *r = role_named(s, v->role);
		check_name(c, v->name, v->name, SPEC_NAME_MAX);
		if (!r)
			check_bad(c, v->name, "there is no role \"%s\"",
				  v->role ? v->role : "");
		else if (!has_port(r, v->port))
			check_bad(c, v->name, "the role \"%s\" has no port \"%s\"",
				  r->name, v->port ? v->port : "");
		for (size_t k = 0; k < i; k++)
			if (check_alike(s->services[k].name, v->name))
				check_bad(
					c, v->name,
					"the names \"%s\" and \"%s\" are too much alike",
					s->services[k].name, v->name);
	}
	check_leave(c, at);
}

static void check_after(struct check *c, const struct spec *s)
{
	check_count(c, "after", s->after_count, SPEC_LIST_MAX);
	for (size_t i = 0; i < s->after_count && i <= SPEC_LIST_MAX; i++) {
		const char *leaf = s->after[i].ok ? "after-ok" : "after";
		if (s->after[i].job < 1)
			check_bad(c, leaf, "%" PRId64 " is not the number of a job",
				  s->after[i].job);
		for (size_t k = 0; k < i; k++)
			if (s->after[k].job == s->after[i].job)
				check_bad(c, leaf, "job %" PRId64 " is named twice",
					  s->after[i].job);
	}
}

static void check_retry(struct check *c, const struct retry *r)
{
	size_t at = check_enter(c, "retry");

	if (r->max != SPEC_ALL)
		check_range(c, "max", r->max, 0, SPEC_RETRY_MAX);
	check_span(c, "backoff", r->backoff_ms, SPEC_LIMIT_MS_MAX);
	check_span(c, "backoff-max", r->backoff_max_ms, SPEC_LIMIT_MS_MAX);
	if (r->backoff_max_ms < r->backoff_ms)
		check_bad(c, "backoff-max", "smaller than backoff");
	check_leave(c, at);
}

static void check_grace(struct check *c, const struct spec *s)
{
	check_span(c, "grace", s->grace_ms, SPEC_GRACE_MS_MAX);
	if (s->grace_ms <= SPEC_GRACE_MS_MAX)
		check_span(c, "grace-max", s->grace_max_ms, SPEC_GRACE_MS_MAX);
	if (s->grace_max_ms < s->grace_ms)
		check_bad(c, "grace-max", "smaller than grace");
}

void spec_check(struct spec *s, struct problems *out)
{
	struct check c = { .out = out };
	size_t before = out->count;

	check_roles(&c, s);
	check_job_name(&c, s);
	if (s->group)
		check_name(&c, "group", s->group, NAME_MAX_BYTES - 1);
	check_range(&c, "priority", s->priority, -SPEC_PRIORITY_MAX, SPEC_PRIORITY_MAX);
	if (s->within_must && s->within == LEVEL_ANY)
		check_bad(&c, "within-must",
			  "says nothing without within: rack, switch, node or island");
	check_labels(&c, s);
	check_hyperparameters(&c, s);
	check_retry(&c, &s->retry);
	check_span(&c, "time-limit", s->time_limit_ms, SPEC_LIMIT_MS_MAX);
	check_grace(&c, s);
	check_data(&c, s);
	check_services(&c, s);
	check_after(&c, s);
	check_array(&c, s);
	check_secrets(&c, s);
	/* The bound also keeps what is stored within what doc.h reads back. */
	if (out->count == before) {
		AUTO_BUF struct buf json = { 0 };
		spec_to_json(s, &json);
		if (json.len > SPEC_BYTES_MAX)
			check_bad(&c, "",
				  "the job is %zu bytes large; at most %d are allowed",
				  json.len, SPEC_BYTES_MAX);
		check_array_bytes(&c, s);
	}
	buf_fini(&c.path);
}
