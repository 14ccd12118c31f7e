// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>

#include "base/mem.h"
#include "tap.h"
#include "wire/settings.h"

static char *variables[][2] = { { "YARD_STATE", "/from/env" },
				{ "YARD_CPU", "1.5" },
				{ "YARD_SIM_DEVICE", "npu=2" } };
static bool with_env;
static const char *file_text;

static char *get(const char *name)
{
	for (size_t i = 0; with_env && i < COUNT_OF(variables); i++)
		if (strcmp(variables[i][0], name) == 0)
			return variables[i][1];
	return NULL;
}

#define PARSE(s, err, ...)                                                               \
	({                                                                               \
		char *argv_[] = { "yardd", __VA_ARGS__ };                                \
		settings_parse(                                                          \
			s,                                                               \
			&(struct settings_input){ .argc = (int)COUNT_OF(argv_) - 1,      \
						  .argv = argv_ + 1,                     \
						  .get = get,                            \
						  .file = file_text,                     \
						  .file_name = "yardd.yaml" },           \
			err);                                                            \
	})

static void wrong(const char *flag, const char *value, const char *said)
{
	struct settings s;
	struct err err;
	char *f = mem_strdup(flag), *v = mem_strdup(value);

	OK(PARSE(&s, &err, f, v) == OPTS_BAD && err.code == ERR_INVALID &&
		   strstr(err.text, said),
	   "%s %s is refused and says '%s'", flag, value, said);
	settings_fini(&s);
	free(f);
	free(v);
}

static void wrong_file(const char *text, const char *said)
{
	struct settings s;
	struct err err = { 0 };

	file_text = text;
	OK(PARSE(&s, &err, "--max-tasks=1") == OPTS_BAD && strstr(err.text, said),
	   "a file is refused and says '%s': %s", said, err.text);
	settings_fini(&s);
	file_text = NULL;
}

static void places(void)
{
	struct settings_env root = { .home = "/root",
				     .xdg_runtime_dir = "/run/user/0",
				     .uid = 0 };
	struct settings_env ann = { .home = "/home/ann",
				    .xdg_runtime_dir = "/run/user/7",
				    .uid = 7 };
	struct settings_env nobody = { .uid = 9 },
			    own = { .home = "/h", .xdg_state_home = "/s", .uid = 7 };
	struct err err;
	const struct {
		const struct settings_env *env;
		const char *state, *socket;
	} rows[] = {
		{ &root, "/var/lib/yard", "/run/yard/yard.sock" },
		{ &ann, "/home/ann/.local/state/yard", "/run/user/7/yard/yard.sock" },
		{ &own, "/s/yard", "/s/yard/yard.sock" },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		char *state = settings_state_dir(rows[i].env, &err);
		char *socket = settings_socket_path(rows[i].env, state);
		IS(state, rows[i].state, "the state's place");
		IS(socket, rows[i].socket, "the socket's place");
		free(state);
		free(socket);
	}
	char *other = settings_socket_path(&ann, "/other");
	IS(other, "/other/yard.sock", "another state has another socket");
	free(other);
	other = settings_socket_path(&root, "/other");
	IS(other, "/other/yard.sock", "root's too");
	free(other);
	OK(!settings_state_dir(&nobody, &err) && strstr(err.text, "--state"),
	   "without a home it says what to give");
}

static void addresses(void)
{
	struct err err;
	char host[64];
	int port = -1;

	OK(settings_address("127.0.0.1:8470", host, sizeof host, &port, &err) == 0 &&
		   port == 8470,
	   "an address");
	IS(host, "127.0.0.1", "its host");
	OK(settings_address("[::1]:0", host, sizeof host, &port, &err) == 0 && port == 0,
	   "of IPv6");
	IS(host, "::1", "without its brackets");
	static const char *const bad[] = { "",        "8470", ":8470", "h:",
					   "h:65536", "h:-1", "h:x" };
	for (size_t i = 0; i < COUNT_OF(bad); i++)
		OK(settings_address(bad[i], host, sizeof host, &port, &err) < 0,
		   "'%s' is no address", bad[i]);
}

int main(void)
{
	struct settings s;
	struct err err;
	struct buf help = { 0 };
	const struct setting *rows;

	OK(PARSE(&s, &err, "--state", "/s", "--sim-device", "gpu=8", "--sim-device=npu=1",
		 "--memory", "2Gi") == OPTS_OK &&
		   s.memory_bytes == 2LL << 30 && s.ready_fd == -1 &&
		   s.log_limit_bytes == 1LL << 30,
	   "a command line");
	OK(s.max_jobs == 10000 && s.max_priority == 100 &&
		   s.code_limit_bytes == 2LL << 30 && s.code_keep_ms == 30 * 86400000LL,
	   "limits that nobody set");
	IS(s.state, "/s", "a path");
	OK(s.devices[0].count == 8 && strcmp(s.devices[0].type, "gpu") == 0 &&
		   s.devices[1].count == 1,
	   "simulated devices");
	settings_fini(&s);
	OK(PARSE(&s, &err, "--max-jobs", "5", "--max-priority=7", "--code-limit", "1Mi",
		 "--code-keep", "2d") == OPTS_OK &&
		   s.max_jobs == 5 && s.max_priority == 7 &&
		   s.code_limit_bytes == 1 << 20 && s.code_keep_ms == 2 * 86400000LL,
	   "and that somebody did");
	settings_fini(&s);
	with_env = true;
	OK(PARSE(&s, &err, "--sim-device", "gpu=1") == OPTS_OK && s.cpu_milli == 1500,
	   "the environment counts");
	IS(s.state, "/from/env", "also for a path");
	OK(s.devices[0].count == 1 && strcmp(s.devices[0].type, "gpu") == 0 &&
		   s.devices[1].count == 0,
	   "a flag stands above its variable");
	settings_fini(&s);
	OK(PARSE(&s, &err, "--state", "/x") == OPTS_OK && strcmp(s.state, "/x") == 0 &&
		   s.devices[0].count == 2,
	   "variable by variable");
	settings_fini(&s);
	file_text =
		"max-jobs: 7\nstate: /from/file\nsim-device: [gpu=4, npu=1]\ncpu: 3\n";
	OK(PARSE(&s, &err, "--cpu=2") == OPTS_OK && s.max_jobs == 7 &&
		   s.cpu_milli == 2000,
	   "the file counts, a flag stands above it");
	IS(s.state, "/from/env", "and a variable too");
	OK(s.devices[0].count == 2 && s.devices[1].count == 0,
	   "a list is replaced whole");
	size_t origins[SETTINGS_ORIGIN_COUNT] = { 0 };
	for (size_t i = 0; i < settings_rows(&rows); i++)
		origins[s.origin[i]]++;
	OK(origins[SETTINGS_FLAG] == 1 && origins[SETTINGS_ENV] == 2 &&
		   origins[SETTINGS_FILE] == 1,
	   "each knows where it came from");
	settings_fini(&s);
	with_env = false;
	OK(PARSE(&s, &err) == OPTS_OK && s.devices[0].count == 4 &&
		   s.devices[1].count == 1 && s.cpu_milli == 3000,
	   "a list in the file");
	settings_fini(&s);
	wrong_file("max-job: 7\n",
		   "line 1: there is no setting 'max-job'; did you mean 'max-jobs'?");
	wrong_file("\nmax-jobs: many\n", "line 2");
	wrong_file("max-jobs: [1, 2]\n", "'max-jobs' is a list, not N");
	wrong_file("sim-device: {gpu: 1}\n", "'sim-device' is a map");
	wrong_file("sim-device: [[1]]\n", "a list of texts");
	wrong_file("ready-fd: 3\n", "no setting 'ready-fd'");
	wrong_file("- 1\n", "name: value");
	wrong_file("a: [", "yardd.yaml");
	file_text = NULL;
	wrong("--sim-device", "gpu", "TYPE=N");
	wrong("--sim-device", "gpu=65", "TYPE=N");
	wrong("--memory", "much", "--memory");
	wrong("--stat", "/x", "--state");
	wrong("--version", "operand", "operand");
	settings_help(&help);
	size_t count = settings_rows(&rows), told = 0;
	for (size_t i = 0; i < count; i++)
		told += strstr(buf_str(&help), rows[i].opt.name) &&
			(!rows[i].env || strstr(help.data, rows[i].env));
	OK(told == count, "help tells every flag and variable");
	buf_fini(&help);
	places();
	addresses();
	return END();
}
