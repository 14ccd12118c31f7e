// SPDX-License-Identifier: Apache-2.0
/* Kinds of machine: what a name says, and what an admin says instead. */
#include "tap.h"

#include <string.h>

#include "base/mem.h"
#include "catalog/catalog.h"

static const struct {
	const char *name;
	int64_t cores, gib;
	int gpus;
} known[] = {
	{ "ecs.c6.large", 2, 4, 0 },           { "ecs.c6.xlarge", 4, 8, 0 },
	{ "ecs.g7.2xlarge", 8, 32, 0 },        { "ecs.r6.16xlarge", 64, 512, 0 },
	{ "ecs.gn6i-c8g1.2xlarge", 8, 32, 1 }, { "ecs.gn7i-c32g2.8xlarge", 32, 128, 2 },
	{ "ecs.c7a.xlarge", 4, 8, 0 },
};

static const char *const strange[] = {
	"",
	"ecs.",
	"ecs.c6",
	"ecs..xlarge",
	"ecs.c6.",
	"ecs.c6.huge",
	"ecs.c6.0xlarge",
	"ecs.c6.1xlarge",
	"ecs.c6.999999999999999999999xlarge",
	"ecs.x6.large",
	"ecs.gn6i.large",
	"ecs.gn6i-c0g1.large",
	"ecs.gn6i-c8g.large",
	"ecs.gn6i-c8g1000.large",
	"ecs.c6.xlarge ",
	"ecs.c6.xlarge/..",
	"local",
};

static void names(void)
{
	struct machine m;

	for (size_t i = 0; i < COUNT_OF(known); i++) {
		bool found = machine_by_name(known[i].name, &m);
		OK(found && m.each.cpu_milli == known[i].cores * 1000 &&
			   m.each.memory_bytes == known[i].gib << 30 &&
			   resources_device(&m.each, "gpu") == known[i].gpus && m.builtin,
		   "%s is told by its name", known[i].name);
	}
	for (size_t i = 0; i < COUNT_OF(strange); i++)
		OK(!machine_by_name(strange[i], &m), "'%s' is no kind of machine",
		   strange[i]);
	int count = 0;
	while (machine_known(count, &m) && strcmp(m.name, "") != 0)
		count++;
	OK(count >= 30, "a list shows %d of them", count);
}

static void said(struct world *w)
{
	struct catalog *c = catalog_create(w);
	struct machine m, list[100];

	catalog_apply_machine(c, "ecs.c6.xlarge",
			      "{\"cpu_milli\":500,\"memory_bytes\":1073741824}");
	OK(catalog_machine(c, "ecs.c6.xlarge", &m) && m.each.cpu_milli == 500 &&
		   !m.builtin,
	   "what an admin says counts, not the name");
	size_t n = catalog_machines(c, list, COUNT_OF(list)), same = 0;
	bool sorted = true;
	for (size_t i = 0; i < n; i++) {
		same += strcmp(list[i].name, "ecs.c6.xlarge") == 0;
		sorted = sorted && (i == 0 || strcmp(list[i - 1].name, list[i].name) < 0);
	}
	OK(same == 1 && sorted, "a list has each name once, in order");
	catalog_apply_machine(c, "ecs.c6.xlarge", NULL);
	OK(catalog_machine(c, "ecs.c6.xlarge", &m) && m.builtin,
	   "taken back, it is as before");
	catalog_apply_machine(c, "x", "{\"cpu_milli\":0}");
	OK(!catalog_machine(c, "x", &m), "a document that says nothing is nothing");
	catalog_destroy(c);
}

static void round_trip(void)
{
	static const char text[] = "{\"cpu_milli\":1500,\"memory_bytes\":4294967296,"
				   "\"devices\":{\"gpu:a100\":2,\"npu\":1}}";
	struct machine m, again;
	AUTO_BUF struct buf out = { 0 };
	struct json j;
	struct err err;
	AUTO_DOC struct doc *d = doc_parse_json(text, strlen(text), NULL);

	OK(machine_read(doc_root(d), "big", &m, &err) == 0, "read");
	json_init(&j, &out);
	machine_write(&m, &j, NULL, true);
	AUTO_DOC struct doc *e = doc_parse_json(buf_str(&out), out.len, NULL);
	OK(e && machine_read(doc_root(e), "big", &again, &err) == 0 &&
		   memcmp(&m, &again, sizeof m) == 0,
	   "what is written is read as the same");
	static const char many[] = "{\"cpu_milli\":1,\"memory_bytes\":1048576,"
				   "\"devices\":{\"gpu\":65}}";
	AUTO_DOC struct doc *bad = doc_parse_json(many, strlen(many), NULL);
	OK(bad && machine_read(doc_root(bad), "big", &again, &err) < 0 &&
		   strstr(err.text, "devices.gpu"),
	   "what is wrong is named: %s", err.text);
}

int main(void)
{
	struct err err;
	struct world *w = world_uv_create(&err);

	names();
	said(w);
	round_trip();
	world_destroy(w);
	return END();
}
