// SPDX-License-Identifier: Apache-2.0
/* Answers of a server that may be anything: the command that reads them does not crash. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "wire/api.h"
#include "wire/facts.h"

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

/* What is taken is kept as it is when it is written and read again. */
static void read_facts(const struct doc_node *root)
{
	struct node_facts f = { 0 }, f2 = { 0 };
	struct tenant_rule t = wire_tenant_default, t2 = t;
	struct buf out = { 0 };
	struct json j;

	if (wire_facts_read(root, &f, NULL) < 0 || wire_tenant_read(root, &t, NULL) < 0)
		return;
	json_init(&j, &out);
	json_array(&j, NULL);
	json_object(&j, NULL);
	wire_facts_write(&j, &f);
	json_end(&j);
	wire_tenant_write(&j, NULL, &t);
	json_end(&j);
	struct doc *d = doc_parse_json(buf_str(&out), out.len, NULL);
	const struct doc_node *first = d ? doc_root(d)->first : NULL;
	if (!first || wire_facts_read(first, &f2, NULL) < 0 ||
	    wire_tenant_read(first->next, &t2, NULL) < 0 ||
	    memcmp(&f, &f2, sizeof f) != 0 || memcmp(&t, &t2, sizeof t) != 0)
		abort();
	doc_destroy(d);
	buf_fini(&out);
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
	read_facts(doc_root(d));
	if (wire_job_read(doc_root(d), &job, &err) == 0) {
		wire_job_write(&out, job.job, (const char *const *)job.outputs, job.why);
		wire_job_fini(&job);
	}
	buf_fini(&out);
	doc_destroy(d);
	return 0;
}
