// SPDX-License-Identifier: Apache-2.0
/* The shapes of the catalogue: images and kinds of machine. */
#include "wire/shape.h"

#define OPT    WIRE_OPTIONAL
#define SCOPES "official workspace own"
#define CHIPS  "CPU GPU NPU"
#define USES   "training inference develop"
#define WORD   .max = 512, .pattern = "^[^\001-\040\177]*$"
#define LINE   .max = 512, .pattern = "^[^\001-\037\177]*$"

/* clang-format off */
static const struct wire_field image[] = {
	{ "name", WIRE_TEXT, 0, "what it is called here" },
	{ "uri", WIRE_TEXT, 0, "the same as HOST/NAMESPACE/REPOSITORY:TAG; a job may name either" },
	{ "framework", WIRE_TEXT, 0, "such as PyTorch; empty: none" },
	{ "version", WIRE_TEXT, 0, "of the framework" },
	{ "accelerator", WIRE_TEXT, 0, "what it is made for", .words = CHIPS },
	{ "python", WIRE_TEXT, 0, "the version of Python; empty: not known" },
	{ "os", WIRE_TEXT, 0, "the system; empty: not known" },
	{ "scope", WIRE_TEXT, 0, "whose it is", .words = SCOPES },
	{ "use", WIRE_LIST, 0, "what it is good for: " USES, "text", .words = USES },
	{ "runs", WIRE_TEXT, 0, "host: the machine itself; else a container image" },
	{ "description", WIRE_TEXT, 0, "for people" },
	{ "owner", WIRE_TEXT, 0, "who made the entry; empty: it was found" },
	{ "created_ms", WIRE_INT, 0, "when; 0: it was found" },
	{ "labels", WIRE_MAP, 0, "whatever else is to be known of it", "text" },
	{ 0 }
};
static const struct wire_field images[] = {
	{ "images", WIRE_LIST, 0, "by framework, the highest version first", "image" },
	{ 0 }
};
static const struct wire_field image_new[] = {
	{ "uri", WIRE_TEXT, OPT, "made of the rest if not given", WORD },
	{ "framework", WIRE_TEXT, OPT, "such as PyTorch", WORD },
	{ "version", WIRE_TEXT, OPT, "of the framework", WORD },
	{ "accelerator", WIRE_TEXT, OPT, "what it is made for; CPU", .words = CHIPS },
	{ "python", WIRE_TEXT, OPT, "the version of Python", WORD },
	{ "os", WIRE_TEXT, OPT, "the system, such as debian12", WORD },
	{ "scope", WIRE_TEXT, OPT, "official and workspace are admins' to set; official", .words = SCOPES },
	{ "use", WIRE_LIST, OPT, "what it is good for; training and develop", "text", .words = USES, .max = 3 },
	{ "runs", WIRE_TEXT, OPT, "host: the machine itself; else a container image; host", WORD },
	{ "description", WIRE_TEXT, OPT, "for people", LINE },
	{ "labels", WIRE_MAP, OPT, "whatever else is to be known of it", "text" },
	{ 0 }
};
static const struct wire_field instance_type[] = {
	{ "name", WIRE_TEXT, 0, "such as ecs.c6.xlarge" },
	{ "cpu_milli", WIRE_INT, 0, "thousandths of a core of one task" },
	{ "memory_bytes", WIRE_INT, 0, "memory of one task" },
	{ "devices", WIRE_MAP, 0, "device type to how many", "count" },
	{ "fits", WIRE_BOOL, 0, "whether a node of this yard has as much" },
	{ "builtin", WIRE_BOOL, 0, "known by its name; else an admin set it" },
	{ 0 }
};
static const struct wire_field instance_types[] = {
	{ "types", WIRE_LIST, 0, "by name", "instance_type" },
	{ 0 }
};
static const struct wire_field instance_type_new[] = {
	{ "cpu_milli", WIRE_INT, 0, "thousandths of a core of one task", .min = 1, .max = 1024000 },
	{ "memory_bytes", WIRE_INT, 0, "memory of one task", .min = 1 << 20, .max = 1LL << 50 },
	{ "devices", WIRE_MAP, OPT, "device type to how many", "count" },
	{ 0 }
};

const struct wire_shape wire_shapes_catalog[] = {
	{ "image", "an entry of the catalogue of images", image },
	{ "images", "entries of the catalogue", images },
	{ "image_new", "an entry that is made or replaced", image_new,
		"{\"framework\":\"PyTorch\",\"version\":\"2.3.1\",\"python\":\"3.11\"}", true },
	{ "instance_type", "a kind of machine", instance_type },
	{ "instance_types", "kinds of machine", instance_types },
	{ "instance_type_new", "a kind of machine that is set", instance_type_new,
		"{\"cpu_milli\":4000,\"memory_bytes\":8589934592}", true },
	{ 0 }
};
/* clang-format on */
