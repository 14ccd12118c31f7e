// SPDX-License-Identifier: Apache-2.0
/* Settings that change while the daemon runs: what may, what will not do, and the way back. */
#include <stdlib.h>

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
	settings_fini(&s);
	return END();
}
