// SPDX-License-Identifier: Apache-2.0
/* What jobs can be asked to run in and on. */
#include "http/route.h"

#include "http/handlers.h"

#define MISSING ROUTE_ERR(ERR_NOT_FOUND)

/* clang-format off */
static const struct param image_params[] = {
	{ "framework", PARAM_TEXT, .help = "such as PyTorch, in any case" },
	{ "version", PARAM_TEXT, .help = "such as 2.3, which 2.3.1 is too; latest: only the highest" },
	{ "accelerator", PARAM_TEXT, .help = "CPU, GPU or NPU, in any case" },
	{ "scope", PARAM_WORD, .words = "official workspace own", .help = "whose" },
	{ "use", PARAM_WORD, .words = "training inference develop", .help = "what for" },
	{ "q", PARAM_TEXT, .help = "somewhere in name, uri or description" },
	{ 0 }
};

const struct route routes_catalog[] = {
	{ "GET", "/images", "list_images", RULE_ANY, handle_images, "the images that jobs may name: the yard's, one's own, and what this host has",
		.params = image_params, .answer = "images" },
	{ "PUT", "/images/:image", "set_image", RULE_MEMBER, handle_image_put, "make or replace an entry; official and workspace are admins'",
		.takes = ROUTE_BODY, .body_max = BODY_SMALL, .body = "image_new", .answer = "image",
		.errors = ROUTE_ERR(ERR_DENIED) | ROUTE_ERR(ERR_BUSY) | ROUTE_ERR(ERR_TOO_LARGE) },
	{ "DELETE", "/images/:image", "remove_image", RULE_MEMBER, handle_image_remove, "remove one's own entry of that name, or else the yard's",
		.status = 204, .errors = MISSING | ROUTE_ERR(ERR_DENIED) | ROUTE_ERR(ERR_BUSY) },
	{ "GET", "/instance-types", "list_instance_types", RULE_ANY, handle_machines, "kinds of machine that may be asked for by name",
		.answer = "instance_types" },
	{ "GET", "/instance-types/:type", "show_instance_type", RULE_ANY, handle_machine, "one of them, also one that no list has and its name tells",
		.answer = "instance_type", .errors = MISSING },
	{ "PUT", "/instance-types/:type", "set_instance_type", RULE_ADMIN, handle_machine_put, "set what a kind of machine is here",
		.takes = ROUTE_BODY, .body_max = BODY_SMALL, .body = "instance_type_new", .answer = "instance_type",
		.errors = ROUTE_ERR(ERR_BUSY) },
	{ "DELETE", "/instance-types/:type", "remove_instance_type", RULE_ADMIN, handle_machine_remove, "take that back",
		.status = 204, .errors = MISSING | ROUTE_ERR(ERR_BUSY) },
	{ 0 }
};
/* clang-format on */
