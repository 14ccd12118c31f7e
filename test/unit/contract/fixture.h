// SPDX-License-Identifier: Apache-2.0
/* fixture.h - a job and what its tasks find, for the tests of contracts. */
#pragma once

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "contract/contract.h"
#include "tap.h"

__attribute__((unused)) static struct spec *spec_from(const char *json)
{
	AUTO_DOC struct doc *d = doc_parse_json(json, strlen(json), NULL);
	struct spec *s = d ? spec_from_json(doc_root(d), NULL) : NULL;
	struct problems p = { 0 };

	if (!s) {
		printf("Bail out! the test's own spec is wrong\n");
		exit(1);
	}
	spec_check(s, &p);
	for (size_t i = 0; i < p.count; i++)
		printf("# %s: %s\n", p.items[i].field, p.items[i].text);
	OK(p.count == 0, "the spec of this test is right");
	problems_fini(&p);
	return s;
}

__attribute__((unused)) static struct job *job_from(const char *json, const char *owner)
{
	struct event e = { .kind = EV_SUBMITTED, .seq = 1, .job = 42, .time_ms = 1 };
	struct job *j;

	e.by = mem_strdup(owner);
	e.group = mem_strdup("lab");
	j = job_create(&e, spec_from(json));
	event_fini(&e);
	j->attempt = 2;
	for (size_t i = 0; i < j->task_count; i++)
		j->tasks[i].place.slot = (int)i + 300;
	return j;
}

__attribute__((unused)) static const char *env(const struct bundle *b, const char *name)
{
	size_t len = strlen(name);

	if (b->env_peers && strncmp(b->env_peers->text, name, len) == 0 &&
	    b->env_peers->text[len] == '=')
		return b->env_peers->text + len + 1;
	return pairs_get(&b->env, name);
}

__attribute__((unused)) static const struct mount *mount_at(const struct bundle *b,
							    const char *target)
{
	for (size_t i = 0; i < b->mount_count; i++)
		if (strcmp(b->mounts[i].target, target) == 0)
			return &b->mounts[i];
	return NULL;
}
