// SPDX-License-Identifier: Apache-2.0
#include "catalog/host.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"

#define ANSWER_MAX (64 << 10)
#define WAIT_MS    20000 /* a cold disk and many packages */

/* Isolated from the caller's own packages: a task has another home. */
static const char question[] =
	"import json, platform, re\n"
	"from importlib import metadata\n"
	"known = {'torch': 'PyTorch', 'tensorflow': 'TensorFlow', 'tensorflow-cpu': 'TensorFlow',\n"
	"  'xgboost': 'XGBoost', 'paddlepaddle': 'Paddle', 'paddlepaddle-gpu': 'Paddle',\n"
	"  'jax': 'JAX', 'scikit-learn': 'scikit-learn', 'lightgbm': 'LightGBM', 'mxnet': 'MXNet',\n"
	"  'oneflow': 'OneFlow', 'mindspore': 'MindSpore', 'deepspeed': 'DeepSpeed',\n"
	"  'transformers': 'Transformers', 'modelscope': 'ModelScope'}\n"
	"found = {}\n"
	"for d in metadata.distributions():\n"
	"  name = known.get((d.metadata['Name'] or '').lower().replace('_', '-'))\n"
	"  if name: found.setdefault(name, d.version.split('+')[0])\n"
	"try:\n"
	"  rel = dict(l.rstrip().split('=', 1) for l in open('/etc/os-release') if '=' in l)\n"
	"except OSError: rel = {}\n"
	"os_name = (rel.get('ID', 'linux') + rel.get('VERSION_ID', '')).replace('\"', '')\n"
	"print(json.dumps({'python': platform.python_version(), 'os': os_name,\n"
	"  'frameworks': found}))\n";

/* The first of that name along the path; the caller frees it.  NULL: none. */
static char *find_program(const char *path, const char *name)
{
	while (*path) {
		size_t n = strcspn(path, ":");
		AUTO_FREE char *at = str_printf("%.*s/%s", (int)n, path, name);
		if (at[0] == '/' && access(at, X_OK) == 0)
			return TAKE(at);
		path += n + (path[n] == ':');
	}
	return NULL;
}

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static pid_t start(const char *program, const char *path, int out)
{
	AUTO_FREE char *way = str_printf("PATH=%s", path);
	AUTO_FREE char *home =
		str_printf("HOME=%s", getenv("HOME") ? getenv("HOME") : "/");
	char *env[] = { way, home, (char[]){ "LANG=C.UTF-8" }, NULL };
	char *argv[] = { (char *)(uintptr_t)program, (char[]){ "-I" }, (char[]){ "-c" },
			 (char *)(uintptr_t)question, NULL };
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t none;
	pid_t pid = -1;

	sigemptyset(&none);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&files, out, 1);
	posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSID);
	if (posix_spawn(&pid, program, &files, &attr, argv, env) != 0)
		pid = -1;
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&attr);
	return pid;
}

/* All it says until its end, or -1: too much, or too late. */
static int read_answer(int fd, struct buf *out)
{
	const int64_t end = now_ms() + WAIT_MS;
	char piece[4096];

	for (;;) {
		struct pollfd p = { fd, POLLIN, 0 };
		int64_t left = end - now_ms();
		if (left <= 0 || out->len > ANSWER_MAX)
			return -1;
		if (poll(&p, 1, (int)left) <= 0)
			continue;
		ssize_t n = read(fd, piece, sizeof piece);
		if (n < 0 && errno != EINTR)
			return -1;
		if (n == 0)
			return 0;
		if (n > 0)
			buf_add(out, piece, (size_t)n);
	}
}

static void ask(const char *program, const char *path, struct buf *out)
{
	int ends[2], status;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return;
	pid_t pid = start(program, path, ends[1]);
	close(ends[1]);
	if (pid > 0) {
		if (read_answer(ends[0], out) < 0)
			kill(-pid, SIGKILL);
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
	}
	close(ends[0]);
}

static void add(struct host_find *out, const char *name, const char *framework,
		const char *version, const struct doc_node *host)
{
	struct image *i = mem_alloc(1, sizeof *i);
	const char *python = doc_str(host, "python", "");

	i->name = mem_strdup(name);
	i->framework = mem_strdup(framework);
	i->version = mem_strdup(version);
	i->accelerator = mem_strdup("CPU");
	i->python = mem_strdup(python);
	i->os = mem_strdup(doc_str(host, "os", ""));
	i->runs = mem_strdup(IMAGE_HOST);
	i->uses = mem_strdup("training develop");
	i->owner = mem_strdup("");
	i->description =
		*framework ? str_printf("this machine, with %s %s", framework, version)
			   : mem_strdup("this machine, as it is");
	i->uri = image_uri(i);
	mem_grow(&out->items, &out->cap, out->count, sizeof *out->items);
	out->items[out->count++] = i;
}

void host_read(const char *json, size_t len, struct host_find *out)
{
	AUTO_DOC struct doc *d = len ? doc_parse_json(json, len, NULL) : NULL;
	const struct doc_node *host = d ? doc_root(d) : NULL;
	const struct doc_node *list = doc_get(host, "frameworks");

	add(out, IMAGE_HOST, "", doc_str(host, "python", ""), host);
	for (const struct doc_node *n = list ? list->first : NULL; n; n = n->next) {
		AUTO_FREE char *name = str_printf("host-%s", n->key);
		for (char *c = name; *c; c++)
			if (*c >= 'A' && *c <= 'Z')
				*c = (char)(*c - 'A' + 'a');
		if (n->kind == DOC_STRING && image_name_ok(name))
			add(out, name, n->key, n->text, host);
	}
}

void host_look(const char *path, struct host_find *out)
{
	AUTO_BUF struct buf answer = { 0 };
	AUTO_FREE char *program = find_program(path, "python3");

	if (!program)
		program = find_program(path, "python");
	if (program)
		ask(program, path, &answer);
	host_read(answer.data, answer.len, out);
}

void host_find_fini(struct host_find *f)
{
	for (size_t i = 0; i < f->count; i++)
		image_destroy(f->items[i]);
	free(f->items);
	*f = (struct host_find){ 0 };
}
