// SPDX-License-Identifier: Apache-2.0
/* catalog.h - what jobs can be asked to run in and on: images and kinds of machine.
 *
 * In memory are the store's documents of kinds "image" and "machine", changed by them
 * only (yard_change, then catalog_apply_…()), and what is found on this host.  An image of
 * the catalogue is a name with labels for something that runs: for now the host itself
 * (`runs` is "host"), as its Python environment stands.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/json.h"
#include "catalog/image.h"
#include "catalog/machine.h"
#include "job/principal.h"
#include "job/problem.h"
#include "job/spec.h"
#include "world/world.h"

#define CATALOG_IMAGE_KIND   "image" /* of the documents */
#define CATALOG_MACHINE_KIND "machine"

struct catalog;

struct catalog *catalog_create(struct world *w);
void catalog_destroy(struct catalog *c); /* NULL is fine; before the world */
/* For a yard_doc_sink.  Names: "NAME", of one's own "USER/NAME"; body NULL: gone. */
void catalog_apply_image(void *catalog, const char *name, const char *body);
void catalog_apply_machine(void *catalog, const char *name, const char *body);

/* Looks what Python and which frameworks this host has, off the loop, and calls done: at
 * once when that is known already and not old.  path: where to look for programs. */
void catalog_look(struct catalog *c, const char *path, world_cb done, void *arg);
bool catalog_has_looked(const struct catalog *c); /* once, at whatever time */

/* What a list is narrowed to; NULL: all. */
struct image_filter {
	const char *framework;   /* in any case */
	const char *version;     /* "2.3" is also 2.3.1; "latest": the highest only */
	const char *accelerator; /* in any case */
	const char *scope, *use; /* words */
	const char *text;        /* somewhere in name, uri or description */
};
/* What who may see, by framework and then the highest version first.  Borrowed until the
 * next change; returns how many, at most max. */
size_t catalog_images(const struct catalog *c, const struct principal *who,
		      const struct image_filter *f, const struct image **out, size_t max);
size_t catalog_image_count(const struct catalog *c);
/* By name or uri; one's own before all others'.  NULL: none that they may see. */
const struct image *catalog_image(const struct catalog *c, const struct principal *who,
				  const char *name);
/* Before a submit: one problem for each role whose image is not there for this caller. */
void catalog_check_spec(const struct catalog *c, const struct principal *who,
			const struct spec *spec, struct problems *out);

/* Those that were set, and those that everybody knows by name; by name. */
size_t catalog_machines(const struct catalog *c, struct machine *out, size_t max);
/* True: found, also by the rule of names alone (machine.h). */
bool catalog_machine(const struct catalog *c, const char *name, struct machine *out);
