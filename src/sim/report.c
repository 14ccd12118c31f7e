// SPDX-License-Identifier: Apache-2.0
#include "sim/report.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/units.h"

/* clang-format off */
const struct sim_label sim_labels[] = {
	{ NULL, "Jobs", NULL, SIM_COUNT },
	{ "jobs", "in the trace", "JOBS", SIM_COUNT },
	{ "done", "done", "DONE", SIM_COUNT },
	{ "rejected", "could never run", "REJECTED", SIM_COUNT },
	{ "unfinished", "still waiting at the end", "WAITING", SIM_COUNT },
	{ NULL, "Waiting", NULL, SIM_COUNT },
	{ "avg_queue_s", "average", "AVG QUEUE", SIM_SECONDS },
	{ "p50_queue_s", "half waited less than", "P50 QUEUE", SIM_SECONDS },
	{ "p90_queue_s", "90 % less than", "P90 QUEUE", SIM_SECONDS },
	{ "p99_queue_s", "99 % less than", "P99 QUEUE", SIM_SECONDS },
	{ "p999_queue_s", "99.9 % less than", "P99.9 QUEUE", SIM_SECONDS },
	{ "max_queue_s", "longest", "MAX QUEUE", SIM_SECONDS },
	{ NULL, "From submit to end", NULL, SIM_COUNT },
	{ "avg_jct_s", "average", "AVG JCT", SIM_SECONDS },
	{ "p50_jct_s", "half took less than", "P50 JCT", SIM_SECONDS },
	{ "p90_jct_s", "90 % less than", "P90 JCT", SIM_SECONDS },
	{ "p99_jct_s", "99 % less than", "P99 JCT", SIM_SECONDS },
	{ "p999_jct_s", "99.9 % less than", "P99.9 JCT", SIM_SECONDS },
	{ "bounded_slowdown", "slowdown (of at least 10 s)", "SLOWDOWN", SIM_NUMBER },
	{ "makespan_s", "until all was done", "MAKESPAN", SIM_SECONDS },
	{ "bound_avg_jct_s", "no order can average less than", "LEAST JCT", SIM_SECONDS },
	{ "bound_makespan_s", "or be done before", "LEAST SPAN", SIM_SECONDS },
	{ NULL, "Devices", NULL, SIM_COUNT },
	{ "use_percent", "in use", "USE", SIM_PERCENT },
	{ "idle_while_waiting_devices", "idle while somebody waited", "IDLE", SIM_NUMBER },
	{ "fragmentation_percent", "idle ones no usual job can use", "FRAGMENT", SIM_PERCENT },
	{ "largest_gang_devices", "free for one gang", "GANG", SIM_NUMBER },
	{ "alloc_at_90_percent", "allocated at 90 % asked for", "AT 90 %", SIM_PERCENT },
	{ "alloc_at_95_percent", "at 95 %", "AT 95 %", SIM_PERCENT },
	{ "alloc_at_100_percent", "at 100 %", "ALLOCATED AT 100 %", SIM_PERCENT },
	{ "alloc_at_110_percent", "at 110 %", "AT 110 %", SIM_PERCENT },
	{ "alloc_at_130_percent", "at 130 %", "AT 130 %", SIM_PERCENT },
	{ "fragment_at_90_percent", "fragmentation at 90 %", "FRAGMENT AT 90 %", SIM_PERCENT },
	{ NULL, "Promises", NULL, SIM_COUNT },
	{ "preemptions", "told to give way", "PREEMPTED", SIM_COUNT },
	{ "lost_device_s", "device time lost by that", "LOST", SIM_SECONDS },
	{ "head_delays", "heads of the queue delayed", "DELAYED", SIM_COUNT },
	{ "head_delay_s", "by so much in all", "DELAY", SIM_SECONDS },
	{ "guarantee_breaks", "guarantees not kept", "BROKEN", SIM_COUNT },
	{ NULL, "Speed", NULL, SIM_COUNT },
	{ "decisions", "decisions", "DECISIONS", SIM_COUNT },
	{ "decisions_per_s", "a second", "PER SECOND", SIM_COUNT },
	{ "p50_step_ns", "half the steps took less than", "P50 STEP", SIM_NANOSECONDS },
	{ "p99_step_ns", "99 % less than", "P99 STEP", SIM_NANOSECONDS },
	{ "peak_memory_bytes", "memory at most", "MEMORY", SIM_BYTES },
	{ NULL, NULL, NULL, SIM_COUNT },
};
/* clang-format on */

static enum sim_kind kind_of(const char *key)
{
	if (str_ends(key, "_s"))
		return SIM_SECONDS;
	if (str_ends(key, "_percent"))
		return SIM_PERCENT;
	if (str_ends(key, "_ns"))
		return SIM_NANOSECONDS;
	return SIM_NUMBER;
}

void sim_label_of(const char *key, struct sim_label *out)
{
	for (const struct sim_label *l = sim_labels; l->words; l++)
		if (l->key && str_eq(l->key, key)) {
			*out = *l;
			return;
		}
	*out = (struct sim_label){ key, key, key, kind_of(key) };
}

/* With a comma between the thousands. */
static void grouped(double value, int decimals, struct buf *out)
{
	AUTO_BUF struct buf plain = { 0 };
	size_t whole;

	if (value < 0)
		buf_addc(out, '-');
	buf_printf(&plain, "%.*f", decimals, fabs(value));
	whole = strcspn(buf_str(&plain), ".");
	for (size_t i = 0; i < plain.len; i++) {
		if (i && i < whole && (whole - i) % 3 == 0)
			buf_addc(out, ',');
		buf_addc(out, plain.data[i]);
	}
}

void sim_value_show(enum sim_kind kind, double value, struct buf *out)
{
	char text[UNITS_TEXT_MAX];

	switch (kind) {
	case SIM_COUNT:
		grouped(value, 0, out);
		return;
	case SIM_SECONDS:
		grouped(value, value < 10 && value > 0 ? 2 : 0, out);
		buf_adds(out, " s");
		return;
	case SIM_PERCENT:
		grouped(value, 2, out);
		buf_adds(out, " %");
		return;
	case SIM_NUMBER:
		grouped(value, value < 100 ? 2 : 1, out);
		return;
	case SIM_NANOSECONDS:
		grouped(value < 10000 ? value : value / 1000, 0, out);
		buf_adds(out, value < 10000 ? " ns" : " µs");
		return;
	case SIM_BYTES:
		buf_adds(out, units_show_bytes((int64_t)value, text));
		return;
	}
}

bool sim_spread_of(const struct sim_result *runs, size_t count, const char *key,
		   struct sim_spread *out)
{
	double sum = 0, squares = 0, v;

	*out = (struct sim_spread){ 0 };
	for (size_t i = 0; i < count; i++) {
		if (!sim_figure_get(&runs[i], key, &v))
			continue;
		out->min = out->count && out->min < v ? out->min : v;
		out->max = out->count && out->max > v ? out->max : v;
		out->count++;
		sum += v;
	}
	if (!out->count)
		return false;
	out->mean = sum / (double)out->count;
	for (size_t i = 0; i < count; i++)
		if (sim_figure_get(&runs[i], key, &v))
			squares += (v - out->mean) * (v - out->mean);
	if (out->count > 1)
		out->sd = sqrt(squares / (double)(out->count - 1));
	return true;
}

static int by_device_time(const void *a, const void *b)
{
	const struct sim_share *x = a, *y = b;

	if (x->device_s != y->device_s)
		return x->device_s > y->device_s ? -1 : 1;
	return x->group && y->group ? strcmp(x->group, y->group) : 0;
}

static void share_row(struct sim_share *s, const struct sim_row *row)
{
	double queue = row->end_s - row->submit_s - row->ran_s;

	s->group = row->group;
	if (row->rejected || row->end_s < 0)
		return;
	s->jobs++;
	s->device_s += row->ran_s * (double)row->device_milli / 1000;
	s->queue_s += queue;
	s->worst_queue_s = queue > s->worst_queue_s ? queue : s->worst_queue_s;
}

struct sim_share *sim_shares(const struct sim_result *r, size_t *count)
{
	struct map *at = map_create(); /* a group's place, from 1 */
	struct sim_share *list = NULL;
	size_t cap = 0, n = 0;

	for (size_t i = 0; i < r->row_count; i++) {
		const char *name = r->rows[i].group ? r->rows[i].group : "";
		size_t place = (size_t)(uintptr_t)map_gets(at, name);
		if (!place) {
			mem_grow(&list, &cap, n, sizeof *list);
			list[n] = (struct sim_share){ 0 };
			place = ++n;
			map_puts(at, name, (void *)(uintptr_t)place);
		}
		share_row(&list[place - 1], &r->rows[i]);
	}
	map_destroy(at);
	if (n)
		qsort(list, n, sizeof *list, by_device_time);
	*count = n;
	return list;
}

void sim_double_json(struct json *j, const char *key, double value)
{
	AUTO_BUF struct buf text = { 0 };

	if (!isfinite(value)) {
		json_null(j, key);
		return;
	}
	buf_printf(&text, "%.12g", value);
	json_raw(j, key, buf_str(&text));
}

static void shares_json(const struct sim_result *r, struct json *j)
{
	size_t count;
	struct sim_share *list = sim_shares(r, &count);

	json_array(j, "groups");
	for (size_t i = 0; i < count; i++) {
		double jobs = list[i].jobs ? (double)list[i].jobs : 1;
		json_object(j, NULL);
		json_str(j, "group", list[i].group);
		json_i64(j, "jobs", (int64_t)list[i].jobs);
		sim_double_json(j, "device_s", list[i].device_s);
		sim_double_json(j, "avg_queue_s", list[i].queue_s / jobs);
		sim_double_json(j, "max_queue_s", list[i].worst_queue_s);
		json_end(j);
	}
	json_end(j);
	free(list);
}

void sim_result_json(const struct sim_result *r, struct json *j)
{
	for (size_t i = 0; i < r->figure_count; i++)
		sim_double_json(j, r->figures[i].key, r->figures[i].value);
	if (r->row_count)
		shares_json(r, j);
	if (r->hash[0])
		json_str(j, "decision_hash", r->hash);
}

/* Names may hold anything: quotes around those that need them. */
static void csv_word(const char *text, struct buf *out)
{
	if (!text)
		return;
	if (!strpbrk(text, ",\"\r\n")) {
		buf_adds(out, text);
		return;
	}
	buf_addc(out, '"');
	for (; *text; text++) {
		if (*text == '"')
			buf_addc(out, '"');
		buf_addc(out, *text);
	}
	buf_addc(out, '"');
}

void sim_rows_csv(const struct sim_result *r, struct buf *out)
{
	buf_adds(
		out,
		"id,user,group,gpus,submit_s,start_s,end_s,ran_s,preemptions,rejected\n");
	for (size_t i = 0; i < r->row_count; i++) {
		const struct sim_row *row = &r->rows[i];
		csv_word(row->name, out);
		buf_addc(out, ',');
		csv_word(row->user, out);
		buf_addc(out, ',');
		csv_word(row->group, out);
		buf_printf(out, ",%d,%.3f,", row->gpus, row->submit_s);
		if (row->start_s >= 0)
			buf_printf(out, "%.3f", row->start_s);
		buf_addc(out, ',');
		if (row->end_s >= 0)
			buf_printf(out, "%.3f", row->end_s);
		buf_printf(out, ",%.3f,%d,%d\n", row->ran_s, row->preemptions,
			   row->rejected);
	}
}
