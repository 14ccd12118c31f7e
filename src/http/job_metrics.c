// SPDX-License-Identifier: Apache-2.0
/* What a job measured of itself, from its event files and its output. */
#include "http/job_metrics.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "depot/storage.h"
#include "http/handlers.h"
#include "http/limits.h"
#include "http/route.h"
#include "http/view.h"

#define LOG_TASKS_MAX 64 /* whose output is looked through; the first ones */

/* "." of a job's only task, else "worker-1". */
static char *run_of(const struct job *j, int rank)
{
	const struct task *t = &j->tasks[rank];
	const struct role *r = &j->spec->roles[t->role];

	if (j->task_count == 1)
		return mem_strdup(".");
	return r->count == 1 ? mem_strdup(r->name)
			     : str_printf("%s-%d", r->name, t->index);
}

/* Attempts of a task from where reading ended to the newest. */
static void add_logs(struct yard *y, const struct job *j, int rank, int from,
		     struct metric_logs *out)
{
	bool ended = j->state == JOB_ENDED;

	for (int attempt = from; attempt <= j->attempt; attempt++) {
		if (out->count == METRIC_LOGS_MAX) {
			out->more = true;
			return;
		}
		out->items[out->count++] = (struct metrics_log){
			.rank = rank,
			.attempt = attempt,
			.run = run_of(j, rank),
			.folder = yard_attempt_folder(y, j->id, rank, attempt),
			.over = ended || attempt < j->attempt,
		};
	}
}

static void find_logs(void *arg, int64_t job, const struct metrics *m,
		      struct metric_logs *out)
{
	struct http_server *s = arg;
	struct err ignored; /* deleted meanwhile: there is nothing to read */
	AUTO_JOB struct job *owned = NULL;
	const struct job *j = yard_live(s->config.yard, job);

	if (!j)
		owned = yard_load(s->config.yard, job, &ignored);
	j = j ? j : owned;
	for (size_t i = 0; j && i < j->task_count && i < LOG_TASKS_MAX; i++)
		add_logs(s->config.yard, j, (int)i, metrics_attempt(m, (int)i), out);
}

static bool still_waits(void *who)
{
	const struct exchange *ex = who;

	return ex->conn != NULL;
}

static void answer_metrics(void *who, const struct buf *json)
{
	struct exchange *ex = who;

	if (json->len)
		answer_json(ex, 200, json);
	exchange_drop(ex);
}

struct metric_cache *job_metrics_create(struct http_server *s)
{
	static const struct metric_cache_ops ops = { .logs = find_logs,
						     .waits = still_waits,
						     .answer = answer_metrics };

	return metric_cache_create(s->config.world, &ops, s);
}

static bool is_board(const char *output)
{
	return str_eq(output, "logs") || str_eq(output, "tensorboard");
}

/* An output in the storage: below its area, and of that area's owner. */
static void add_volume(const struct exchange *ex, const struct job *j, const char *path,
		       struct metrics_folder *f, struct metrics *m)
{
	const struct storage *s = ex->server->config.storage;
	const struct volume_who who = { .name = j->owner, .uid = j->owner_uid };
	AUTO_PLACE struct volume_place place = { 0 };
	struct err ignored; /* no longer theirs: there is nothing to read */

	if (!s || volume_find(storage_volume(s), &who, path, &place, &ignored) < 0 ||
	    !place.folder || !(place.rights & VOLUME_WRITE))
		return;
	f->base = place.folder;
	f->path = place.rel;
	f->uid = place.uid;
	f->uid_count = place.uid >= 0 ? VOLUME_RANGE : 0;
	metrics_add_folder(m, f);
}

/* Elsewhere on this machine: its whole path leads through no link.  Anybody can name any
 * folder: a daemon that is root reads what is the owner's account's, as their task's output
 * is, and of who has none nothing. */
static void add_elsewhere(const struct exchange *ex, const struct job *j, const char *uri,
			  struct metrics_folder *f, struct metrics *m)
{
	const char *path = str_starts(uri, "file:") ? uri + strlen("file:") : uri;
	bool root = ex->server->config.daemon_uid == 0;

	if (root && j->owner_uid < 0)
		return;
	f->base = "/";
	f->path = path + strspn(path, "/");
	f->uid = root ? j->owner_uid : 0;
	f->uid_count = root;
	metrics_add_folder(m, f);
}

static void add_folder(const struct exchange *ex, const struct job *j,
		       const struct channel *o, const char *prefix, struct metrics *m)
{
	struct metrics_folder f = { .prefix = prefix };
	const char *stored = o->uri ? volume_uri_path(o->uri) : NULL;

	if (stored) {
		add_volume(ex, j, stored, &f, m);
	} else if (o->uri && spec_uri_is_host(o->uri)) {
		add_elsewhere(ex, j, o->uri, &f, m);
	} else { /* with the job; also what is sent away at its end */
		AUTO_FREE char *path =
			depot_output_path(ex->server->config.depot, j, o->name);
		f.base = path;
		if (path)
			metrics_add_folder(m, &f);
	}
}

/* The folders of outputs that hold event files: the one asked for, or those with a name
 * that says so. */
static void add_folders(const struct exchange *ex, const struct job *j, struct metrics *m)
{
	const char *asked = param_text(ex, "output");
	size_t boards = 0;

	if (!ex->server->config.depot)
		return;
	for (size_t i = 0; i < j->spec->output_count; i++)
		boards += is_board(j->spec->outputs[i].name);
	for (size_t i = 0; i < j->spec->output_count; i++) {
		const struct channel *o = &j->spec->outputs[i];
		if (asked ? str_eq(asked, o->name) : is_board(o->name))
			add_folder(ex, j, o, !asked && boards > 1 ? o->name : NULL, m);
	}
}

static struct metrics *make_metrics(const struct exchange *ex, const struct job *j)
{
	struct metrics *m = metrics_create();
	struct err told; /* among its problems */

	add_folders(ex, j, m);
	for (size_t i = 0; i < j->spec->metric_count; i++)
		metrics_add_pattern(m, j->spec->metrics[i].name,
				    j->spec->metrics[i].pattern, &told);
	return m;
}

static int check_question(const struct exchange *ex, const struct job *j, struct err *err)
{
	const char *asked = param_text(ex, "output");
	long long id = (long long)j->id;
	bool known = !asked;

	if (job_is_array(j))
		return err_set(
			err, ERR_CONFLICT,
			"job %lld is an array: its members have metrics, %lld.0 to %lld.%d",
			id, id, id, j->spec->array.count - 1);
	for (size_t i = 0; i < j->spec->output_count; i++)
		known = known || str_eq(j->spec->outputs[i].name, asked);
	if (known)
		return 0;
	return err_set(err, ERR_NOT_FOUND, "output: job %lld has no output named '%s'",
		       id, asked);
}

static void read_names(const struct exchange *ex, struct metric_ask *ask)
{
	const char *name;
	size_t cap = 0;

	for (size_t at = 0; (name = param_next(ex, "name", &at));) {
		mem_grow(&ask->names, &cap, ask->name_count, sizeof *ask->names);
		ask->names[ask->name_count++] = mem_strdup(name);
	}
}

void handle_job_metrics(struct exchange *ex)
{
	struct metric_cache *cache = ex->server->job_metrics;
	const char *output = param_text(ex, "output");
	struct err err;
	AUTO_JOB struct job *owned = NULL;
	const struct job *j = view_find(ex, &owned, &err);

	if (!j || check_question(ex, j, &err) < 0) {
		answer_error(ex, &err);
		return;
	}
	struct metric_ask ask = { .job = ex->job,
				  .points = (size_t)param_int(ex, "points",
							      METRIC_POINTS_DEFAULT),
				  .wait_ms = param_int(ex, "wait_ms", METRIC_WAIT_MS),
				  .who = ex };
	AUTO_FREE char *key =
		str_printf("%lld/%s", (long long)ex->job, output ? output : "");
	read_names(ex, &ask);
	if (j->spec->metric_count && j->task_count > LOG_TASKS_MAX)
		ask.note =
			str_printf("the output of the first %d tasks is looked through, "
				   "not of the other %zu",
				   LOG_TASKS_MAX, j->task_count - LOG_TASKS_MAX);
	exchange_hold(ex);
	metric_cache_ask(cache, key,
			 metric_cache_find(cache, key) ? NULL : make_metrics(ex, j),
			 &ask);
}
