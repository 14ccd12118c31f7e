// SPDX-License-Identifier: Apache-2.0
#include "wire/api.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/units.h"
#include "wire/parts.h"

static void write_exit(struct json *j, const struct task_exit *x)
{
	AUTO_BUF struct buf words = { 0 };

	exit_words(x, &words);
	json_object(j, "exit");
	json_str(j, "kind", exit_kind_word(x->kind));
	json_i64(j, "code", x->code);
	json_i64(j, "signal", x->signal);
	json_i64(j, "peak_bytes", x->peak_bytes);
	json_i64(j, "limit_bytes", x->limit_bytes);
	json_i64(j, "cpu_ms", x->cpu_ms);
	if (x->text[0])
		json_str(j, "text", x->text);
	if (x->stage[0])
		json_str(j, "stage", x->stage);
	json_str(j, "words", buf_str(&words));
	json_end(j);
}

static void write_shares(struct json *j, const struct placement *p)
{
	char text[UNITS_TEXT_MAX];
	bool any = false;

	for (size_t i = 0; i < DEVICE_KINDS_MAX && p->devices[i].type[0]; i++) {
		if (!p->devices[i].share_milli)
			continue;
		if (!any)
			json_object(j, "shares");
		any = true;
		json_raw(j, p->devices[i].type,
			 units_show_cpu(p->devices[i].share_milli, text));
	}
	if (any)
		json_end(j);
}

static void write_place(struct json *j, const struct placement *p)
{
	char address[16];

	placement_address(p->slot, address);
	json_str(j, "node", p->node);
	json_i64(j, "slot", p->slot);
	json_str(j, "address", address);
	json_object(j, "devices");
	for (size_t i = 0; i < DEVICE_KINDS_MAX && p->devices[i].type[0]; i++) {
		json_array(j, p->devices[i].type);
		for (int bit = 0; bit < DEVICES_MAX; bit++)
			if (p->devices[i].mask >> bit & 1)
				json_i64(j, NULL, bit);
		json_end(j);
	}
	json_end(j);
	write_shares(j, p);
	json_array(j, "ports");
	for (int i = 0; i < p->port_count; i++)
		json_i64(j, NULL, p->ports[i]);
	json_end(j);
}

static void write_task(struct json *j, const struct job *job, size_t rank)
{
	const struct task *t = &job->tasks[rank];

	json_object(j, NULL);
	json_i64(j, "rank", (int64_t)rank);
	json_str(j, "role", job->spec->roles[t->role].name);
	json_i64(j, "index", t->index);
	json_str(j, "state", task_state_word(t->state));
	if (t->place.node[0])
		write_place(j, &t->place);
	wire_time_write(j, "started_ms", t->started_ms);
	wire_time_write(j, "ended_ms", t->ended_ms);
	if (t->state == TASK_OVER)
		write_exit(j, &t->exit);
	json_end(j);
}

static void write_array(struct json *j, const struct job *job)
{
	const struct members *m = &job->members;

	if (job->array) {
		json_i64(j, "array_id", job->array);
		json_i64(j, "index", job->index);
	}
	if (!job_is_array(job))
		return;
	json_object(j, "array");
	json_i64(j, "count", job->spec->array.count);
	json_i64(j, "ended", m->ended);
	json_i64(j, "failed", m->failed);
	json_i64(j, "running", m->running);
	json_i64(j, "made", m->made);
	json_end(j);
}

static void write_ways(struct json *j, const struct ways *w)
{
	if (!w->count)
		return;
	json_object(j, "preempted");
	json_i64(j, "count", w->count);
	json_i64(j, "lost_ms", w->lost_ms);
	json_array(j, "for");
	for (int i = 0; i < WAYS_NAMED && w->last[i]; i++)
		json_i64(j, NULL, w->last[i]);
	json_end(j);
	json_end(j);
}

static void write_life(struct json *j, const struct job *job)
{
	json_i64(j, "id", job->id);
	json_str(j, "name", job->spec->name);
	json_str(j, "owner", job->owner);
	json_str(j, "group", job->group);
	json_str(j, "state", job_state_word(job->state));
	json_str(j, "state_words", wire_state_words(job->state));
	json_str(j, "outcome", job->outcome ? outcome_word(job->outcome) : NULL);
	json_str(j, "reason", job->reason);
	if (job->state == JOB_ENDED)
		json_i64(j, "exit_code", job_exit_code(job));
	json_i64(j, "priority", job->priority);
	json_i64(j, "attempt", job->attempt);
	json_i64(j, "failures", job->failures);
	if (job->first_failed >= 0)
		json_i64(j, "first_failed", job->first_failed);
	json_i64(j, "last_seq", job->last_seq);
	wire_time_write(j, "submitted_ms", job->submitted_ms);
	wire_time_write(j, "queued_ms", job->queued_ms);
	wire_time_write(j, "placed_ms", job->placed_ms);
	wire_time_write(j, "started_ms", job->started_ms);
	wire_time_write(j, "retry_at_ms", job->retry_at_ms);
	wire_time_write(j, "ended_ms", job->ended_ms);
	if (job->stop) {
		json_object(j, "stop");
		json_str(j, "kind", stop_kind_word(job->stop));
		json_str(j, "by", job->stop_by);
		json_str(j, "text", job->stop_text);
		wire_time_write(j, "time_ms", job->stop_ms);
		json_bool(j, "killed", job->killed);
		if (job->grace_until_ms)
			json_i64(j, "until_ms", job->grace_until_ms);
		if (job->way)
			json_i64(j, "for", job->way);
		json_end(j);
	}
	write_ways(j, &job->ways);
}

void wire_job_write(struct buf *out, const struct job *job, const char *const *outputs,
		    const char *why)
{
	AUTO_BUF struct buf spec = { 0 };
	struct json j;

	spec_to_json(job->spec, &spec);
	json_init(&j, out);
	json_object(&j, NULL);
	write_life(&j, job);
	write_array(&j, job);
	json_str(&j, "why", why);
	json_str(&j, "progress", job->progress);
	json_array(&j, "tasks");
	for (size_t i = 0; i < job->task_count; i++)
		write_task(&j, job, i);
	json_end(&j);
	json_array(&j, "outputs");
	for (size_t i = 0; i < job->spec->output_count; i++) {
		json_object(&j, NULL);
		json_str(&j, "name", job->spec->outputs[i].name);
		json_str(&j, "path", outputs ? outputs[i] : NULL);
		json_end(&j);
	}
	json_end(&j);
	json_raw(&j, "spec", buf_str(&spec));
	json_end(&j);
}

static void read_exit(const struct doc_node *map, struct task_exit *out)
{
	const char *text = doc_str(map, "text", ""), *stage = doc_str(map, "stage", "");

	exit_kind_from_word(doc_str(map, "kind", ""), &out->kind);
	out->code = wire_int(map, "code");
	out->signal = wire_int(map, "signal");
	out->peak_bytes = doc_i64(map, "peak_bytes", 0);
	out->limit_bytes = doc_i64(map, "limit_bytes", 0);
	out->cpu_ms = doc_i64(map, "cpu_ms", 0);
	memcpy(out->text, text, strnlen(text, sizeof out->text - 1));
	memcpy(out->stage, stage, strnlen(stage, sizeof out->stage - 1));
}

static void read_devices(const struct doc_node *map, const struct doc_node *shares,
			 struct placement *out)
{
	size_t i = 0;

	for (const struct doc_node *d = map->first; d && i < DEVICE_KINDS_MAX;
	     d = d->next) {
		if (!d->key || strlen(d->key) >= DEVICE_TYPE_MAX)
			continue;
		memcpy(out->devices[i].type, d->key, strlen(d->key) + 1);
		for (const struct doc_node *n = d->first; n; n = n->next) {
			int64_t bit;
			if (n->kind == DOC_NUMBER &&
			    str_to_i64(n->text, 0, DEVICES_MAX - 1, &bit) == 0)
				out->devices[i].mask |= 1ull << bit;
		}
		const struct doc_node *share = doc_get(shares, d->key);
		int64_t milli;
		if (share && share->kind == DOC_NUMBER &&
		    units_cpu(share->text, &milli) == 0 && milli < DEVICE_SHARE)
			out->devices[i].share_milli = (int)milli;
		i++;
	}
}

static void read_place(const struct doc_node *map, struct placement *out)
{
	const struct doc_node *devices = doc_get(map, "devices"),
			      *ports = doc_get(map, "ports");
	const char *node = doc_str(map, "node", "");

	memcpy(out->node, node, strnlen(node, NODE_NAME_MAX - 1));
	out->slot = wire_int(map, "slot");
	if (devices)
		read_devices(devices, doc_get(map, "shares"), out);
	for (const struct doc_node *n = ports ? ports->first : NULL; n; n = n->next) {
		int64_t port;
		if (out->port_count < PORTS_MAX && n->kind == DOC_NUMBER &&
		    str_to_i64(n->text, 0, 65535, &port) == 0)
			out->ports[out->port_count++] = (int)port;
	}
}

static void read_task(const struct doc_node *map, const struct job *j, struct task *out)
{
	const char *role = doc_str(map, "role", ""), *state = doc_str(map, "state", "");

	for (size_t i = 0; i < j->spec->role_count; i++)
		if (str_eq(j->spec->roles[i].name, role))
			out->role = (int)i;
	for (int s = 0; s < TASK_STATE_COUNT; s++)
		if (str_eq(task_state_word((enum task_state)s), state))
			out->state = (enum task_state)s;
	out->index = wire_int(map, "index");
	out->started_ms = doc_i64(map, "started_ms", 0);
	out->ended_ms = doc_i64(map, "ended_ms", 0);
	read_place(map, &out->place);
	const struct doc_node *x = doc_get(map, "exit");
	if (x)
		read_exit(x, &out->exit);
}

static void read_stop(const struct doc_node *map, struct job *out)
{
	const char *kind = doc_str(map, "kind", "");

	for (int s = 0; s < STOP_KIND_COUNT; s++)
		if (str_eq(stop_kind_word((enum stop_kind)s), kind))
			out->stop = (enum stop_kind)s;
	out->stop_by = mem_strdup(doc_str(map, "by", NULL));
	out->stop_text = mem_strdup(doc_str(map, "text", NULL));
	out->stop_ms = doc_i64(map, "time_ms", 0);
	out->grace_until_ms = doc_i64(map, "until_ms", 0);
	out->killed = doc_bool(map, "killed", false);
	out->way = doc_i64(map, "for", 0);
}

static void read_ways(const struct doc_node *map, struct ways *out)
{
	const struct doc_node *list = map ? doc_get(map, "for") : NULL;
	int at = 0;

	out->count = map ? wire_int(map, "count") : 0;
	out->lost_ms = map ? doc_i64(map, "lost_ms", 0) : 0;
	for (const struct doc_node *n = list ? list->first : NULL; n && at < WAYS_NAMED;
	     n = n->next, at++) {
		if (n->kind != DOC_NUMBER ||
		    str_to_i64(n->text, 0, INT64_MAX, &out->last[at]) < 0)
			out->last[at] = 0;
	}
}

static void read_life(const struct doc_node *map, struct job *out)
{
	const struct doc_node *stop = doc_get(map, "stop"),
			      *tasks = doc_get(map, "tasks"),
			      *array = doc_get(map, "array");

	out->id = doc_i64(map, "id", 0);
	out->last_seq = doc_i64(map, "last_seq", 0);
	out->state = wire_state_read(map);
	out->outcome = wire_outcome_read(map);
	out->priority = wire_int(map, "priority");
	out->attempt = wire_int(map, "attempt");
	out->failures = wire_int(map, "failures");
	read_ways(doc_get(map, "preempted"), &out->ways);
	out->first_failed =
		doc_get(map, "first_failed") ? wire_int(map, "first_failed") : -1;
	out->submitted_ms = doc_i64(map, "submitted_ms", 0);
	out->queued_ms = doc_i64(map, "queued_ms", 0);
	out->placed_ms = doc_i64(map, "placed_ms", 0);
	out->started_ms = doc_i64(map, "started_ms", 0);
	out->retry_at_ms = doc_i64(map, "retry_at_ms", 0);
	out->ended_ms = doc_i64(map, "ended_ms", 0);
	out->reason = mem_strdup(doc_str(map, "reason", NULL));
	out->array = doc_i64(map, "array_id", 0);
	out->index = doc_i64(map, "index", 0);
	out->members = (struct members){ .made = doc_i64(array, "made", 0),
					 .ended = doc_i64(array, "ended", 0),
					 .failed = doc_i64(array, "failed", 0),
					 .running = doc_i64(array, "running", 0) };
	if (stop)
		read_stop(stop, out);
	size_t rank = 0;
	job_set_tasks(out, tasks ? tasks->count : 0);
	for (const struct doc_node *t = tasks ? tasks->first : NULL;
	     t && rank < out->task_count; t = t->next, rank++)
		read_task(t, out, &out->tasks[rank]);
}

static char *output_path(const struct doc_node *map, const char *name)
{
	const struct doc_node *list = doc_get(map, "outputs");

	for (const struct doc_node *o = list ? list->first : NULL; o; o = o->next)
		if (str_eq(doc_str(o, "name", ""), name))
			return mem_strdup(doc_str(o, "path", NULL));
	return NULL;
}

/* A server's spec has been checked there, but memory is taken here. */
static bool sane(const struct spec *s)
{
	int64_t tasks = 0;

	for (size_t i = 0; i < s->role_count; i++) {
		if (s->roles[i].count < 0 || s->roles[i].count > SPEC_TASKS_MAX)
			return false;
		tasks += s->roles[i].count;
	}
	return tasks <= SPEC_TASKS_MAX;
}

int wire_job_read(const struct doc_node *map, struct wire_job *out, struct err *err)
{
	const struct doc_node *spec = doc_get(map, "spec");
	struct event submitted = { .kind = EV_SUBMITTED, .job = doc_i64(map, "id", 0) };

	*out = (struct wire_job){ 0 };
	if (!spec || spec->kind != DOC_MAP)
		return err_set(err, ERR_CORRUPT, "the server's answer holds no job");
	AUTO_SPEC struct spec *read = spec_from_json(spec, err);
	if (!read)
		return err_wrap(err, "the server's answer");
	if (!sane(read))
		return err_set(err, ERR_CORRUPT,
			       "the server's answer holds a job of no sane size");

	AUTO_FREE char *owner = mem_strdup(doc_str(map, "owner", ""));
	AUTO_FREE char *group = mem_strdup(doc_str(map, "group", ""));
	submitted.by = owner;
	submitted.group = group;
	out->job = job_create(&submitted, TAKE(read));
	read_life(map, out->job);
	out->output_count = out->job->spec->output_count;
	out->outputs = mem_alloc(out->output_count + 1, sizeof *out->outputs);
	for (size_t i = 0; i < out->output_count; i++)
		out->outputs[i] = output_path(map, out->job->spec->outputs[i].name);
	out->exit_code = wire_int(map, "exit_code");
	out->why = mem_strdup(doc_str(map, "why", NULL));
	out->job->progress = mem_strdup(doc_str(map, "progress", NULL));
	return 0;
}

void wire_job_fini(struct wire_job *w)
{
	for (size_t i = 0; i < w->output_count; i++)
		free(w->outputs[i]);
	free(w->outputs);
	free(w->why);
	if (w->job)
		job_destroy(w->job);
	*w = (struct wire_job){ 0 };
}
