// SPDX-License-Identifier: Apache-2.0
/* What pip is told to install, and by which rules. */
#include "tap.h"

#include "contract/scene.h"
#include "fixture.h"

static const char *merged(const char *code, const char *const *job, size_t count)
{
	static char line[4096];
	AUTO_BUF struct buf out = { 0 };
	AUTO_BUF struct buf gone = { 0 };
	char *items[8];
	struct requirements r = { REQUIREMENTS_ALL, items, count };

	for (size_t i = 0; i < count; i++)
		items[i] = mem_strdup(job[i]);
	packages_merge(code, &r, &out, &gone);
	for (size_t i = 0; i < count; i++)
		free(items[i]);
	snprintf(line, sizeof line, "%s|%s", buf_str(&out), buf_str(&gone));
	return line;
}

#define MERGED(code, ...)                                                                \
	merged(code, (const char *const[]){ __VA_ARGS__ },                               \
	       COUNT_OF(((const char *const[]){ __VA_ARGS__ })))

static void merging(void)
{
	IS(merged(NULL, NULL, 0), "|", "nothing and nothing");
	IS(merged("a\nb==1\n", NULL, 0), "a\nb==1\n|", "the code's alone");
	IS(MERGED(NULL, "x>=1"), "x>=1\n|", "the job's alone");
	IS(MERGED("numpy==1.0\nscipy\n", "numpy==2.0"), "scipy\nnumpy==2.0\n|numpy==1.0",
	   "the job's win");
	IS(MERGED("Foo_Bar.baz [x] >=1 ; python_version<'3'\n", "foo-bar-baz"),
	   "foo-bar-baz\n|Foo_Bar.baz [x] >=1 ; python_version<'3'",
	   "names are compared as pip does");
	IS(MERGED("numpy-stl\nnumpy # the library\n", "numpy"),
	   "numpy-stl\nnumpy\n|numpy # the library", "whole names");
	IS(MERGED("a \\\n  --hash=sha256:00\nb\r\n", "a==2"),
	   "b\na==2\n|a \\\n  --hash=sha256:00", "a line that goes on is one");
	IS(MERGED("git+https://h/r#egg=Foo\n-e git+ssh://h/r#egg=bar\n", "foo", "bar"),
	   "foo\nbar\n|git+https://h/r#egg=Foo, -e git+ssh://h/r#egg=bar",
	   "what is named by its egg");
	IS(MERGED("https://h/foo.whl\n./foo\n# foo\nfoo @ file:///x\n", "foo"),
	   "https://h/foo.whl\n./foo\n# foo\nfoo\n|foo @ file:///x",
	   "an address, a path and a comment name nothing");
	IS(MERGED("a", "b"), "a\nb\n|", "the last line needs no end");
	IS(merged("-r base.txt\n-rbase.txt\n--requirement=x/y.txt\n-c c.txt\n--constraint c.txt\n"
		  "-r /abs.txt\n-r https://h/r.txt\n",
		  NULL, 0),
	   "-r /ml/usercode/base.txt\n-r/ml/usercode/base.txt\n--requirement=/ml/usercode/x/y.txt\n"
	   "-c /ml/usercode/c.txt\n--constraint /ml/usercode/c.txt\n-r /abs.txt\n-r https://h/r.txt\n|",
	   "files that it names are found beside it");
	IS(merged("--find-links wheels\n--require-hashes\n", NULL, 0),
	   "--find-links wheels\n--require-hashes\n|", "other options stay");
}

static const char *arguments(const struct stage *s)
{
	static char line[1024];
	size_t n = 0;

	for (size_t i = 3; i < s->argc; i++)
		n += (size_t)snprintf(line + n, sizeof line - n, "%s%s", i > 3 ? " " : "",
				      s->argv[i]);
	return line;
}

static void stages(void)
{
	struct job *j = job_from(
		"{\"name\":\"r\",\"requirements\":[\"numpy\"],\"roles\":[{\"name\":\"main\","
		"\"image\":\"host\",\"command\":[\"x\"],\"env\":{\"PIP_NO_INPUT\":\"0\"}}]}",
		"u");
	const char *const site[] = { "PIP_INDEX_URL=https://mirror/simple", NULL };
	struct contract_places p = { .attempt_folder = "/a", .uid_base = 100000 };
	struct bundle *b = contract_bundle(j, 0, &p);

	IS_INT(b->stage_count, 1, "there is one stage");
	IS(b->stages[0].name, "requirements", "it has this name");
	IS(arguments(&b->stages[0]), "pip -r /ml/input/config/requirements.txt",
	   "pip installs one file");
	IS(mount_at(b, "/ml/input/config/requirements.txt")->content->text, "numpy\n",
	   "which has the list");
	IS(pairs_get(&b->stages[0].env, "PIP_BREAK_SYSTEM_PACKAGES"), "1",
	   "the system's Python is the task's own");
	OK(!pairs_get(&b->env, "PIP_BREAK_SYSTEM_PACKAGES"), "but only in the stage");
	OK(!pairs_get(&b->stages[0].env, "PIP_NO_INPUT"), "what the job sets stays so");
	OK(!pairs_get(&b->stages[0].env, "PIP_CONFIG_FILE") && !b->pip_config,
	   "nothing is somebody's own where many are");
	OK(str_ends(env(b, "PATH"), ":/home/u/.local/bin"),
	   "programs are found wherever pip puts them");
	bundle_destroy(b);
	p = (struct contract_places){ .attempt_folder = "/a",
				      .code = "/c",
				      .requirements = "numpy==1\npandas\n",
				      .code_wheels = true,
				      .pip = { "/srv/wheels", true, site },
				      .uid_base = -1 };
	b = contract_bundle(j, 0, &p);
	IS(mount_at(b, "/ml/input/config/requirements.txt")->content->text,
	   "pandas\nnumpy\n", "the code's and the job's together");
	IS(arguments(&b->stages[0]),
	   "pip -r /ml/input/config/requirements.txt --find-links /ml/usercode/wheels --find-links /ml/wheels",
	   "wheels of the code and of the site are looked through");
	OK(mount_at(b, "/ml/wheels")->kind == MOUNT_OURS_RO,
	   "the site's are there to be read");
	IS(pairs_get(&b->stages[0].env, "PIP_NO_INDEX"), "1", "no index is asked");
	IS(pairs_get(&b->stages[0].env, "PIP_INDEX_URL"), "https://mirror/simple",
	   "the submitter's own variables count");
	IS(pairs_get(&b->stages[0].env, "PIP_CONFIG_FILE"), b->pip_config,
	   "and their pip.conf");
	OK(strstr(b->notes.items[0].value, "numpy==1"), "what gave way is told");
	bundle_destroy(b);
	job_destroy(j);
	j = job_from(
		"{\"name\":\"r\",\"roles\":[{\"name\":\"main\",\"image\":\"host\",\"command\":[\"x\"]}]}",
		"u");
	b = contract_bundle(j, 0, &p);
	OK(!b->stage_count && !b->pip_config &&
		   !mount_at(b, "/ml/input/config/requirements.txt"),
	   "a job that does not ask for it installs nothing, whatever its code has");
	bundle_destroy(b);
	job_destroy(j);
}

/* As much as a job may bring, for many tasks: the loop makes it, so it is made once. */
static void large(void)
{
	AUTO_BUF struct buf json = { 0 }, code = { 0 };
	const char *const list = "/ml/input/config/requirements.txt";

	buf_adds(&json, "{\"name\":\"r\",\"roles\":[{\"name\":\"main\",\"count\":50,"
			"\"image\":\"host\",\"command\":[\"x\"]}],\"requirements\":[");
	for (int i = 0; i < 256; i++)
		buf_printf(&json, "%s\"package-number-%d==1\"", i ? "," : "", i);
	buf_adds(&json, "]}");
	while (code.len < (256 << 10) - 2)
		buf_adds(&code, "z\n");
	struct job *j = job_from(buf_str(&json), "u");
	struct contract_peers *peers = contract_peers_create(j, "y", buf_str(&code));
	struct contract_places p = { .attempt_folder = "/a", .peers = peers };
	struct bundle *first = contract_bundle(j, 0, &p);
	const struct mount *made = mount_at(first, list);
	int others = 0;

	for (int i = 1; i < 50; i++) {
		struct bundle *b = contract_bundle(j, i, &p);
		const struct mount *m = mount_at(b, list);
		others += !m || !made || m->content != made->content;
		bundle_destroy(b);
	}
	OK(made && made->content->len > code.len && others == 0,
	   "a long list is made once for all tasks");
	bundle_destroy(first);
	contract_peers_destroy(peers);
	job_destroy(j);
}

int main(void)
{
	merging();
	stages();
	large();
	return END();
}
