// SPDX-License-Identifier: Apache-2.0
/* What groups used in the last days, told to the plan at boot: what the jobs that ended
 * held, hour by hour, as the plan itself would have counted it. */
#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "yard/internal.h"

#define HOUR_MS    INT64_C(3600000)
#define HOURS_KEPT 720 /* older use has faded, whatever the half-life */

struct past_use {
	char group[NAME_MAX_BYTES];
	int64_t hour;
	struct use use;
};

static void add_hour(struct map *past, const char *group, int64_t hour,
		     const struct use *held, int64_t ms)
{
	AUTO_FREE char *key = str_printf("%s/%" PRId64, group, hour);
	struct past_use *u = map_gets(past, key);

	if (!u) {
		u = mem_alloc(1, sizeof *u);
		strncpy(u->group, group, sizeof u->group - 1);
		u->hour = hour;
		map_puts(past, key, u);
	}
	u->use.cpu_milli += held->cpu_milli * ms;
	u->use.memory_mib += held->memory_mib * ms;
	u->use.device_milli += held->device_milli * ms;
}

static struct use held_by(const struct job *j)
{
	struct use u = { 0 };

	for (size_t i = 0; i < j->task_count; i++) {
		const struct resources *each = &j->spec->roles[j->tasks[i].role].each;
		u.cpu_milli += each->cpu_milli;
		u.memory_mib += each->memory_bytes >> 20;
		for (int k = 0; k < DEVICE_KINDS_MAX && each->devices[k].count > 0; k++)
			u.device_milli += device_milli(&each->devices[k]);
	}
	return u;
}

void yard_used_note(struct map *past, const struct job *j, int64_t now_ms)
{
	int64_t from = j->placed_ms, to = j->ended_ms < now_ms ? j->ended_ms : now_ms;
	int64_t oldest = now_ms - HOURS_KEPT * HOUR_MS;
	struct use held;

	if (job_is_array(j) || !from || to <= oldest)
		return;
	from = from > oldest ? from : oldest;
	held = held_by(j);
	for (int64_t hour = from / HOUR_MS; hour * HOUR_MS < to; hour++) {
		int64_t begin = hour * HOUR_MS, end = begin + HOUR_MS;
		begin = begin > from ? begin : from;
		end = end < to ? end : to;
		if (end > begin)
			add_hour(past, j->group, hour, &held, end - begin);
	}
}

void yard_used_tell(struct yard *y, struct map *past)
{
	struct past_use *u;

	for (size_t it = 0; (u = map_next(past, &it));) {
		struct plan_delta d = { .kind = PLAN_USED,
					.name = u->group,
					.used = &u->use,
					.since_ms = u->hour * HOUR_MS };
		yard_tell(y, &d);
		free(u);
	}
	map_destroy(past);
}
