// SPDX-License-Identifier: Apache-2.0
/* Plain data of a job: resources, addresses, exits in words, specs without a file. */
#include "tap.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/str.h"
#include "job/bundle.h"
#include "job/exit.h"
#include "job/placement.h"
#include "job/spec.h"

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
}

static const char *words(struct task_exit e)
{
	static char line[512];
	AUTO_BUF struct buf b = { 0 };

	exit_words(&e, &b);
	snprintf(line, sizeof line, "%s", buf_str(&b));
	return line;
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
	checks();
	totals();
	corrupt();
	variables();
	bundles();
	return END();
}
