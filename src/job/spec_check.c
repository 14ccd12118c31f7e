// SPDX-License-Identifier: Apache-2.0
/* Checks a spec whole: every problem is found in one pass, each with its field. */
#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/units.h"
#include "base/utf8.h"
#include "job/placement.h"
#include "job/principal.h"
#include "job/spec.h"
#include "job/spec_default.h"

struct check {
	struct problems *out;
	struct buf path; /* of what is being checked: "roles[0].resources" */
};

#define NAME_RULE "letters, digits, '.', '_' and '-', beginning with a letter or digit"

__attribute__((format(printf, 2, 3))) static size_t enter(struct check *c,
							  const char *fmt, ...)
{
	size_t before = c->path.len;
	va_list ap;

	if (before)
		buf_addc(&c->path, '.');
	va_start(ap, fmt);
	buf_vprintf(&c->path, fmt, ap);
	va_end(ap);
	return before;
}

static void leave(struct check *c, size_t before)
{
	c->path.len = before;
	if (c->path.data)
		c->path.data[before] = 0;
}

__attribute__((format(printf, 3, 4))) static void bad(struct check *c, const char *leaf,
						      const char *fmt, ...)
{
	size_t before = *leaf ? enter(c, "%s", leaf) : c->path.len;
	AUTO_BUF struct buf text = { 0 };
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(&text, fmt, ap);
	va_end(ap);
	problems_add(c->out, 0, 0, buf_str(&c->path), "%s", buf_str(&text));
	leave(c, before);
}

static bool is_alnum(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* Names become folders, variables and host names: one narrow alphabet for all. */
static bool is_name(const char *s, const char *also)
{
	if (!is_alnum(*s))
		return false;
	for (s++; *s; s++)
		if (!is_alnum(*s) && !strchr(also, *s))
			return false;
	return true;
}

static void check_name(struct check *c, const char *leaf, const char *name, size_t most)
{
	if (!name || !*name)
		bad(c, leaf, "a name is missing");
	else if (strlen(name) > most)
		bad(c, leaf, "the name has %zu characters; at most %zu are allowed",
		    strlen(name), most);
	else if (!is_name(name, "._-"))
		bad(c, leaf, "\"%s\" is not a name; allowed are " NAME_RULE, name);
}

static bool is_utf8(const char *s)
{
	size_t len = strlen(s), n;

	for (size_t i = 0; i < len; i += n) {
		n = utf8_sequence(s + i, len - i);
		if (!n)
			return false;
	}
	return true;
}

static void check_text(struct check *c, const char *leaf, const char *text)
{
	if (strlen(text) >= SPEC_ARG_BYTES_MAX)
		bad(c, leaf, "longer than %d bytes", SPEC_ARG_BYTES_MAX - 1);
	else if (!is_utf8(text))
		bad(c, leaf, "not well-formed UTF-8");
}

static void check_range(struct check *c, const char *leaf, int64_t v, int64_t min,
			int64_t max)
{
	if (v < min || v > max)
		bad(c, leaf,
		    "%" PRId64 " is out of range; allowed is %" PRId64 " to %" PRId64, v,
		    min, max);
}

static void check_span(struct check *c, const char *leaf, int64_t ms, int64_t max)
{
	char text[UNITS_TEXT_MAX];

	if (ms < 0 || ms > max)
		bad(c, leaf, "out of range; at most %s is allowed",
		    units_show_duration(max, text));
}

static void check_count(struct check *c, const char *leaf, size_t count, size_t max)
{
	if (count > max)
		bad(c, leaf, "%zu entries; at most %zu are allowed", count, max);
}

/* "python train.py" is called python, so that a list of unnamed jobs can be told apart. */
static char *name_from_command(const struct spec *s)
{
	const char *word = "job", *line;
	size_t n, from = 0;

	if (s->role_count && s->roles[0].argc) {
		line = s->roles[0].shell_line ? s->roles[0].shell_line
					      : s->roles[0].argv[0];
		n = strcspn(line, " \t\n;|&<>()");
		for (size_t i = 0; i < n; i++)
			if (line[i] == '/')
				from = i + 1;
		if (n > from && n - from <= SPEC_NAME_MAX) {
			AUTO_FREE char *base = mem_strndup(line + from, n - from);
			if (is_name(base, "._-") &&
			    strspn(base, "0123456789") < strlen(base))
				return TAKE(base);
		}
	}
	return mem_strdup(word);
}

static void check_job_name(struct check *c, struct spec *s)
{
	if (!s->name) {
		s->name = name_from_command(s);
		return;
	}
	check_name(c, "name", s->name, SPEC_NAME_MAX);
	if (*s->name && strspn(s->name, "0123456789") == strlen(s->name))
		bad(c, "name", "\"%s\" looks like the number of a job; add a letter",
		    s->name);
}

static void check_labels(struct check *c, const struct spec *s)
{
	size_t at = enter(c, "labels");

	check_count(c, "", s->labels.count, SPEC_PAIRS_MAX);
	for (size_t i = 0; i < s->labels.count; i++) {
		const struct pair *p = &s->labels.items[i];
		if (!is_name(p->key, "._-/") || strlen(p->key) > SPEC_NAME_MAX)
			bad(c, p->key,
			    "not a label; allowed are at most %d of " NAME_RULE
			    ", and '/'",
			    SPEC_NAME_MAX);
		else
			check_text(c, p->key, p->value);
	}
	leave(c, at);
}

static void check_hyperparameters(struct check *c, const struct spec *s)
{
	size_t at = enter(c, "hyperparameters");

	check_count(c, "", s->hyperparameters.count, SPEC_PAIRS_MAX);
	for (size_t i = 0; i < s->hyperparameters.count; i++) {
		const struct pair *p = &s->hyperparameters.items[i];
		AUTO_DOC struct doc *d = doc_parse_json(p->value, strlen(p->value), NULL);
		if (!*p->key || strlen(p->key) > SPEC_NAME_MAX)
			bad(c, p->key, "a name of 1 to %d bytes is needed",
			    SPEC_NAME_MAX);
		if (!d)
			bad(c, p->key, "not a JSON value");
		else if (doc_depth(doc_root(d)) > SPEC_NESTING_MAX)
			bad(c, p->key, "nested deeper than %d levels", SPEC_NESTING_MAX);
	}
	leave(c, at);
}

static void check_env(struct check *c, const struct role *r)
{
	size_t at = enter(c, "env");

	check_count(c, "", r->env.count, SPEC_PAIRS_MAX);
	for (size_t i = 0; i < r->env.count; i++) {
		const struct pair *p = &r->env.items[i];
		if (!*p->key || strchr(p->key, '=') || strlen(p->key) > SPEC_NAME_MAX ||
		    !is_utf8(p->key))
			bad(c, p->key,
			    "not a variable's name; allowed are 1 to %d bytes without '='",
			    SPEC_NAME_MAX);
		else if (str_starts(p->key, "YARD_"))
			bad(c, p->key,
			    "variables that begin with YARD_ are set by the yard itself");
		else
			check_text(c, p->key, p->value);
	}
	leave(c, at);
}

static void check_devices(struct check *c, const struct resources *each)
{
	size_t at = enter(c, "devices");

	for (int i = 0; i < DEVICE_KINDS_MAX && each->devices[i].type[0]; i++) {
		const struct device_count *d = &each->devices[i];
		if (!is_name(d->type, "._-:"))
			bad(c, d->type,
			    "not a kind of device; allowed are " NAME_RULE ", and ':'");
		else
			check_range(c, d->type, d->count, 0, DEVICES_MAX);
	}
	leave(c, at);
}

static void check_resources(struct check *c, struct role *r)
{
	size_t at = enter(c, "resources");
	struct resources *each = &r->each;
	char low[UNITS_TEXT_MAX], high[UNITS_TEXT_MAX];

	if (each->cpu_milli == 0)
		each->cpu_milli = SPEC_CPU_MILLI;
	if (each->memory_bytes == 0)
		each->memory_bytes = SPEC_MEMORY_BYTES;
	if (each->cpu_milli < 0 || each->cpu_milli > SPEC_CPU_MILLI_MAX)
		bad(c, "cpu", "out of range; allowed is 0.001 to %s cores",
		    units_show_cpu(SPEC_CPU_MILLI_MAX, high));
	if (each->memory_bytes < SPEC_MEMORY_BYTES_MIN ||
	    each->memory_bytes > SPEC_MEMORY_BYTES_MAX)
		bad(c, "memory", "out of range; allowed is %s to %s",
		    units_write_bytes(SPEC_MEMORY_BYTES_MIN, low),
		    units_write_bytes(SPEC_MEMORY_BYTES_MAX, high));
	if (r->shm_bytes == 0)
		r->shm_bytes = each->memory_bytes / 2;
	if (r->shm_bytes < 0 || r->shm_bytes > each->memory_bytes)
		bad(c, "shm",
		    "shared memory counts as memory: at most resources.memory (%s) is allowed",
		    units_write_bytes(each->memory_bytes, high));
	check_devices(c, each);
	leave(c, at);
}

/* Ports of any number first, as plan gives them out; otherwise in the order asked for. */
static void sort_ports(struct role *r)
{
	struct port_ask *sorted = mem_alloc(r->port_count, sizeof *sorted);
	size_t n = 0;

	for (size_t i = 0; i < r->port_count; i++)
		if (!r->ports[i].fixed)
			sorted[n++] = r->ports[i];
	for (size_t i = 0; i < r->port_count; i++)
		if (r->ports[i].fixed)
			sorted[n++] = r->ports[i];
	free(r->ports);
	r->ports = sorted;
}

static void check_port(struct check *c, const struct port_ask *p, int *total)
{
	size_t at = enter(c, "%s", p->name);

	if (p->count < 1 || p->count > PORTS_MAX)
		bad(c, "count", "%d is out of range; allowed is 1 to %d", p->count,
		    PORTS_MAX);
	else
		*total += p->count;
	if (p->fixed && (p->fixed < SPEC_PORT_MIN || p->fixed > SPEC_PORT_MAX))
		bad(c, "port", "%d is out of range; allowed is %d to %d, or any",
		    p->fixed, SPEC_PORT_MIN, SPEC_PORT_MAX);
	if (p->fixed && p->count > 1)
		bad(c, "count", "a port with a number of its own is one port");
	leave(c, at);
}

/* Two names that become the same variable would hide each other. */
static bool same_variable(const char *a, const char *b)
{
	AUTO_FREE char *x = spec_variable("", a), *y = NULL;

	y = spec_variable("", b);
	return strcmp(x, y) == 0;
}

static void check_ports(struct check *c, struct role *r)
{
	size_t at = enter(c, "ports");
	int total = 0;

	check_count(c, "", r->port_count, PORTS_MAX);
	for (size_t i = 0; i < r->port_count && i <= PORTS_MAX; i++) {
		const struct port_ask *p = &r->ports[i];
		check_name(c, p->name, p->name, SPEC_NAME_MAX);
		check_port(c, p, &total);
		for (size_t k = 0; k < i; k++) {
			if (same_variable(r->ports[k].name, p->name))
				bad(c, p->name,
				    "the names \"%s\" and \"%s\" are too much alike",
				    r->ports[k].name, p->name);
			if (p->fixed && r->ports[k].fixed == p->fixed)
				bad(c, p->name, "port %d is asked for twice", p->fixed);
		}
	}
	if (total > PORTS_MAX)
		bad(c, "", "%d ports together; at most %d are allowed", total, PORTS_MAX);
	if (r->port_count)
		sort_ports(r);
	leave(c, at);
}

static void check_command(struct check *c, const struct role *r)
{
	if (!r->argc || !r->argv[0][0] ||
	    (r->shell_line && !r->shell_line[strspn(r->shell_line, " \t\n")])) {
		bad(c, "command",
		    "a command is missing: a shell line, or a list of program and arguments");
		return;
	}
	for (size_t i = 0; i < r->argc; i++)
		check_text(c, "command", r->argv[i]);
}

static void check_completion(struct check *c, const struct role *r)
{
	size_t at = enter(c, "completion");

	if (r->fail_after != SPEC_ALL && (r->fail_after < 1 || r->fail_after > r->count))
		bad(c, "fail-after",
		    "%d is out of range; allowed is 1 to the role's count, or all",
		    r->fail_after);
	if (r->succeed_after != SPEC_ALL &&
	    (r->succeed_after < 1 || r->succeed_after > r->count))
		bad(c, "succeed-after",
		    "%d is out of range; allowed is 1 to the role's count, or all",
		    r->succeed_after);
	leave(c, at);
}

static void check_role(struct check *c, struct role *r)
{
	if (!r->name)
		r->name = mem_strdup("main");
	if (!r->image)
		r->image = mem_strdup("host");
	check_name(c, "name", r->name, SPEC_ROLE_NAME_MAX);
	check_range(c, "count", r->count, 1, SPEC_TASKS_MAX);
	check_command(c, r);
	if (strcmp(r->image, "host") != 0)
		bad(c, "image",
		    "images come with the container engines in a later version; leave image out "
		    "or write image: host");
	check_resources(c, r);
	check_env(c, r);
	check_ports(c, r);
	check_completion(c, r);
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
		bad(c, "roles", "there is neither a role nor a command");
	check_count(c, "roles", s->role_count, SPEC_ROLES_MAX);
	for (size_t i = 0; i < s->role_count && i <= SPEC_ROLES_MAX; i++) {
		struct role *r = &s->roles[i];
		size_t at = enter(c, "roles[%zu]", i);
		check_role(c, r);
		for (size_t k = 0; k < i; k++)
			if (same_variable(s->roles[k].name, r->name))
				bad(c, "name", "the role \"%s\" is there already%s",
				    s->roles[k].name,
				    str_eq(s->roles[k].name, r->name)
					    ? ""
					    : ", and too much alike");
		if (!add_kinds(&kinds, &r->each))
			bad(c, "resources.devices",
			    "more than %d kinds of devices in one job", DEVICE_KINDS_MAX);
		leave(c, at);
		tasks += r->count > 0 ? r->count : 0;
	}
	if (tasks > SPEC_TASKS_MAX)
		bad(c, "roles", "%" PRId64 " tasks together; at most %d are allowed",
		    tasks, SPEC_TASKS_MAX);
}

static bool has_dots(const char *path)
{
	for (const char *p = strstr(path, "/.."); p; p = strstr(p + 1, "/.."))
		if (p[3] == '/' || !p[3])
			return true;
	return false;
}

static void check_uri(struct check *c, const char *leaf, const char *uri)
{
	const char *path = str_starts(uri, "file://") ? uri + strlen("file://") : uri;

	if (strstr(path, "://"))
		bad(c, leaf,
		    "\"%s\": only folders and files of this machine for now; allowed is an absolute "
		    "path or file:///path",
		    uri);
	else if (*path != '/' || has_dots(path))
		bad(c, leaf,
		    "\"%s\": allowed is an absolute path without \"..\", or file:///path",
		    uri);
	else
		check_text(c, leaf, uri);
}

static void check_channels(struct check *c, const char *what, const struct channel *list,
			   size_t count, bool uri_needed)
{
	size_t at = enter(c, "%s", what);

	check_count(c, "", count, SPEC_LIST_MAX);
	for (size_t i = 0; i < count && i <= SPEC_LIST_MAX; i++) {
		check_name(c, list[i].name, list[i].name, SPEC_NAME_MAX);
		if (list[i].uri)
			check_uri(c, list[i].name, list[i].uri);
		else if (uri_needed)
			bad(c, list[i].name,
			    "says nothing; allowed is an absolute path or file:///path");
		for (size_t k = 0; k < i; k++)
			if (same_variable(list[k].name, list[i].name))
				bad(c, list[i].name,
				    "the names \"%s\" and \"%s\" are too much alike",
				    list[k].name, list[i].name);
	}
	leave(c, at);
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
	size_t at = enter(c, "services");

	check_count(c, "", s->service_count, SPEC_LIST_MAX);
	for (size_t i = 0; i < s->service_count && i <= SPEC_LIST_MAX; i++) {
		const struct service *v = &s->services[i];
		const struct role *r = role_named(s, v->role);
		check_name(c, v->name, v->name, SPEC_NAME_MAX);
		if (!r)
			bad(c, v->name, "there is no role \"%s\"",
			    v->role ? v->role : "");
		else if (!has_port(r, v->port))
			bad(c, v->name, "the role \"%s\" has no port \"%s\"", r->name,
			    v->port ? v->port : "");
		for (size_t k = 0; k < i; k++)
			if (same_variable(s->services[k].name, v->name))
				bad(c, v->name,
				    "the names \"%s\" and \"%s\" are too much alike",
				    s->services[k].name, v->name);
	}
	leave(c, at);
}

static void check_after(struct check *c, const struct spec *s)
{
	check_count(c, "after", s->after_count, SPEC_LIST_MAX);
	for (size_t i = 0; i < s->after_count && i <= SPEC_LIST_MAX; i++) {
		const char *leaf = s->after[i].ok ? "after-ok" : "after";
		if (s->after[i].job < 1)
			bad(c, leaf, "%" PRId64 " is not the number of a job",
			    s->after[i].job);
		for (size_t k = 0; k < i; k++)
			if (s->after[k].job == s->after[i].job)
				bad(c, leaf, "job %" PRId64 " is named twice",
				    s->after[i].job);
	}
}

static void check_retry(struct check *c, const struct retry *r)
{
	size_t at = enter(c, "retry");

	if (r->max != SPEC_ALL)
		check_range(c, "max", r->max, 0, SPEC_RETRY_MAX);
	check_span(c, "backoff", r->backoff_ms, SPEC_LIMIT_MS_MAX);
	check_span(c, "backoff-max", r->backoff_max_ms, SPEC_LIMIT_MS_MAX);
	if (r->backoff_max_ms < r->backoff_ms)
		bad(c, "backoff-max", "smaller than backoff");
	leave(c, at);
}

static void check_code(struct check *c, const char *hash)
{
	if (strlen(hash) != 64 || strspn(hash, "0123456789abcdef") != 64)
		bad(c, "code", "not the hash of a code snapshot (64 digits of 0-9a-f)");
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
	check_labels(&c, s);
	check_hyperparameters(&c, s);
	check_retry(&c, &s->retry);
	check_span(&c, "time-limit", s->time_limit_ms, SPEC_LIMIT_MS_MAX);
	check_span(&c, "grace", s->grace_ms, SPEC_GRACE_MS_MAX);
	check_channels(&c, "inputs", s->inputs, s->input_count, true);
	check_channels(&c, "outputs", s->outputs, s->output_count, false);
	check_services(&c, s);
	check_after(&c, s);
	if (s->code)
		check_code(&c, s->code);
	/* The bound also keeps what is stored within what doc.h reads back. */
	if (out->count == before) {
		AUTO_BUF struct buf json = { 0 };
		spec_to_json(s, &json);
		if (json.len > SPEC_BYTES_MAX)
			bad(&c, "", "the job is %zu bytes large; at most %d are allowed",
			    json.len, SPEC_BYTES_MAX);
	}
	buf_fini(&c.path);
}
