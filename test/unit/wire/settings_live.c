// SPDX-License-Identifier: Apache-2.0
/* Settings that change while the daemon runs: what may, what will not do, and the way back. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/doc.h"
#include "base/str.h"
#include "tap.h"
#include "wire/settings_live.h"
#include "wire/shape.h"

static char *no_variable(const char *name)
{
	(void)name;
	return NULL;
}

static const char *shown(const struct settings *s, const char *name, const char *field)
{
	static char text[128];
	struct buf out = { 0 };
	struct json j;

	json_init(&j, &out);
	settings_live_write(s, &j, NULL);
	struct doc *d = doc_parse_json(buf_str(&out), out.len, NULL);
	for (const struct doc_node *n = d ? doc_root(d)->first : NULL; n; n = n->next) {
		const struct doc_node *v = doc_get(n, field);
		if (str_eq(doc_str(n, "name", ""), name) && v && v->text)
			snprintf(text, sizeof text, "%s", v->text);
	}
	doc_destroy(d);
	buf_fini(&out);
	return text;
}

static void policy(struct settings *s)
{
	struct plan_policy p;
	struct err err;

	settings_policy(s, &p);
	OK(memcmp(&p.weights, &plan_policy_default.weights, sizeof p.weights) == 0 &&
		   p.fair == plan_policy_default.fair &&
		   p.preempt == plan_policy_default.preempt &&
		   p.rule == plan_policy_default.rule &&
		   p.half_life_ms == plan_policy_default.half_life_ms,
	   "the policy is the default when nobody says otherwise");
	IS(shown(s, "plan-fair", "value"), "on", "choices are shown as words");
	for (int i = 0; i < PLACE_RULE_COUNT; i++) {
		settings_live_set(s, "plan-rule", placement_rule_names[i]);
		settings_policy(s, &p);
		OK((int)p.rule == i, "the rule %s can be chosen",
		   placement_rule_names[i]);
	}
	settings_live_set(s, "plan-fair", "off");
	settings_live_set(s, "plan-half-life", "90m");
	settings_live_set(s, "plan-weight-slack", "7");
	settings_policy(s, &p);
	OK(!p.fair && p.weights.slack == 7, "changes are in the policy at once");
	IS_INT(p.half_life_ms, 2 * 3600000, "a half-life is whole hours");
	OK(settings_live_check("plan-fair", "maybe", &err) < 0 &&
		   strstr(err.text, "plan-fair: 'maybe' will not do"),
	   "a word that is no choice is refused");
	OK(settings_live_check("plan-nonsense", "on", &err) < 0, "so is a name");
	settings_live_set(s, "plan-fair", NULL);
	settings_policy(s, &p);
	OK(p.fair, "and taken back");
}

int main(void)
{
	struct settings s;
	struct err err;
	char *argv[] = { (char[]){ "--max-jobs=20" } };
	struct settings_input in = { .argc = 1, .argv = argv, .get = no_variable };

	OK(settings_parse(&s, &in, &err) == OPTS_OK, "the daemon starts with a flag");
	IS(shown(&s, "max-jobs", "from"), "flag", "which is where the value comes from");
	settings_live_set(&s, "max-jobs", "7");
	settings_live_set(&s, "max-jobs", "8");
	OK(s.max_jobs == 8, "a change stands above the flag");
	IS(shown(&s, "max-jobs", "from"), "changed", "and says so");
	IS(shown(&s, "max-jobs", "value"), "8", "with its value");
	settings_live_set(&s, "max-jobs", "many");
	OK(s.max_jobs == 8, "nonsense changes nothing");
	settings_live_set(&s, "max-jobs", NULL);
	OK(s.max_jobs == 20, "taken back, the flag counts again");
	IS(shown(&s, "max-jobs", "from"), "flag", "and is named");
	settings_live_set(&s, "code-keep", "9d");
	IS(shown(&s, "code-keep", "value"), "9d", "times are shown as people write them");
	settings_live_set(&s, "state", "/elsewhere");
	OK(!s.state, "what is not live does not change");
	OK(settings_live_check("state", "/x", &err) < 0 && str_starts(err.text, "state:"),
	   "and is refused by its name");
	OK(settings_live_check("max-priority", "1001", &err) < 0 &&
		   str_starts(err.text, "max-priority:"),
	   "so is a value out of range");
	OK(settings_live_check("log-limit", "512Mi", &err) == 0, "a good one is good");

	const struct wire_shape *shape = wire_shape_find("settings_change");
	int strange = 0;
	for (const struct wire_field *f = shape->fields; f->name; f++)
		strange += !settings_is_live(f->name);
	OK(strange == 0, "the API offers to change what may be changed");
	const struct setting *rows;
	size_t count = settings_rows(&rows);
	for (size_t i = 0; i < count; i++) {
		const struct wire_field *f = shape->fields;
		while (f->name && !str_eq(f->name, rows[i].opt.name))
			f++;
		strange += settings_is_live(rows[i].opt.name) != !!f->name;
	}
	OK(strange == 0, "and all of it");
	policy(&s);
	settings_fini(&s);
	return END();
}
