// SPDX-License-Identifier: Apache-2.0
/* Images and kinds of machine. */
#include "http/catalog.h"

#include <string.h>

#include "base/doc.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "catalog/catalog.h"
#include "http/handlers.h"
#include "http/route.h"

#define IMAGES_OWN_MAX 200 /* of one user */
#define MACHINES_MAX   1000
#define NODES_MAX      1024
#define DEFAULT_PATH   "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

static struct catalog *kept(const struct exchange *ex)
{
	return ex->server->config.catalog;
}

/* A look at the host that a request waits for. */
struct pause {
	struct exchange *ex;
	void (*go)(struct exchange *ex);
};

static void looked(void *arg)
{
	struct pause p = *(struct pause *)arg;

	free(arg);
	if (p.ex->conn)
		p.go(p.ex);
	exchange_drop(p.ex);
}

static void look(struct exchange *ex, void (*go)(struct exchange *ex))
{
	const char *path = ex->server->config.user_path;
	struct pause *p = mem_alloc(1, sizeof *p);

	*p = (struct pause){ ex, go };
	exchange_hold(ex);
	catalog_look(kept(ex), path ? path : DEFAULT_PATH, looked, p);
}

void images_ready(struct exchange *ex, bool named, void (*go)(struct exchange *ex))
{
	if (named && kept(ex) && !catalog_has_looked(kept(ex)))
		look(ex, go);
	else
		go(ex);
}

void images_check_spec(const struct exchange *ex, const struct spec *spec,
		       struct problems *out)
{
	if (kept(ex))
		catalog_check_spec(kept(ex), ex->who, spec, out);
}

static void write_images(struct exchange *ex)
{
	const struct image_filter f = { .framework = param_text(ex, "framework"),
					.version = param_text(ex, "version"),
					.accelerator = param_text(ex, "accelerator"),
					.scope = param_text(ex, "scope"),
					.use = param_text(ex, "use"),
					.text = param_text(ex, "q") };
	size_t max = catalog_image_count(kept(ex));
	AUTO_FREE const struct image **list = mem_alloc(max + 1, sizeof *list);
	size_t count = catalog_images(kept(ex), ex->who, &f, list, max);
	struct buf *out = answer_scratch(ex);
	struct json j;

	json_init(&j, out);
	json_object(&j, NULL);
	json_array(&j, "images");
	for (size_t i = 0; i < count; i++)
		image_write(list[i], &j, NULL);
	json_end(&j);
	json_end(&j);
	answer_json(ex, 200, out);
}

void handle_images(struct exchange *ex)
{
	look(ex, write_images);
}

/* Whose name in the documents: one's own lie apart, so that nobody takes another's name. */
static char *doc_name(const struct exchange *ex, enum image_scope scope)
{
	return scope == IMAGE_OWN ? str_printf("%s/%s", ex->who->name, ex->param[0])
				  : mem_strdup(ex->param[0]);
}

static int check_image(const struct exchange *ex, const struct image *i, struct err *err)
{
	const struct image_filter own = { .scope = "own" };
	size_t max = catalog_image_count(kept(ex)), mine = 0;
	AUTO_FREE const struct image **list = mem_alloc(max + 1, sizeof *list);

	if (i->scope != IMAGE_OWN && !principal_is_admin(ex->who))
		return err_set(err, ERR_DENIED,
			       "scope: %s images are kept by admins; say own",
			       image_scope_word(i->scope));
	size_t count = catalog_images(kept(ex), ex->who, &own, list, max);
	for (size_t k = 0; k < count; k++)
		mine += str_eq(list[k]->owner, ex->who->name) &&
			!str_eq(list[k]->name, i->name);
	if (i->scope == IMAGE_OWN && mine >= IMAGES_OWN_MAX)
		return err_set(err, ERR_TOO_LARGE,
			       "you have %zu images already: remove some", mine);
	return 0;
}

static void image_set(void *arg, int64_t job, bool again, const struct err *err)
{
	struct exchange *ex = arg;
	const struct image *i =
		ex->conn ? catalog_image(kept(ex), ex->who, ex->param[0]) : NULL;

	(void)job;
	(void)again;
	if (err) {
		answer_error(ex, err);
	} else if (i) {
		struct buf *out = answer_scratch(ex);
		struct json j;
		json_init(&j, out);
		image_write(i, &j, NULL);
		answer_json(ex, 200, out);
	} else if (ex->conn) {
		answer_error(ex,
			     &(struct err){ ERR_NOT_FOUND, "it was removed at once" });
	}
	exchange_drop(ex);
}

static void record(struct exchange *ex, const struct yard_doc *doc, const char *action,
		   yard_done done)
{
	exchange_hold(ex);
	yard_change(ex->server->config.yard, ex->who,
		    &(struct yard_change){ doc, 1, action, doc->name }, done, ex);
}

static struct image *read_image(struct exchange *ex, struct err *err)
{
	AUTO_DOC struct doc *d = doc_parse_json(buf_str(&ex->body), ex->body.len, err);
	struct image *i = d ? image_read(doc_root(d), ex->param[0], err) : NULL;

	if (!i)
		return NULL;
	free(i->owner);
	i->owner = mem_strdup(ex->who->name);
	i->created_ms = world_now_ms(ex->server->config.world);
	if (check_image(ex, i, err) == 0)
		return i;
	image_destroy(i);
	return NULL;
}

void handle_image_put(struct exchange *ex)
{
	AUTO_BUF struct buf body = { 0 };
	struct err err;
	struct json j;
	struct image *i = read_image(ex, &err);

	if (!i) {
		answer_error(ex, &err);
		return;
	}
	AUTO_FREE char *name = doc_name(ex, i->scope);
	json_init(&j, &body);
	image_write(i, &j, NULL);
	image_destroy(i);
	record(ex, &(struct yard_doc){ CATALOG_IMAGE_KIND, name, buf_str(&body) },
	       "image.set", image_set);
}

void handle_image_remove(struct exchange *ex)
{
	const struct image *i = catalog_image(kept(ex), ex->who, ex->param[0]);
	struct err err;

	if (!i || !str_eq(i->name, ex->param[0])) {
		err_set(&err, ERR_NOT_FOUND, "there is no image '%s'", ex->param[0]);
		answer_error(ex, &err);
	} else if (!*i->owner) {
		err_set(&err, ERR_DENIED,
			"'%s' was found on this host: it is there as long as that is so",
			ex->param[0]);
		answer_error(ex, &err);
	} else if (i->scope != IMAGE_OWN && !principal_is_admin(ex->who)) {
		err_set(&err, ERR_DENIED, "'%s' is %s: an admin may remove it",
			ex->param[0], image_scope_word(i->scope));
		answer_error(ex, &err);
	} else {
		AUTO_FREE char *name = doc_name(ex, i->scope);
		record(ex, &(struct yard_doc){ CATALOG_IMAGE_KIND, name, NULL },
		       "image.remove", answer_done);
	}
}

static bool fits(const struct yard_node *nodes, size_t count, const struct machine *m)
{
	for (size_t i = 0; i < count; i++)
		if (resources_fit(&m->each, &nodes[i].node.capacity))
			return true;
	return false;
}

static struct yard_node *all_nodes(const struct exchange *ex, size_t *count)
{
	struct yard_node *nodes = mem_alloc(NODES_MAX, sizeof *nodes);

	*count = yard_nodes(ex->server->config.yard, nodes, NODES_MAX);
	if (*count > NODES_MAX)
		*count = NODES_MAX;
	return nodes;
}

void handle_machines(struct exchange *ex)
{
	AUTO_FREE struct machine *list = mem_alloc(MACHINES_MAX, sizeof *list);
	size_t count = catalog_machines(kept(ex), list, MACHINES_MAX), node_count;
	AUTO_FREE struct yard_node *nodes = all_nodes(ex, &node_count);
	struct buf *out = answer_scratch(ex);
	struct json j;

	json_init(&j, out);
	json_object(&j, NULL);
	json_array(&j, "types");
	for (size_t i = 0; i < count; i++)
		machine_write(&list[i], &j, NULL, fits(nodes, node_count, &list[i]));
	json_end(&j);
	json_end(&j);
	answer_json(ex, 200, out);
}

void handle_machine(struct exchange *ex)
{
	struct machine m;
	struct err err;
	struct json j;

	if (!catalog_machine(kept(ex), ex->param[0], &m)) {
		err_set(&err, ERR_NOT_FOUND,
			"there is no instance type '%s'; `yard instance-type ls` shows them",
			ex->param[0]);
		answer_error(ex, &err);
		return;
	}
	size_t count;
	AUTO_FREE struct yard_node *nodes = all_nodes(ex, &count);
	struct buf *out = answer_scratch(ex);
	json_init(&j, out);
	machine_write(&m, &j, NULL, fits(nodes, count, &m));
	answer_json(ex, 200, out);
}

static void machine_set(void *arg, int64_t job, bool again, const struct err *err)
{
	struct exchange *ex = arg;

	(void)job;
	(void)again;
	if (err)
		answer_error(ex, err);
	else if (ex->conn)
		handle_machine(ex);
	exchange_drop(ex);
}

void handle_machine_put(struct exchange *ex)
{
	AUTO_BUF struct buf body = { 0 };
	struct machine m;
	struct err err;
	struct json j;
	AUTO_DOC struct doc *d = doc_parse_json(buf_str(&ex->body), ex->body.len, &err);

	if (!d || machine_read(doc_root(d), ex->param[0], &m, &err) < 0) {
		answer_error(ex, &err);
		return;
	}
	json_init(&j, &body);
	machine_write(&m, &j, NULL, true);
	record(ex, &(struct yard_doc){ CATALOG_MACHINE_KIND, m.name, buf_str(&body) },
	       "instance-type.set", machine_set);
}

void handle_machine_remove(struct exchange *ex)
{
	struct machine m;
	struct err err;

	if (!catalog_machine(kept(ex), ex->param[0], &m) || m.builtin) {
		err_set(&err, ERR_NOT_FOUND, "nobody has set an instance type '%s'",
			ex->param[0]);
		answer_error(ex, &err);
		return;
	}
	record(ex, &(struct yard_doc){ CATALOG_MACHINE_KIND, m.name, NULL },
	       "instance-type.remove", answer_done);
}
