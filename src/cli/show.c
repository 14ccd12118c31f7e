// SPDX-License-Identifier: Apache-2.0
#include "cli/show.h"

#include <inttypes.h>
#include <limits.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/units.h"
#include "cli/array.h"
#include "cli/metrics_view.h"
#include "cli/outcome.h"
#include "cli/plain.h"
#include "cli/table.h"
#include "cli/verdict.h"
#include "cli/view.h"
#include "cli/width.h"

#define HEAD_CELLS      12
#define METRICS_NAMED   4
#define METRICS_WAIT_MS 300 /* of event files that are long to read */

struct show_args {
	bool json;
	const char *color;
};

/* clang-format off */
static const struct opt show_table[] = {
	{ "json", 0, OPT_FLAG, OPT_INTO(struct show_args, json), NULL, "as JSON" },
	OPT_COLOUR(struct show_args, color),
};
/* clang-format on */

static __attribute__((format(printf, 3, 4))) void line(struct buf *out, const char *name,
						       const char *fmt, ...)
{
	AUTO_BUF struct buf value = { 0 };
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(&value, fmt, ap);
	va_end(ap);
	AUTO_FREE char *text = buf_take(&value), *head = mem_strdup(name);
	plain_text(text, "\n\t"); /* much of it is what the owner wrote */
	plain_text(head, "");
	buf_printf(out, "%-*s%s\n", HEAD_CELLS, head, text);
}

/* A sentence, broken between words; what may be copied (commands, paths) never is. */
static void sentence(struct buf *out, const char *name, const char *words)
{
	AUTO_FREE char *text = mem_strdup(words);

	plain_text(text, "\n\t");
	buf_printf(out, "%-*s", HEAD_CELLS, name);
	width_wrap(out, text, HEAD_CELLS, view_width());
	buf_addc(out, '\n');
}

static void add_times(const struct job *j, struct buf *out)
{
	char time[UNITS_TEXT_MAX], span[UNITS_TEXT_MAX];
	int64_t now = cli_now_ms();

	line(out, "submitted", "%s (%s ago)", units_show_time(j->submitted_ms, time),
	     units_show_duration(now - j->submitted_ms, span));
	if (j->started_ms)
		line(out, "started", "%s (waited %s)",
		     units_show_time(j->started_ms, time),
		     units_show_duration(j->started_ms - j->submitted_ms, span));
	if (j->ended_ms)
		line(out, "ended", "%s%s%s", units_show_time(j->ended_ms, time),
		     j->started_ms ? " after " : "",
		     j->started_ms
			     ? units_show_duration(j->ended_ms - j->started_ms, span)
			     : "");
	if (j->state == JOB_BACKOFF && j->retry_at_ms > now)
		line(out, "next try", "in %s",
		     units_show_duration(j->retry_at_ms - now, span));
}

/* The command as a shell would take it, near enough to be read. */
static void add_command(const struct role *r, struct buf *out)
{
	for (size_t i = 0; i < r->argc && !r->shell_line; i++) {
		bool plain =
			*r->argv[i] && !strpbrk(r->argv[i], " \t\n'\"\\$&|;<>*?()#~`");
		buf_printf(out, plain ? "%s%s" : "%s'%s'", i ? " " : "", r->argv[i]);
	}
	if (r->shell_line)
		buf_adds(out, r->shell_line);
}

static void add_role(const struct role *r, struct buf *out)
{
	char cpu[UNITS_TEXT_MAX], memory[UNITS_TEXT_MAX];
	AUTO_BUF struct buf text = { 0 };

	add_command(r, &text);
	line(out, r->name, "%s", buf_str(&text));
	buf_clear(&text);
	if (r->least)
		buf_printf(&text, "%d to ", r->least);
	buf_printf(&text, "%d task%s with %s cpu, %s memory", r->count,
		   r->count == 1 ? "" : "s", units_show_cpu(r->each.cpu_milli, cpu),
		   units_show_bytes(r->each.memory_bytes, memory));
	for (size_t i = 0; i < DEVICE_KINDS_MAX && r->each.devices[i].count > 0; i++)
		buf_printf(&text, ", %s %s",
			   units_show_cpu(device_milli(&r->each.devices[i]), cpu),
			   r->each.devices[i].type);
	if (r->per_device)
		buf_adds(&text, ", a process for each device");
	for (size_t i = 0; i < r->where.count; i++)
		buf_printf(&text, ", where %s=%s", r->where.items[i].key,
			   r->where.items[i].value);
	line(out, "", "%s", buf_str(&text));
}

static void add_spec(const struct wire_job *w, struct buf *out)
{
	const struct spec *s = w->job->spec;
	char limit[UNITS_TEXT_MAX];

	for (size_t i = 0; i < s->role_count; i++)
		add_role(&s->roles[i], out);
	if (s->contract != SPEC_NATIVE)
		line(out, "contract", "%s", spec_contract_word(s->contract));
	for (size_t i = 0; i < s->requirements.count; i++)
		line(out, i ? "" : "requires", "%s", s->requirements.items[i]);
	if (s->code)
		line(out, "code", "%.*s", spec_code_is_hash(s->code) ? 12 : INT_MAX,
		     s->code);
	if (s->time_limit_ms)
		line(out, "time limit", "%s",
		     units_show_duration(s->time_limit_ms, limit));
	for (size_t i = 0; i < s->hyperparameters.count; i++)
		line(out, i ? "" : "parameters", "%s = %s",
		     s->hyperparameters.items[i].key, s->hyperparameters.items[i].value);
	for (size_t i = 0; i < s->labels.count; i++)
		line(out, i ? "" : "labels", "%s = %s", s->labels.items[i].key,
		     s->labels.items[i].value);
	for (size_t i = 0; i < s->secret_count; i++)
		line(out, i ? "" : "secrets", "%s=(secret %s%s%s)",
		     s->secrets[i].env ? s->secrets[i].env : s->secrets[i].file,
		     s->secrets[i].from ? s->secrets[i].from : "",
		     s->secrets[i].from ? "/" : "", s->secrets[i].name);
	for (size_t i = 0; i < s->input_count; i++)
		line(out, i ? "" : "inputs", "%s = %s", s->inputs[i].name,
		     s->inputs[i].uri);
	for (size_t i = 0; i < s->output_count; i++)
		line(out, i ? "" : "outputs", "%s in %s", s->outputs[i].name,
		     w->outputs[i] ? w->outputs[i] : "the job's own storage");
}

static void add_tasks(const struct cli *c, const struct job *j, struct buf *out)
{
	static const char *const heads[] = { ">RANK", "TASK",  "STATE",
					     "NODE",  ">TOOK", "HOW IT ENDED" };
	struct table *t = table_create(heads, COUNT_OF(heads));
	int64_t now = cli_now_ms();

	for (size_t i = 0; i < j->task_count; i++) {
		const struct task *k = &j->tasks[i];
		AUTO_FREE char *name = cli_task_name(j, (int)i);
		AUTO_BUF struct buf end = { 0 };
		char took[UNITS_TEXT_MAX] = "";
		if (k->state == TASK_OVER)
			exit_words(&k->exit, &end);
		if (k->started_ms)
			units_show_duration(
				(k->ended_ms ? k->ended_ms : now) - k->started_ms, took);
		bool failed = k->state == TASK_OVER && !exit_ok(&k->exit);
		table_cell(t, TABLE_PLAIN, "%zu", i);
		table_cell(t, TABLE_PLAIN, "%s", name);
		table_cell(t, k->state == TASK_RUNNING ? TABLE_BUSY : TABLE_PLAIN, "%s",
			   task_state_word(k->state));
		table_cell(t, TABLE_PLAIN, "%s", k->place.node);
		table_cell(t, TABLE_PLAIN, "%s", took);
		table_cell(t, failed ? TABLE_BAD : TABLE_PLAIN, "%s", buf_str(&end));
	}
	buf_addc(out, '\n');
	table_render(t, c->colour_out, view_width(), out);
	table_destroy(t);
}

/* "2 times, for jobs 15 and 12; it had run for 6m" */
static void add_ways(const struct job *j, struct buf *out)
{
	const struct ways *w = &j->ways;
	AUTO_BUF struct buf words = { 0 };
	char lost[UNITS_TEXT_MAX];
	int named = 0;

	if (!w->count)
		return;
	while (named < WAYS_NAMED && w->last[named])
		named++;
	buf_printf(&words, "%d time%s", w->count, w->count == 1 ? "" : "s");
	if (named) /* others are not ours to see */
		buf_printf(&words, ", for job%s ", w->count == 1 ? "" : "s");
	for (int i = 0; i < named; i++)
		buf_printf(&words, "%s%" PRId64,
			   !i                  ? ""
			   : i + 1 == w->count ? " and "
					       : ", ",
			   w->last[i]);
	if (named && w->count > named)
		buf_printf(&words, " and %d other%s", w->count - named,
			   w->count - named == 1 ? "" : "s");
	buf_printf(&words, "; lost %s of work", units_show_duration(w->lost_ms, lost));
	line(out, "preempted", "%s", buf_str(&words));
}

static void add_life(const struct cli *c, const struct wire_job *w, struct buf *out)
{
	const struct job *j = w->job;
	bool ended = j->state == JOB_ENDED;
	const char *word = ended ? outcome_word(j->outcome) : job_state_word(j->state);
	const char *colour =
		c->colour_out ? table_colour_code(view_colour(j->state, j->outcome)) : "";

	line(out, "job", "%" PRId64 " %s", j->id, j->spec->name);
	if (j->array)
		line(out, "member", "%" PRId64 ".%" PRId64, j->array, j->index);
	buf_printf(out, "%-*s%s%s%s\n", HEAD_CELLS, "state", colour, word,
		   *colour ? TABLE_COLOUR_END : "");
	if (!ended)
		sentence(out, "",
			 j->progress ? j->progress
			 : w->why    ? w->why
				     : wire_state_words(j->state));
	if (ended && j->outcome != OUTCOME_SUCCEEDED)
		line(out, "exit code", "%d", w->exit_code);
	if (j->reason && *j->reason)
		sentence(out, "reason", j->reason);
	line(out, "owner", "%s (group %s)", j->owner, j->group ? j->group : "none");
	if (j->priority)
		line(out, "priority", "%d", j->priority);
	if (j->attempt > 1)
		line(out, "attempt", "%d (%d failed)", j->attempt, j->failures);
	add_ways(j, out);
}

/* Attempts before the last, out of the job's history: how each ended. */
static void add_attempts(struct cli *c, const struct job *j, struct buf *out)
{
	static const char *const heads[] = { ">ATTEMPT", "ENDED", "HOW" };
	AUTO_ANSWER struct answer a = { 0 };
	struct err ignored;
	char time[UNITS_TEXT_MAX];

	if (j->attempt < 2 ||
	    cli_get(c, &a, &ignored, "/jobs/%" PRId64 "/events", j->id) < 0)
		return;
	struct table *t = table_create(heads, COUNT_OF(heads));
	const struct doc_node *list = doc_get(doc_root(a.doc), "events");
	for (const struct doc_node *n = list ? list->first : NULL; n; n = n->next) {
		struct wire_event e;
		wire_event_read(n, &e);
		if (!str_eq(e.kind, event_kind_word(EV_RETRY)))
			continue;
		table_cell(t, TABLE_PLAIN, "%" PRId64, doc_i64(e.body, "attempt", 0));
		table_cell(t, TABLE_PLAIN, "%s", units_show_time(e.time_ms, time));
		table_cell(t, TABLE_BAD, "%s", doc_str(e.body, "text", ""));
	}
	buf_addc(out, '\n');
	table_render(t, c->colour_out, view_width(), out);
	table_destroy(t);
}

/* What the last lines of `yard run` would say. */
static void add_verdict(struct cli *c, const struct wire_job *w, struct buf *out)
{
	struct blame blame;
	struct verdict v;

	if (w->job->state != JOB_ENDED || w->job->outcome == OUTCOME_SUCCEEDED)
		return;
	outcome_blame(c, w, &blame);
	verdict_make(w->job, &(struct verdict_log){ blame.first, blame.last }, &v);
	buf_addc(out, '\n');
	if (v.error)
		line(out, "log", "%s", v.error);
	if (v.meaning)
		sentence(out, "means", v.meaning);
	line(out, "next", "%s", v.next);
	verdict_fini(&v);
	blame_fini(&blame);
}

/* The last values of what it measures, when its file says that it measures something. */
static void add_metrics(struct cli *c, const struct job *j, struct buf *out)
{
	AUTO_ANSWER struct answer a = { 0 };
	AUTO_BUF struct buf words = { 0 };
	struct metric_page page;
	struct err ignored; /* it is told without them */
	bool any = j->spec->metric_count > 0;

	for (size_t i = 0; i < j->spec->output_count; i++)
		any |= str_eq(j->spec->outputs[i].name, "logs") ||
		       str_eq(j->spec->outputs[i].name, "tensorboard");
	if (!any || !j->attempt || job_is_array(j) ||
	    cli_get(c, &a, &ignored, "/jobs/%" PRId64 "/metrics?points=0&wait_ms=%d",
		    j->id, METRICS_WAIT_MS) < 0)
		return;
	metric_page_read(&page, doc_root(a.doc));
	metric_page_words(&page, METRICS_NAMED, &words);
	if (words.len)
		line(out, "metrics", "%s", buf_str(&words));
	metric_page_fini(&page);
}

static void plain_line(struct buf *out, const char *name, const char *text)
{
	line(out, name, "%s", text);
}

static void add_all(struct cli *c, const struct wire_job *w, struct buf *out)
{
	add_life(c, w, out);
	add_times(w->job, out);
	add_spec(w, out);
	add_metrics(c, w->job, out);
	if (job_is_array(w->job))
		array_summary(w->job, plain_line, out);
	else
		add_tasks(c, w->job, out);
	add_attempts(c, w->job, out);
	add_verdict(c, w, out);
}

int show_job(struct cli *c, const char *job, struct buf *out, struct err *err)
{
	struct wire_job w = { 0 };

	if (cli_get_job(c, job, &w, err) < 0)
		return -1;
	add_all(c, &w, out);
	wire_job_fini(&w);
	return 0;
}

static int run_show(struct cli *c, const void *args, const struct opts_list *operands)
{
	const struct show_args *a = args;
	AUTO_FREE char *target = cli_job_target(operands->items[0], "");
	AUTO_BUF struct buf out = { 0 };
	struct err err;

	if (cli_colour(c, a->color, &err) < 0)
		return cli_fail(c, &err);
	if (a->json)
		return view_json(c, target);
	if (show_job(c, operands->items[0], &out, &err) < 0)
		return cli_fail(c, &err);
	cli_print(&out);
	return 0;
}

const struct command cmd_show = {
	.name = "show",
	.operands = "JOB",
	.summary = "tell everything about a job",
	.table = show_table,
	.count = COUNT_OF(show_table),
	.args_size = sizeof(struct show_args),
	.operands_min = 1,
	.operands_max = 1,
	.run = run_show,
};
