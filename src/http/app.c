// SPDX-License-Identifier: Apache-2.0
#include "http/app.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "http/boards.h"
#include "http/internal.h"
#include "who/who.h"
#include "yard/edit.h"

static const char *const state_words[APP_STATE_COUNT] = {
	[APP_STARTING] = "starting", [APP_RUNNING] = "running", [APP_ENDED] = "ended"
};

const char *app_state_word(enum app_state s)
{
	return state_words[s];
}

bool app_is_board(const struct app *a)
{
	return str_eq(a->kind, APP_BOARD);
}

/* The number that the first task's port "app" got; 0: none yet. */
static int find_port(const struct job *j)
{
	const struct role *r = &j->spec->roles[j->tasks[0].role];
	const struct placement *p = &j->tasks[0].place;
	int at = 0;

	for (size_t i = 0; i < r->port_count; at += r->ports[i++].count)
		if (str_eq(r->ports[i].name, APP_PORT) && at < p->port_count)
			return p->ports[at];
	return 0;
}

static void find_program(struct http_server *s, const struct job *j, struct app *out)
{
	if (j->state == JOB_ENDED || job_is_array(j) || j->task_count == 0 ||
	    j->tasks[0].state != TASK_RUNNING)
		return;
	placement_address(j->tasks[0].place.slot, out->address);
	out->port = find_port(j);
	if (j->state == JOB_RUNNING && out->port && boards_is_up(s, out))
		out->state = APP_RUNNING;
}

/* Nothing to run was found: it lasts as long as it would have run. */
static void find_viewer(struct http_server *s, const struct job *j, struct app *out)
{
	bool well = j->state == JOB_ENDED && j->outcome == OUTCOME_SUCCEEDED;

	if (!app_is_board(out) || !out->of)
		return;
	out->viewer = j->state != JOB_ENDED || well;
	if (!well)
		return;
	out->ends_ms = j->ended_ms + j->spec->time_limit_ms;
	if (!j->spec->time_limit_ms || out->ends_ms > world_now_ms(s->config.world))
		out->state = APP_RUNNING;
	else
		out->viewer = false;
}

/* Told to end, and not to come back: whoever asks for a board now wants another one. */
static bool is_going(const struct job *j)
{
	return j->state != JOB_ENDED &&
	       (j->stop == STOP_USER || j->stop == STOP_TIME_LIMIT);
}

void app_from_job(struct http_server *s, const struct job *j, struct app *out)
{
	const struct pairs *labels = &j->spec->labels;
	const char *of = pairs_get(labels, APP_LABEL_OF),
		   *kind = pairs_get(labels, APP_LABEL);

	*out = (struct app){ .id = j->id, .attempt = j->attempt };
	out->state = j->state == JOB_ENDED ? APP_ENDED : APP_STARTING;
	snprintf(out->kind, sizeof out->kind, "%s", kind ? kind : "");
	snprintf(out->owner, sizeof out->owner, "%s", j->owner);
	snprintf(out->group, sizeof out->group, "%s", j->group);
	if (of)
		str_to_i64(of, 1, INT64_MAX, &out->of);
	out->shared =
		app_is_board(out) || str_eq(pairs_get(labels, APP_LABEL_SHARE), "group");
	out->strip = str_eq(pairs_get(labels, APP_LABEL_PATH), "strip");
	if (j->started_ms && j->spec->time_limit_ms)
		out->ends_ms = j->started_ms + j->spec->time_limit_ms;
	if (is_going(j)) {
		out->state = APP_ENDED;
		return;
	}
	find_program(s, j, out);
	find_viewer(s, j, out);
}

static bool is_app(const struct job *j)
{
	return pairs_get(&j->spec->labels, APP_LABEL) != NULL;
}

int app_find(struct http_server *s, int64_t id, struct app *out, struct err *err)
{
	struct yard *y = s->config.yard;
	const struct job *live = yard_live(y, id);
	struct job *loaded = live ? NULL : yard_load(y, id, err);
	const struct job *j = live ? live : loaded;
	bool found = j && is_app(j);

	if (found)
		app_from_job(s, j, out);
	bool absent = j || !err || err->code == ERR_NOT_FOUND;
	job_destroy(loaded);
	if (found)
		return 0;
	if (!absent)
		return -1;
	return err_set(err, ERR_NOT_FOUND, "there is no app %lld", (long long)id);
}

struct owner {
	char name[NAME_MAX_BYTES], group[NAME_MAX_BYTES];
};

static void row_owner(void *arg, const struct store_row *row)
{
	struct owner *o = arg;

	snprintf(o->name, sizeof o->name, "%s", row->owner);
	snprintf(o->group, sizeof o->group, "%s", row->group);
}

/* Anybody can write a label: what an app shows must be theirs to see as well. */
static bool may_see_job(struct http_server *s, int64_t id, const struct principal *p)
{
	const struct job *live = yard_live(s->config.yard, id);
	struct owner o = { 0 };

	if (live)
		return who_may_see(p, live->owner, live->group);
	return store_row(yard_store(s->config.yard), id, row_owner, &o, NULL) == 0 &&
	       who_may_see(p, o.name, o.group);
}

bool app_may_open(struct http_server *s, const struct app *a, const struct principal *p)
{
	bool own = principal_is_admin(p) ||
		   (str_eq(p->name, a->owner) && p->role >= ROLE_MEMBER &&
		    (p->scopes & SCOPE_WRITE));

	if (!who_may_see(p, a->owner, a->group) || !(p->scopes & SCOPE_READ))
		return false;
	if (a->of && !may_see_job(s, a->of, p))
		return false;
	return a->shared || own;
}

int64_t app_of_path(const char *path, const char **rest)
{
	int64_t id = -1;

	if (!str_starts(path, APP_PATH))
		return -1;
	path += strlen(APP_PATH);
	size_t n = str_leading_i64(path, &id);
	/* One spelling only: paths and cookies are compared as texts. */
	if (n == 0 || *path == '0' || id <= 0 || (path[n] != '/' && path[n] != '\0'))
		return -1;
	*rest = path + n;
	return id;
}
