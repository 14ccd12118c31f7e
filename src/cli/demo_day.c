// SPDX-License-Identifier: Apache-2.0
#include "cli/demo_day.h"

#include "base/json.h"
#include "base/mem.h"
#include "base/units.h"

#define MINUTE_MS INT64_C(60000)
#define HOUR_MS   (60 * MINUTE_MS)
#define LOAD      108 /* percent of what the devices can do in a day: there is a queue */

const struct demo_person demo_people[DEMO_PEOPLE] = {
	{ "ada", "vision" }, { "bo", "vision" },    { "cy", "speech" },
	{ "di", "speech" },  { "eve", "language" }, { "fay", "language" },
};

static const struct kind {
	const char *name, *command; /* its number goes behind */
	int weight;                 /* how often */
	int tasks, gpus;            /* gpus of each task */
	int minutes_least, minutes_most;
	int priority;
	bool preemptible;
} kinds[] = {
	{ "resnet50", "python train.py --model resnet50 --seed", 22, 1, 1, 15, 150, 0,
	  0 },
	{ "detector", "python detect.py --config fpn.yaml --fold", 14, 1, 2, 40, 300, 0,
	  0 },
	{ "tune", "python tune.py --trial", 20, 1, 1, 5, 45, -10, 1 },
	{ "asr", "python asr.py --epochs", 12, 1, 4, 60, 420, 0, 0 },
	{ "bert-large", "torchrun pretrain.py --stage", 10, 1, 8, 90, 480, 0, 0 },
	{ "evaluate", "python evaluate.py --checkpoint", 14, 1, 1, 3, 20, 10, 0 },
	{ "llm-7b", "torchrun llm.py --shard", 4, 2, 8, 180, 540, 0, 0 },
	{ "llm-30b", "torchrun llm.py --size 30b --run", 2, 4, 8, 120, 360, 20, 0 },
	{ "explore", "python explore.py --idea", 8, 1, 4, 120, 600, -20, 1 },
};

/* How busy the hours are, from midnight. */
static const int hours[24] = { 2, 1,  1,  1,  1,  2,  3, 5, 9, 13, 14, 13,
			       9, 11, 13, 13, 12, 11, 9, 7, 6, 5,  4,  3 };

static uint64_t draw(uint64_t *state)
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15u);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

static int64_t between(uint64_t *state, int64_t least, int64_t most)
{
	return least + (int64_t)(draw(state) % (uint64_t)(most - least + 1));
}

static size_t kind_drawn(uint64_t *state)
{
	int sum = 0;
	size_t at = 0;

	for (size_t i = 0; i < COUNT_OF(kinds); i++)
		sum += kinds[i].weight;
	for (int left = (int)between(state, 0, sum - 1); left >= kinds[at].weight; at++)
		left -= kinds[at].weight;
	return at;
}

static int64_t time_drawn(uint64_t *state)
{
	int sum = 0, at = 0;

	for (int i = 0; i < 24; i++)
		sum += hours[i];
	for (int left = (int)between(state, 0, sum - 1); left >= hours[at]; at++)
		left -= hours[at];
	return at * HOUR_MS + between(state, 0, HOUR_MS - 1);
}

/* Many short, few long: the lesser of two draws. */
static int64_t run_drawn(uint64_t *state, const struct kind *k)
{
	int64_t a = between(state, k->minutes_least, k->minutes_most);
	int64_t b = between(state, k->minutes_least, k->minutes_most);

	return (a < b ? a : b) * MINUTE_MS + between(state, 0, MINUTE_MS - 1);
}

static int by_time(const void *a, const void *b)
{
	const struct demo_job *x = a, *y = b;

	return (x->at_ms > y->at_ms) - (x->at_ms < y->at_ms);
}

struct demo_job *demo_day(uint64_t seed, size_t *count)
{
	size_t cap = 64;
	struct demo_job *jobs = mem_alloc(cap, sizeof *jobs);
	int64_t left = INT64_C(24) * HOUR_MS * DEMO_NODES * DEMO_DEVICES * LOAD / 100;

	*count = 0;
	while (left > 0) {
		struct demo_job j = { .kind = kind_drawn(&seed) };
		const struct kind *k = &kinds[j.kind];
		j.at_ms = time_drawn(&seed);
		j.person = (size_t)between(&seed, 0, DEMO_PEOPLE - 1);
		j.run_ms = run_drawn(&seed, k);
		/* Two of three tell a limit, and most of these are generous. */
		if (draw(&seed) % 3)
			j.limit_ms = j.run_ms * between(&seed, 105, 220) / 100;
		left -= j.run_ms * k->tasks * k->gpus;
		mem_grow(&jobs, &cap, *count, sizeof *jobs);
		jobs[(*count)++] = j;
	}
	qsort(jobs, *count, sizeof *jobs, by_time);
	for (size_t i = 0; i < *count; i++)
		jobs[i].number = (int)i + 1;
	return jobs;
}

static void add_duration(struct json *j, const char *key, int64_t ms)
{
	char text[UNITS_TEXT_MAX];

	json_str(j, key, units_write_duration(ms > 0 ? ms : 1, text));
}

static void add_resources(struct json *j, const struct kind *k)
{
	json_object(j, "resources");
	json_i64(j, "cpu", k->gpus > 1 ? 4 * k->gpus : 6);
	json_i64(j, "memory", (int64_t)k->gpus << 34);
	json_object(j, "devices");
	json_i64(j, "gpu", k->gpus);
	json_end(j);
	json_end(j);
}

void demo_job_file(const struct demo_job *job, int64_t speed, struct buf *out)
{
	const struct kind *k = &kinds[job->kind];
	AUTO_BUF struct buf command = { 0 };
	struct json j;

	buf_printf(&command, "%s %d", k->command, job->number);
	json_init(&j, out);
	json_object(&j, NULL);
	json_str(&j, "name", k->name);
	json_str(&j, "group", demo_people[job->person].group);
	json_str(&j, "command", buf_str(&command));
	json_i64(&j, "count", k->tasks);
	if (k->priority)
		json_i64(&j, "priority", k->priority);
	if (k->preemptible)
		json_bool(&j, "preemptible", true);
	if (job->limit_ms)
		add_duration(&j, "time-limit", job->limit_ms / speed);
	add_resources(&j, k);
	json_object(&j, "env");
	add_duration(&j, "SIM_RUN", job->run_ms / speed);
	json_end(&j);
	json_end(&j);
}
