// SPDX-License-Identifier: Apache-2.0
/* outside.c - what the depot asks of the yard: accounts, whether a job lives; and what it
 * tells on the way. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "yard/internal.h"

/* "s3.BUCKET" before "s3"; of the user before that of the job's group. */
static struct vault *account(void *arg, const struct depot_asker *who,
			     char name[DEPOT_SECRET_MAX], struct err *err)
{
	const struct yard *y = arg;
	char special[DEPOT_SECRET_MAX] = "";
	const char *names[] = { special, who->scheme };

	*err = (struct err){ .code = ERR_NONE };
	if (who->bucket && (size_t)snprintf(special, sizeof special, "%s.%s", who->scheme,
					    who->bucket) >= sizeof special)
		special[0] = '\0'; /* longer than a secret's name can be */
	const struct secret *one =
		y->config.secrets
			? secrets_for(y->config.secrets, who->user, who->group, names, 2)
			: NULL;
	if (!one)
		return NULL;
	snprintf(name, DEPOT_SECRET_MAX, "%s", one->name);
	struct vault *v = secrets_open(y->config.secrets, one, err);
	if (!v)
		err_wrap(err, "the secret '%s' cannot be opened", one->name);
	return v;
}

static void progress(void *arg, int64_t job, int attempt, const char *text)
{
	struct event e = { .job = job, .kind = EV_PROGRESS, .attempt = attempt };

	e.text = mem_strdup(text);
	yard_record(arg, &e, NULL, NULL);
}

static bool live(void *arg, int64_t job)
{
	return yard_find(arg, job) != NULL;
}

void yard_outside(struct yard *y, struct depot_outside *out)
{
	*out = (struct depot_outside){ account, progress, live, y };
}
