// SPDX-License-Identifier: Apache-2.0
/* A TensorBoard as a job: small, without a second attempt, ended by its time. */
#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "http/apps.h"

#define CPU_MILLI    500
#define MEMORY_BYTES (INT64_C(1) << 30)
#define GRACE_MS     5000
#define INPUT        "logs"

/* Looked for where it will run: only there is known what is installed.  Without the data
 * server, which would be a second port that anybody on this machine could ask.  That nothing
 * was found is no failure: the yard itself then shows the series. */
static const char command[] =
	"if [ -z \"${YARD_INPUT_LOGS:-}\" ]; then\n"
	"  echo 'This job keeps no event files: the yard shows what its log says.'\n"
	"  exit 0\n"
	"fi\n"
	"set -- --logdir \"$YARD_INPUT_LOGS\" --host \"$YARD_ADDRESS\" --port \"$YARD_PORT_APP\" "
	"--path_prefix \"/apps/$YARD_JOB_ID\" --reload_interval 5 --load_fast false "
	"--window_title \"$BOARD_TITLE\"\n"
	"for python in python3 python; do\n"
	"  if \"$python\" -c 'import tensorboard.version' >/dev/null 2>&1; then\n"
	"    exec \"$python\" -m tensorboard.main \"$@\"\n"
	"  fi\n"
	"done\n"
	"if command -v tensorboard >/dev/null 2>&1; then exec tensorboard \"$@\"; fi\n"
	"echo 'No tensorboard is installed here: the yard shows the series itself.'\n";

static const char *find_output(const struct job *of, const char *name)
{
	for (size_t i = 0; i < of->spec->output_count; i++)
		if (str_eq(of->spec->outputs[i].name, name))
			return name;
	return NULL;
}

/* 0 and NULL: none was named, and it has none of the usual. */
static int choose_output(const struct job *of, const char *asked, const char **out,
			 struct err *err)
{
	*out = asked ? find_output(of, asked) : find_output(of, "logs");
	if (!*out && !asked)
		*out = find_output(of, "tensorboard");
	if (*out || !asked)
		return 0;
	return err_set(err, ERR_NOT_FOUND, "output: job %lld has no output named '%s'",
		       (long long)of->id, asked);
}

static void set_number(struct pairs *p, const char *key, int64_t n)
{
	AUTO_FREE char *text = str_printf("%" PRId64, n);

	pairs_set(p, key, text);
}

struct spec *board_spec(const struct job *of, const char *output, int64_t limit_ms,
			struct err *err)
{
	AUTO_SPEC struct spec *s = spec_create();
	const char *logs;

	if (choose_output(of, output, &logs, err) < 0)
		return NULL;
	free(s->name);
	s->name = str_printf("tensorboard-%" PRId64, of->id);
	free(s->group);
	s->group = mem_strdup(of->group);
	s->time_limit_ms = limit_ms;
	s->grace_ms = GRACE_MS;
	s->retry.max = 0;
	pairs_set(&s->labels, APP_LABEL, APP_BOARD);
	set_number(&s->labels, APP_LABEL_OF, of->id);
	struct role *r = spec_add_role(s);
	const char *image = of->spec->role_count ? of->spec->roles[0].image : NULL;
	r->name = mem_strdup("main");
	if (image)
		r->image = mem_strdup(image);
	role_set_shell(r, command);
	r->each.cpu_milli = CPU_MILLI;
	r->each.memory_bytes = MEMORY_BYTES;
	role_add_port(r, APP_PORT);
	pairs_set(&r->env, "BOARD_TITLE", of->spec->name);
	if (logs) {
		AUTO_FREE char *uri =
			str_printf("pfs:/jobs/%" PRId64 "/%s", of->id, logs);
		spec_add_input(s, INPUT, uri);
	}
	struct problems problems = { 0 };
	spec_check(s, &problems);
	int rc = problems_err(&problems, err);
	problems_fini(&problems);
	return rc < 0 ? NULL : TAKE(s);
}
