// SPDX-License-Identifier: Apache-2.0
/* Who waits, in the order they will be looked at.  Of others' jobs one sees that they are
 * ahead and how much they ask for, not whose they are nor what. */
#include "http/route.h"

#include "base/json.h"
#include "base/mem.h"
#include "http/handlers.h"
#include "http/limits.h"
#include "who/who.h"
#include "wire/api.h"
#include "yard/stats.h"
#include "yard/why.h"

static void write_ask(struct json *j, const struct spec *s)
{
	struct resources total = spec_total(s);

	json_object(j, "ask");
	json_i64(j, "tasks", spec_task_count(s));
	json_i64(j, "cpu_milli", total.cpu_milli);
	json_i64(j, "memory_bytes", total.memory_bytes);
	wire_devices_write(j, "devices", &total);
	json_end(j);
}

static void write_waiting(struct exchange *ex, struct json *j, int64_t id,
			  int64_t position)
{
	struct yard *y = ex->server->config.yard;
	const struct job *job = yard_live(y, id);
	AUTO_BUF struct buf why = { 0 };
	bool seen = job && who_may_see(ex->who, job->owner, job->group);

	if (!job)
		return;
	if (seen) /* where it stands is said beside it */
		yard_cause(y, job, ex->who, &why);
	json_object(j, NULL);
	json_i64(j, "position", position);
	if (seen)
		json_i64(j, "id", id);
	else
		json_null(j, "id");
	json_str(j, "name", seen ? job->spec->name : NULL);
	json_str(j, "owner", seen ? job->owner : NULL);
	json_str(j, "group", seen ? job->group : NULL);
	json_i64(j, "priority", job->priority);
	write_ask(j, job->spec);
	json_i64(j, "since_ms", job->queued_ms);
	json_str(j, "reason", seen ? buf_str(&why) : NULL);
	json_end(j);
}

static void write_score(struct json *j, const struct yard *y)
{
	struct learn_score s;

	yard_score(y, &s);
	json_object(j, "estimates");
	json_i64(j, "told", s.told);
	json_i64(j, "within", s.within);
	json_i64(j, "close", s.close);
	json_i64(j, "error_ms", s.error_ms);
	json_end(j);
}

void handle_queue(struct exchange *ex)
{
	struct yard *y = ex->server->config.yard;
	struct buf *out = answer_scratch(ex);
	int64_t first = param_int(ex, "from", 1);
	size_t limit = (size_t)param_int(ex, "limit", LIST_DEFAULT);
	AUTO_FREE int64_t *ids = mem_alloc(limit + 1, sizeof *ids);
	size_t count = yard_queue(y, (size_t)first, ids, limit + 1);
	struct json j;

	json_init(&j, out);
	json_object(&j, NULL);
	json_i64(&j, "waiting", (int64_t)yard_queue_length(y));
	json_array(&j, "queue");
	for (size_t i = 0; i < count && i < limit; i++)
		write_waiting(ex, &j, ids[i], first + (int64_t)i);
	json_end(&j);
	write_score(&j, y);
	if (count > limit)
		json_i64(&j, "next", first + (int64_t)limit);
	else
		json_null(&j, "next");
	json_end(&j);
	answer_json(ex, 200, out);
}
