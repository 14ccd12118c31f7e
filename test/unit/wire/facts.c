// SPDX-License-Identifier: Apache-2.0
/* What is said of nodes and groups: every random one survives being written and read, a
 * change leaves what it does not name, and what makes no sense is refused by its field. */
#include "tap.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/str.h"
#include "wire/facts.h"

static uint64_t seed = 7;

static int roll(int n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (int)(seed >> 33) % n;
}

static struct doc *parse(const char *text)
{
	struct doc *d = doc_parse_json(text, strlen(text), NULL);

	if (!d) {
		printf("Bail out! not JSON: %s\n", text);
		exit(1);
	}
	return d;
}

/* ---- nodes ---- */

static struct doc *facts_doc(const struct node_facts *f)
{
	AUTO_BUF struct buf out = { 0 };
	struct json j;

	json_init(&j, &out);
	json_object(&j, NULL);
	wire_facts_write(&j, f);
	json_end(&j);
	return parse(buf_str(&out));
}

static void random_facts(struct node_facts *f)
{
	*f = (struct node_facts){ .state = (enum node_state)roll(3),
				  .window_count = (size_t)roll(NODE_WINDOWS_MAX + 1),
				  .island = roll(65),
				  .rings = roll(2) };
	if (f->state != NODE_OPEN)
		snprintf(f->reason, sizeof f->reason, "reason \"%d\"", roll(100));
	for (size_t i = 0; i < f->window_count; i++) {
		f->windows[i].from_ms = roll(1000);
		f->windows[i].to_ms = f->windows[i].from_ms + 1 + roll(1000);
		if (roll(2))
			strcpy(f->windows[i].group, "lab");
	}
	if (roll(2))
		strcpy(f->rack, "r1");
	if (roll(2))
		strcpy(f->net, "s/1");
	if (roll(2))
		strcpy(f->labels, "zone=a,disk=nvme");
}

static void refused(const char *text, const char *field)
{
	struct node_facts f = { .island = 3, .rack = "r" }, was = f;
	AUTO_DOC struct doc *d = parse(text);
	struct err err = { 0 };

	OK(wire_facts_read(doc_root(d), &f, &err) < 0 && str_starts(err.text, field),
	   "%s is refused by %s", text, field);
	OK(memcmp(&f, &was, sizeof f) == 0, "and leaves all as it was");
}

static void nodes(void)
{
	int bad = 0;

	for (int i = 0; i < 2000; i++) {
		struct node_facts f, back = { 0 };
		random_facts(&f);
		AUTO_DOC struct doc *d = facts_doc(&f);
		bad += wire_facts_read(doc_root(d), &back, NULL) < 0 ||
		       memcmp(&f, &back, sizeof f) != 0;
	}
	IS_INT(bad, 0, "facts of a node are read back as they were");

	struct node_facts f = { .state = NODE_DRAIN, .reason = "disk", .rack = "r1" };
	AUTO_DOC struct doc *open = parse("{\"state\":\"open\"}");
	OK(wire_facts_read(doc_root(open), &f, NULL) == 0 && f.state == NODE_OPEN &&
		   !f.reason[0] && str_eq(f.rack, "r1"),
	   "opening it takes the reason away, and nothing else");
	AUTO_DOC struct doc *why = parse("{\"state\":\"quarantine\",\"reason\":\"ECC\"}");
	wire_facts_read(doc_root(why), &f, NULL);
	AUTO_DOC struct doc *drain = parse("{\"state\":\"drain\"}");
	OK(wire_facts_read(doc_root(drain), &f, NULL) == 0 && !f.reason[0],
	   "a reason is of its own state");
	refused("{\"state\":\"shut\"}", "state:");
	refused("{\"state\":\"quarantine\"}", "reason:");
	refused("{\"windows\":[{\"from_ms\":5,\"to_ms\":5}]}", "windows:");
	refused("{\"windows\":[{},{},{},{},{}]}", "windows:");
	refused("{\"labels\":{\"a\":\"b c\"}}", "labels:");
	refused("{\"labels\":{\"a\":\"b,c=d\"}}", "labels:");
	refused("{\"island\":65}", "island:");
	refused("{\"island\":4294967297}", "island:");
	refused("{\"rack\":\"a name that is longer than any rack's\"}", "rack:");
}

static void merging(void)
{
	struct node n = { .rack = "found", .net = "s0", .island = 8, .up = true };
	struct node_facts none = { 0 }, said = { .state = NODE_DRAIN,
						 .reason = "disk",
						 .rack = "said",
						 .labels = "zone=a",
						 .rings = true };

	node_merge(&n, &none);
	OK(str_eq(n.rack, "found") && n.island == 8 && n.state == NODE_OPEN,
	   "where nothing is said, what was found counts");
	node_merge(&n, &said);
	OK(str_eq(n.rack, "said") && str_eq(n.net, "s0") && n.state == NODE_DRAIN &&
		   str_eq(n.labels, "zone=a") && n.rings && n.up,
	   "what is said goes before");
}

/* ---- groups ---- */

static void random_amount(struct resources *r)
{
	*r = (struct resources){ .cpu_milli = roll(2) ? roll(64000) : -1,
				 .memory_bytes = roll(2) ? roll(1 << 30) : -1 };
	for (int i = roll(DEVICE_KINDS_MAX + 1); i > 0; i--)
		resources_set_device(
			r, (const char *[]){ "gpu", "npu", "gpu:a100", "x" }[i - 1],
			1 + roll(100));
}

static void random_rule(struct tenant_rule *t)
{
	*t = wire_tenant_default;
	if (roll(2))
		strcpy(t->parent, "site");
	t->weight = 1 + roll(1000);
	t->order = (enum tenant_order)roll(3);
	t->notice_ms = roll(86400000);
	random_amount(&t->guarantee);
	random_amount(&t->borrow);
	random_amount(&t->lend);
	t->shape_count = (size_t)roll(TENANT_SHAPES_MAX + 1);
	for (size_t i = 0; i < t->shape_count; i++) {
		t->shapes[i].count = 1 + roll(100);
		t->shapes[i].devices.count = 1 + roll(64);
		strcpy(t->shapes[i].devices.type, roll(2) ? "gpu" : "npu:910");
	}
}

static void bad_rule(const char *text, const char *field)
{
	struct tenant_rule t = wire_tenant_default, was = t;
	AUTO_DOC struct doc *d = parse(text);
	struct err err = { 0 };

	OK(wire_tenant_read(doc_root(d), &t, &err) < 0 && str_starts(err.text, field),
	   "%s is refused by %s", text, field);
	OK(memcmp(&t, &was, sizeof t) == 0, "and leaves all as it was");
}

static void groups(void)
{
	int bad = 0;

	for (int i = 0; i < 2000; i++) {
		struct tenant_rule t, back = wire_tenant_default;
		AUTO_BUF struct buf out = { 0 };
		struct json j;

		random_rule(&t);
		json_init(&j, &out);
		wire_tenant_write(&j, NULL, &t);
		AUTO_DOC struct doc *d = parse(buf_str(&out));
		bad += wire_tenant_read(doc_root(d), &back, NULL) < 0 ||
		       memcmp(&t, &back, sizeof t) != 0;
	}
	IS_INT(bad, 0, "rules of groups are read back as they were");

	struct tenant_rule t;
	do
		random_rule(&t);
	while (!t.shape_count || t.guarantee.cpu_milli < 0 || !t.parent[0]);
	struct tenant_rule was = t;
	AUTO_DOC struct doc *weight = parse("{\"weight\":5}");
	OK(wire_tenant_read(doc_root(weight), &t, NULL) == 0 && t.weight == 5,
	   "a change takes over what it names");
	t.weight = was.weight;
	OK(memcmp(&t, &was, sizeof t) == 0, "and nothing else");
	AUTO_DOC struct doc *none =
		parse("{\"parent\":null,\"guarantee\":{},\"shapes\":[]}");
	OK(wire_tenant_read(doc_root(none), &t, NULL) == 0 && !t.parent[0] &&
		   t.guarantee.cpu_milli == -1 && !t.guarantee.devices[0].type[0] &&
		   !t.shape_count && t.weight == was.weight,
	   "what is said can be taken back");
	bad_rule("{\"weight\":0}", "weight:");
	bad_rule("{\"weight\":1001}", "weight:");
	bad_rule("{\"weight\":4294967297}", "weight:");
	bad_rule("{\"order\":\"random\"}", "order:");
	bad_rule("{\"guarantee\":{\"devices\":{\"gpu\":-1}}}", "guarantee:");
	bad_rule("{\"guarantee\":{\"devices\":{\"gpu\":0.5}}}", "guarantee:");
	bad_rule("{\"borrow\":{\"cpu_milli\":\"many\"}}", "borrow:");
	bad_rule("{\"shapes\":[{\"count\":0,\"each\":8}]}", "shapes:");
	bad_rule("{\"shapes\":[{\"count\":1,\"each\":65}]}", "shapes:");
	bad_rule("{\"notice_ms\":-1}", "notice_ms:");
}

int main(void)
{
	nodes();
	merging();
	groups();
	return END();
}
