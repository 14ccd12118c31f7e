// SPDX-License-Identifier: Apache-2.0
/* bundle - writes the bundle of a no-op job, as the daemon would hand it to a shim.
 *
 *   bundle FOLDER UID_BASE >file      UID_BASE -1: private mode
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "contract/contract.h"
#include "engine/convert.h"
#include "job/job.h"

static struct job *noop_job(struct spec *spec)
{
	struct problems problems = { 0 };
	struct role *r = spec_add_role(spec);
	struct event e = {
		.job = 1, .kind = EV_SUBMITTED, .spec = spec, .by = mem_strdup("bench")
	};

	r->argv = mem_alloc(2, sizeof *r->argv);
	r->argv[0] = mem_strdup("true");
	r->argc = 1;
	r->each.memory_bytes = 64 << 20;
	spec_check(spec, &problems);
	for (size_t i = 0; i < problems.count; i++)
		fprintf(stderr, "%s: %s\n", problems.items[i].field,
			problems.items[i].text);
	problems_fini(&problems);
	e.group = mem_strdup("default");
	struct job *j = job_create(&e, spec);
	free(e.by);
	free(e.group);
	return j;
}

int main(int argc, char **argv)
{
	struct machine machine = { 0 };
	struct convert_context context = { .machine = &machine,
					   .cache = argv[1],
					   .state_dir = argv[1] };
	struct contract_places places = { .attempt_folder = argv[1],
					  .uid_base = -1,
					  .uid_count = 65536 };
	AUTO_BUF struct buf out = { 0 };
	struct shim_task task;

	if (argc != 3 || str_to_i64(argv[2], -1, INT32_MAX, &places.uid_base) < 0) {
		fprintf(stderr, "bundle FOLDER UID_BASE\n");
		return 2;
	}
	struct job *j = noop_job(spec_create());
	struct bundle *b = contract_bundle(j, 0, &places);
	convert_bundle(&context, b, &task);
	shim_task_encode(&task, &out);
	fwrite(out.data, 1, out.len, stdout);
	shim_task_fini(&task);
	bundle_destroy(b);
	job_destroy(j);
	return 0;
}
