// SPDX-License-Identifier: Apache-2.0
#include "catalog/catalog.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "catalog/host.h"

#define LOOK_AGAIN_MS 600000 /* packages come and go while the daemon runs */

struct catalog {
	struct world *world;
	struct world_lane *lane; /* one look takes seconds on a cold disk */
	struct map *images;      /* by the documents' names → struct image */
	struct map *machines;    /* by name → struct machine */
	struct host_find host;
	int64_t looked_ms; /* by the clock that never goes back; 0: never */
	struct look *looking;
};

/* One look at the host, and those who wait for it. */
struct waiter {
	world_cb done;
	void *arg;
};
struct look {
	struct catalog *catalog; /* NULL: it is gone */
	char *path;
	struct host_find found;
	struct waiter *waiters;
	size_t count, cap;
};

struct catalog *catalog_create(struct world *w)
{
	struct catalog *c = mem_alloc(1, sizeof *c);

	c->world = w;
	c->lane = world_lane_create(w, 1);
	c->images = map_create();
	c->machines = map_create();
	return c;
}

void catalog_destroy(struct catalog *c)
{
	struct image *i;
	struct machine *m;

	if (!c)
		return;
	if (c->looking)
		c->looking->catalog = NULL;
	for (size_t it = 0; (i = map_next(c->images, &it));)
		image_destroy(i);
	for (size_t it = 0; (m = map_next(c->machines, &it));)
		free(m);
	map_destroy(c->images);
	map_destroy(c->machines);
	host_find_fini(&c->host);
	world_lane_destroy(c->lane);
	free(c);
}

void catalog_apply_image(void *catalog, const char *name, const char *body)
{
	struct catalog *c = catalog;
	AUTO_DOC struct doc *d = body ? doc_parse_json(body, strlen(body), NULL) : NULL;
	const char *slash = strchr(name, '/');

	image_destroy(map_dels(c->images, name));
	if (!d)
		return;
	struct image *i = image_read(doc_root(d), slash ? slash + 1 : name, NULL);
	if (i)
		map_puts(c->images, name, i);
}

void catalog_apply_machine(void *catalog, const char *name, const char *body)
{
	struct catalog *c = catalog;
	AUTO_DOC struct doc *d = body ? doc_parse_json(body, strlen(body), NULL) : NULL;
	struct machine m;

	free(map_dels(c->machines, name));
	if (d && machine_read(doc_root(d), name, &m, NULL) == 0)
		map_puts(c->machines, name, mem_dup(&m, sizeof m));
}

static void look_work(void *arg)
{
	struct look *l = arg;

	host_look(l->path, &l->found);
}

static void look_done(void *arg)
{
	struct look *l = arg;
	struct catalog *c = l->catalog;

	if (c) {
		host_find_fini(&c->host);
		c->host = l->found;
		c->looked_ms = world_mono_ms(c->world) + 1; /* never 0 */
		c->looking = NULL;
		for (size_t i = 0; i < l->count; i++)
			l->waiters[i].done(l->waiters[i].arg);
	} else {
		host_find_fini(&l->found);
	}
	free(l->waiters);
	free(l->path);
	free(l);
}

void catalog_look(struct catalog *c, const char *path, world_cb done, void *arg)
{
	if (c->looked_ms && world_mono_ms(c->world) - c->looked_ms < LOOK_AGAIN_MS) {
		done(arg);
		return;
	}
	bool begin = !c->looking;
	if (begin) {
		c->looking = mem_alloc(1, sizeof *c->looking);
		c->looking->catalog = c;
		c->looking->path = mem_strdup(path);
	}
	struct look *l = c->looking;
	mem_grow(&l->waiters, &l->cap, l->count, sizeof *l->waiters);
	l->waiters[l->count++] = (struct waiter){ done, arg };
	if (begin)
		world_lane_work(c->lane, look_work, look_done, l);
}

bool catalog_has_looked(const struct catalog *c)
{
	return c->looked_ms != 0;
}

static bool may_see(const struct principal *who, const struct image *i)
{
	return i->scope != IMAGE_OWN || who->role == ROLE_ADMIN ||
	       str_eq(i->owner, who->name);
}

static bool has_text(const struct image *i, const char *text)
{
	return strcasestr(i->name, text) || strcasestr(i->uri, text) ||
	       strcasestr(i->description, text);
}

static bool has_use(const struct image *i, const char *use)
{
	size_t n = strlen(use);

	for (const char *at = i->uses; *at; at += strspn(at, " ")) {
		size_t len = strcspn(at, " ");
		if (len == n && strncmp(at, use, n) == 0)
			return true;
		at += len;
	}
	return false;
}

static bool passes(const struct image *i, const struct image_filter *f)
{
	bool any = !f->version || str_eq(f->version, "latest");

	return (!f->framework || strcasecmp(i->framework, f->framework) == 0) &&
	       (any || version_within(i->version, f->version)) &&
	       (!f->accelerator || strcasecmp(i->accelerator, f->accelerator) == 0) &&
	       (!f->scope || str_eq(image_scope_word(i->scope), f->scope)) &&
	       (!f->use || has_use(i, f->use)) && (!f->text || has_text(i, f->text));
}

static int in_order(const void *a, const void *b)
{
	const struct image *x = *(const struct image *const *)a,
			   *y = *(const struct image *const *)b;
	int order = strcasecmp(x->framework, y->framework);

	if (order == 0)
		order = version_compare(y->version, x->version);
	if (order == 0)
		order = strcmp(x->accelerator, y->accelerator);
	return order ? order : strcmp(x->name, y->name);
}

/* Of each framework and accelerator the first, which has the highest version. */
static size_t keep_latest(const struct image **list, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		bool later = false;
		for (size_t k = 0; k < kept && !later; k++)
			later = strcasecmp(list[k]->framework, list[i]->framework) == 0 &&
				str_eq(list[k]->accelerator, list[i]->accelerator);
		if (!later)
			list[kept++] = list[i];
	}
	return kept;
}

size_t catalog_image_count(const struct catalog *c)
{
	return map_count(c->images) + c->host.count;
}

/* An entry that an admin made takes the place of what was found under that name. */
static bool is_hidden(const struct catalog *c, const struct image *found)
{
	return map_gets(c->images, found->name) != NULL;
}

size_t catalog_images(const struct catalog *c, const struct principal *who,
		      const struct image_filter *f, const struct image **out, size_t max)
{
	size_t count = 0;
	const struct image *i;

	assert(max >= catalog_image_count(c));
	for (size_t it = 0; (i = map_next(c->images, &it));)
		if (may_see(who, i) && passes(i, f))
			out[count++] = i;
	for (size_t k = 0; k < c->host.count; k++)
		if (!is_hidden(c, c->host.items[k]) && passes(c->host.items[k], f))
			out[count++] = c->host.items[k];
	qsort(out, count, sizeof(*out), in_order);
	return f->version && str_eq(f->version, "latest") ? keep_latest(out, count)
							  : count;
}

const struct image *catalog_image(const struct catalog *c, const struct principal *who,
				  const char *name)
{
	AUTO_FREE char *own = str_printf("%s/%s", who->name, name);
	const struct image *i = map_gets(c->images, own);

	if (!i && !strchr(name, '/'))
		i = map_gets(c->images, name);
	if (i)
		return i;
	for (size_t it = 0; (i = map_next(c->images, &it));)
		if (str_eq(i->uri, name) && may_see(who, i))
			return i;
	for (size_t k = 0; k < c->host.count; k++)
		if (str_eq(c->host.items[k]->name, name) ||
		    str_eq(c->host.items[k]->uri, name))
			return c->host.items[k];
	return NULL;
}

void catalog_check_spec(const struct catalog *c, const struct principal *who,
			const struct spec *spec, struct problems *out)
{
	for (size_t r = 0; r < spec->role_count; r++) {
		const char *name = spec->roles[r].image;
		AUTO_FREE char *field = str_printf("roles.%s.image", spec->roles[r].name);
		if (str_eq(name, IMAGE_HOST))
			continue;
		const struct image *i = catalog_image(c, who, name);
		if (!i)
			problems_add(
				out, 0, 0, field,
				"there is no image '%.128s' in the catalogue: see "
				"`yard image ls`, or leave image out to run on the host",
				name);
		else if (!str_eq(i->runs, IMAGE_HOST))
			problems_add(out, 0, 0, field,
				     "'%.128s' is the container image %.128s, and this "
				     "yard's engine runs no containers: take one whose "
				     "`runs` is host (`yard image ls`)",
				     name, i->runs);
	}
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct machine *)a)->name,
		      ((const struct machine *)b)->name);
}

size_t catalog_machines(const struct catalog *c, struct machine *out, size_t max)
{
	size_t count = 0;
	const struct machine *m;
	struct machine known;

	for (size_t it = 0; (m = map_next(c->machines, &it)) && count < max;)
		out[count++] = *m;
	for (int i = 0; machine_known(i, &known) && count < max; i++)
		if (!map_gets(c->machines, known.name))
			out[count++] = known;
	qsort(out, count, sizeof *out, by_name);
	return count;
}

bool catalog_machine(const struct catalog *c, const char *name, struct machine *out)
{
	const struct machine *m = map_gets(c->machines, name);

	if (m)
		*out = *m;
	return m || machine_by_name(name, out);
}
