// SPDX-License-Identifier: Apache-2.0
/* The native job file: text → spec, or every problem with its place. */
#include <assert.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "dialect/native.h"

size_t native_enter(struct native_reader *r, const struct doc_node *n)
{
	size_t before = r->path.len;

	buf_printf(&r->path, "%s%s", before ? "." : "", n->key);
	return before;
}

size_t native_enter_item(struct native_reader *r, size_t index)
{
	size_t before = r->path.len;

	buf_printf(&r->path, "[%zu]", index);
	return before;
}

void native_leave(struct native_reader *r, size_t before)
{
	r->path.len = before;
	r->path.data[before] = 0;
}

void native_bad(struct native_reader *r, const struct doc_node *n, const char *fmt, ...)
{
	AUTO_BUF struct buf text = { 0 };
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(&text, fmt, ap);
	va_end(ap);
	problems_add(r->out, n->line, n->column, buf_str(&r->path), "%s", buf_str(&text));
}

bool native_bounded(struct native_reader *r, const struct doc_node *n, size_t most)
{
	if (n->count > most)
		native_bad(r, n, "%zu entries; at most %zu are allowed", n->count, most);
	return n->count <= most;
}

void native_fields(struct native_reader *r, const struct field_set *set,
		   const struct doc_node *map, void *object)
{
	for (const struct doc_node *n = map->first; n; n = n->next) {
		const struct field *f = field_find(set, n->key);
		size_t before;
		if (!f)
			continue;
		before = native_enter(r, n);
		native_value(r, f, n, object);
		native_leave(r, before);
	}
}

#define NAMES_MAX 64

static size_t all_names(const struct field_set *const *sets, const char *names[NAMES_MAX])
{
	size_t count = 0;

	for (; *sets; sets++)
		for (size_t i = 0; i < (*sets)->count; i++) {
			assert(count < NAMES_MAX);
			names[count++] = (*sets)->fields[i].name;
		}
	return count;
}

static void say_unknown(struct native_reader *r, const struct field_set *const *sets,
			const struct doc_node *n)
{
	const char *names[NAMES_MAX], *habit = native_habit(n->key), *guess;
	size_t count = all_names(sets, names), before = native_enter(r, n);
	AUTO_BUF struct buf text = { 0 };

	guess = habit ? habit : str_guess(n->key, names, count);
	buf_adds(&text, "there is no such field");
	if (guess) {
		buf_printf(&text, "; did you mean \"%s\"?", guess);
	} else {
		buf_adds(&text, "; allowed are ");
		for (size_t i = 0; i < count; i++)
			buf_printf(&text, "%s%s", i ? ", " : "", names[i]);
	}
	problems_add(r->out, n->key_line, n->key_column, buf_str(&r->path), "%s",
		     buf_str(&text));
	native_leave(r, before);
}

void native_unknown(struct native_reader *r, const struct field_set *const *sets,
		    const struct doc_node *map)
{
	for (const struct doc_node *n = map->first; n; n = n->next) {
		bool known = false;
		for (size_t i = 0; sets[i]; i++)
			known = known || field_find(sets[i], n->key);
		if (!known)
			say_unknown(r, sets, n);
	}
}

static struct role *place_role(struct native_reader *r, const struct doc_node *n)
{
	r->places[r->place_count++] =
		(struct role_place){ .node = n, .prefix = mem_strdup(buf_str(&r->path)) };
	return spec_add_role(r->spec);
}

static void read_role(struct native_reader *r, const struct doc_node *n, const char *name)
{
	const struct field_set *const sets[] = { &native_role, NULL };
	struct role *role;

	if (n->kind != DOC_MAP) {
		native_bad(r, n, "is %s; allowed is a map of a role's fields",
			   doc_kind_word(n->kind));
		return;
	}
	role = place_role(r, n);
	native_fields(r, &native_role, n, role);
	native_unknown(r, sets, n);
	if (name && role->name && strcmp(role->name, name) != 0)
		native_bad(r, n, "is named \"%s\" and \"%s\"; leave one out", name,
			   role->name);
	if (name && !role->name)
		role->name = mem_strdup(name);
}

static void read_roles(struct native_reader *r, const struct doc_node *roles)
{
	bool map = roles->kind == DOC_MAP;
	size_t i = 0, before;

	if ((!map && roles->kind != DOC_LIST) || !roles->count) {
		native_bad(r, roles, "is %s; allowed is %s",
			   roles->kind == DOC_LIST || map ? "empty"
							  : doc_kind_word(roles->kind),
			   field_types[FIELD_ROLES].allowed);
		return;
	}
	if (!native_bounded(r, roles, SPEC_ROLES_MAX))
		return;
	for (const struct doc_node *n = roles->first; n; n = n->next) {
		before = map ? native_enter(r, n) : native_enter_item(r, i++);
		read_role(r, n, n->key);
		native_leave(r, before);
	}
}

/* The role's fields stand at the top of the file; its name there is the job's. */
static void read_short_form(struct native_reader *r, const struct doc_node *root)
{
	struct role *role = place_role(r, root);

	for (const struct doc_node *n = root->first; n; n = n->next) {
		const struct field *f = field_find(&native_role, n->key);
		size_t before;
		if (!f || field_find(&native_job, n->key))
			continue;
		before = native_enter(r, n);
		native_value(r, f, n, role);
		native_leave(r, before);
	}
}

/* Both forms at once: which command would be meant? */
static void refuse_role_fields(struct native_reader *r, const struct doc_node *root)
{
	for (const struct doc_node *n = root->first; n; n = n->next) {
		if (!field_find(&native_role, n->key) || field_find(&native_job, n->key))
			continue;
		size_t before = native_enter(r, n);
		problems_add(r->out, n->key_line, n->key_column, buf_str(&r->path),
			     "belongs into a role, because there are \"roles\"");
		native_leave(r, before);
	}
}

/* A service of a job with one role need not name it. */
static void default_services(struct spec *s)
{
	for (size_t i = 0; i < s->service_count && s->role_count == 1; i++)
		if (!s->services[i].role)
			s->services[i].role =
				mem_strdup(s->roles[0].name ? s->roles[0].name : "main");
}

/* A long grace alone must not collide with a default that nobody wrote. */
static void fit_grace(struct spec *s, const struct doc_node *root)
{
	if (!doc_get(root, "grace-max") && s->grace_max_ms < s->grace_ms)
		s->grace_max_ms = s->grace_ms;
	if (!doc_get(root, "grace") && s->grace_ms > s->grace_max_ms)
		s->grace_ms = s->grace_max_ms;
}

static void read_job(struct native_reader *r, const struct doc_node *root)
{
	const struct field_set *const sets[] = { &native_job, &native_role, NULL };
	const struct doc_node *roles = doc_get(root, "roles");
	size_t before;

	native_fields(r, &native_job, root, r->spec);
	native_unknown(r, sets, root);
	if (roles) {
		refuse_role_fields(r, root);
		before = native_enter(r, roles);
		read_roles(r, roles);
		native_leave(r, before);
	} else {
		read_short_form(r, root);
	}
	default_services(r->spec);
	fit_grace(r->spec, root);
}

static void reader_fini(struct native_reader *r)
{
	for (size_t i = 0; i < r->place_count; i++)
		free(r->places[i].prefix);
	buf_fini(&r->path);
}

/* Whether something was said already about this field, what is in it, or what it is in. */
static bool told_already(const struct problems *p, size_t count, const char *field)
{
	for (size_t i = 0; i < count; i++) {
		const char *other = p->items[i].field;
		size_t n = strlen(field), m = strlen(other), least = n < m ? n : m;
		const char *longer = n > m ? field : other;
		if (least == 0 || memcmp(field, other, least) != 0)
			continue;
		if (n == m || longer[least] == '.' || longer[least] == '[')
			return true;
	}
	return false;
}

static void add_check(struct native_reader *r, const struct doc_node *root)
{
	AUTO_PROBLEMS struct problems found = { 0 };
	size_t before = r->out->count;

	spec_check(r->spec, &found);
	native_locate(r, root, &found);
	for (size_t i = 0; i < found.count; i++) {
		const struct problem *p = &found.items[i];
		if (!told_already(r->out, before, p->field))
			problems_add(r->out, p->line, p->column, p->field, "%s", p->text);
	}
}

/* Far above any spec that passes the check; bounds the time a stranger's file may cost. */
#define NATIVE_BYTES_MAX (512u << 10)

static struct spec *native_read(const char *text, size_t len, struct problems *out)
{
	AUTO_SPEC struct spec *spec = NULL;
	AUTO_DOC struct doc *doc = NULL;
	struct native_reader r = { .out = out };
	struct doc_mark where = { 0 };
	struct err err = { 0 };
	size_t before = out->count;

	if (len > NATIVE_BYTES_MAX) {
		problems_add(out, 0, 0, "",
			     "a job file of %zu bytes; at most %u are read", len,
			     NATIVE_BYTES_MAX);
		return NULL;
	}
	doc = doc_parse_at(text, len, &where, &err);
	if (!doc) {
		problems_add(out, where.line, where.column, "", "%s", err.text);
		return NULL;
	}
	if (doc_root(doc)->kind != DOC_MAP) {
		problems_add(out, doc_root(doc)->line, doc_root(doc)->column, "",
			     "a job file is a map of fields, this is %s",
			     doc_kind_word(doc_root(doc)->kind));
		return NULL;
	}
	r.spec = spec = spec_create();
	read_job(&r, doc_root(doc));
	add_check(&r, doc_root(doc));
	reader_fini(&r);
	return out->count == before ? TAKE(spec) : NULL;
}

const struct dialect dialect_native = {
	.name = DIALECT_NATIVE,
	.summary = "Trainyard's own job file, YAML or JSON",
	.read = native_read,
	.schema = native_schema,
	.reference = native_reference,
};
