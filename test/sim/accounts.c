// SPDX-License-Identifier: Apache-2.0
/* accounts.c - clients that change accounts: a group's text counts the changes of it, so a
 * boot shows which of them the store has. */
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/str.h"
#include "model.h"
#include "who/change.h"

static void apply_group(void *arg, const char *name, const char *body)
{
	who_apply(arg, "group", name, body);
}

void accounts_begin(struct run *r, struct yard_config *c)
{
	r->who = who_create(r->world, &(struct who_rules){ .uid_base = c->uid_base });
	r->sink = (struct yard_doc_sink){ "group", apply_group, r->who };
	c->docs = &r->sink;
	c->doc_count = 1;
}

static char *group_name(int account)
{
	return str_printf("team%d", account);
}

static int version(const struct who_group *g)
{
	return g ? atoi(g->text) : 0;
}

/* What was acknowledged is there, and nothing that nobody asked for. */
void check_accounts(struct run *r)
{
	for (int i = 0; i < ACCOUNTS; i++) {
		AUTO_FREE char *name = group_name(i);
		int there = version(who_group(r->who, name));

		if (there < r->accounts[i].acked)
			broke(r, "change %d of %s was acknowledged and is gone",
			      r->accounts[i].acked, name);
		if (there > r->accounts[i].asked)
			broke(r, "%s has a change %d that nobody asked for", name, there);
	}
}

static void changed(void *arg, int64_t job, bool again, const struct err *err)
{
	const struct change *a = arg;
	struct account *of = &a->run->accounts[a->account];

	(void)job, (void)again;
	if (!err && a->version > of->acked)
		of->acked = a->version;
}

void ask_change(struct run *r, int account)
{
	const struct principal admin = { .name = "root",
					 .role = ROLE_ADMIN,
					 .scopes = SCOPE_ALL };
	AUTO_WHO_CHANGE struct who_change c = { 0 };
	AUTO_FREE char *name = group_name(account);
	AUTO_FREE char *text = str_printf("%d", ++r->accounts[account].asked);
	struct change *a = &r->changes[r->change_count];
	int rc = who_group(r->who, name) ? who_set_group(r->who, name, text, &c, NULL)
					 : who_add_group(r->who, name, text, &c, NULL);

	if (rc < 0) {
		broke(r, "%s cannot be changed", name);
		return;
	}
	*a = (struct change){ r, account, r->accounts[account].asked };
	r->change_count++;
	yard_change(
		r->yard, &admin,
		&(struct yard_change){ &(struct yard_doc){ c.docs[0].kind, c.docs[0].name,
							   c.docs[0].body },
				       1, c.action, c.object },
		changed, a);
}
