// SPDX-License-Identifier: Apache-2.0
/* The stop notice: one JSON object, small enough to be written at once. */
#include <inttypes.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/units.h"
#include "contract/contract.h"

#define WHY_MAX_BYTES 200 /* of a person's words */

void contract_seconds(int64_t ms, struct buf *out)
{
	int64_t rest = ms % 1000;

	buf_printf(out, "%" PRId64, ms / 1000);
	if (!rest)
		return;
	buf_printf(out, ".%03d", (int)rest);
	while (out->data[out->len - 1] == '0')
		out->data[--out->len] = 0;
}

/* As much of a text as there is room for, cut between two letters. */
static void add_words(struct buf *out, const char *text)
{
	size_t n = strlen(text);

	if (n > WHY_MAX_BYTES) {
		n = WHY_MAX_BYTES;
		while (n && ((unsigned char)text[n] & 0xc0) == 0x80)
			n--;
	}
	buf_add(out, text, n);
}

/* Whom it gives way to is not told: it may be nobody's business here. */
static void add_why(const struct job *j, struct buf *out)
{
	char limit[UNITS_TEXT_MAX];

	switch (j->stop) {
	case STOP_USER:
		buf_printf(out, "stopped by %s", j->stop_by ? j->stop_by : "somebody");
		if (j->stop_text && *j->stop_text) {
			buf_adds(out, ": ");
			add_words(out, j->stop_text);
		}
		return;
	case STOP_TIME_LIMIT:
		buf_printf(out, "reached its time limit of %s",
			   units_show_duration(j->spec->time_limit_ms, limit));
		return;
	case STOP_POLICY:
		buf_adds(out, "enough of the job's tasks have ended");
		return;
	case STOP_PREEMPTED:
		buf_adds(out, "gives way to another job, and comes back");
		return;
	case STOP_DEPENDENCY:
		buf_adds(out, "a job it depends on did not succeed");
		return;
	case STOP_ARRAY:
		buf_adds(out, "its array was stopped");
		return;
	case STOP_NONE:
	case STOP_KIND_COUNT:
		return;
	}
}

static void put_seconds(struct json *j, const char *key, int64_t ms)
{
	AUTO_BUF struct buf text = { 0 };

	contract_seconds(ms, &text);
	json_raw(j, key, buf_str(&text));
}

void contract_notice(const struct job *job, int64_t deadline_ms, struct buf *out)
{
	AUTO_BUF struct buf why = { 0 };
	struct json j;

	add_why(job, &why);
	json_init(&j, out);
	json_object(&j, NULL);
	json_str(&j, "why", stop_kind_word(job->stop));
	json_str(&j, "text", buf_str(&why));
	json_i64(&j, "deadline_ms", deadline_ms);
	put_seconds(&j, "grace_s", deadline_ms - job->stop_ms);
	put_seconds(&j, "grace_max_s", job->spec->grace_max_ms);
	json_end(&j);
	buf_addc(out, '\n');
}
