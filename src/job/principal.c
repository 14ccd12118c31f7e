// SPDX-License-Identifier: Apache-2.0
#include "job/principal.h"

#include "base/str.h"

static const char *const role_words[ROLE_COUNT] = {
	[ROLE_VIEWER] = "viewer",
	[ROLE_MEMBER] = "member",
	[ROLE_ADMIN] = "admin",
};

char *principal_key(const struct principal *p)
{
	if (p->uid >= 0)
		return str_printf("%lld", (long long)p->uid);
	return str_printf("@%s", p->name);
}

bool principal_is_admin(const struct principal *p)
{
	return p->role == ROLE_ADMIN && p->scopes & SCOPE_ADMIN;
}

bool principal_in(const struct principal *p, const char *group)
{
	if (str_eq(group, GROUP_DEFAULT))
		return false;
	for (size_t i = 0; i < p->group_count; i++)
		if (str_eq(p->groups[i], group))
			return true;
	return false;
}

const char *user_role_word(enum user_role r)
{
	return role_words[r];
}

int user_role_from_word(const char *word, enum user_role *out)
{
	for (int i = 0; i < ROLE_COUNT; i++)
		if (str_eq(word, role_words[i])) {
			*out = (enum user_role)i;
			return 0;
		}
	return -1;
}
