// SPDX-License-Identifier: Apache-2.0
#include "job/spec.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/utf8.h"
#include "job/spec_default.h"

#define SPEC_HASH_HEX 64

struct spec *spec_create(void)
{
	struct spec *s = mem_alloc(1, sizeof *s);

	s->grace_ms = SPEC_GRACE_MS;
	s->grace_max_ms = SPEC_GRACE_MAX_MS;
	s->retry.backoff_ms = SPEC_BACKOFF_MS;
	s->retry.backoff_max_ms = SPEC_BACKOFF_MAX_MS;
	return s;
}

static void argv_fini(struct role *r)
{
	for (size_t i = 0; i < r->argc; i++)
		free(r->argv[i]);
	free(r->argv);
	free(r->shell_line);
	r->argv = NULL;
	r->argc = 0;
	r->shell_line = NULL;
}

static void role_fini(struct role *r)
{
	argv_fini(r);
	for (size_t i = 0; i < r->port_count; i++)
		free(r->ports[i].name);
	free(r->ports);
	pairs_fini(&r->env);
	pairs_fini(&r->where);
	free(r->name);
	free(r->image);
}

static void channels_free(struct channel *c, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		free(c[i].name);
		free(c[i].uri);
	}
	free(c);
}

void spec_destroy(struct spec *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->role_count; i++)
		role_fini(&s->roles[i]);
	for (size_t i = 0; i < s->service_count; i++) {
		free(s->services[i].name);
		free(s->services[i].role);
		free(s->services[i].port);
	}
	channels_free(s->inputs, s->input_count);
	channels_free(s->outputs, s->output_count);
	pairs_fini(&s->labels);
	pairs_fini(&s->hyperparameters);
	for (size_t i = 0; i < s->secret_count; i++) {
		free(s->secrets[i].name);
		free(s->secrets[i].env);
		free(s->secrets[i].file);
		free(s->secrets[i].from);
	}
	free(s->secrets);
	for (size_t i = 0; i < s->metric_count; i++) {
		free(s->metrics[i].name);
		free(s->metrics[i].pattern);
	}
	free(s->metrics);
	for (size_t i = 0; i < s->requirements.count; i++)
		free(s->requirements.items[i]);
	free(s->requirements.items);
	array_fini(&s->array);
	free(s->roles);
	free(s->services);
	free(s->after);
	free(s->name);
	free(s->group);
	free(s->code);
	free(s);
}

void spec_cleanup(struct spec **s)
{
	spec_destroy(*s);
}

/* The lists of a spec are short and built once: they grow by one. */
static void *add_one(void *items, size_t *count, size_t size)
{
	char *p;

	memcpy(&p, items, sizeof p);
	p = mem_realloc(p, *count + 1, size);
	memcpy(items, &p, sizeof p);
	p += *count * size;
	memset(p, 0, size);
	(*count)++;
	return p;
}

struct role *spec_add_role(struct spec *s)
{
	struct role *r = add_one(&s->roles, &s->role_count, sizeof *s->roles);

	r->count = 1;
	r->each.cpu_milli = SPEC_CPU_MILLI;
	r->each.memory_bytes = SPEC_MEMORY_BYTES;
	r->fail_after = 1;
	r->succeed_after = SPEC_ALL;
	return r;
}

void role_set_argv(struct role *r, const char *const *argv, size_t argc)
{
	argv_fini(r);
	r->argv = mem_alloc(argc + 1, sizeof *r->argv);
	for (size_t i = 0; i < argc; i++)
		r->argv[i] = mem_strdup(argv[i]);
	r->argc = argc;
}

void role_set_shell(struct role *r, const char *line)
{
	const char *const argv[] = { "sh", "-c", line };

	role_set_argv(r, argv, COUNT_OF(argv));
	r->shell_line = mem_strdup(line);
}

struct port_ask *role_add_port(struct role *r, const char *name)
{
	struct port_ask *p = add_one(&r->ports, &r->port_count, sizeof *r->ports);

	p->name = mem_strdup(name);
	p->count = 1;
	return p;
}

static struct channel *add_channel(struct channel **list, size_t *count, const char *name,
				   const char *uri)
{
	struct channel *c = add_one(list, count, sizeof *c);

	c->name = mem_strdup(name);
	c->uri = mem_strdup(uri);
	return c;
}

struct channel *spec_add_input(struct spec *s, const char *name, const char *uri)
{
	return add_channel(&s->inputs, &s->input_count, name, uri);
}

struct channel *spec_add_output(struct spec *s, const char *name, const char *uri)
{
	return add_channel(&s->outputs, &s->output_count, name, uri);
}

struct service *spec_add_service(struct spec *s, const char *name, const char *role,
				 const char *port)
{
	struct service *v = add_one(&s->services, &s->service_count, sizeof *v);

	v->name = mem_strdup(name);
	v->role = mem_strdup(role);
	v->port = mem_strdup(port);
	return v;
}

struct metric *spec_add_metric(struct spec *s, const char *name, const char *pattern)
{
	struct metric *m = add_one(&s->metrics, &s->metric_count, sizeof *m);

	m->name = mem_strdup(name);
	m->pattern = mem_strdup(pattern);
	return m;
}

void spec_add_requirement(struct spec *s, const char *text)
{
	struct requirements *r = &s->requirements;
	char **item = add_one(&r->items, &r->count, sizeof *r->items);

	*item = mem_strdup(text);
	r->which = REQUIREMENTS_ALL;
}

struct secret_use *spec_add_secret(struct spec *s, const char *name)
{
	struct secret_use *u = add_one(&s->secrets, &s->secret_count, sizeof *u);

	u->name = mem_strdup(name);
	u->mode = SECRET_MODE;
	return u;
}

void spec_add_after(struct spec *s, int64_t job, bool ok)
{
	struct dependency *d = add_one(&s->after, &s->after_count, sizeof *d);

	*d = (struct dependency){ .job = job, .ok = ok };
}

int spec_task_count(const struct spec *s)
{
	int n = 0;

	for (size_t i = 0; i < s->role_count; i++)
		if (__builtin_add_overflow(n, s->roles[i].count, &n))
			return INT32_MAX;
	return n;
}

struct resources spec_total(const struct spec *s)
{
	struct resources total = { 0 };

	for (size_t i = 0; i < s->role_count; i++) {
		struct resources all = s->roles[i].each;
		resources_scale(&all, s->roles[i].count);
		resources_add(&total, &all);
	}
	return total;
}

bool spec_code_is_hash(const char *code)
{
	return strlen(code) == SPEC_HASH_HEX &&
	       strspn(code, "0123456789abcdef") == SPEC_HASH_HEX;
}

bool spec_uri_is_host(const char *uri)
{
	return *uri == '/' || str_starts(uri, "file:");
}

static const char *const contracts[SPEC_CONTRACT_COUNT] = {
	[SPEC_NATIVE] = "native",
	[SPEC_ESTIMATOR] = "estimator",
};

const char *spec_contract_word(enum spec_contract c)
{
	return contracts[c];
}

int spec_contract_from_word(const char *word, enum spec_contract *out)
{
	for (enum spec_contract c = 0; c < SPEC_CONTRACT_COUNT; c++) {
		if (str_eq(contracts[c], word)) {
			*out = c;
			return 0;
		}
	}
	return -1;
}

char *spec_variable(const char *prefix, const char *name)
{
	struct buf b = { 0 };
	size_t len = strlen(name), n;

	buf_adds(&b, prefix);
	for (size_t i = 0; i < len; i += n ? n : 1) {
		char c = name[i];
		n = utf8_sequence(name + i, len - i);
		if (c >= 'a' && c <= 'z')
			c = (char)(c - 'a' + 'A');
		buf_addc(&b, (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ? c : '_');
	}
	return buf_take(&b);
}
