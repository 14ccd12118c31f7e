// SPDX-License-Identifier: Apache-2.0
/* What a task is told of a stop, of what to go on from, and of the storage tree. */
#include "fixture.h"

#define JOB                                                                              \
	"{\"name\":\"t\",\"roles\":[{\"name\":\"main\",\"image\":\"host\",\"command\":[" \
	"\"x\"]}],\"grace\":\"1500ms\",\"grace-max\":\"2m\",\"time-limit\":\"1h\","      \
	"\"outputs\":{\"checkpoints\":null},\"inputs\":{\"checkpoints\":\"/old\"}}"

static const char *const inputs[] = { "/host/in" }, *const outputs[] = { "/host/out" };

static void variables(void)
{
	struct job *j = job_from(JOB, "alice");
	struct contract_places p = { .attempt_folder = "/a",
				     .inputs = inputs,
				     .outputs = outputs };
	struct bundle *b = contract_bundle(j, 0, &p);
	const struct mount *m = mount_at(b, "/run/yard");

	IS(env(b, "YARD_STOP_FILE"), "/run/yard/stop.json",
	   "where the notice appears is told");
	IS(b->stop_file, "/run/yard/stop.json", "to the engine, too");
	OK(m && m->kind == MOUNT_DIR, "its folder is there from the start");
	IS(env(b, "YARD_GRACE"), "1.5", "how long it has");
	IS(env(b, "YARD_GRACE_MAX"), "120", "and at most");
	OK(!env(b, "YARD_RESUME_FROM"),
	   "without a checkpoint there is nothing to go on from");
	bundle_destroy(b);
	p.resume = "step 10";
	b = contract_bundle(j, 0, &p);
	IS(env(b, "YARD_RESUME_FROM"), "/ml/output/checkpoints/step 10",
	   "the checkpoint of an earlier attempt lies in the output");
	bundle_destroy(b);
	p.resume_input = true;
	b = contract_bundle(j, 0, &p);
	IS(env(b, "YARD_RESUME_FROM"), "/ml/input/data/checkpoints/step 10",
	   "that of another job in the input");
	bundle_destroy(b);
	job_destroy(j);
}

static void storage(void)
{
	static const struct contract_folder folders[] = {
		{ MOUNT_BIND_RW, "/pfs/local/home/alice", "/host/home/alice", -1 },
		{ MOUNT_LINK, "/mnt/user/alice", "/pfs/local/home/alice", -1 },
		{ MOUNT_BIND_RW, "/pfs/local/group/lab", "/host/group/lab", 700000 },
	};
	struct job *j = job_from(JOB, "alice");
	struct contract_places p = { .attempt_folder = "/a",
				     .inputs = inputs,
				     .outputs = outputs,
				     .folders = folders,
				     .folder_count = 3 };
	struct bundle *b = contract_bundle(j, 0, &p);
	const struct mount *home = mount_at(b, "/pfs/local/home/alice");
	const struct mount *link = mount_at(b, "/mnt/user/alice");
	const struct mount *share = mount_at(b, "/pfs/local/group/lab");
	const struct mount *out = mount_at(b, "/ml/output/checkpoints");

	OK(home && home->kind == MOUNT_BIND_RW && home->range == -1 &&
		   str_eq(home->source, "/host/home/alice"),
	   "a home is bound as it is");
	OK(link && link->kind == MOUNT_LINK && link > home,
	   "its second name is a link, made after it");
	OK(share && share->range == 700000, "a share says whose uids its files have");
	OK(out && out > share && out->range == -1, "what the job asks for comes on top");
	bundle_destroy(b);
	job_destroy(j);
}

/* A notice as a task reads it. */
static struct doc *notice(struct job *j, int64_t deadline_ms, size_t *len)
{
	AUTO_BUF struct buf text = { 0 };
	struct doc *d;

	contract_notice(j, deadline_ms, &text);
	*len = text.len;
	d = doc_parse_json(text.data, text.len, NULL);
	if (!OK(d && text.data[text.len - 1] == '\n', "the notice is a line of JSON"))
		exit(1);
	return d;
}

static void notices(void)
{
	static const struct {
		enum stop_kind stop;
		const char *word, *text;
	} rows[] = {
		{ STOP_USER, "user", "stopped by bob: enough" },
		{ STOP_TIME_LIMIT, "time-limit", "reached its time limit of 1h" },
		{ STOP_PREEMPTED, "preempted",
		  "gives way to another job, and comes back" },
		{ STOP_POLICY, "policy", "enough of the job's tasks have ended" },
		{ STOP_ARRAY, "array", "its array was stopped" },
	};
	struct job *j = job_from(JOB, "alice");
	size_t len;

	j->stop_by = mem_strdup("bob");
	j->stop_text = mem_strdup("enough");
	j->stop_ms = 1000000;
	j->way = 4711;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		j->stop = rows[i].stop;
		AUTO_DOC struct doc *d = notice(j, 1001500, &len);
		const struct doc_node *n = doc_root(d);

		IS(doc_str(n, "why", ""), rows[i].word, "why in a word");
		IS(doc_str(n, "text", ""), rows[i].text, "and in a sentence");
		OK(doc_i64(n, "deadline_ms", 0) == 1001500 &&
			   str_eq(doc_get(n, "grace_s")->text, "1.5") &&
			   doc_i64(n, "grace_max_s", 0) == 120,
		   "by when, and how long that was and may become");
	}
	job_destroy(j);
}

/* However long and odd a person's words are, the shim takes them in one piece. */
static void long_words(void)
{
	struct job *j = job_from(JOB, "alice");
	char words[1025];
	size_t len, most = 0;

	j->stop = STOP_USER;
	for (int odd = 1; odd < 256; odd++) {
		memset(words, odd, sizeof words - 1);
		words[sizeof words - 1] = 0;
		if (odd == 0xc3) /* letters of two bytes */
			for (size_t i = 1; i < sizeof words - 1; i += 2)
				words[i] = (char)0xa9;
		free(j->stop_text);
		j->stop_text = mem_strdup(words);
		AUTO_BUF struct buf text = { 0 };
		contract_notice(j, 2000, &text);
		len = text.len;
		most = len > most ? len : most;
		if (odd != 0xc3)
			continue;
		AUTO_DOC struct doc *d = doc_parse_json(text.data, text.len, NULL);
		OK(d != NULL, "a long reason is cut between two letters");
	}
	OK(most < 2048, "and a notice is never longer than a note to the task (%zu)",
	   most);
	job_destroy(j);
}

int main(void)
{
	variables();
	storage();
	notices();
	long_words();
	return END();
}
