// SPDX-License-Identifier: Apache-2.0
#include "depot/layout.h"

#include <inttypes.h>
#include <string.h>

#include "base/str.h"
#include "depot/depot.h"

/* A thousand jobs a folder: listings stay short after a million jobs. */
#define JOBS_A_FOLDER 1000

char *depot_layout_job(const char *state, int64_t job)
{
	return str_printf("%s/jobs/%" PRId64 "/%" PRId64, state, job / JOBS_A_FOLDER,
			  job);
}

char *depot_layout_attempt(const char *state, int64_t job, int task, int attempt)
{
	return str_printf("%s/jobs/%" PRId64 "/%" PRId64 "/task-%d/attempt-%d", state,
			  job / JOBS_A_FOLDER, job, task, attempt);
}

char *depot_layout_output(const char *state, int64_t job, const char *output)
{
	return str_printf("%s/jobs/%" PRId64 "/%" PRId64 "/output/%s", state,
			  job / JOBS_A_FOLDER, job, output);
}

char *depot_layout_code(const char *state, const char *hash)
{
	return str_printf("%s/code/%s", state, hash);
}

char *depot_output_path(struct depot *d, const struct job *j, const char *output)
{
	for (size_t i = 0; i < j->spec->output_count; i++)
		if (str_eq(j->spec->outputs[i].name, output))
			return d->ops->output_folder(d, j->id, output);
	return NULL;
}
