// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>

#include "base/mem.h"
#include "tap.h"
#include "wire/api.h"
#include "wire/outcome.h"

static struct doc *parse(const struct buf *b)
{
	struct err err = { 0 };
	struct doc *d = doc_parse_json(buf_str(b), b->len, &err);

	if (!OK(d != NULL, "what is written is JSON"))
		printf("# %s\n# %s\n", err.text, buf_str(b));
	return d;
}

static struct spec *two_roles(void)
{
	struct spec *s = spec_create();
	static const char *const argv[] = { "python", "train.py" };
	struct problems problems = { 0 };

	s->name = mem_strdup("resume-x");
	for (int r = 0; r < 2; r++) {
		struct role *role = spec_add_role(s);
		role->name = mem_strdup(r ? "worker" : "ps");
		role->count = 1 + r;
		role->argc = 2;
		role->argv = mem_alloc(3, sizeof *role->argv);
		for (int i = 0; i < 2; i++)
			role->argv[i] = mem_strdup(argv[i]);
	}
	s->output_count = 1;
	s->outputs = mem_alloc(1, sizeof *s->outputs);
	s->outputs[0].name = mem_strdup("model");
	spec_check(s, &problems);
	for (size_t i = 0; i < problems.count; i++)
		printf("# %s: %s\n", problems.items[i].field, problems.items[i].text);
	problems_fini(&problems);
	return s;
}

static struct job *a_job(void)
{
	struct event e = {
		.kind = EV_SUBMITTED, .job = 42, .seq = 7, .time_ms = 1000, .uid = 5
	};
	struct job *j;

	e.by = mem_strdup("ann");
	e.group = mem_strdup("vision");
	j = job_create(&e, two_roles());
	free(e.by);
	free(e.group);
	j->state = JOB_ENDED;
	j->outcome = OUTCOME_FAILED;
	j->attempt = 3;
	j->failures = 2;
	j->started_ms = 1500;
	j->ended_ms = 9000;
	j->stop = STOP_TIME_LIMIT;
	j->stop_ms = 8000;
	j->stop_text = mem_strdup("longer than 1h");
	j->reason = mem_strdup("task 1 \xc3\xa9: \"out\"\n of memory");
	j->first_failed = 1;
	for (size_t i = 0; i < j->task_count; i++) {
		struct task *t = &j->tasks[i];
		t->state = i == 1 ? TASK_OVER : TASK_RUNNING;
		memcpy(t->place.node, "n1", 3);
		t->place.slot = (int)i + 1;
		memcpy(t->place.devices[0].type, "gpu", 4);
		t->place.devices[0].mask = 1ull << 63 | 1ull << i;
		memcpy(t->place.devices[1].type, "npu", 4);
		t->place.devices[1].mask = 2;
		t->place.devices[1].share_milli = 500;
		t->place.ports[0] = 20000 + (int)i;
		t->place.port_count = 1;
		t->started_ms = 1500;
	}
	j->tasks[1].exit = (struct task_exit){ .kind = EXIT_OOM,
					       .peak_bytes = 100,
					       .limit_bytes = 99,
					       .cpu_ms = 5,
					       .text = "too much" };
	return j;
}

static void jobs(void)
{
	struct job *j = a_job();
	const char *outputs[] = { "/state/out" };
	struct buf out = { 0 };
	struct wire_job w;
	struct err err;

	wire_job_write(&out, j, outputs, "it does not wait");
	struct doc *d = parse(&out);
	OK(wire_job_read(doc_root(d), &w, &err) == 0, "a job is read back");
	const struct job *k = w.job;
	OK(k->id == 42 && k->state == JOB_ENDED && k->outcome == OUTCOME_FAILED &&
		   k->attempt == 3 && k->failures == 2 && k->last_seq == 7,
	   "its numbers and states");
	OK(k->submitted_ms == 1000 && k->started_ms == 1500 && k->ended_ms == 9000,
	   "its times");
	IS(k->spec->name, j->spec->name, "its name");
	IS(k->owner, "ann", "its owner");
	IS(k->group, "vision", "its group");
	IS(k->reason, "task 1 \xc3\xa9: \"out\"\n of memory",
	   "its reason, whatever is in it");
	OK(k->stop == STOP_TIME_LIMIT && k->stop_ms == 8000 && !k->stop_by,
	   "what stopped it");
	IS(w.outputs[0], "/state/out", "where its output is");
	IS(w.why, "it does not wait", "why it waits");
	OK(w.exit_code == job_exit_code(j), "its exit code");
	OK(k->task_count == 3 && k->tasks[2].role == 1 && k->tasks[2].index == 1,
	   "its tasks by rank");
	OK(memcmp(&k->tasks[1].place, &j->tasks[1].place, sizeof k->tasks[1].place) == 0,
	   "a task's whole placement, device 63 and a share too");
	OK(k->tasks[1].state == TASK_OVER && memcmp(&k->tasks[1].exit, &j->tasks[1].exit,
						    sizeof j->tasks[1].exit) == 0,
	   "how a task ended");
	wire_job_fini(&w);
	doc_destroy(d);
	d = doc_parse_json("{\"id\":1}", 8, &err);
	OK(wire_job_read(doc_root(d), &w, &err) < 0 && err.code == ERR_CORRUPT,
	   "an answer without a job is told");
	doc_destroy(d);
	buf_fini(&out);
	job_destroy(j);
}

static void rows(void)
{
	struct wire_row row = { .id = 1LL << 40,
				.name = "n",
				.owner = "o",
				.group = "g",
				.reason = "because",
				.state = JOB_BACKOFF,
				.outcome = OUTCOME_STOPPED,
				.priority = -5,
				.attempt = 2,
				.task_count = 4096,
				.exit_code = 130,
				.submitted_ms = 1,
				.started_ms = 0,
				.ended_ms = 3 };
	struct wire_row got;
	struct buf out = { 0 };
	struct json j;

	for (int s = 0; s < JOB_STATE_COUNT; s++) {
		buf_clear(&out);
		row.state = (enum job_state)s;
		row.outcome = (enum outcome)(s % OUTCOME_COUNT);
		json_init(&j, &out);
		wire_row_write(&j, NULL, &row);
		struct doc *d = doc_parse_json(buf_str(&out), out.len, NULL);
		wire_row_read(doc_root(d), &got);
		OK(got.id == row.id && got.state == row.state &&
			   got.outcome == row.outcome && got.priority == -5 &&
			   got.attempt == 2 && got.task_count == 4096 &&
			   got.exit_code == 130 && got.submitted_ms == 1 &&
			   got.started_ms == 0 && got.ended_ms == 3 &&
			   strcmp(got.name, "n") == 0 && strcmp(got.owner, "o") == 0 &&
			   strcmp(got.group, "g") == 0 &&
			   strcmp(got.reason, "because") == 0,
		   "a row in state %s is read back", job_state_word((enum job_state)s));
		OK(strlen(wire_state_words((enum job_state)s)) > 5,
		   "and its state has words for people");
		doc_destroy(d);
	}
	buf_fini(&out);
}

static void nodes_and_quotas(void)
{
	struct wire_node n = {
		.node = { .name = "n1",
			  .up = true,
			  .simulated_devices = true,
			  .port_first = 1,
			  .port_last = 2,
			  .state = NODE_QUARANTINE,
			  .reason = "ECC errors",
			  .windows = { { 5, 7, "lab" }, { 8, 9, "" } },
			  .window_count = 2,
			  .rack = "r1",
			  .net = "s1",
			  .labels = "zone=a,disk=nvme",
			  .island = 4,
			  .rings = true,
			  .capacity = { .cpu_milli = 4000,
					.memory_bytes = 1LL << 40,
					.devices = { { "gpu", 8 }, { "npu:910", 2 } } } },
		.used = { .cpu_milli = 500,
			  .devices = { { "gpu", 1 }, { "npu:910", 1, 500 } } },
		.tasks = 3
	};
	struct quota q = { .limit = { .cpu_milli = -1,
				      .memory_bytes = 5,
				      .devices = { { "gpu", 0 } } },
			   .max_running_jobs = -1 };
	struct wire_node got;
	struct quota back;
	struct buf out = { 0 };
	struct json j;
	struct err err;

	json_init(&j, &out);
	wire_node_write(&j, NULL, &n);
	struct doc *d = parse(&out);
	wire_node_read(doc_root(d), &got);
	OK(memcmp(&got, &n, sizeof n) == 0, "a node is read back whole");
	doc_destroy(d);
	buf_clear(&out);
	json_init(&j, &out);
	wire_quota_write(&j, NULL, &q);
	d = parse(&out);
	OK(wire_quota_read(doc_root(d), &back, &err) == 0 &&
		   memcmp(&back, &q, sizeof q) == 0,
	   "a quota too: no limit stays none, a limit of zero devices stays zero");
	doc_destroy(d);
	static const char *const wrong[] = {
		"[]",
		"{\"cpu\":1}",
		"{\"cpu_milli\":-1}",
		"{\"cpu_milli\":\"2\"}",
		"{\"max_running_jobs\":99999999999}",
		"{\"devices\":3}",
		"{\"devices\":{\"gpu\":-1}}",
		"{\"devices\":{\"\":1}}",
		"{\"devices\":{\"a\":1,\"b\":1,\"c\":1,\"d\":1,\"e\":1}}",
		"{\"cpu_milli\":1.5}"
	};
	for (size_t i = 0; i < COUNT_OF(wrong); i++) {
		d = doc_parse_json(wrong[i], strlen(wrong[i]), &err);
		OK(wire_quota_read(doc_root(d), &back, &err) < 0 &&
			   err.code == ERR_INVALID,
		   "refused: %s", wrong[i]);
		doc_destroy(d);
	}
	buf_fini(&out);
}

static void failures(void)
{
	struct problems problems = { 0 }, got = { 0 };
	struct err err, back;
	struct buf out = { 0 };

	problems_add(&problems, 4, 2, "roles[0].cpu", "must be \"positive\"");
	problems_add(&problems, 9, 1, "nam", "did you mean name?");
	problems_err(&problems, &err);
	wire_error_write(&out, &err, &problems);
	wire_error_read(buf_str(&out), out.len, 400, &back, &got);
	OK(back.code == ERR_INVALID && strcmp(back.text, err.text) == 0,
	   "an error is read back");
	OK(got.count == 2 && got.items[0].line == 4 && got.items[0].column == 2 &&
		   strcmp(got.items[0].field, "roles[0].cpu") == 0 &&
		   strcmp(got.items[1].text, "did you mean name?") == 0,
	   "with every problem and its place");
	problems_fini(&problems);
	problems_fini(&got);
	for (int c = ERR_NONE + 1; c < ERR_CODE_END; c++) {
		enum err_code code = (enum err_code)c;
		err_set(&err, code, "because");
		buf_clear(&out);
		wire_error_write(&out, &err, NULL);
		wire_error_read(buf_str(&out), out.len, 500, &back, NULL);
		OK(back.code == code && wire_http_status(code) >= 400 &&
			   wire_exit_code(code) > 0,
		   "class %s survives the wire, has a status and an exit code",
		   err_word(code));
	}
	wire_error_read("<html>", 6, 404, &back, NULL);
	OK(back.code == ERR_NOT_FOUND && strstr(back.text, "404"),
	   "an answer that is not ours is told by its status");
	wire_error_read("", 0, 502, &back, NULL);
	OK(back.code == ERR_INTERNAL, "also one that nobody knows");
	buf_fini(&out);
}

static void events_and_logs(void)
{
	struct wire_log_head h = { .rank = 0xfffefdfc,
				   .attempt = 7,
				   .offset = 0x1122334455667788ull },
			     g;
	uint8_t bytes[WIRE_LOG_HEAD_BYTES];
	struct event e = { .seq = 9,
			   .time_ms = 10,
			   .job = 11,
			   .kind = EV_ENDED,
			   .outcome = OUTCOME_FAILED,
			   .text = mem_strdup("so") };
	struct wire_event w;
	struct buf out = { 0 };
	struct json j;

	wire_log_head_write(&h, bytes);
	wire_log_head_read(bytes, &g);
	OK(bytes[0] == 0xfc && bytes[4] == 7 && bytes[8] == 0x88 &&
		   memcmp(&h, &g, sizeof h) == 0,
	   "a log record's head is little endian and is read back");
	json_init(&j, &out);
	wire_event_write(&j, NULL, &e);
	struct doc *d = parse(&out);
	wire_event_read(doc_root(d), &w);
	OK(w.seq == 9 && w.time_ms == 10 && w.job == 11 && strcmp(w.kind, "ended") == 0 &&
		   strcmp(doc_str(w.body, "text", ""), "so") == 0,
	   "an event is read back");
	doc_destroy(d);
	buf_fini(&out);
	event_fini(&e);
}

int main(void)
{
	jobs();
	rows();
	nodes_and_quotas();
	failures();
	events_and_logs();
	return END();
}
