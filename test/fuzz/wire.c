// SPDX-License-Identifier: Apache-2.0
/* Answers of a server that may be anything: the command that reads them does not crash. */
#include <stdint.h>
#include <stdlib.h>

#include "wire/api.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_lists(const struct doc_node *root)
{
	const struct doc_node *list = root->kind == DOC_MAP ? root->first : NULL;
	struct wire_event event;
	struct wire_node node;
	struct wire_row row;

	for (const struct doc_node *n = list ? list->first : NULL; n; n = n->next) {
		wire_row_read(n, &row);
		wire_node_read(n, &node);
		wire_event_read(n, &event);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct problems problems = { 0 };
	struct wire_job job;
	struct quota quota;
	struct buf out = { 0 };
	struct err err;
	struct doc *d = doc_parse_json((const char *)data, size, &err);

	wire_error_read((const char *)data, size, 400, &err, &problems);
	problems_fini(&problems);
	if (!d)
		return 0;
	read_lists(doc_root(d));
	wire_quota_read(doc_root(d), &quota, &err);
	if (wire_job_read(doc_root(d), &job, &err) == 0) {
		wire_job_write(&out, job.job, (const char *const *)job.outputs, job.why);
		wire_job_fini(&job);
	}
	buf_fini(&out);
	doc_destroy(d);
	return 0;
}
