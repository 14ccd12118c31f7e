// SPDX-License-Identifier: Apache-2.0
#include "stream/metrics.h"

#include "base/mem.h"
#include "stream/metrics_inside.h"

#define TURN_BYTES     ((int64_t)64 << 20) /* of event files before others have a turn */
#define LOG_TURN_BYTES ((int64_t)8 << 20)

struct metrics *metrics_create(void)
{
	struct metrics *m = mem_alloc(1, sizeof *m);

	metric_set_init(&m->set);
	return m;
}

void metrics_destroy(struct metrics *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->board_count; i++)
		board_destroy(m->boards[i]);
	for (size_t i = 0; i < m->pattern_count; i++) {
		pattern_destroy(m->patterns[i].pattern);
		free(m->patterns[i].name);
	}
	for (size_t i = 0; i < m->source_count; i++)
		log_source_destroy(m->sources[i]);
	free(m->boards);
	free(m->patterns);
	free(m->sources);
	metric_set_fini(&m->set);
	free(m);
}

void metrics_add_folder(struct metrics *m, const struct metrics_folder *f)
{
	mem_grow(&m->boards, &m->board_cap, m->board_count, sizeof *m->boards);
	m->boards[m->board_count++] = board_create(f);
}

int metrics_add_pattern(struct metrics *m, const char *name, const char *pattern,
			struct err *err)
{
	struct pattern *p = pattern_create(pattern, err);

	if (!p) {
		metric_set_problem(&m->set, "metric %s: %s", name, err->text);
		return -1;
	}
	mem_grow(&m->patterns, &m->pattern_cap, m->pattern_count, sizeof *m->patterns);
	m->patterns[m->pattern_count++] = (struct log_metric){ mem_strdup(name), p };
	return 0;
}

bool metrics_wants_logs(const struct metrics *m)
{
	return m->pattern_count > 0;
}

static struct log_source *find_source(const struct metrics *m, int rank)
{
	for (size_t i = 0; i < m->source_count; i++)
		if (log_source_rank(m->sources[i]) == rank)
			return m->sources[i];
	return NULL;
}

int metrics_attempt(const struct metrics *m, int rank)
{
	const struct log_source *s = find_source(m, rank);

	return s ? log_source_attempt(s) : 1;
}

void metrics_look(struct metrics *m)
{
	for (size_t i = 0; i < m->board_count; i++) {
		bool twice = false; /* one folder may be an output by two names */
		board_find(m->boards[i]);
		for (size_t k = 0; k < i; k++)
			twice |= board_same(m->boards[i], m->boards[k]);
		if (!twice)
			board_look(m->boards[i], &m->set);
	}
}

static bool read_log(struct metrics *m, const struct metrics_log *log, int64_t *budget)
{
	struct log_source *s = find_source(m, log->rank);

	if (!s) {
		mem_grow(&m->sources, &m->source_cap, m->source_count,
			 sizeof *m->sources);
		s = m->sources[m->source_count++] = log_source_create(log->rank);
	}
	return log_source_read(s, log, m->patterns, m->pattern_count, &m->set, budget);
}

bool metrics_read(struct metrics *m, const struct metrics_log *logs, size_t count)
{
	int64_t budget = TURN_BYTES, log_budget = LOG_TURN_BYTES;
	struct record_buffer *buffer = record_buffer_create();
	bool more = false;

	for (size_t i = 0; i < m->board_count && !more; i++)
		more = board_read(m->boards[i], &m->set, buffer, &budget);
	record_buffer_destroy(buffer);
	for (size_t i = 0; i < count && log_budget > 0; i++)
		more |= read_log(m, &logs[i], &log_budget);
	return more || (count && log_budget <= 0);
}

size_t metrics_bytes(const struct metrics *m)
{
	size_t bytes = sizeof *m + metric_set_bytes(&m->set);

	for (size_t i = 0; i < m->board_count; i++)
		bytes += board_bytes(m->boards[i]);
	for (size_t i = 0; i < m->source_count; i++)
		bytes += log_source_bytes(m->sources[i]);
	return bytes + m->pattern_count * 4096;
}
