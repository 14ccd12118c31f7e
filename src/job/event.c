// SPDX-License-Identifier: Apache-2.0
#include "job/event.h"

#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"

/* clang-format off */
static const char *const kind_words[EVENT_KIND_COUNT] = {
	[EV_SUBMITTED] = "submitted", [EV_READY] = "ready", [EV_PLACED] = "placed",
	[EV_STARTED] = "started", [EV_EXITED] = "exited", [EV_STOP] = "stop",
	[EV_GRACE_OVER] = "grace-over", [EV_COLLECTED] = "collected", [EV_RETRY] = "retry",
	[EV_REQUEUED] = "requeued", [EV_ENDED] = "ended", [EV_QUOTA] = "quota", [EV_USER] = "user",
	[EV_AUDIT] = "audit", [EV_PRIORITY] = "priority", [EV_MEMBER] = "member",
	[EV_EXTENDED] = "extended", [EV_PROGRESS] = "progress",
};

static const char *const stop_words[STOP_KIND_COUNT] = {
	[STOP_NONE] = "none", [STOP_USER] = "user", [STOP_TIME_LIMIT] = "time-limit",
	[STOP_POLICY] = "policy", [STOP_PREEMPTED] = "preempted", [STOP_DEPENDENCY] = "dependency",
	[STOP_ARRAY] = "array",
};

static const char *const outcome_words[OUTCOME_COUNT] = {
	[OUTCOME_NONE] = "none", [OUTCOME_SUCCEEDED] = "succeeded",
	[OUTCOME_FAILED] = "failed", [OUTCOME_STOPPED] = "stopped",
};
/* clang-format on */

const char *event_kind_word(enum event_kind kind)
{
	return kind_words[kind];
}

const char *stop_kind_word(enum stop_kind kind)
{
	return stop_words[kind];
}

const char *outcome_word(enum outcome o)
{
	return outcome_words[o];
}

/* The index of word in words, or -1. */
static int index_of(const char *word, const char *const *words, int count)
{
	for (int i = 0; i < count; i++)
		if (str_eq(word, words[i]))
			return i;
	return -1;
}

int event_kind_from_word(const char *word, enum event_kind *out)
{
	int i = index_of(word, kind_words, EVENT_KIND_COUNT);

	if (i < 0)
		return -1;
	*out = (enum event_kind)i;
	return 0;
}

void event_fini(struct event *e)
{
	free(e->by);
	free(e->group);
	free(e->key);
	free(e->digest);
	free(e->text);
	free(e->scope);
	free(e->name);
	free(e->places);
	spec_destroy(e->spec);
	*e = (struct event){ 0 };
}

static void write_text(struct json *j, const char *key, const char *value)
{
	if (value)
		json_str(j, key, value);
}

/* Only where there are some: most devices are given whole. */
static void write_shares(struct json *j, const struct placement *p)
{
	bool any = false;

	for (size_t i = 0; i < DEVICE_KINDS_MAX && p->devices[i].type[0]; i++) {
		if (!p->devices[i].share_milli)
			continue;
		if (!any)
			json_object(j, "shares");
		any = true;
		json_i64(j, p->devices[i].type, p->devices[i].share_milli);
	}
	if (any)
		json_end(j);
}

static void write_place(struct json *j, const struct placement *p)
{
	json_object(j, NULL);
	json_str(j, "node", p->node);
	json_i64(j, "slot", p->slot);
	if (p->role)
		json_i64(j, "role", p->role);
	json_object(j, "devices");
	for (size_t i = 0; i < DEVICE_KINDS_MAX && p->devices[i].type[0]; i++)
		json_i64(j, p->devices[i].type, (int64_t)p->devices[i].mask);
	json_end(j);
	write_shares(j, p);
	if (p->port_count) {
		json_array(j, "ports");
		for (int i = 0; i < p->port_count; i++)
			json_i64(j, NULL, p->ports[i]);
		json_end(j);
	}
	json_end(j);
}

static void write_exit(struct json *j, const struct task_exit *x)
{
	json_object(j, "exit");
	json_str(j, "kind", exit_kind_word(x->kind));
	json_i64(j, "code", x->code);
	json_i64(j, "signal", x->signal);
	json_i64(j, "peak", x->peak_bytes);
	json_i64(j, "limit", x->limit_bytes);
	json_i64(j, "cpu_ms", x->cpu_ms);
	if (x->ended_ms)
		json_i64(j, "ended", x->ended_ms);
	if (x->text[0])
		json_str(j, "text", x->text);
	if (x->stage[0])
		json_str(j, "stage", x->stage);
	json_end(j);
}

static void write_resources(struct json *j, const char *key, const struct resources *r)
{
	json_object(j, key);
	json_i64(j, "cpu", r->cpu_milli);
	json_i64(j, "memory", r->memory_bytes);
	json_object(j, "devices");
	for (size_t i = 0; i < DEVICE_KINDS_MAX && r->devices[i].type[0]; i++)
		json_i64(j, r->devices[i].type, r->devices[i].count);
	json_end(j);
	json_end(j);
}

void event_encode(const struct event *e, struct buf *out)
{
	struct json j;

	json_init(&j, out);
	json_object(&j, NULL);
	if (e->attempt)
		json_i64(&j, "attempt", e->attempt);
	if (e->kind == EV_STARTED || e->kind == EV_EXITED)
		json_i64(&j, "task", e->task);
	if (e->kind == EV_EXITED)
		write_exit(&j, &e->exit);
	if (e->stop)
		json_str(&j, "stop", stop_words[e->stop]);
	if (e->way)
		json_i64(&j, "for", e->way);
	if (e->outcome)
		json_str(&j, "outcome", outcome_words[e->outcome]);
	if (e->until_ms)
		json_i64(&j, "until", e->until_ms);
	if (e->kind == EV_SUBMITTED || e->kind == EV_USER)
		json_i64(&j, "uid", e->uid);
	if (e->kind == EV_USER)
		json_i64(&j, "slot", e->slot);
	if (e->kind == EV_PRIORITY)
		json_i64(&j, "priority", e->priority);
	if (e->array)
		json_i64(&j, "array", e->array);
	if (e->member)
		json_i64(&j, "member", e->member);
	if (e->array || e->member)
		json_i64(&j, "index", e->index);
	if (e->count)
		json_i64(&j, "count", e->count);
	if (e->kind == EV_QUOTA) {
		write_resources(&j, "quota", &e->quota.limit);
		json_i64(&j, "jobs", e->quota.max_running_jobs);
	}
	write_text(&j, "by", e->by);
	write_text(&j, "group", e->group);
	write_text(&j, "key", e->key);
	write_text(&j, "digest", e->digest);
	write_text(&j, "text", e->text);
	write_text(&j, "scope", e->scope);
	write_text(&j, "name", e->name);
	if (e->spec) {
		AUTO_BUF struct buf spec = { 0 };
		spec_to_json(e->spec, &spec);
		json_raw(&j, "spec", buf_str(&spec));
	}
	if (e->place_count) {
		json_array(&j, "places");
		for (size_t i = 0; i < e->place_count; i++)
			write_place(&j, &e->places[i]);
		json_end(&j);
	}
	json_end(&j);
}

static void copy_text(char *to, size_t size, const char *from)
{
	size_t n = strlen(from);

	if (n >= size)
		n = size - 1;
	memcpy(to, from, n);
	to[n] = 0;
}

static int node_i64(const struct doc_node *n, int64_t min, int64_t max, int64_t *out)
{
	return n->kind == DOC_NUMBER ? str_to_i64(n->text, min, max, out) : -1;
}

static int read_shares(const struct doc_node *map, struct placement *p, struct err *err)
{
	int64_t v;

	for (const struct doc_node *d = map ? map->first : NULL; d; d = d->next) {
		size_t i = 0;
		while (i < DEVICE_KINDS_MAX && !str_eq(p->devices[i].type, d->key))
			i++;
		if (i == DEVICE_KINDS_MAX || node_i64(d, 1, DEVICE_SHARE - 1, &v) < 0)
			return err_set(err, ERR_CORRUPT, "bad shares in a placement");
		p->devices[i].share_milli = (int)v;
	}
	return 0;
}

static int read_place(const struct doc_node *n, struct placement *p, struct err *err)
{
	const struct doc_node *devices = doc_get(n, "devices"),
			      *ports = doc_get(n, "ports");
	int64_t v;
	size_t i = 0;

	copy_text(p->node, sizeof p->node, doc_str(n, "node", ""));
	p->slot = (int)doc_i64(n, "slot", 0);
	p->role = (int)doc_i64(n, "role", 0);
	for (const struct doc_node *d = devices ? devices->first : NULL; d; d = d->next) {
		if (i == DEVICE_KINDS_MAX || node_i64(d, INT64_MIN, INT64_MAX, &v) < 0)
			return err_set(err, ERR_CORRUPT, "bad devices in a placement");
		copy_text(p->devices[i].type, sizeof p->devices[i].type, d->key);
		p->devices[i++].mask = (uint64_t)v;
	}
	if (read_shares(doc_get(n, "shares"), p, err) < 0)
		return -1;
	for (const struct doc_node *d = ports ? ports->first : NULL; d; d = d->next) {
		if (p->port_count == PORTS_MAX || node_i64(d, 0, 65535, &v) < 0)
			return err_set(err, ERR_CORRUPT, "bad ports in a placement");
		p->ports[p->port_count++] = (int)v;
	}
	return 0;
}

static int read_exit(const struct doc_node *n, struct task_exit *x, struct err *err)
{
	if (exit_kind_from_word(doc_str(n, "kind", ""), &x->kind) < 0)
		return err_set(err, ERR_CORRUPT, "bad kind of exit");
	x->code = (int)doc_i64(n, "code", 0);
	x->signal = (int)doc_i64(n, "signal", 0);
	x->peak_bytes = doc_i64(n, "peak", 0);
	x->limit_bytes = doc_i64(n, "limit", 0);
	x->cpu_ms = doc_i64(n, "cpu_ms", 0);
	x->ended_ms = doc_i64(n, "ended", 0);
	copy_text(x->text, sizeof x->text, doc_str(n, "text", ""));
	copy_text(x->stage, sizeof x->stage, doc_str(n, "stage", ""));
	return 0;
}

static int read_resources(const struct doc_node *n, struct resources *r, struct err *err)
{
	const struct doc_node *devices = doc_get(n, "devices");
	int64_t v;

	r->cpu_milli = doc_i64(n, "cpu", 0);
	r->memory_bytes = doc_i64(n, "memory", 0);
	for (const struct doc_node *d = devices ? devices->first : NULL; d; d = d->next)
		if (node_i64(d, 0, INT32_MAX, &v) < 0 ||
		    !resources_set_device(r, d->key, (int)v))
			return err_set(err, ERR_CORRUPT, "bad devices in a quota");
	return 0;
}

static int read_parts(const struct doc_node *n, struct event *out, struct err *err)
{
	const struct doc_node *spec = doc_get(n, "spec"), *places = doc_get(n, "places");
	const struct doc_node *x = doc_get(n, "exit"), *quota = doc_get(n, "quota");

	if (x && read_exit(x, &out->exit, err) < 0)
		return -1;
	if (quota && read_resources(quota, &out->quota.limit, err) < 0)
		return -1;
	out->quota.max_running_jobs = (int)doc_i64(n, "jobs", -1);
	if (spec) {
		out->spec = spec_from_json(spec, err);
		if (!out->spec)
			return -1;
	}
	if (!places)
		return 0;
	out->places = mem_alloc(places->count, sizeof *out->places);
	for (const struct doc_node *p = places->first; p; p = p->next)
		if (read_place(p, &out->places[out->place_count++], err) < 0)
			return -1;
	return 0;
}

int event_decode(enum event_kind kind, const char *body, size_t len, struct event *out,
		 struct err *err)
{
	AUTO_DOC struct doc *doc = doc_parse_json(body, len, err);
	const struct doc_node *n;
	int stop, outcome;

	if (!doc)
		return -1;
	n = doc_root(doc);
	*out = (struct event){ .kind = kind };
	stop = index_of(doc_str(n, "stop", "none"), stop_words, STOP_KIND_COUNT);
	outcome = index_of(doc_str(n, "outcome", "none"), outcome_words, OUTCOME_COUNT);
	if (n->kind != DOC_MAP || stop < 0 || outcome < 0)
		return err_set(err, ERR_CORRUPT, "a %s event has an unknown word",
			       kind_words[kind]);
	out->stop = (enum stop_kind)stop;
	out->outcome = (enum outcome)outcome;
	out->attempt = (int)doc_i64(n, "attempt", 0);
	out->task = (int)doc_i64(n, "task", 0);
	out->slot = (int)doc_i64(n, "slot", 0);
	out->until_ms = doc_i64(n, "until", 0);
	out->uid = doc_i64(n, "uid", -1);
	out->priority = (int)doc_i64(n, "priority", 0);
	out->array = doc_i64(n, "array", 0);
	out->member = doc_i64(n, "member", 0);
	out->index = doc_i64(n, "index", 0);
	out->count = doc_i64(n, "count", 0);
	out->way = doc_i64(n, "for", 0);
	out->by = mem_strdup(doc_str(n, "by", NULL));
	out->group = mem_strdup(doc_str(n, "group", NULL));
	out->key = mem_strdup(doc_str(n, "key", NULL));
	out->digest = mem_strdup(doc_str(n, "digest", NULL));
	out->text = mem_strdup(doc_str(n, "text", NULL));
	out->scope = mem_strdup(doc_str(n, "scope", NULL));
	out->name = mem_strdup(doc_str(n, "name", NULL));
	if (read_parts(n, out, err) < 0) {
		event_fini(out);
		return err_wrap(err, "a %s event", kind_words[kind]);
	}
	return 0;
}
