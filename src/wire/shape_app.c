// SPDX-License-Identifier: Apache-2.0
/* Apps on the wire. */
#include "wire/shape.h"

#define OPT WIRE_OPTIONAL

/* clang-format off */
static const struct wire_field board[] = {
	{ "output", WIRE_TEXT, OPT, "which of its outputs holds event files; the one named logs or tensorboard", .min = 1, .max = 128 },
	{ 0 }
};
static const struct wire_field app[] = {
	{ "app", WIRE_INT, 0, "its number: that of the job it is" },
	{ "kind", WIRE_TEXT, 0, "tensorboard, or what the label yard.app says" },
	{ "of", WIRE_INT, WIRE_NULL, "the job that it shows" },
	{ "owner", WIRE_TEXT, 0, "whose it is" },
	{ "state", WIRE_TEXT, 0, "starting: it waits for room, or does not answer yet", .words = "starting running ended" },
	{ "served_by", WIRE_TEXT, 0, "task: a program answers; yard: there is none, and the yard shows the series itself", .words = "task yard" },
	{ "path", WIRE_TEXT, 0, "where it is, at whatever address the yard has" },
	{ "url", WIRE_TEXT, WIRE_NULL, "opens it in a browser, once and within a minute; null in lists" },
	{ "ends_ms", WIRE_INT, WIRE_NULL, "when it will be ended; null: not known yet, or never" },
	{ 0 }
};
static const struct wire_field job_page[] = {
	{ "job", WIRE_INT, 0, "its number" },
	{ "path", WIRE_TEXT, 0, "where its page is, at whatever address the yard has" },
	{ "url", WIRE_TEXT, 0, "opens it in a browser, once and within a minute" },
	{ 0 }
};
static const struct wire_field apps[] = {
	{ "apps", WIRE_LIST, 0, "newest first", "app" },
	{ 0 }
};

const struct wire_shape wire_shapes_app[] = {
	{ "board", "which event files to show", board, "{\"output\":\"logs\"}", true },
	{ "app", "a program in a task that is opened in a browser", app },
	{ "job_page", "where a job is shown in a browser", job_page },
	{ "apps", "apps that have not ended", apps },
	{ 0 }
};
/* clang-format on */
