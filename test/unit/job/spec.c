// SPDX-License-Identifier: Apache-2.0
/* Plain data of a job: resources, addresses, exits in words, specs without a file. */
#include "tap.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/str.h"
#include "job/bundle.h"
#include "job/event.h"
#include "job/exit.h"
#include "job/placement.h"
#include "job/spec.h"

static const char *amount(const char *text)
{
	static char line[64];
	struct device_count d = { .count = -1 };

	snprintf(line, sizeof line, "no");
	if (device_amount(text, 64, &d) == 0)
		snprintf(line, sizeof line, "%d*%d", d.count, d.share_milli);
	return line;
}

static void shares(void)
{
	static const char *const wrong[] = { "1.5",    "65",     "500m", "-1",
					     "",       "x",      ".",    "1e0",
					     "0.0004", "0.5004", "nan",  "0x1" };
	struct resources r = { 0 }, half = { 0 }, third = { 0 };

	IS(amount("2"), "2*0", "whole devices");
	IS(amount("0"), "0*0", "none");
	IS(amount("0.5"), "1*500", "half a device");
	IS(amount(".125"), "1*125", "an eighth");
	IS(amount("0.5000"), "1*500", "noughts behind it say nothing");
	IS(amount("1.0"), "1*0", "a whole one, however written");
	for (size_t i = 0; i < COUNT_OF(wrong); i++)
		IS(amount(wrong[i]), "no", "'%s' is no amount of devices", wrong[i]);
	resources_set_share(&half, "gpu", 1, 500);
	resources_set_share(&third, "gpu", 1, 333);
	resources_add(&r, &half);
	resources_add(&r, &half);
	OK(resources_milli(&r, "gpu") == 1000, "two halves are a whole");
	resources_add(&r, &third);
	IS_INT(resources_milli(&r, "gpu"), 1333, "sums of shares are exact");
	resources_sub(&r, &half);
	resources_sub(&r, &third);
	resources_sub(&r, &half);
	OK(!r.devices[0].type[0], "and what is given back leaves no trace");
	resources_set_device(&r, "gpu", 1);
	OK(resources_fit(&half, &r) && !resources_fit(&r, &half),
	   "a half is within a whole, not the other way");
	resources_scale(&half, 3);
	OK(!resources_fit(&half, &r) && resources_milli(&half, "gpu") == 1500,
	   "three halves are more than one");
}

static void resources(void)
{
	struct resources a = { .cpu_milli = 1000, .memory_bytes = 100 }, b = a,
			 zero = { 0 };

	OK(resources_set_device(&a, "gpu", 2) && resources_set_device(&a, "npu", 1),
	   "kinds are added");
	OK(resources_device(&a, "gpu") == 2 && resources_device(&a, "tpu") == 0,
	   "and counted");
	OK(!resources_fit(&a, &b) && resources_fit(&b, &a) && resources_fit(&a, &a),
	   "devices count for fitting");
	resources_add(&b, &a);
	OK(b.cpu_milli == 2000 && resources_device(&b, "npu") == 1,
	   "sums have every kind");
	resources_sub(&b, &a);
	OK(b.cpu_milli == 1000 && resources_device(&b, "npu") == 0 &&
		   !b.devices[0].type[0],
	   "what was given back leaves no trace");
	resources_sub(&a, &a);
	OK(memcmp(&a, &zero, sizeof a) == 0, "a thing minus itself is nothing");
	resources_set_device(&a, "x", 3);
	resources_scale(&a, 4);
	IS_INT(resources_device(&a, "x"), 12, "scaling");
	resources_set_device(&a, "y", 1);
	resources_set_device(&a, "x", 0);
	OK(strcmp(a.devices[0].type, "y") == 0, "kinds with a count stand first");
	for (int i = 0; i < DEVICE_KINDS_MAX - 1; i++)
		resources_set_device(&a, (const char *[]){ "p", "q", "r" }[i], 1);
	OK(!resources_set_device(&a, "z", 1) && resources_device(&a, "r") == 1,
	   "one kind too many is refused");
	OK(!resources_set_device(&zero, "", 1), "a kind has a name");
	shares();
	a.memory_bytes = INT64_MAX - 1;
	b.memory_bytes = 100;
	resources_add(&a, &b);
	OK(a.memory_bytes == INT64_MAX, "sums end at the bound");
	resources_scale(&a, -3);
	OK(a.memory_bytes == INT64_MIN, "products too");
}

static void addresses(void)
{
	char a[16], b[16];
	int odd = 0;

	placement_address(0, a);
	IS(a, "127.1.0.1", "the first address");
	placement_address(254, a);
	IS(a, "127.1.1.1", "the next block");
	for (int i = 0; i < 20000000; i += 997) {
		placement_address(i, a);
		odd += str_starts(a, "127.0.") || str_ends(a, ".0") ||
		       str_ends(a, ".255") || strlen(a) < 9;
	}
	IS_INT(odd, 0, "never 127.0.x.x, never a network's or a broadcast's number");
	odd = 0;
	for (int i = 1; i < 70000; i++) {
		placement_address(i - 1, a);
		placement_address(i, b);
		odd += strcmp(a, b) == 0;
	}
	IS_INT(odd, 0, "neighbours differ");
	IS_INT(placement_block(NULL), 0,
	       "who does not say who they are has the first block");
	odd = 0;
	for (int i = 0; i < 1000; i++) {
		AUTO_FREE char *name =
			str_printf("box:/home/user%d/.local/state/yard", i);
		int block = placement_block(name);
		odd += block < 0 || block > INT32_MAX - 100000 ||
		       block == placement_block("box:/var/lib/yard");
	}
	OK(odd < 5, "yards of one machine have blocks of their own: %d of 1000 meet",
	   odd);
}

static const char *words(struct task_exit e)
{
	static char line[512];
	AUTO_BUF struct buf b = { 0 };

	exit_words(&e, &b);
	snprintf(line, sizeof line, "%s", buf_str(&b));
	return line;
}

static void stages(void)
{
	struct task_exit pip = { .kind = EXIT_CODE, .code = 1, .stage = "requirements" };
	struct event e = { .kind = EV_EXITED, .job = 1, .attempt = 1 }, back = { 0 };
	AUTO_BUF struct buf body = { 0 };

	IS(words(pip), "requirements could not be installed: pip exited with 1",
	   "a stage that failed");
	e.exit = pip;
	pip.kind = EXIT_SIGNAL;
	pip.signal = 9;
	IS(words(pip),
	   "requirements could not be installed: ended by signal 9 (SIGKILL: Killed)",
	   "one that was killed");
	pip.kind = EXIT_OOM;
	IS(words(pip), "requirements could not be installed: out of memory",
	   "one that had not enough memory");
	pip.kind = EXIT_STOPPED;
	IS(words(pip), "stopped while its requirements were being installed", "a stop");
	pip.kind = EXIT_LOST;
	IS(words(pip), "lost while its requirements were being installed", "a loss");
	strcpy(pip.stage, "other");
	IS(words(pip), "lost in its stage \"other\"", "one nobody has words for");
	pip.kind = EXIT_CODE;
	IS(words(pip), "its stage \"other\" failed: exit code 1", "when it fails");
	pip.code = 0;
	OK(!exit_ok(&pip), "who never came to the command has not succeeded");
	IS(words((struct task_exit){
		   .kind = EXIT_CODE, .code = 5, .text = "LOCAL_RANK 1" }),
	   "exit code 5 (LOCAL_RANK 1)", "whose code it was");
	event_encode(&e, &body);
	OK(event_decode(EV_EXITED, buf_str(&body), body.len, &back, NULL) == 0 &&
		   strcmp(back.exit.stage, "requirements") == 0,
	   "an event keeps the stage");
	event_fini(&back);
}

static void exits(void)
{
	struct task_exit lost = { .kind = EXIT_LOST,
				  .text = "the machine was restarted" };

	IS(words((struct task_exit){ .kind = EXIT_CODE, .code = 7 }), "exit code 7",
	   "a code");
	IS(words((struct task_exit){ .kind = EXIT_CODE, .code = 127 }),
	   "exit code 127 (probably: the command was not found)",
	   "a code that shells give");
	IS(words((struct task_exit){ .kind = EXIT_SIGNAL, .signal = 11 }),
	   "ended by signal 11 (SIGSEGV: Segmentation fault)", "a signal");
	IS(words((struct task_exit){ .kind = EXIT_SIGNAL, .signal = 200 }),
	   "ended by signal 200", "no such signal");
	IS(words((struct task_exit){
		   .kind = EXIT_OOM, .peak_bytes = 536870912, .limit_bytes = 536870912 }),
	   "out of memory: it used 512 MiB at its peak; its limit is 512 MiB", "memory");
	IS(words((struct task_exit){ .kind = EXIT_OOM, .limit_bytes = 1 << 20 }),
	   "out of memory: its limit is 1 MiB", "memory without a peak");
	IS(words((struct task_exit){ .kind = EXIT_OOM }), "out of memory",
	   "memory, nothing known");
	IS(words(lost), "lost: the machine was restarted", "lost");
	IS(words((struct task_exit){ .kind = EXIT_UNSTARTED }), "not started",
	   "unstarted");
	IS(words((struct task_exit){ .kind = EXIT_STOPPED }), "stopped", "stopped");
	for (enum exit_kind k = 0; k < EXIT_KIND_COUNT; k++) {
		enum exit_kind back = EXIT_KIND_COUNT;
		struct task_exit e = { .kind = k, .code = 3, .signal = 9 };
		OK(exit_kind_from_word(exit_kind_word(k), &back) == 0 && back == k,
		   "%s is a word", exit_kind_word(k));
		OK(exit_shell_code(&e) > 0 && exit_shell_code(&e) < 256 && !exit_ok(&e),
		   "it has a code of its own");
	}
	OK(exit_ok(&(struct task_exit){ .kind = EXIT_CODE }), "only code 0 is a success");
	OK(exit_kind_from_word("nonsense", &lost.kind) < 0, "other words are refused");
}

static struct spec *minimal(void)
{
	struct spec *s = spec_create();

	role_set_shell(spec_add_role(s), "true");
	return s;
}

static const char *problem_of(struct spec *s)
{
	static char line[1024];
	AUTO_PROBLEMS struct problems p = { 0 };

	spec_check(s, &p);
	snprintf(line, sizeof line, "%s%s%s", p.count ? p.items[0].field : "",
		 p.count ? ": " : "", p.count ? p.items[0].text : "fine");
	spec_destroy(s);
	return line;
}

static void checks(void)
{
	struct spec *s = minimal();
	const char *const bytes[] = { "echo", "\xff\xfe" };

	IS(problem_of(s), "fine", "a command is a job");
	s = minimal();
	role_set_argv(&s->roles[0], bytes, 2);
	IS(problem_of(s), "roles[0].command: not well-formed UTF-8",
	   "arguments must be text");
	s = minimal();
	for (int i = 0; i < 5; i++) {
		struct role *r = spec_add_role(s);
		r->name = str_printf("r%d", i);
		role_set_shell(r, "true");
		resources_set_device(&r->each, r->name, 1);
	}
	OK(strstr(problem_of(s), "more than 4 kinds of devices in one job"),
	   "kinds are counted over all roles");
	s = minimal();
	spec_add_role(s)->name = mem_strdup("MAIN");
	role_set_shell(&s->roles[1], "true");
	OK(strstr(problem_of(s), "too much alike"),
	   "roles that would get the same host name");
	IS(problem_of(spec_create()), "roles: there is neither a role nor a command",
	   "nothing at all");
	s = minimal();
	pairs_set(&s->hyperparameters, "x", "{bad");
	IS(problem_of(s), "hyperparameters.x: not a JSON value",
	   "a hyperparameter is JSON");
	s = minimal();
	spec_add_after(s, 0, true);
	OK(strstr(problem_of(s), "after-ok: 0 is not the number of a job"),
	   "dependencies have ids");
}

static void new_fields(void)
{
	struct spec *s = minimal();

	s->roles[0].count = 4;
	s->roles[0].least = 5;
	OK(strstr(problem_of(s), "roles[0].min: 5 is out of range"),
	   "min is at most count");
	s = minimal();
	s->roles[0].count = 4;
	s->roles[0].least = 2;
	s->roles[0].succeed_after = 3;
	OK(strstr(problem_of(s), "allowed is 1 to the role's min"),
	   "what must succeed is there however few it starts with");
	s = minimal();
	s->within_must = true;
	OK(strstr(problem_of(s), "within-must: says nothing without within"),
	   "a demand needs a level");
	s = minimal();
	pairs_set(&s->roles[0].where, "zone", "a,b");
	OK(strstr(problem_of(s), "roles[0].where.zone:"), "labels are plain words");
	s = minimal();
	for (int i = 0; i < 20; i++) {
		AUTO_FREE char *key = str_printf("label-%d", i);
		pairs_set(&s->roles[0].where, key, "value");
	}
	OK(strstr(problem_of(s), "roles[0].where: at most 127"), "and not too many");
	s = minimal();
	resources_set_share(&s->roles[0].each, "gpu", 1, 500);
	resources_set_share(&s->roles[0].each, "npu", 1, 500);
	OK(strstr(problem_of(s), "one kind only"), "shares are of one kind");
	s = minimal();
	resources_set_device(&s->roles[0].each, "gpu|npu", 1);
	OK(strstr(problem_of(s), "not a kind of device"), "models stand behind a ':'");
	s = minimal();
	resources_set_device(&s->roles[0].each, "gpu:a100|v100", 1);
	IS(problem_of(s), "fine", "one of several models");
	s = minimal();
	resources_set_device(&s->roles[0].each, "gpu:a100|", 1);
	OK(strstr(problem_of(s), "not a kind of device"), "each has a name");
}

static void labels(void)
{
	struct pairs p = { 0 }, back = { 0 };
	char text[NODE_LABELS_MAX];

	OK(node_labels_write(&p, text) == 0 && !*text, "no labels are no text");
	pairs_set(&p, "zone", "a");
	pairs_set(&p, "disk", "nvme");
	OK(node_labels_write(&p, text) == 0, "labels can be written");
	IS(text, "zone=a,disk=nvme", "as one text");
	node_labels_read(text, &back);
	OK(back.count == 2 && str_eq(pairs_get(&back, "disk"), "nvme") &&
		   str_eq(pairs_get(&back, "zone"), "a"),
	   "and read back");
	pairs_fini(&p);
	pairs_fini(&back);
	for (enum level l = LEVEL_ANY; l <= LEVEL_ISLAND; l++) {
		enum level again;
		OK(level_from_word(level_word(l), &again) == 0 && again == l,
		   "level %s is a word", level_word(l));
	}
	for (enum node_state s = NODE_OPEN; s <= NODE_QUARANTINE; s++) {
		enum node_state again;
		OK(node_state_from_word(node_state_word(s), &again) == 0 && again == s,
		   "state %s is a word", node_state_word(s));
	}
}

static void totals(void)
{
	AUTO_SPEC struct spec *s = minimal();
	struct role *r = spec_add_role(s);
	struct resources t;

	r->count = 3;
	r->each.cpu_milli = 500;
	resources_set_device(&r->each, "gpu", 2);
	t = spec_total(s);
	OK(t.cpu_milli == 2500 && t.memory_bytes == INT64_C(4) << 30 &&
		   resources_device(&t, "gpu") == 6,
	   "a job asks for the sum of its tasks");
	IS_INT(spec_task_count(s), 4, "and has so many");
}

static void corrupt(void)
{
	static const char *const bad[] = {
		"5",
		"[]",
		"{}",
		"{\"name\":\"x\"}",
		"{\"name\":5,\"roles\":[{\"name\":\"a\",\"command\":\"x\"}]}",
		"{\"name\":\"x\",\"roles\":[5]}",
		"{\"name\":\"x\",\"roles\":[{\"name\":\"a\"}]}",
		"{\"name\":\"x\",\"roles\":[{\"name\":\"a\",\"command\":[1]}]}",
		"{\"name\":\"x\",\"roles\":[{\"name\":\"a\",\"command\":\"x\",\"resources\":{\"memory\":\"much\"}}]}",
		"{\"name\":\"x\",\"roles\":[{\"name\":\"a\",\"command\":\"x\",\"env\":[1]}]}",
		"{\"name\":\"x\",\"roles\":[{\"name\":\"a\",\"command\":\"x\"}],\"after\":[\"y\"]}",
	};
	struct err err;

	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		AUTO_DOC struct doc *d = doc_parse_json(bad[i], strlen(bad[i]), NULL);
		AUTO_SPEC struct spec *s = spec_from_json(doc_root(d), &err);
		OK(!s && err.code == ERR_CORRUPT, "refused: %s", bad[i]);
	}
}

static void variables(void)
{
	AUTO_FREE char *v = spec_variable("YARD_INPUT_", "my.data-Set_2");

	IS(v, "YARD_INPUT_MY_DATA_SET_2", "a name becomes a variable");
}

static void bundles(void)
{
	struct bundle *b =
		bundle_create((struct task_ref){ .job = 1, .task = 2, .attempt = 3 });

	for (int i = 0; i < 20; i++)
		bundle_mount(b, MOUNT_DIR, "/x", NULL);
	bundle_file(b, "/y", shared_create("a\0b", 3));
	OK(b->mount_count == 21 && b->mounts[20].content->len == 3 &&
		   b->mounts[20].content->text[2] == 'b',
	   "a bundle holds mounts and files of any bytes");
	bundle_destroy(b);
	bundle_destroy(NULL);
}

int main(void)
{
	resources();
	addresses();
	exits();
	stages();
	checks();
	new_fields();
	labels();
	totals();
	corrupt();
	variables();
	bundles();
	return END();
}
