// SPDX-License-Identifier: Apache-2.0
/* Apps: programs in tasks that are opened in a browser, below /apps/ (app.h). */
#include "http/route.h"

#include "http/app.h"
#include "http/handlers.h"

/* clang-format off */
static const struct param apps_params[] = {
	{ "kind", PARAM_TEXT, 1, APP_KIND_BYTES - 1, .help = "apps of this kind, as the label yard.app says; those that the yard knows" },
	{ 0 }
};

const struct route routes_apps[] = {
	{ "POST", "/jobs/:job/tensorboard", "start_tensorboard", RULE_OWN, handle_board_start, "show its event files by a TensorBoard; 200: it has one already",
		.takes = ROUTE_BODY, .body_max = BODY_SMALL, .body = "board", .body_optional = true,
		.answer = "app", .status = 201, .also = 200,
		.errors = ROUTE_ERR(ERR_CONFLICT) | ROUTE_ERR(ERR_QUOTA) },
	{ "GET", "/jobs/:job/page", "job_page", RULE_SEE, handle_job_page, "an address that opens its page in a browser, once and within a minute",
		.answer = "job_page" },
	{ "GET", "/apps", "list_apps", RULE_ANY, handle_apps, "apps that have not ended and that one may open, newest first",
		.params = apps_params, .answer = "apps" },
	{ "GET", "/apps/:app", "show_app", RULE_ANY, handle_app_show, "one app, with an address that opens it in a browser, once and within a minute",
		.answer = "app", .errors = ROUTE_ERR(ERR_NOT_FOUND) },
	{ "DELETE", "/apps/:app", "end_app", RULE_MEMBER, handle_app_end, "end it: its owner or an admin",
		.status = 204, .errors = ROUTE_ERR(ERR_NOT_FOUND) | ROUTE_ERR(ERR_DENIED) | ROUTE_ERR(ERR_CONFLICT) },
	{ 0 }
};
/* clang-format on */
